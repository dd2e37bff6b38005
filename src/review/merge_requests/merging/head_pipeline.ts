/** Loads the status of a merge request's head pipeline. */
import { type RawBuilder, sql } from 'kysely';
import type { Reader } from '../../../platform/db/open.ts';
import type { JobStatus } from '../../../platform/db/schema/ci.ts';
import type { MergeRequestRow } from '../rows.ts';

type Request = Pick<MergeRequestRow, 'id' | 'source_project_id' | 'source_branch' | 'head_sha'>;

/** Orders pipelines of a head; the first counts. Own pipelines precede external pipelines; the newest comes first. */
export const headOrder: RawBuilder<number> = sql`case source when 'external' then 0 else pipelines.id end desc,
  pipelines.id desc`;

export type HeadPipeline = { status: JobStatus; isExternal: boolean };

/** Loads the pipeline of the head, of the branch or of the request itself; null if there is none. */
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

/**
 * Returns whether a project that requires successful pipelines allows the merge. A missing pipeline counts as success.
 */
export const isGreen = (status: JobStatus | null): boolean => status === null || green.includes(status);
