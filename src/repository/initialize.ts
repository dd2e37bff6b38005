import { type Call, userOf } from '../access/call.ts';
import { loadViewer } from '../access/viewer.ts';
import { groupDefaultBranch } from '../groups/inherited.ts';
import { findCode } from './code.ts';
import { commitReadme } from './readme.ts';

/** The first commit of a new project: a README, on the branch that is asked for or the usual one. */
export const initializeRepository = async (
  call: Call,
  projectId: number,
  branch: string | undefined,
): Promise<void> => {
  const { db, now, platform } = call;
  // With the role that its maker has there since.
  const viewer = await loadViewer(db, userOf(call), now);
  const code = await findCode({ ...call, viewer }, projectId);
  const inherited = async (): Promise<string> =>
    (await groupDefaultBranch(db, code.project.namespace_id)) ?? platform.config.default_branch;
  await commitReadme({ ...call, viewer }, code, branch ? branch : await inherited());
};
