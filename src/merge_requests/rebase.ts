/** Puts the commits of a request on top of its target branch, in the background: the source branch moves. */
import { actingViewer } from '../access/acting.ts';
import type { Call, Platform } from '../access/call.ts';
import { userOf } from '../access/call.ts';
import { userColumns } from '../access/authenticate.ts';
import type { Tx } from '../db/open.ts';
import { Failure, conflict, forbidden } from '../errors.ts';
import { isGitFailure } from '../git/failure.ts';
import type { Oid } from '../git/protocol_types.ts';
import { type Project, loadProject } from '../projects/find.ts';
import { enqueue } from '../queue/queue.ts';
import { bringCommit } from '../repository/bring.ts';
import { moveRefs } from '../repository/move_refs.ts';
import { repositoryOf } from '../repository/open.ts';
import { mayForcePush, mayPushTo, protectedBranches } from '../repository/protected.ts';
import { branchPrefix } from '../repository/resolve.ts';
import type { FoundMergeRequest } from './find.ts';
import { branchesOf, readHeads } from './heads.ts';
import { notOpen } from './merge_rules.ts';
import { writeUnlessMerging } from './merging.ts';
import { loadRequest } from './open_requests.ts';

/** Background work: payload `{ merge_request_id, user_id }`. */
export const rebaseWork = 'merge_requests.rebase';

/**
 * History is rewritten: a protected branch must allow that, too. The source gets what the target has, which is for
 * those who see it, also when the work is done.
 */
const mayRebase = async (
  platform: Platform,
  { isVisibleTo, merge_request: { source_branch: branch } }: FoundMergeRequest,
  source: Project,
  userId: number,
): Promise<boolean> => {
  const { db } = platform.store;
  const viewer = await actingViewer(db, userId, platform.clock.now());
  if (viewer === null || !isVisibleTo(viewer)) return false;
  const rules = await protectedBranches(db, source.id);
  return mayPushTo(viewer, source, rules, branch) && mayForcePush(rules, branch);
};

const sourceProject = async (
  { store }: Pick<Platform, 'store'>,
  { merge_request: { source_project_id } }: FoundMergeRequest,
): Promise<Project | null> =>
  source_project_id === null ? null : await loadProject(store.db, source_project_id);

const flag = async (
  tx: Tx,
  id: number,
  rebase_in_progress: 0 | 1,
  merge_error: string | null,
): Promise<void> => {
  await tx.db
    .updateTable('merge_requests')
    .set({ rebase_in_progress, merge_error })
    .where('id', '=', id)
    .execute();
};

/**
 * Has a request rebased.
 * @throws Failure 403 for one who may not push to the source branch so, 406 where it is not open, 409 where one is on its way
 */
export const askRebase = async (call: Call, found: FoundMergeRequest): Promise<void> => {
  const { merge_request } = found;
  const user_id = userOf(call).id;
  const source = await sourceProject(call.platform, found);
  const isAllowed = source !== null && (await mayRebase(call.platform, found, source, user_id));
  if (!isAllowed) throw forbidden('Cannot push to source branch');
  await writeUnlessMerging(call.platform, merge_request, async (tx) => {
    const now = await tx.db
      .selectFrom('merge_requests')
      .select(['state', 'rebase_in_progress'])
      .where('id', '=', merge_request.id)
      .executeTakeFirst();
    if (now?.state !== 'opened') throw notOpen();
    if (now.rebase_in_progress === 1) throw conflict('The merge request is being rebased already');
    await flag(tx, merge_request.id, 1, null);
    await enqueue(tx, rebaseWork, { merge_request_id: merge_request.id, user_id });
  });
};

type Rebased = { source: Project; old: Oid; new: Oid };

/** @returns a text where it cannot be done */
const makeRebased = async (
  platform: Platform,
  found: FoundMergeRequest,
  userId: number,
): Promise<Rebased | string> => {
  const { db } = platform.store;
  const { merge_request, project } = found;
  const source = await sourceProject(platform, found);
  const heads = await readHeads(platform, await branchesOf(db, merge_request, project));
  const { source_sha, target_sha } = heads;
  if (source === null || source_sha === null || target_sha === null) return 'a branch is missing';
  if (!(await mayRebase(platform, found, source, userId))) return 'it is not allowed';
  if (source.id !== project.id) {
    await bringCommit(platform, { source: project, target: source }, target_sha, [source_sha]);
  }
  const user = await db
    .selectFrom('users')
    .select(userColumns)
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  const committer = {
    name: user.name,
    email: user.email,
    time: Math.floor(platform.clock.now() / 1000),
    offset: '+0000',
  };
  const ends = { onto: target_sha, head: source_sha };
  const made = await repositoryOf(platform, source).ask('merge.rebase', { ...ends, committer });
  return made === null ? 'there are conflicts' : { source, old: source_sha, new: made.id };
};

const move = async (
  platform: Platform,
  { merge_request: { source_branch } }: FoundMergeRequest,
  userId: number,
  { source, old, new: now }: Rebased,
): Promise<string | null> => {
  if (old === now) return null;
  try {
    await moveRefs(platform, {
      project: source,
      cause: { user: { id: userId }, sudo_by_id: null },
      kind: 'branch',
      updates: [{ ref: branchPrefix + source_branch, old, new: now }],
    });
    return null;
  } catch (error) {
    if (isGitFailure(error, 'conflict')) return 'the source branch was pushed to meanwhile';
    if (error instanceof Failure && error.kind !== 'unavailable') return 'it is not allowed';
    throw error;
  }
};

/** @returns a text where it cannot be done */
const tryRebase = async (
  platform: Platform,
  found: FoundMergeRequest,
  userId: number,
): Promise<string | null> => {
  try {
    const made = await makeRebased(platform, found, userId);
    return typeof made === 'string' ? made : await move(platform, found, userId, made);
  } catch (error) {
    if (isGitFailure(error, 'too_large')) return 'the changes are too large';
    throw error;
  }
};

export const rebaseRequest = async (
  platform: Platform,
  { merge_request_id: id, user_id }: { merge_request_id: number; user_id: number },
): Promise<void> => {
  const { store } = platform;
  const row = await store.db
    .selectFrom('merge_requests')
    .select(['id', 'project_id', 'state', 'rebase_in_progress'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined || row.rebase_in_progress === 0) return;
  const found = await loadRequest(store.db, row);
  const problem =
    found === null || row.state !== 'opened' ? 'it is not open' : await tryRebase(platform, found, user_id);
  await store.write(
    async (tx) => await flag(tx, id, 0, problem === null ? null : `Rebase failed: ${problem}`),
  );
};
