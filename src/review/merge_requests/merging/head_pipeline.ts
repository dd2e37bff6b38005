/** Loads the status of a merge request's head pipeline. */
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { JobStatus } from '../../../platform/db/schema/ci.ts';
import type { Schema } from '../../../platform/db/schema/database.ts';
import type { MergeRequestRow } from '../rows.ts';

type Request = Pick<MergeRequestRow, 'id' | 'source_project_id' | 'source_branch' | 'head_sha'>;

/** Orders pipelines of a head; the first counts. Own pipelines precede external pipelines; the newest comes first. */
export const headOrder: RawBuilder<number> = sql`case source when 'external' then 0 else pipelines.id end desc,
  pipelines.id desc`;

/** The head of a merge request in its source project. */
export type Head = { id: number; source_project_id: number; source_branch: string; head_sha: string };

/** Narrows a query of pipelines to the one of a head: of the branch, or of the merge request itself. */
export const whereHead = <O>(
  query: SelectQueryBuilder<Schema, 'pipelines', O>,
  { id, source_project_id, source_branch, head_sha }: Head,
) =>
  query
    .where('sha', '=', head_sha)
    .where('project_id', '=', source_project_id)
    .where('source', '<>', 'parent_pipeline')
    .where((is) => is.or([is('ref', '=', source_branch), is('merge_request_id', '=', id)]))
    .orderBy(headOrder)
    .limit(1);

const selectHead = compiled((db, head: Head) =>
  whereHead(db.selectFrom('pipelines').select(['status', 'source']), head).compile(),
);

export type HeadPipeline = { status: JobStatus; isExternal: boolean };

/** Loads the pipeline of the head, of the branch or of the request itself; null if there is none. */
export const headPipeline = async (
  db: Reader,
  { id, source_project_id, source_branch, head_sha }: Request,
): Promise<HeadPipeline | null> => {
  if (source_project_id === null || head_sha === null) return null;
  const [pipeline] = await selectHead(db, { id, source_project_id, source_branch, head_sha });
  return pipeline === undefined
    ? null
    : { status: pipeline.status, isExternal: pipeline.source === 'external' };
};

const green: readonly JobStatus[] = ['success', 'skipped'];

/**
 * Returns whether a project that requires successful pipelines allows the merge. A missing pipeline counts as success.
 */
export const isGreen = (status: JobStatus | null): boolean => status === null || green.includes(status);
