/** Merges requests whose automatic merge waits, as soon as nothing is in the way. */
import { loadActingUser } from '../../../../core/access/background_actor.ts';
import type { Platform } from '../../../../core/platform.ts';
import type { Reader } from '../../../../platform/db/open.ts';
import type { TodosTable } from '../../../../platform/db/schema/planning.ts';
import { Failure, unavailable } from '../../../../platform/errors.ts';
import { loadProject } from '../../../../projects/projects/find.ts';
import { addTodos } from '../../../../planning/todos/add_todos.ts';
import { type LoadedMergeRequest, reloadMergeRequest } from '../../find.ts';
import { isGreen } from '../head_pipeline.ts';
import { type MergeParams, type Merger, ScheduleChanged, acceptMerge } from '../merge.ts';
import { waitsForChecks } from './merge_when_pipeline_succeeds.ts';
import { isReviewed, requireOpen } from '../rules.ts';
import { loadFinalStatus } from '../pending_pushes.ts';

/** Adds todos about a merge request for these users. */
export const addMergeTodos = async (
  { store }: Platform,
  { target, merge_request }: LoadedMergeRequest,
  userIds: Iterable<number | null>,
  action: TodosTable['action'],
): Promise<void> => {
  const todos = [...new Set(userIds)]
    .filter((id) => id !== null)
    .map((user_id) => ({ user_id, action, body: merge_request.title }));
  await store.write(async (tx) => await addTodos(tx, merge_request.author_id, target, todos));
};

const loadMerger = async ({ store, clock }: Platform, userId: number): Promise<Merger | null> => {
  const acting = await loadActingUser(store.db, userId, clock.now());
  if (acting === null) return null;
  const { user, viewer } = acting;
  return { cause: { user, sudo_by_id: null }, viewer, name: user.name, email: user.email };
};

/** Returns whether a merge that failed still waits: nobody has merged or canceled it, and its head is the same. */
const isStillWaiting = async (
  db: Reader,
  { project, merge_request }: LoadedMergeRequest,
): Promise<boolean> => {
  const { merge_request: now } = await reloadMergeRequest(db, project, merge_request.id);
  return now.state === 'opened' && now.merge_when_pipeline_succeeds === 1;
};

/**
 * Merges on behalf of the user who scheduled the merge; a failure adds a todo for that user. Merges only this commit,
 * because a newer push may not have been processed yet.
 */
export const mergeScheduled = async (
  platform: Platform,
  loaded: LoadedMergeRequest,
  sha: string,
): Promise<void> => {
  const { db } = platform.store;
  const { merge_user_id, merge_params } = loaded.merge_request;
  const merger = merge_user_id === null ? null : await loadMerger(platform, merge_user_id);
  if (merger === null) return;
  const params = { ...(JSON.parse(merge_params) as MergeParams), sha };
  const schedule = { merge_user_id, merge_params };
  try {
    await requireOpen(db, merger.viewer, loaded);
    await acceptMerge({ platform, loaded, merger, params, schedule });
  } catch (error) {
    // A new schedule has enqueued its own check.
    if (error instanceof ScheduleChanged) return;
    if (!(error instanceof Failure) || error.kind === 'unavailable') throw error;
    if (!(await isStillWaiting(db, loaded))) return;
    // An operation that started since the check enqueues the check again when it is done; a push cancels the merge.
    const isOnlyDelayed = error.kind === 'conflict' || !(await isReviewed(db, loaded));
    if (waitsForChecks(loaded.merge_request) && isOnlyDelayed) return;
    await addMergeTodos(platform, loaded, [merge_user_id], 'unmergeable');
  }
};

/** Loads an open request whose merge waits; null if there is none. */
const loadWaiting = async ({ store: { db } }: Platform, id: number): Promise<LoadedMergeRequest | null> => {
  const row = await db
    .selectFrom('merge_requests')
    .select('project_id')
    .where('id', '=', id)
    .where('state', '=', 'opened')
    .where('merge_when_pipeline_succeeds', '=', 1)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  const project = row === undefined ? null : await loadProject(db, row.project_id);
  return project === null ? null : await reloadMergeRequest(db, project, id);
};

/**
 * Returns whether all checks of a waiting merge pass that need no git.
 * @throws Failure 503 while the head may still get a pipeline, so the work is retried
 */
const isReadyToMerge = async (db: Reader, loaded: LoadedMergeRequest): Promise<boolean> => {
  if (!(await isReviewed(db, loaded))) return false;
  const status = await loadFinalStatus(db, loaded.merge_request);
  if (!waitsForChecks(loaded.merge_request)) return status === 'success';
  if (status === 'coming') throw unavailable();
  return isGreen(status);
};

/** Merges a request whose automatic merge waits, if all its checks pass. Idempotent. */
export const mergeIfReady = async (platform: Platform, mergeRequestId: number): Promise<void> => {
  const loaded = await loadWaiting(platform, mergeRequestId);
  if (loaded === null || !(await isReadyToMerge(platform.store.db, loaded))) return;
  const { head_sha } = loaded.merge_request;
  if (head_sha !== null) await mergeScheduled(platform, loaded, head_sha);
};
