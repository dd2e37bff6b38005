/**
 * Prevents changes of a request while it is merged. Between the check and the transaction that records the merge, git
 * moves the branch. The row of the ref operation is the lock: it is deleted with the completion, or by recovery if the
 * process dies.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Platform } from '../../../core/platform.ts';
import type { Reader, Tx } from '../../../platform/db/open.ts';
import { conflict } from '../../../platform/errors.ts';
import { dropped } from '../../../code/repository/refs/operations.ts';
import type { MergeData } from './complete_merge.ts';

type Named = { id: number; project_id: number };

export const isBeingMerged = async (db: Reader, { id, project_id }: Named): Promise<boolean> => {
  const rows = await db
    .selectFrom('git_operations')
    .select('data')
    .where('project_id', '=', project_id)
    .where('kind', '=', 'merge')
    .where('process', '<>', dropped)
    .execute();
  return rows.some(({ data }) => (JSON.parse(data) as { data: MergeData }).data.merge_request_id === id);
};

/**
 * Locks the request's row. Returns false if a merge of it is in progress. Of two concurrent transactions, the second
 * sees the merge that the first started.
 */
export const lockUnlessMerging = async (tx: Tx, named: Named): Promise<boolean> => {
  await sql`select id from merge_requests where id = ${named.id} ${tx.dialect.forUpdate}`.execute(tx.db);
  return !(await isBeingMerged(tx.db, named));
};

/** Milliseconds; far more than a merge takes. */
const lockTimeout = 10_000;
const shortestPause = 5;
const maxPauseMilliseconds = 100;

const busy = Symbol('busy');

/**
 * Runs a transaction that changes a request, once no merge of it is in progress.
 * @throws Failure 409 if a merge does not end in time
 */
export const writeUnlessMerging = async <T>(
  { store }: Pick<Platform, 'store'>,
  named: Named,
  work: (tx: Tx) => Promise<T>,
): Promise<T> => {
  const end = performance.now() + lockTimeout;
  for (let pause = shortestPause; ; pause = Math.min(pause * 2, maxPauseMilliseconds)) {
    const result = await store.write(async (tx) =>
      (await lockUnlessMerging(tx, named)) ? await work(tx) : busy,
    );
    if (result !== busy) return result;
    if (performance.now() > end) throw conflict('This merge request is being merged');
    await wait(pause);
  }
};
