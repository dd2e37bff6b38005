import type { Call } from '../../../core/access/call.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import { type Ref, zeroOid } from '../../../platform/git/protocol_types.ts';
import { findProject } from '../../../projects/projects/find.ts';
import { changeRefs, requirePushPermission } from '../refs/authorized_ref_changes.ts';
import { type Code, findCode } from '../find_code.ts';
import { commitReadme } from '../files/commit_readme.ts';
import { loadProtectedBranches } from '../protection/rules.ts';
import { branchPrefix, findRef, refusal, requireBranch, resolveRevision } from '../refs/resolve.ts';

/** Creates the default branch of an empty repository, with a README. */
const ensureDefaultBranch = async (call: Call, code: Code): Promise<Code> => {
  if (code.project.default_branch !== null) return code;
  await commitReadme(call, code, call.platform.config.default_branch);
  return { ...code, project: await findProject(call, code.project.id) };
};

/**
 * Creates a branch at the revision `from`.
 * @throws Failure 400 with GitLab's message, 403 without permission to push to it
 */
export const createBranch = async (
  call: Call,
  initial: Code,
  { branch, from }: { branch: string; from: string },
): Promise<{ code: Code; ref: Ref }> => {
  const name = branchPrefix + branch;
  requirePushPermission(call, branch)(
    initial.project,
    await loadProtectedBranches(call.db, initial.project.id),
  );
  const wasEmpty = initial.project.default_branch === null;
  const code = await ensureDefaultBranch(call, initial);
  const { project, repository } = code;
  if (wasEmpty && branch === project.default_branch) return { code, ref: await requireBranch(code, branch) };
  if ((await findRef(repository, name)) !== null) throw refusal('bad_request', 'Branch already exists');
  const start = await resolveRevision(code, from);
  if (start === null) throw refusal('bad_request', `Invalid reference name: ${from}`);
  const updates = [{ ref: name, old: zeroOid, new: start.commit }];
  try {
    await changeRefs(call, {
      project,
      kind: 'branch',
      updates,
      branches: requirePushPermission(call, branch),
    });
  } catch (error) {
    if (isGitFailure(error, 'invalid')) throw refusal('bad_request', 'Branch name is invalid');
    if (!isGitFailure(error, 'conflict')) throw error;
    const exists = (await findRef(repository, name)) !== null;
    throw refusal('bad_request', exists ? 'Branch already exists' : 'Branch name is invalid');
  }
  return { code, ref: await requireBranch(code, branch) };
};

/** Finds a project that the caller may push to. @throws Failure 404, 403 */
export const findCodeForPush = async (call: Call, id: number | string): Promise<Code> =>
  await findCode(call, id, 'push_code');
