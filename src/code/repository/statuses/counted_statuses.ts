/** Selects what counts for a pipeline: jobs that were not retried, and the latest external statuses. */
import type { Reader } from '../../../platform/db/open.ts';
import type { JobsTable } from '../../../platform/db/schema/ci.ts';

type StatusEntry = Pick<JobsTable, 'name' | 'status' | 'allow_failure' | 'coverage'>;

/** Selects the newest external status of each name. */
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
        .$castTo<StatusEntry>(),
    );
