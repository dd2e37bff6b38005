/** Rebases the source branch of a request onto its target branch, in the background. */
import { loadActingViewer } from '../../../core/access/background_actor.ts';
import type { Call } from '../../../core/access/call.ts';
import type { Platform } from '../../../core/platform.ts';
import { requireUser } from '../../../core/access/call.ts';
import { userColumns } from '../../../core/access/credentials/authenticate.ts';
import type { Viewer } from '../../../core/access/viewer.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { Failure, conflict, forbidden } from '../../../platform/errors.ts';
import { isGitFailure } from '../../../platform/git/failure.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import { type Project, loadProject } from '../../../projects/projects/find.ts';
import { enqueue } from '../../../platform/queue/enqueue.ts';
import { importCommit } from '../../../code/repository/refs/import_commits.ts';
import { moveRefs } from '../../../code/repository/refs/move_refs.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import { mayForcePush, mayPushTo, loadProtectedBranches } from '../../../code/repository/protection/rules.ts';
import { branchPrefix } from '../../../code/repository/refs/resolve.ts';
import type { LoadedMergeRequest } from '../find.ts';
import { loadBranches, readHeads } from '../refresh/branch_heads.ts';
import { notOpen } from './rules.ts';
import { writeUnlessMerging } from './merge_lock.ts';
import { loadRequest } from '../refresh/open_requests.ts';

/** Background work: payload `{ merge_request_id, user_id, skip_ci }`. */
export const rebaseWork = 'merge_requests.rebase';

/**
 * Returns whether the viewer may push and force push to the source, and see the target, whose commits are copied to the
 * source.
 */
const canViewerRebase = async (
  db: Reader,
  { isVisibleTo, merge_request: { source_branch: branch } }: LoadedMergeRequest,
  source: Project,
  viewer: Viewer,
): Promise<boolean> => {
  if (!isVisibleTo(viewer)) return false;
  const rules = await loadProtectedBranches(db, source.id);
  return mayPushTo(viewer, source, rules, branch) && mayForcePush(rules, branch);
};

/** Returns whether the user may rebase. Checked again when the work runs. */
const mayRebase = async (
  platform: Platform,
  loaded: LoadedMergeRequest,
  source: Project,
  userId: number,
): Promise<boolean> => {
  const { db } = platform.store;
  const viewer = await loadActingViewer(db, userId, platform.clock.now());
  return viewer !== null && (await canViewerRebase(db, loaded, source, viewer));
};

const loadSourceProject = async (
  { store }: Pick<Platform, 'store'>,
  { merge_request: { source_project_id } }: LoadedMergeRequest,
): Promise<Project | null> =>
  source_project_id === null ? null : await loadProject(store.db, source_project_id);

/** Returns whether the caller may rebase a request. */
export const mayRebaseAsCaller = async (call: Call, loaded: LoadedMergeRequest): Promise<boolean> => {
  if (call.actor === null) return false;
  const isOwn = loaded.merge_request.source_project_id === loaded.project.id;
  const source = isOwn ? loaded.project : await loadSourceProject(call.platform, loaded);
  return source !== null && (await canViewerRebase(call.db, loaded, source, call.viewer));
};

const setRebaseState = async (
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
 * Enqueues the rebase of a request.
 * @throws Failure 403 without permission to force push, 406 if it is not open, 409 if a rebase is in progress
 */
export const enqueueRebase = async (
  call: Call,
  loaded: LoadedMergeRequest,
  skip_ci = false,
): Promise<void> => {
  const { merge_request } = loaded;
  const user_id = requireUser(call).id;
  const source = await loadSourceProject(call.platform, loaded);
  const isAllowed = source !== null && (await mayRebase(call.platform, loaded, source, user_id));
  if (!isAllowed) throw forbidden('Cannot push to source branch');
  await writeUnlessMerging(call.platform, merge_request, async (tx) => {
    const now = await tx.db
      .selectFrom('merge_requests')
      .select(['state', 'rebase_in_progress'])
      .where('id', '=', merge_request.id)
      .executeTakeFirst();
    if (now?.state !== 'opened') throw notOpen();
    if (now.rebase_in_progress === 1) throw conflict('The merge request is being rebased already');
    await setRebaseState(tx, merge_request.id, 1, null);
    await enqueue(tx, rebaseWork, { merge_request_id: merge_request.id, user_id, skip_ci });
  });
};

/** @property skip_ci whether the pipeline of the rebased commits is skipped */
type Requested = { user_id: number; skip_ci: boolean };

type Rebased = { source: Project; old: Oid; new: Oid };

/** @returns the reason as text if it is not possible */
const makeRebased = async (
  platform: Platform,
  loaded: LoadedMergeRequest,
  userId: number,
): Promise<Rebased | string> => {
  const { db } = platform.store;
  const { merge_request, project } = loaded;
  const source = await loadSourceProject(platform, loaded);
  const heads = await readHeads(platform, await loadBranches(db, merge_request, project));
  const { source_sha, target_sha } = heads;
  if (source === null || source_sha === null || target_sha === null) return 'a branch is missing';
  if (!(await mayRebase(platform, loaded, source, userId))) return 'it is not allowed';
  if (source.id !== project.id) {
    await importCommit(platform, { source: project, target: source }, target_sha, [source_sha]);
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
  const rebased = await getRepository(platform, source).ask('merge.rebase', { ...ends, committer });
  return rebased === null ? 'there are conflicts' : { source, old: source_sha, new: rebased.id };
};

const moveSourceBranch = async (
  platform: Platform,
  { merge_request: { source_branch } }: LoadedMergeRequest,
  { user_id, skip_ci }: Requested,
  { source, old, new: newOid }: Rebased,
): Promise<string | null> => {
  if (old === newOid) return null;
  try {
    await moveRefs(platform, {
      project: source,
      cause: { user: { id: user_id }, sudo_by_id: null },
      kind: 'branch',
      ...(skip_ci && { data: { push_options: ['ci.skip'] } }),
      updates: [{ ref: branchPrefix + source_branch, old, new: newOid }],
    });
    return null;
  } catch (error) {
    if (isGitFailure(error, 'conflict')) return 'the source branch was pushed to meanwhile';
    if (error instanceof Failure && error.kind !== 'unavailable') return 'it is not allowed';
    throw error;
  }
};

/** @returns the reason as text if it is not possible */
const tryRebase = async (
  platform: Platform,
  loaded: LoadedMergeRequest,
  requested: Requested,
): Promise<string | null> => {
  try {
    const made = await makeRebased(platform, loaded, requested.user_id);
    return typeof made === 'string' ? made : await moveSourceBranch(platform, loaded, requested, made);
  } catch (error) {
    if (isGitFailure(error, 'too_large')) return 'the changes are too large';
    throw error;
  }
};

export const rebaseRequest = async (
  platform: Platform,
  { merge_request_id: id, ...requested }: Requested & { merge_request_id: number },
): Promise<void> => {
  const { store } = platform;
  const row = await store.db
    .selectFrom('merge_requests')
    .select(['id', 'project_id', 'state', 'rebase_in_progress'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined || row.rebase_in_progress === 0) return;
  const loaded = await loadRequest(store.db, row);
  const problem =
    loaded === null || row.state !== 'opened'
      ? 'it is not open'
      : await tryRebase(platform, loaded, requested);
  await store.write(
    async (tx) => await setRebaseState(tx, id, 0, problem === null ? null : `Rebase failed: ${problem}`),
  );
};
