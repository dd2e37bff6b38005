/** Background work as operators see it: lists, figures, and another try of what was given up. */
import { type RawBuilder, sql } from 'kysely';
import type { Reader, Tx } from '../db/open.ts';
import type { Page, PageRequest } from '../http/page.ts';
import { workTopic } from './queue.ts';
import { never } from './taken.ts';

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

/** Failed: given up. Running: a process holds it. Waiting: due, or to be tried again later. */
const stateOf = (now: number): RawBuilder<WorkState> =>
  sql<WorkState>`case when run_at >= ${never} then 'failed' when locked_until >= ${now} then 'running' else 'waiting' end`;

type WorkFilter = { state?: WorkState | undefined };

/** The oldest first. */
export const listWork = async (
  db: Reader,
  now: number,
  { state }: WorkFilter,
  { limit, offset }: Pick<PageRequest, 'limit' | 'offset'>,
): Promise<Page<WorkRow>> => {
  const where = state === undefined ? sql<boolean>`1 = 1` : sql<boolean>`${stateOf(now)} = ${state}`;
  const items = await db
    .selectFrom('work')
    .select(['id', 'name', 'payload', 'attempts', 'created_at', 'run_at', 'last_error'])
    .select(stateOf(now).as('state'))
    .where(where)
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute();
  const { total } = await db
    .selectFrom('work')
    .where(where)
    .select((of) => of.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { items, total };
};

export type WorkFigures = {
  name: string;
  waiting: number;
  running: number;
  failed: number;
  /** When the oldest piece that is not failed was enqueued; null: there is none. */
  oldest: number | null;
  /** Since when the piece is due that waits longest past its time; null: none is due. */
  due: number | null;
};

/** By kind of work, of the kinds that there are pieces of. */
export const workFigures = async (db: Reader, now: number): Promise<WorkFigures[]> => {
  const count = (state: WorkState) =>
    sql<number>`sum(case when ${stateOf(now)} = ${sql.lit(state)} then 1 else 0 end)`;
  return await db
    .selectFrom('work')
    .select([
      'name',
      count('waiting').as('waiting'),
      count('running').as('running'),
      count('failed').as('failed'),
    ])
    .select(sql<number | null>`min(case when run_at >= ${never} then null else created_at end)`.as('oldest'))
    .select(
      sql<number | null>`min(case when run_at <= ${now} and ${stateOf(now)} = 'waiting' then run_at end)`.as(
        'due',
      ),
    )
    .groupBy('name')
    .orderBy('name')
    .execute();
};

/** Has failed work run again now, as if for the first time. Answers how many pieces there were. @param ids null: all */
export const retryWork = async (tx: Tx, ids: readonly number[] | null): Promise<number> => {
  const update = tx.db
    .updateTable('work')
    .set((of) => ({ run_at: tx.now, excused_attempts: of.ref('attempts') }))
    .where('run_at', '>=', never);
  const { numUpdatedRows } = await (
    ids === null ? update : update.where('id', 'in', [...ids, 0])
  ).executeTakeFirst();
  tx.announce(workTopic);
  return Number(numUpdatedRows);
};
