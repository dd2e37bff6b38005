/** What counts of a pipeline: the jobs that were not retried, and the statuses that other systems report. */
import type { Reader } from '../db/open.ts';
import type { JobsTable } from '../db/schema_ci.ts';

type Counted = Pick<JobsTable, 'name' | 'status' | 'allow_failure' | 'coverage'>;

/** The newest status of each name. */
export const newestStatuses = (db: Reader, pipeline_id: number) =>
  db.selectFrom('commit_statuses').where('pipeline_id', '=', pipeline_id).where('retried', '=', 0);

export const countedRows = (db: Reader, pipeline_id: number) =>
  db
    .selectFrom('jobs')
    .select(['name', 'status', 'allow_failure', 'coverage'])
    .where('pipeline_id', '=', pipeline_id)
    .where('retried', '=', 0)
    .unionAll(
      newestStatuses(db, pipeline_id)
        .select(['name', 'status', 'allow_failure', 'coverage'])
        .$castTo<Counted>(),
    );
