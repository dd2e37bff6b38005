/** Commits file actions to an existing or a new branch. */
import { type Call, requireUser } from '../../../core/access/call.ts';
import { type Failure, forbidden } from '../../../platform/errors.ts';
import { type ActionProblem, type Oid, zeroOid } from '../../../platform/git/protocol_types.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import { type FileAction, actionRefusal, packActions } from './file_actions.ts';
import { importCommit } from '../refs/import_commits.ts';
import { changeRefs, requirePushPermission, retryOnConflict } from '../refs/authorized_ref_changes.ts';
import { getGitIdentity } from '../refs/git_identity.ts';
import { type Code, getDefaultRef, findCode } from '../find_code.ts';
import { mayForcePush, loadProtectedBranches } from '../protection/rules.ts';
import { fileProblem, sizeProblem } from '../refs/push_policy.ts';
import { branchPrefix, findRef, refusal, resolveRevision } from '../refs/resolve.ts';
import { getQuota } from '../refs/transfer_access.ts';

export type CommitRequest = {
  branch: string;
  message: string;
  actions: FileAction[];
  /** Where a new branch starts; with `force`, where an existing branch is reset to. */
  start_branch?: string | undefined;
  start_sha?: string | undefined;
  /** Project of the start branch or commit; default: this project. */
  start_project?: number | string | undefined;
  author_name?: string | undefined;
  author_email?: string | undefined;
  force?: boolean | undefined;
  /** Converts a failed action to an error; default: `actionRefusal`. */
  refuse?: (problem: ActionProblem) => Failure;
};

const bad = (message: string): Failure => refusal('bad_request', message);

const noBranch = 'You can only create or edit files when you are on a branch';
const badName = 'Branch name is invalid';

/** Imports a commit of another project. */
const importFrom = async (call: Call, code: Code, other: Code, commit: Oid): Promise<void> => {
  if (other.project.id === code.project.id) return;
  const branch = getDefaultRef(code.project);
  const tip = branch === null ? null : await findRef(code.repository, branch);
  const shared = tip?.commit ?? null;
  const places = { source: other.project, target: code.project };
  await importCommit(call.platform, places, commit, shared === null ? [] : [shared]);
};

const isTaken = (branch: string): Failure =>
  bad(`A branch called '${branch}' already exists. Switch to that branch in order to make changes`);

/** Resolves the parent of the new commit; null for the first commit of the repository. */
const resolveParent = async (
  call: Call,
  code: Code,
  request: CommitRequest,
  current: Oid | null,
): Promise<Oid | null> => {
  const { branch, start_project, force = false } = request;
  // Clients save a file with `"start_branch": null`.
  const [start_branch, start_sha] = [request.start_branch || undefined, request.start_sha || undefined];
  const names = start_sha ?? start_branch;
  const isHere = start_project === undefined && (names === undefined || start_branch === branch);
  if (isHere && start_sha === undefined) {
    if (current === null && code.project.default_branch !== null) throw bad(noBranch);
    return current;
  }
  if (current !== null && !force) throw isTaken(branch);
  const from = start_project === undefined ? code : await findCode(call, start_project);
  const revision = start_sha ?? `${branchPrefix}${start_branch ?? branch}`;
  const start = await resolveRevision(from, revision);
  if (start === null) {
    if (from === code && start_sha === undefined && code.project.default_branch === null) return null;
    throw bad(start_sha === undefined ? noBranch : `Cannot find start_sha '${start_sha}'`);
  }
  await importFrom(call, code, from, start.commit);
  return start.commit;
};

/** Applies the size limits of pushes to a commit. @throws Failure 400 */
export const requireSizesWithinLimits = async (
  { platform }: Call,
  { repository }: Code,
  actions: FileAction[],
): Promise<void> => {
  const { file_bytes, repository_bytes } = getQuota(platform.config);
  const sizes = actions.map(({ content }) => content?.length ?? 0);
  const tooLarge = fileProblem(Math.max(0, ...sizes), file_bytes, 'commit');
  if (tooLarge !== null) throw bad(tooLarge);
  const added = sizes.reduce((sum, size) => sum + size, 0);
  if (repository_bytes === null || added === 0) return;
  const { size } = await repository.ask('repository.statistics', {});
  const overQuota = sizeProblem(size + added, repository_bytes, 'commit');
  if (overQuota !== null) throw bad(overQuota);
};

const attempt = async (call: Call, code: Code, request: CommitRequest): Promise<Oid> => {
  const { branch, message, actions, refuse = actionRefusal } = request;
  const { project, repository } = code;
  const user = requireUser(call);
  const ref = branchPrefix + branch;
  const current = (await findRef(repository, ref))?.target ?? null;
  const parent = await resolveParent(call, code, request, current);
  const packed = packActions(actions);
  const author = getGitIdentity(call, user, { name: request.author_name, email: request.author_email });
  const created = await repository.ask(
    'commit.actions',
    { parent, actions: packed.actions, message, author, committer: getGitIdentity(call, user) },
    packed.body,
  );
  if ('problem' in created) throw refuse(created);
  const isForced = current !== null && parent !== current;
  await changeRefs(call, {
    project,
    kind: 'commit',
    updates: [{ ref, old: current ?? zeroOid, new: created.id }],
    branches: (now, rules) => {
      requirePushPermission(call, branch)(now, rules);
      if (isForced && !mayForcePush(rules, branch)) {
        throw forbidden('You are not allowed to force push code to a protected branch on this project.');
      }
    },
  });
  return created.id;
};

/**
 * Creates the commit and moves the branch to it. Returns its id once both are durable.
 * @throws Failure 400 with GitLab's message, 403 without permission to push
 */
export const commitFiles = async (call: Call, code: Code, request: CommitRequest): Promise<Oid> => {
  const { db } = call;
  requirePushPermission(call, request.branch)(code.project, await loadProtectedBranches(db, code.project.id));
  await requireSizesWithinLimits(call, code, request.actions);
  try {
    return await retryOnConflict(async () => await attempt(call, code, request));
  } catch (error) {
    throw isGitFailure(error, 'invalid') ? bad(badName) : error;
  }
};
