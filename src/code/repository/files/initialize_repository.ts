import { type Call, requireUser } from '../../../core/access/call.ts';
import { loadViewer } from '../../../core/access/viewer.ts';
import { groupDefaultBranch } from '../../../identity/groups/inherited_options.ts';
import type { FileAction } from '../commits/file_actions.ts';
import { findCode } from '../find_code.ts';
import { commitReadme } from './commit_readme.ts';

/**
 * Creates the first commit of a new project: a README, on the requested or the default branch.
 * @param others further files, such as a license
 */
export const initializeRepository = async (
  call: Call,
  projectId: number,
  branch: string | undefined,
  others: readonly FileAction[] = [],
): Promise<void> => {
  const { db, now, platform } = call;
  // Reloads the viewer: the creator got a role in the project since.
  const viewer = await loadViewer(db, requireUser(call), now);
  const code = await findCode({ ...call, viewer }, projectId);
  const inherited = async (): Promise<string> =>
    (await groupDefaultBranch(db, code.project.namespace_id)) ?? platform.config.default_branch;
  await commitReadme({ ...call, viewer }, code, branch ? branch : await inherited(), others);
};
