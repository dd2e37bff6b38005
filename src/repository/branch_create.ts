import type { Call } from '../access/call.ts';
import { isGitFailure } from '../git/failure.ts';
import { type Ref, zeroOid } from '../git/protocol_types.ts';
import { findProject } from '../projects/find.ts';
import { changeRefs, requirePush } from './change_refs.ts';
import { type Code, findCode } from './code.ts';
import { commitReadme } from './readme.ts';
import { protectedBranches } from './protected.ts';
import { branchPrefix, findRef, refusal, requireBranch, resolveRevision } from './resolve.ts';

/** An empty repository first gets its default branch, with a README. */
const withDefaultBranch = async (call: Call, code: Code): Promise<Code> => {
  if (code.project.default_branch !== null) return code;
  await commitReadme(call, code, call.platform.config.default_branch);
  return { ...code, project: await findProject(call, code.project.id) };
};

/**
 * Makes a branch at what `from` names.
 * @throws Failure 400 in GitLab's words, 403 for who may not push to it
 */
export const createBranch = async (
  call: Call,
  found: Code,
  { branch, from }: { branch: string; from: string },
): Promise<{ code: Code; ref: Ref }> => {
  const name = branchPrefix + branch;
  requirePush(call, branch)(found.project, await protectedBranches(call.db, found.project.id));
  const wasEmpty = found.project.default_branch === null;
  const code = await withDefaultBranch(call, found);
  const { project, repository } = code;
  if (wasEmpty && branch === project.default_branch) return { code, ref: await requireBranch(code, branch) };
  if ((await findRef(repository, name)) !== null) throw refusal('bad_request', 'Branch already exists');
  const start = await resolveRevision(code, from);
  if (start === null) throw refusal('bad_request', `Invalid reference name: ${from}`);
  const updates = [{ ref: name, old: zeroOid, new: start.commit }];
  try {
    await changeRefs(call, { project, kind: 'branch', updates, branches: requirePush(call, branch) });
  } catch (error) {
    if (isGitFailure(error, 'invalid')) throw refusal('bad_request', 'Branch name is invalid');
    if (!isGitFailure(error, 'conflict')) throw error;
    const isThere = (await findRef(repository, name)) !== null;
    throw refusal('bad_request', isThere ? 'Branch already exists' : 'Branch name is invalid');
  }
  return { code, ref: await requireBranch(code, branch) };
};

/** The project as it is found by one who may push to it. */
export const findForPush = async (call: Call, id: number | string): Promise<Code> =>
  await findCode(call, id, 'push_code');
