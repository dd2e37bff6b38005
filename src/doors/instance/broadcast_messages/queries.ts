/** Broadcast messages: each process caches the messages currently shown, until any process changes one. */
import { type Selectable, sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import type { Platform } from '../../../core/platform.ts';
import { notFound } from '../../../platform/errors.ts';
import { memoizePerStore } from '../../../platform/memoize_per_store.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { BroadcastMessagesTable } from '../../../platform/db/schema/core.ts';
import type { Page, PageRequest } from '../../../platform/http/page.ts';

export type BroadcastMessage = Omit<Selectable<BroadcastMessagesTable>, 'target_access_levels'> & {
  target_access_levels: number[];
};

/** Topic that every change of a message broadcasts. */
export const broadcastMessagesTopic = 'broadcast_messages';

/** Messages that have not ended, at most. */
export const maxPending = 200;

const toMessage = (row: Selectable<BroadcastMessagesTable>): BroadcastMessage => ({
  ...row,
  target_access_levels: JSON.parse(row.target_access_levels) as number[],
});

/** Returns whether a message is shown at this time. */
export const isActive = ({ starts_at, ends_at }: BroadcastMessage, now: number): boolean =>
  starts_at <= now && now < ends_at;

const readPending = async (db: Reader, now: number): Promise<BroadcastMessage[]> => {
  const rows = await db
    .selectFrom('broadcast_messages')
    .selectAll()
    .where('ends_at', '>', now)
    .orderBy('id')
    .limit(maxPending)
    .execute();
  return rows.map(toMessage);
};

type Cache = { pending: Promise<BroadcastMessage[]> | null };

const getCache = memoizePerStore((platform: Platform): Cache => {
  const cache: Cache = { pending: null };
  platform.store.listen(broadcastMessagesTopic, () => void (cache.pending = null));
  return cache;
});

/** Returns the messages that are shown now, the oldest first. */
export const listActive = async ({ platform, now }: Pick<Call, 'platform' | 'now'>) => {
  const cache = getCache(platform);
  const pending = (cache.pending ??= readPending(platform.store.db, now));
  try {
    return (await pending).filter((message) => isActive(message, now));
  } catch (error) {
    if (cache.pending === pending) cache.pending = null;
    throw error;
  }
};

/** Lists all messages, the newest first. */
export const listMessages = async (
  db: Reader,
  { limit, offset }: Pick<PageRequest, 'limit' | 'offset'>,
): Promise<Page<BroadcastMessage>> => {
  const query = db.selectFrom('broadcast_messages');
  const [rows, { total }] = await Promise.all([
    query.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute(),
    query.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow(),
  ]);
  return { items: rows.map(toMessage), total };
};

/** @throws Failure 404 */
export const findMessage = async (db: Reader, id: number): Promise<BroadcastMessage> => {
  const row = await db.selectFrom('broadcast_messages').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw notFound('Broadcast Message');
  return toMessage(row);
};
