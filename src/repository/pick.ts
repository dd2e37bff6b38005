/** What a commit did, done again on a branch, or undone there. */
import { type Call, userOf } from '../access/call.ts';
import { Failure } from '../errors.ts';
import { isGitFailure } from '../git/failure.ts';
import type { Commit, Oid } from '../git/protocol_types.ts';
import { changeRefs, requirePush, retrying, signatureOf } from './change_refs.ts';
import type { Code } from './code.ts';
import { titleOf } from './commit_json.ts';
import { protectedBranches } from './protected.ts';
import { branchPrefix, requireBranch } from './resolve.ts';

export type Picking = 'cherry_pick' | 'revert';

const verbs: Record<Picking, [does: string, done: string]> = {
  cherry_pick: ['cherry-pick', 'cherry-picked'],
  revert: ['revert', 'reverted'],
};

const refusedFor = (what: Picking, error_code: 'conflict' | 'empty'): Failure => {
  const [does, done] = verbs[what];
  const message =
    `Sorry, we cannot ${does} this commit automatically. This commit may already have been ${done}, ` +
    'or a more recent commit may have updated some of its content.';
  return new Failure('bad_request', { message, error_code });
};

const messageFor = (what: Picking, { id, message }: Commit, given: string | undefined): string => {
  if (given !== undefined && given.trim() !== '') return given;
  if (what === 'revert') return `Revert "${titleOf(message)}"\n\nThis reverts commit ${id}`;
  return `${message.trimEnd()}\n\n(cherry picked from commit ${id})`;
};

export type WantedPick = { branch: string; message?: string | undefined; dry_run?: boolean | undefined };

const attempt = async (
  call: Call,
  code: Code,
  [what, commit]: [Picking, Commit],
  { branch, message, dry_run = false }: WantedPick,
): Promise<Oid> => {
  const { project, repository } = code;
  const ref = await requireBranch(code, branch);
  const committer = signatureOf(call, userOf(call));
  const made = await repository.ask(`commit.${what}`, {
    commit: commit.id,
    onto: ref.commit,
    message: messageFor(what, commit, message),
    author: what === 'cherry_pick' ? commit.author : committer,
    committer,
  });
  if (typeof made === 'string') throw refusedFor(what, made);
  if (dry_run) return made.id;
  await changeRefs(call, {
    project,
    kind: 'commit',
    updates: [{ ref: branchPrefix + branch, old: ref.target, new: made.id }],
    branches: requirePush(call, branch),
  });
  return made.id;
};

/**
 * Puts the commit, or its reverse, on a branch; answers the new commit's id once it is durable.
 * @throws Failure 404 for no such branch, 403 for who may not push there, 400 where it does not apply
 */
export const pickCommit = async (
  call: Call,
  code: Code,
  picked: [Picking, Commit],
  wanted: WantedPick,
): Promise<Oid> => {
  await requireBranch(code, wanted.branch);
  requirePush(call, wanted.branch)(code.project, await protectedBranches(call.db, code.project.id));
  try {
    return await retrying(async () => await attempt(call, code, picked, wanted));
  } catch (error) {
    throw isGitFailure(error, 'invalid') ? refusedFor(picked[0], 'conflict') : error;
  }
};
