/** What the end of a pipeline does to the requests whose head it is of. */
import { actingUser } from '../access/acting.ts';
import type { Platform } from '../access/call.ts';
import type { TodosTable } from '../db/schema.ts';
import { Failure, unavailable } from '../errors.ts';
import { loadProject } from '../projects/find.ts';
import { addTodos } from '../todos/add.ts';
import { type FoundMergeRequest, reloadMergeRequest } from './find.ts';
import { isGreen } from './head_pipeline.ts';
import { type MergeParams, type Merger, acceptMerge } from './merge.ts';
import { requireOpen } from './merge_rules.ts';
import { certainStatus } from './unfollowed.ts';

export type EndedPipeline = {
  /** Whose pipeline it is: the project that requests come from. */
  project_id: number;
  ref: string;
  sha: string;
  status: 'success' | 'failed' | 'canceled' | 'skipped';
};

const requestsOf = async (platform: Platform, { project_id, ref, sha }: EndedPipeline) =>
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

const tell = async (
  { store }: Platform,
  { target, merge_request }: FoundMergeRequest,
  userIds: Iterable<number | null>,
  action: TodosTable['action'],
): Promise<void> => {
  const todos = [...new Set(userIds)]
    .filter((id) => id !== null)
    .map((user_id) => ({ user_id, action, body: merge_request.title }));
  await store.write(async (tx) => await addTodos(tx, merge_request.author_id, target, todos));
};

const mergerOf = async ({ store, clock }: Platform, userId: number): Promise<Merger | null> => {
  const acting = await actingUser(store.db, userId, clock.now());
  if (acting === null) return null;
  const { user, viewer } = acting;
  return { cause: { user, sudo_by_id: null }, viewer, name: user.name, email: user.email };
};

/**
 * Merges in the name of who asked for it; where that cannot be done, he is told. Only what the pipeline was of: what
 * was pushed since may not have been heard of yet.
 */
const mergeNow = async (platform: Platform, found: FoundMergeRequest, sha: string): Promise<void> => {
  const { merge_user_id, merge_params } = found.merge_request;
  const merger = merge_user_id === null ? null : await mergerOf(platform, merge_user_id);
  if (merger === null) return;
  const params = { ...(JSON.parse(merge_params) as MergeParams), sha };
  try {
    await requireOpen(platform.store.db, merger.viewer, found);
    await acceptMerge({ platform, found, merger, params });
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === 'unavailable') throw error;
    await tell(platform, found, [merge_user_id], 'unmergeable');
  }
};

/** Safe to be told twice. */
export const pipelineEnded = async (platform: Platform, ended: EndedPipeline): Promise<void> => {
  const { db } = platform.store;
  for (const { id, project_id } of await requestsOf(platform, ended)) {
    // oxlint-disable-next-line no-await-in-loop -- one after another
    const project = await loadProject(db, project_id);
    if (project === null) continue;
    // oxlint-disable-next-line no-await-in-loop
    const found = await reloadMergeRequest(db, project, id);
    const { author_id, merge_user_id, merge_when_pipeline_succeeds } = found.merge_request;
    if (ended.status === 'failed') {
      // oxlint-disable-next-line no-await-in-loop
      await tell(platform, found, [author_id, merge_user_id], 'build_failed');
    }
    if (ended.status !== 'success' || merge_when_pipeline_succeeds === 0) continue;
    // Where the head has several, the newest counts.
    // oxlint-disable-next-line no-await-in-loop
    const status = await certainStatus(db, found.merge_request);
    // What other systems say is not all that counts: it is looked at again, a while later.
    if (status === 'coming') throw unavailable();
    // oxlint-disable-next-line no-await-in-loop
    if (isGreen(status)) await mergeNow(platform, found, ended.sha);
  }
};
