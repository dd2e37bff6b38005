/** What was pushed gets its pipelines in the background: until then, that a head has none says nothing. */
import { sql } from 'kysely';
import type { Reader } from '../db/open.ts';
import type { JobStatus } from '../db/schema_ci.ts';
import { likePattern } from '../issuables/search_terms.ts';
import { isWaiting } from '../queue/waiting.ts';
import { dropped } from '../repository/operations.ts';
import { branchPrefix } from '../repository/resolve.ts';
import { headPipeline } from './head_pipeline.ts';
import type { MergeRequestRow } from './rows.ts';

type Request = Pick<MergeRequestRow, 'id' | 'source_project_id' | 'source_branch' | 'head_sha'>;

/** Whether git moves the ref just now. The row says so until the work that follows is there. */
const isMoving = async (db: Reader, project_id: number, naming: string): Promise<boolean> => {
  const found = await db
    .selectFrom('git_operations')
    .select('id')
    .where('project_id', '=', project_id)
    .where('process', '<>', dropped)
    .where(sql<boolean>`updates like ${likePattern(naming)} escape '\\'`)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
};

/** Whether a request's head may get a pipeline yet: somebody pushed to its branch, or opened it, just now. */
const isUnfollowed = async (
  db: Reader,
  { id, source_project_id: project_id, source_branch }: Request,
): Promise<boolean> => {
  if (project_id === null) return false;
  const naming = `"ref":${JSON.stringify(branchPrefix + source_branch)}`;
  if (await isMoving(db, project_id, naming)) return true;
  // There the updates are a text within the text.
  const within = JSON.stringify(naming).slice(1, -1);
  if (await isWaiting(db, { project_id }, likePattern(within))) return true;
  return await isWaiting(db, { merge_request_id: id });
};

/**
 * Of the pipeline of a request's head; `coming`: there may be one yet, whatever other systems say of the head by now;
 * null: there is none, and none comes.
 */
export const certainStatus = async (db: Reader, request: Request): Promise<JobStatus | 'coming' | null> => {
  const pipeline = await headPipeline(db, request);
  if (pipeline !== null && !pipeline.isExternal) return pipeline.status;
  if (await isUnfollowed(db, request)) return 'coming';
  // One may have come since the first look.
  return (await headPipeline(db, request))?.status ?? null;
};
