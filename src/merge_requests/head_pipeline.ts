/** What the pipeline of a request's head came to: the one thing that merging asks of pipelines. */
import { type RawBuilder, sql } from 'kysely';
import type { Reader } from '../db/open.ts';
import type { JobStatus } from '../db/schema_ci.ts';
import type { MergeRequestRow } from './rows.ts';

type Request = Pick<MergeRequestRow, 'id' | 'source_project_id' | 'source_branch' | 'head_sha'>;

/** Of several, the first counts: what runs here, before what other systems alone say; the newest of these. */
export const headOrder: RawBuilder<number> = sql`case source when 'external' then 0 else pipelines.id end desc,
  pipelines.id desc`;

type HeadPipeline = { status: JobStatus; isExternal: boolean };

/** The pipeline of the head, of its branch or of the request itself; null: there is none. */
export const headPipeline = async (
  db: Reader,
  { id, source_project_id, source_branch, head_sha }: Request,
): Promise<HeadPipeline | null> => {
  if (source_project_id === null || head_sha === null) return null;
  const pipeline = await db
    .selectFrom('pipelines')
    .select(['status', 'source'])
    .where('sha', '=', head_sha)
    .where('project_id', '=', source_project_id)
    .where('source', '<>', 'parent_pipeline')
    .where((is) => is.or([is('ref', '=', source_branch), is('merge_request_id', '=', id)]))
    .orderBy(headOrder)
    .limit(1)
    .executeTakeFirst();
  return pipeline === undefined
    ? null
    : { status: pipeline.status, isExternal: pipeline.source === 'external' };
};

const green: readonly JobStatus[] = ['success', 'skipped'];

/** Whether a project that asks for green pipelines lets it pass; without any pipeline there is nothing to ask for. */
export const isGreen = (status: JobStatus | null): boolean => status === null || green.includes(status);
