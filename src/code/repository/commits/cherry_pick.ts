/** Cherry-picks and reverts commits. */
import { type Call, requireUser } from '../../../core/access/call.ts';
import { Failure } from '../../../platform/errors.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { Commit, Oid } from '../../../platform/git/protocol_types.ts';
import { changeRefs, requirePushPermission, retryOnConflict } from '../refs/authorized_ref_changes.ts';
import { getGitIdentity } from '../refs/git_identity.ts';
import type { Code } from '../find_code.ts';
import { toCommitTitle } from './json.ts';
import { loadProtectedBranches } from '../protection/rules.ts';
import { branchPrefix, requireBranch } from '../refs/resolve.ts';

export type PickKind = 'cherry_pick' | 'revert';

const verbs: Record<PickKind, [does: string, done: string]> = {
  cherry_pick: ['cherry-pick', 'cherry-picked'],
  revert: ['revert', 'reverted'],
};

const pickRefusal = (what: PickKind, error_code: 'conflict' | 'empty'): Failure => {
  const [does, done] = verbs[what];
  const message =
    `Sorry, we cannot ${does} this commit automatically. This commit may already have been ${done}, ` +
    'or a more recent commit may have updated some of its content.';
  return new Failure('bad_request', { message, error_code });
};

const messageFor = (what: PickKind, { id, message }: Commit, customMessage: string | undefined): string => {
  if (customMessage !== undefined && customMessage.trim() !== '') return customMessage;
  if (what === 'revert') return `Revert "${toCommitTitle(message)}"\n\nThis reverts commit ${id}`;
  return `${message.trimEnd()}\n\n(cherry picked from commit ${id})`;
};

export type PickRequest = { branch: string; message?: string | undefined; dry_run?: boolean | undefined };

const attempt = async (
  call: Call,
  code: Code,
  [what, commit]: [PickKind, Commit],
  { branch, message, dry_run = false }: PickRequest,
): Promise<Oid> => {
  const { project, repository } = code;
  const ref = await requireBranch(code, branch);
  const committer = getGitIdentity(call, requireUser(call));
  const created = await repository.ask(`commit.${what}`, {
    commit: commit.id,
    onto: ref.commit,
    message: messageFor(what, commit, message),
    author: what === 'cherry_pick' ? commit.author : committer,
    committer,
  });
  if (typeof created === 'string') throw pickRefusal(what, created);
  if (dry_run) return created.id;
  await changeRefs(call, {
    project,
    kind: 'commit',
    updates: [{ ref: branchPrefix + branch, old: ref.target, new: created.id }],
    branches: requirePushPermission(call, branch),
  });
  return created.id;
};

/**
 * Cherry-picks or reverts a commit on a branch. Returns the new commit's id once it is durable.
 * @throws Failure 404 for an unknown branch, 403 without permission to push, 400 if it does not apply
 */
export const pickCommit = async (
  call: Call,
  code: Code,
  picked: [PickKind, Commit],
  request: PickRequest,
): Promise<Oid> => {
  await requireBranch(code, request.branch);
  requirePushPermission(call, request.branch)(
    code.project,
    await loadProtectedBranches(call.db, code.project.id),
  );
  try {
    return await retryOnConflict(async () => await attempt(call, code, picked, request));
  } catch (error) {
    throw isGitFailure(error, 'invalid') ? pickRefusal(picked[0], 'conflict') : error;
  }
};
