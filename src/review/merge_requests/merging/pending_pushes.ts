/** Detects pushes whose pipelines have not been created yet, so that a missing pipeline is not taken for none. */
import { sql } from 'kysely';
import { compiled } from '../../../platform/db/compiled_query.ts';
import { likePattern } from '../../../platform/db/contains_text.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { JobStatus } from '../../../platform/db/schema/ci.ts';
import { isWorkPending } from '../../../platform/queue/is_pending.ts';
import { dropped } from '../../../code/repository/refs/operations.ts';
import { branchPrefix } from '../../../code/repository/refs/resolve.ts';
import { type HeadPipeline, headPipeline } from './head_pipeline.ts';
import type { MergeRequestRow } from '../rows.ts';

type Request = Pick<MergeRequestRow, 'id' | 'source_project_id' | 'source_branch' | 'head_sha'>;

const selectOperation = compiled((db, { project_id, naming }: { project_id: number; naming: string }) =>
  db
    .selectFrom('git_operations')
    .select('id')
    .where('project_id', '=', project_id)
    .where('process', '<>', dropped)
    .where(sql<boolean>`updates like ${naming} escape '\\'`)
    .limit(1)
    .compile(),
);

/** Returns whether a ref operation is in progress. Its row exists until the follow-up work is enqueued. */
const isRefMoving = async (db: Reader, project_id: number, naming: string): Promise<boolean> =>
  (await selectOperation(db, { project_id, naming: likePattern(naming) })).length > 0;

/** Returns whether the head may still get a pipeline, because of a recent push or creation. */
const hasPendingPush = async (
  db: Reader,
  { id, source_project_id: project_id, source_branch }: Request,
): Promise<boolean> => {
  if (project_id === null) return false;
  const naming = `"ref":${JSON.stringify(branchPrefix + source_branch)}`;
  if (await isRefMoving(db, project_id, naming)) return true;
  // In the work payload the updates are JSON within JSON.
  const within = JSON.stringify(naming).slice(1, -1);
  if (await isWorkPending(db, { project_id }, likePattern(within))) return true;
  return await isWorkPending(db, { merge_request_id: id });
};

/**
 * Status of the pipeline of a request's head. `coming`: a pipeline may still be created, regardless of external
 * statuses. null if there is no pipeline and none is expected.
 * @param known the pipeline of the head, if it is already loaded; null if there is none
 */
export const loadFinalStatus = async (
  db: Reader,
  request: Request,
  known?: HeadPipeline | null,
): Promise<JobStatus | 'coming' | null> => {
  const pipeline = known === undefined ? await headPipeline(db, request) : known;
  if (pipeline !== null && !pipeline.isExternal) return pipeline.status;
  if (await hasPendingPush(db, request)) return 'coming';
  // A pipeline may have been created since the first query.
  return (await headPipeline(db, request))?.status ?? null;
};
