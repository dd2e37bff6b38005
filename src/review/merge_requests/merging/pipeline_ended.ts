/** Updates the merge requests whose head a finished pipeline ran for. */
import { loadActingUser } from '../../../core/access/background_actor.ts';
import type { Platform } from '../../../core/platform.ts';
import type { TodosTable } from '../../../platform/db/schema/planning.ts';
import { Failure, unavailable } from '../../../platform/errors.ts';
import { loadProject } from '../../../projects/projects/find.ts';
import { addTodos } from '../../../planning/todos/add_todos.ts';
import { type LoadedMergeRequest, reloadMergeRequest } from '../find.ts';
import { isGreen } from './head_pipeline.ts';
import { type MergeParams, type Merger, acceptMerge } from './merge.ts';
import { requireOpen } from './rules.ts';
import { loadFinalStatus } from './pending_pushes.ts';

export type EndedPipeline = {
  /** The project of the pipeline, which is the source project of the requests. */
  project_id: number;
  ref: string;
  sha: string;
  status: 'success' | 'failed' | 'canceled' | 'skipped';
};

const loadOpenRequests = async (platform: Platform, { project_id, ref, sha }: EndedPipeline) =>
  await platform.store.db
    .selectFrom('merge_requests')
    .select(['id', 'project_id'])
    .where('source_project_id', '=', project_id)
    .where('source_branch', '=', ref)
    .where('state', '=', 'opened')
    .where('head_sha', '=', sha)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .limit(100)
    .execute();

const addPipelineTodos = async (
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

/**
 * Merges on behalf of the user who scheduled the merge; a failure adds a todo for that user. Merges only the commit
 * the pipeline ran for, because a newer push may not have been processed yet.
 */
const mergeNow = async (platform: Platform, loaded: LoadedMergeRequest, sha: string): Promise<void> => {
  const { merge_user_id, merge_params } = loaded.merge_request;
  const merger = merge_user_id === null ? null : await loadMerger(platform, merge_user_id);
  if (merger === null) return;
  const params = { ...(JSON.parse(merge_params) as MergeParams), sha };
  try {
    await requireOpen(platform.store.db, merger.viewer, loaded);
    await acceptMerge({ platform, loaded, merger, params });
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === 'unavailable') throw error;
    await addPipelineTodos(platform, loaded, [merge_user_id], 'unmergeable');
  }
};

/** Adds todos for a failed pipeline, or runs scheduled merges after a successful one. Idempotent. */
export const followEndedPipeline = async (platform: Platform, ended: EndedPipeline): Promise<void> => {
  const { db } = platform.store;
  for (const { id, project_id } of await loadOpenRequests(platform, ended)) {
    const project = await loadProject(db, project_id);
    if (project === null) continue;
    const loaded = await reloadMergeRequest(db, project, id);
    const { author_id, merge_user_id, merge_when_pipeline_succeeds } = loaded.merge_request;
    if (ended.status === 'failed') {
      await addPipelineTodos(platform, loaded, [author_id, merge_user_id], 'build_failed');
    }
    if (ended.status !== 'success' || merge_when_pipeline_succeeds === 0) continue;
    // If the head has several pipelines, the newest decides.
    const status = await loadFinalStatus(db, loaded.merge_request);
    // External statuses alone do not decide: the work is retried later.
    if (status === 'coming') throw unavailable();
    if (isGreen(status)) await mergeNow(platform, loaded, ended.sha);
  }
};
