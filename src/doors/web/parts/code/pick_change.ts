/** Reverts or cherry-picks a commit for a form: on a branch, or on a new one for a merge request. */
import { createBranch } from '../../../../code/repository/branches/create.ts';
import { type PickKind, pickCommit } from '../../../../code/repository/commits/cherry_pick.ts';
import type { Code } from '../../../../code/repository/find_code.ts';
import { branchPrefix, findRef, requireCommit } from '../../../../code/repository/refs/resolve.ts';
import type { Call } from '../../../../core/access/call.ts';
import { invalid } from '../../../../platform/errors.ts';
import { boolean, optional, text } from '../../../../platform/http/schema.ts';
import { projectPagePath } from '../frame/project_layout.ts';

/** Parameters of the form. */
export const pickParams = {
  branch: optional(text({ maxLength: 1_000 })),
  request: optional(boolean({ description: 'commit to a new branch, for a merge request' })),
};

export const pickNotices: Record<PickKind, string> = {
  revert: 'The change was reverted.',
  cherry_pick: 'The change was cherry-picked.',
};

const verbs: Record<PickKind, string> = { revert: 'revert', cherry_pick: 'cherry-pick' };

/** Branches of the same name that are tried. */
const maxNames = 20;

/** Finds a name for the new branch: `revert-1a2b3c4d`, or with a number. */
const freeName = async ({ repository }: Code, start: string): Promise<string> => {
  for (let number = 1; number <= maxNames; number += 1) {
    const name = number === 1 ? start : `${start}-${number}`;
    if ((await findRef(repository, branchPrefix + name)) === null) return name;
  }
  throw invalid({ branch: ['has too many branches for this change'] });
};

type Picked = { kind: PickKind; sha: string; branch: string };

/** Commits to a new branch, for a merge request. @returns its name */
const pickInNewBranch = async (call: Call, code: Code, { kind, sha, branch }: Picked): Promise<string> => {
  const commit = await requireCommit(code, sha);
  // Checks that it applies before a branch is created.
  await pickCommit(call, code, [kind, commit], { branch, dry_run: true });
  const name = await freeName(code, `${verbs[kind]}-${sha.slice(0, 8)}`);
  await createBranch(call, code, { branch: name, from: branchPrefix + branch });
  await pickCommit(call, code, [kind, commit], { branch: name });
  return name;
};

/**
 * Picks a commit as the form asks for.
 * @returns the address of the form for the merge request; null if the commit is on the branch
 * @throws Failure 400 if it does not apply, 403 if the branch is protected, 404 if it is missing
 */
export const pickChange = async (
  call: Call,
  code: Code,
  {
    branch: typed = '',
    request = false,
    ...picked
  }: Pick<Picked, 'kind' | 'sha'> & {
    branch?: string | undefined;
    request?: boolean | undefined;
  },
): Promise<string | null> => {
  const branch = typed.trim();
  if (branch === '') throw invalid({ branch: ['is missing'] });
  const { kind, sha } = picked;
  if (!request) {
    await pickCommit(call, code, [kind, await requireCommit(code, sha)], { branch });
    return null;
  }
  const name = await pickInNewBranch(call, code, { kind, sha, branch });
  const query = new URLSearchParams({
    'merge_request[source_branch]': name,
    'merge_request[target_branch]': branch,
  });
  return `${projectPagePath(code.project, 'merge_requests')}/new?${query.toString()}`;
};
