/**
 * The rows of `hook_events` that deliveries need. The process that stored an event usually sends it a moment later, so
 * it keeps the row in memory until then.
 */
import type { Selectable } from 'kysely';
import { compiled, getStoreKey } from '../../platform/db/compiled_query.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import type { HookEventsTable } from '../../platform/db/schema/hooks.ts';
import { makeLruCache } from '../../platform/lru_cache.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';

export type StoredEvent = Pick<
  Selectable<HookEventsTable>,
  'uuid' | 'trigger_name' | 'snapshot' | 'created_at'
>;

/** Characters of all snapshots. */
const maxKept = 1_048_576;

const getKept = memoizePerStore((_store: object) =>
  makeLruCache<StoredEvent, number>(maxKept, ({ snapshot }) => snapshot.length),
);

/** Keeps an event in memory once its transaction has committed. Call it before the work is enqueued that sends it. */
export const keepEvent = ({ db, afterCommit }: Tx, id: number, event: StoredEvent): void => {
  const kept = getKept(getStoreKey(db));
  afterCommit(() => kept.set(id, event));
};

const eventById = compiled((db, { id }: { id: number }) =>
  db
    .selectFrom('hook_events')
    .select(['uuid', 'trigger_name', 'snapshot', 'created_at'])
    .where('id', '=', id)
    .compile(),
);

/** Returns an event, which this process then no longer keeps; null if it was removed with its deliveries. */
export const takeEvent = async (db: Reader, id: number): Promise<StoredEvent | null> => {
  const kept = getKept(getStoreKey(db));
  const event = kept.get(id);
  kept.delete(id);
  return event ?? (await eventById(db, { id }))[0] ?? null;
};
