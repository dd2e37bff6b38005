/** Delivery data that lists of hooks show. */
import { type Selectable, sql } from 'kysely';
import type { Reader } from '../../platform/db/open.ts';
import type { SqlDialect } from '../../platform/db/engine.ts';
import type { HookLogsTable } from '../../platform/db/schema/hooks.ts';

/** An attempt without request and response. */
export type AttemptSummary = Pick<
  Selectable<HookLogsTable>,
  'id' | 'hook_id' | 'event_name' | 'response_status' | 'error' | 'execution_duration' | 'created_at'
>;

const summaryColumns = [
  'id',
  'hook_id',
  'event_name',
  'response_status',
  'error',
  'execution_duration',
  'created_at',
] as const;

/** Loads the latest attempt of each hook, by the id of the hook. */
export const loadLastAttempts = async (
  { db, dialect }: { db: Reader; dialect: SqlDialect },
  hookIds: number[],
): Promise<Map<number, AttemptSummary>> => {
  if (hookIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('hook_logs')
    .select(summaryColumns)
    .where('id', 'in', (from) =>
      from
        .selectFrom('hook_logs')
        .select(({ fn }) => fn.max('id').as('id'))
        .where(dialect.oneOf('hook_id', hookIds))
        .groupBy('hook_id'),
    )
    .execute();
  return new Map(rows.map((row) => [row.hook_id, row]));
};

/** Loads the latest attempt of a hook that failed; undefined: none is in the log. */
export const loadLastFailure = async (db: Reader, hookId: number): Promise<AttemptSummary | undefined> =>
  await db
    .selectFrom('hook_logs')
    .select(summaryColumns)
    .where('hook_id', '=', hookId)
    .where((is) =>
      is.or([
        is('error', 'is not', null),
        is('response_status', 'is', null),
        is('response_status', '<', 200),
        is('response_status', '>=', 300),
      ]),
    )
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();

/** Pending deliveries that are counted; a page shows more as a bound. */
export const maxCountedPending = 1_000;

/** Counts the pending deliveries of a hook, up to one more than the bound. */
export const countPending = async (db: Reader, hookId: number): Promise<number> => {
  const { count } = await db
    .selectFrom((from) =>
      from
        .selectFrom('hook_deliveries')
        .select(sql<number>`1`.as('one'))
        .where('hook_id', '=', hookId)
        .limit(maxCountedPending + 1)
        .as('pending'),
    )
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
};
