/** Loads the pending deliveries of one hook and one target, and removes those that are done. */
import type { Platform } from '../../core/platform.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { Reader } from '../../platform/db/open.ts';
import { isPaused } from '../hooks/json.ts';
import type { HookRow } from '../hooks/queries.ts';

export type Queue = { hook_id: number; target: string };

export type Pending = {
  hook: HookRow;
  delivery_id: number;
  hook_event_id: number;
  attempts: number;
  next_attempt_at: number;
  /**
   * True if no later delivery of the target waited when this one was loaded. One that is stored afterwards has its own
   * work, since the running piece has given up its unique key.
   */
  isLast: boolean;
};

/** Two rows: the second one says that another delivery waits. */
const oldestWithHook = compiled((db, { hook_id, target }: Queue) =>
  db
    .selectFrom('hook_deliveries')
    .innerJoin('hooks', 'hooks.id', 'hook_deliveries.hook_id')
    .selectAll('hooks')
    .select([
      'hook_deliveries.id as delivery_id',
      'hook_deliveries.hook_event_id',
      'hook_deliveries.attempts',
      'hook_deliveries.next_attempt_at',
    ])
    .where('hook_deliveries.hook_id', '=', hook_id)
    .where('hook_deliveries.target', '=', target)
    .orderBy('hook_deliveries.id')
    .limit(2)
    .compile(),
);

/** Returns the delivery to send; null if there is none, or the hook is paused. */
export const loadOldest = async ({ store, clock }: Platform, queue: Queue): Promise<Pending | null> => {
  const [oldest, next] = await oldestWithHook(store.db, queue);
  if (oldest === undefined || isPaused(oldest, clock.now())) return null;
  const { delivery_id, hook_event_id, attempts, next_attempt_at } = oldest;
  return { hook: oldest, delivery_id, hook_event_id, attempts, next_attempt_at, isLast: next === undefined };
};

type Ids = { ids: readonly number[] };

const deleteDeliveries = compiled((db, { ids }: Ids, dialect) =>
  db.deleteFrom('hook_deliveries').where(dialect.oneOf('id', ids)).compile(),
);

const deleteUnusedEvents = compiled((db, { ids }: Ids, dialect) =>
  db
    .deleteFrom('hook_events')
    .where(dialect.oneOf('id', ids))
    .where((is) =>
      is.not(
        is.exists(
          is.selectFrom('hook_deliveries').select('id').whereRef('hook_event_id', '=', 'hook_events.id'),
        ),
      ),
    )
    .compile(),
);

/** Removes deliveries, and changes that no other hook waits for. The sweep of the log removes what this leaves. */
export const removeDeliveries = async (
  db: Reader,
  pending: readonly Pick<Pending, 'delivery_id' | 'hook_event_id'>[],
): Promise<void> => {
  await deleteDeliveries(db, { ids: pending.map(({ delivery_id }) => delivery_id) });
  await deleteUnusedEvents(db, { ids: [...new Set(pending.map(({ hook_event_id }) => hook_event_id))] });
};
