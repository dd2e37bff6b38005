/** A commit of changed files, on a branch or as the first of a new one. */
import { type Call, userOf } from '../access/call.ts';
import { type Failure, forbidden } from '../errors.ts';
import { type ActionProblem, type Oid, zeroOid } from '../git/protocol_types.ts';
import { isGitFailure } from '../git/failure.ts';
import { type FileAction, actionRefusal, packActions } from './actions.ts';
import { bringCommit } from './bring.ts';
import { changeRefs, requirePush, retrying, signatureOf } from './change_refs.ts';
import { type Code, defaultRefOf, findCode } from './code.ts';
import { mayForcePush, protectedBranches } from './protected.ts';
import { fileProblem, sizeProblem } from './push_policy.ts';
import { branchPrefix, findRef, refusal, resolveRevision } from './resolve.ts';
import { quotaOf } from './transfer.ts';

export type WantedCommit = {
  branch: string;
  message: string;
  actions: FileAction[];
  /** Where the branch begins that does not exist yet, or with `force` anew. */
  start_branch?: string | undefined;
  start_sha?: string | undefined;
  /** Whose branch or commit that is; default: this project's. */
  start_project?: number | string | undefined;
  author_name?: string | undefined;
  author_email?: string | undefined;
  force?: boolean | undefined;
  /** How a problem of an action is told; default: as for a commit of several. */
  refuse?: (problem: ActionProblem) => Failure;
};

const bad = (message: string): Failure => refusal('bad_request', message);

const noBranch = 'You can only create or edit files when you are on a branch';
const badName = 'Branch name is invalid';

/** Objects of another project, kept here from now on. */
const bringFrom = async (call: Call, code: Code, other: Code, commit: Oid): Promise<void> => {
  if (other.project.id === code.project.id) return;
  const branch = defaultRefOf(code.project);
  const tip = branch === null ? null : await findRef(code.repository, branch);
  const shared = tip?.commit ?? null;
  const places = { source: other.project, target: code.project };
  await bringCommit(call.platform, places, commit, shared === null ? [] : [shared]);
};

const isTaken = (branch: string): Failure =>
  bad(`A branch called '${branch}' already exists. Switch to that branch in order to make changes`);

/** The commit that the new one stands on; null: it is the first. */
const startOf = async (
  call: Call,
  code: Code,
  wanted: WantedCommit,
  current: Oid | null,
): Promise<Oid | null> => {
  const { branch, start_project, force = false } = wanted;
  // Clients save a file with `"start_branch": null`.
  const [start_branch, start_sha] = [wanted.start_branch || undefined, wanted.start_sha || undefined];
  const names = start_sha ?? start_branch;
  const isHere = start_project === undefined && (names === undefined || start_branch === branch);
  if (isHere && start_sha === undefined) {
    if (current === null && code.project.default_branch !== null) throw bad(noBranch);
    return current;
  }
  if (current !== null && !force) throw isTaken(branch);
  const from = start_project === undefined ? code : await findCode(call, start_project);
  const revision = start_sha ?? `${branchPrefix}${start_branch ?? branch}`;
  const found = await resolveRevision(from, revision);
  if (found === null) {
    if (from === code && start_sha === undefined && code.project.default_branch === null) return null;
    throw bad(start_sha === undefined ? noBranch : `Cannot find start_sha '${start_sha}'`);
  }
  await bringFrom(call, code, from, found.commit);
  return found.commit;
};

/** The limits of a push hold for what is committed here, too. */
const requireRoom = async (
  { platform }: Call,
  { repository }: Code,
  actions: FileAction[],
): Promise<void> => {
  const { file_bytes, repository_bytes } = quotaOf(platform.config);
  const sizes = actions.map(({ content }) => content?.length ?? 0);
  const tooLarge = fileProblem(Math.max(0, ...sizes), file_bytes, 'commit');
  if (tooLarge !== null) throw bad(tooLarge);
  const brought = sizes.reduce((sum, size) => sum + size, 0);
  if (repository_bytes === null || brought === 0) return;
  const { size } = await repository.ask('repository.statistics', {});
  const noRoom = sizeProblem(size + brought, repository_bytes, 'commit');
  if (noRoom !== null) throw bad(noRoom);
};

const attempt = async (call: Call, code: Code, wanted: WantedCommit): Promise<Oid> => {
  const { branch, message, actions, refuse = actionRefusal } = wanted;
  const { project, repository } = code;
  const user = userOf(call);
  const ref = branchPrefix + branch;
  const current = (await findRef(repository, ref))?.target ?? null;
  const parent = await startOf(call, code, wanted, current);
  const packed = packActions(actions);
  const author = signatureOf(call, user, { name: wanted.author_name, email: wanted.author_email });
  const made = await repository.ask(
    'commit.actions',
    { parent, actions: packed.actions, message, author, committer: signatureOf(call, user) },
    packed.body,
  );
  if ('problem' in made) throw refuse(made);
  const isForced = current !== null && parent !== current;
  await changeRefs(call, {
    project,
    kind: 'commit',
    updates: [{ ref, old: current ?? zeroOid, new: made.id }],
    branches: (now, rules) => {
      requirePush(call, branch)(now, rules);
      if (isForced && !mayForcePush(rules, branch)) {
        throw forbidden('You are not allowed to force push code to a protected branch on this project.');
      }
    },
  });
  return made.id;
};

/**
 * Makes the commit and moves the branch to it; answers its id once both are durable.
 * @throws Failure 400 in GitLab's words, 403 for who may not push there
 */
export const commitFiles = async (call: Call, code: Code, wanted: WantedCommit): Promise<Oid> => {
  const { db } = call;
  requirePush(call, wanted.branch)(code.project, await protectedBranches(db, code.project.id));
  await requireRoom(call, code, wanted.actions);
  try {
    return await retrying(async () => await attempt(call, code, wanted));
  } catch (error) {
    throw isGitFailure(error, 'invalid') ? bad(badName) : error;
  }
};
