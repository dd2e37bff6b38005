/** Lists, measures and retries background work, for operators. */
import { type RawBuilder, sql } from 'kysely';
import type { Reader, Tx } from '../db/open.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { workTopic } from './announce_work.ts';
import { never, sumPauses } from './leases.ts';

export const workStates = ['failed', 'running', 'waiting'] as const;
export type WorkState = (typeof workStates)[number];

export type WorkRow = {
  id: number;
  name: string;
  state: WorkState;
  payload: string;
  attempts: number;
  created_at: number;
  run_at: number;
  last_error: string | null;
};

/** Failed: not retried any more. Running: held by a process. Waiting: due, or scheduled for a later attempt. */
const selectState = (now: number): RawBuilder<WorkState> =>
  sql<WorkState>`case when run_at >= ${never} then 'failed' when locked_until >= ${now} then 'running' else 'waiting' end`;

type WorkFilter = {
  state?: WorkState | undefined;
  /** Kind. */
  name?: string | undefined;
};

/** Lists work, oldest first. */
export const listWork = async (
  db: Reader,
  now: number,
  { state, name }: WorkFilter,
  { limit, offset }: Pick<PageRequest, 'limit' | 'offset'>,
): Promise<Page<WorkRow>> => {
  const inState = state === undefined ? sql<boolean>`1 = 1` : sql<boolean>`${selectState(now)} = ${state}`;
  const where = name === undefined ? inState : sql<boolean>`name = ${name} and ${inState}`;
  const items = await db
    .selectFrom('work')
    .select(['id', 'name', 'payload', 'attempts', 'created_at', 'run_at', 'last_error'])
    .select(selectState(now).as('state'))
    .where(where)
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute();
  const { total } = await db
    .selectFrom('work')
    .where(where)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { items, total };
};

export type WorkFigures = {
  name: string;
  waiting: number;
  running: number;
  failed: number;
  /**
   * Since when the oldest waiting or running piece is due; null: none is. Pauses between its attempts count. Pieces
   * scheduled for the future are not due.
   */
  oldest: number | null;
  /** Due time of the piece that waits longest past it; null: none is due. */
  due: number | null;
};

/**
 * Computes since when the oldest piece of each kind is due. A postponed piece has its next attempt in `run_at`, so
 * the pauses before are subtracted.
 */
const oldestDue = async (db: Reader, now: number): Promise<Map<string, number>> => {
  const isRunning = sql<number>`case when locked_until >= ${now} then 1 else 0 end`;
  const rows = await db
    .selectFrom('work')
    .select(['name', 'attempts', 'excused_attempts', isRunning.as('running')])
    .select((eb) => [
      eb.fn.min<number>('run_at').as('run_at'),
      eb.fn.min<number>('created_at').as('created_at'),
    ])
    .where('run_at', '<', never)
    .where((eb) => eb.or([eb('run_at', '<=', now), eb('attempts', '>', 0)]))
    .groupBy(['name', 'attempts', 'excused_attempts', 'running'])
    .execute();
  const oldest = new Map<string, number>();
  for (const { name, attempts, excused_attempts, running, run_at, created_at } of rows) {
    // The attempt in progress has not failed yet.
    const failures = Math.max(0, attempts - excused_attempts - running);
    const due = Math.max(Math.min(created_at, run_at), run_at - sumPauses(failures, excused_attempts));
    oldest.set(name, Math.min(oldest.get(name) ?? now, due));
  }
  return oldest;
};

/** Counts work by kind, for kinds with any work. */
export const loadWorkFigures = async (db: Reader, now: number): Promise<WorkFigures[]> => {
  const count = (state: WorkState) =>
    sql<number>`sum(case when ${selectState(now)} = ${sql.lit(state)} then 1 else 0 end)`;
  const rows = await db
    .selectFrom('work')
    .select([
      'name',
      count('waiting').as('waiting'),
      count('running').as('running'),
      count('failed').as('failed'),
    ])
    .select(
      sql<
        number | null
      >`min(case when run_at <= ${now} and ${selectState(now)} = 'waiting' then run_at end)`.as('due'),
    )
    .groupBy('name')
    .orderBy('name')
    .execute();
  const oldest = await oldestDue(db, now);
  return rows.map((row) => ({ ...row, oldest: oldest.get(row.name) ?? null }));
};

/**
 * Runs failed work again now, as if it had not been attempted. Returns the number of pieces.
 * @param ids null: all failed work
 */
export const retryWork = async (tx: Tx, ids: readonly number[] | null): Promise<number> => {
  const update = tx.db
    .updateTable('work')
    .set((eb) => ({ run_at: tx.now, excused_attempts: eb.ref('attempts') }))
    .where('run_at', '>=', never);
  const { numUpdatedRows } = await (
    ids === null ? update : update.where('id', 'in', [...ids, 0])
  ).executeTakeFirst();
  // Its worker may be in another process.
  tx.broadcast(workTopic);
  return Number(numUpdatedRows);
};
