/**
 * A merge in progress. Between the look whether a request may be merged and the transaction that says that it is,
 * git moves the branch; meanwhile nobody else may merge, close or change the request. The row of the operation on
 * refs is what says so: it goes with the merge, and with a process that died in it.
 */
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Platform } from '../access/call.ts';
import type { Reader, Tx } from '../db/open.ts';
import { conflict } from '../errors.ts';
import { dropped } from '../repository/operations.ts';
import type { MergeData } from './complete.ts';

type Named = { id: number; project_id: number };

const isBeingMerged = async (db: Reader, { id, project_id }: Named): Promise<boolean> => {
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
 * Locks the request's row and looks whether a merge of it is in progress: of two transactions that ask at once, the
 * second one sees what the first has begun.
 */
export const lockUnlessMerging = async (tx: Tx, named: Named): Promise<boolean> => {
  await sql`select id from merge_requests where id = ${named.id} ${tx.words.forUpdate}`.execute(tx.db);
  return !(await isBeingMerged(tx.db, named));
};

/** Milliseconds: far more than a merge takes. */
const patience = 10_000;
const shortestPause = 5;
const longestPause = 100;

const busy = Symbol('busy');

/**
 * Runs a transaction that changes a request, once nobody is merging it.
 * @throws Failure 409 where a merge goes on for longer than any does
 */
export const writeUnlessMerging = async <T>(
  { store }: Pick<Platform, 'store'>,
  named: Named,
  work: (tx: Tx) => Promise<T>,
): Promise<T> => {
  const end = performance.now() + patience;
  for (let pause = shortestPause; ; pause = Math.min(pause * 2, longestPause)) {
    // oxlint-disable-next-line no-await-in-loop -- asks until it is free
    const result = await store.write(async (tx) =>
      (await lockUnlessMerging(tx, named)) ? await work(tx) : busy,
    );
    if (result !== busy) return result;
    if (performance.now() > end) throw conflict('This merge request is being merged');
    // oxlint-disable-next-line no-await-in-loop
    await setTimeout(pause);
  }
};
