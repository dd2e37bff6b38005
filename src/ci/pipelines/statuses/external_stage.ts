/** Loads and cancels the commit statuses of external systems in a pipeline. */
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { newestStatuses } from '../../../code/repository/statuses/counted_statuses.ts';
import type { StatusEntry } from '../processing/combine_statuses.ts';

/** Follows the stages of every configuration. */
export const externalStagePosition = 1_000_000;

const selectDistinctStatuses = compiled((db, { pipeline_id }: { pipeline_id: number }) =>
  newestStatuses(db, pipeline_id).select(['status', 'allow_failure']).distinct().compile(),
);

/** Loads the distinct statuses, which is all that the pipeline's status depends on. */
export const loadDistinctStatuses = async (tx: Tx, pipeline_id: number): Promise<StatusEntry[]> =>
  await selectDistinctStatuses(tx.db, { pipeline_id });

/** Counts the names, up to `limit`. */
export const countStatusNames = async (db: Reader, pipeline_id: number, limit: number): Promise<number> =>
  (await newestStatuses(db, pipeline_id).select('id').limit(limit).execute()).length;

/** Marks unfinished statuses as canceled. The external system may still report another status. */
export const cancelExternalStatuses = async (tx: Tx, pipeline_id: number): Promise<void> => {
  await tx.db
    .updateTable('commit_statuses')
    .set({ status: 'canceled', finished_at: tx.now })
    .where('pipeline_id', '=', pipeline_id)
    .where('status', 'in', ['pending', 'running'])
    .execute();
};

const maxShown = 500;

/** Lists the newest status of each name, for a page. */
export const listExternalStatuses = async (db: Reader, pipeline_id: number) =>
  await newestStatuses(db, pipeline_id)
    .select(['name', 'status', 'allow_failure', 'target_url', 'description'])
    .select(['started_at', 'finished_at'])
    .orderBy('id')
    .limit(maxShown)
    .execute();
