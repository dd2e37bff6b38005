/** Updates the merge requests whose head a finished pipeline ran for. */
import type { Platform } from '../../../../core/platform.ts';
import { unavailable } from '../../../../platform/errors.ts';
import { loadProject } from '../../../../projects/projects/find.ts';
import { type LoadedMergeRequest, reloadMergeRequest } from '../../find.ts';
import { addMergeTodos, mergeScheduled } from './auto_merge.ts';
import { isGreen } from '../head_pipeline.ts';
import { waitsForChecks } from './merge_when_pipeline_succeeds.ts';
import { isReviewed } from '../rules.ts';
import { loadFinalStatus } from '../pending_pushes.ts';

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

/** Runs the scheduled merge of a request after a successful pipeline of its head. */
const mergeAfterSuccess = async (
  platform: Platform,
  loaded: LoadedMergeRequest,
  sha: string,
): Promise<void> => {
  const { db } = platform.store;
  // Any other blocker merges the request when it is resolved.
  if (waitsForChecks(loaded.merge_request) && !(await isReviewed(db, loaded))) return;
  // If the head has several pipelines, the newest decides.
  const status = await loadFinalStatus(db, loaded.merge_request);
  // External statuses are not decisive: the work is retried later.
  if (status === 'coming') throw unavailable();
  if (isGreen(status)) await mergeScheduled(platform, loaded, sha);
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
      await addMergeTodos(platform, loaded, [author_id, merge_user_id], 'build_failed');
    }
    // A skipped pipeline allows merges that wait for all checks.
    const isOver =
      ended.status === 'success' || (ended.status === 'skipped' && waitsForChecks(loaded.merge_request));
    if (isOver && merge_when_pipeline_succeeds === 1) await mergeAfterSuccess(platform, loaded, ended.sha);
  }
};
