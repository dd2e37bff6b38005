/** What other systems say of a commit, as it counts in a pipeline. */
import { compiled } from '../db/compiled.ts';
import type { Reader, Tx } from '../db/open.ts';
import { newestStatuses } from '../repository/counted_rows.ts';
import type { Counted } from './composite.ts';

/** Behind the stages of every configuration. */
export const externalPosition = 1_000_000;

const kindsSaid = compiled((db, { pipeline_id }: { pipeline_id: number }) =>
  newestStatuses(db, pipeline_id).select(['status', 'allow_failure']).distinct().compile(),
);

/** As far as the status of the whole needs to know it: no two alike, however many there are. */
export const countedStatuses = async (tx: Tx, pipeline_id: number): Promise<Counted[]> =>
  await kindsSaid(tx.db, { pipeline_id });

/** How many names there are, as far as `limit`. */
export const namesIn = async (db: Reader, pipeline_id: number, limit: number): Promise<number> =>
  (await newestStatuses(db, pipeline_id).select('id').limit(limit).execute()).length;

/** What is going on elsewhere counts as cancelled; whoever does it may say better. */
export const cancelStatuses = async (tx: Tx, pipeline_id: number): Promise<void> => {
  await tx.db
    .updateTable('commit_statuses')
    .set({ status: 'canceled', finished_at: tx.now })
    .where('pipeline_id', '=', pipeline_id)
    .where('status', 'in', ['pending', 'running'])
    .execute();
};

const most = 500;

/** For a page: the newest of each name, in their order. */
export const shownStatuses = async (db: Reader, pipeline_id: number) =>
  await newestStatuses(db, pipeline_id)
    .select(['name', 'status', 'allow_failure', 'target_url', 'description'])
    .select(['started_at', 'finished_at'])
    .orderBy('id')
    .limit(most)
    .execute();
