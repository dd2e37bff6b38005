/** Queries of broadcast messages. */
import { type Selectable, sql } from 'kysely';
import { notFound } from '../../../platform/errors.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { BroadcastMessagesTable } from '../../../platform/db/schema/core.ts';
import type { Page, PageRequest } from '../../../platform/http/page.ts';

export type BroadcastMessage = Omit<Selectable<BroadcastMessagesTable>, 'target_access_levels'> & {
  target_access_levels: number[];
};

/** Topic announced on every change of a message. */
export const broadcastMessagesTopic = 'broadcast_messages';

/** Most messages kept that have not ended. */
export const maxUnended = 200;

const toMessage = (row: Selectable<BroadcastMessagesTable>): BroadcastMessage => ({
  ...row,
  target_access_levels: JSON.parse(row.target_access_levels) as number[],
});

export const isActive = ({ starts_at, ends_at }: BroadcastMessage, now: number): boolean =>
  starts_at <= now && now < ends_at;

/** Lists the messages that have not ended, the oldest first. */
export const listUnended = async (db: Reader, now: number): Promise<BroadcastMessage[]> => {
  const rows = await db
    .selectFrom('broadcast_messages')
    .selectAll()
    .where('ends_at', '>', now)
    .orderBy('id')
    .limit(maxUnended)
    .execute();
  return rows.map(toMessage);
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
