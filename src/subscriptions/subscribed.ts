import { sql } from 'kysely';
import type { Reader, Tx } from '../db/open.ts';
import type { Target } from '../issuables/target.ts';

/**
 * Whether a user follows a target: by his own word, else because he takes part (author, assignee, commenter,
 * mentioned, or one who gave an award).
 */
export const isSubscribed = async (
  db: Reader,
  userId: number,
  { type, id, author_id, assignee_ids }: Pick<Target, 'type' | 'id' | 'author_id' | 'assignee_ids'>,
): Promise<boolean> => {
  const takesPart = author_id === userId || assignee_ids.includes(userId);
  const { rows } = await sql<{ said: number | null; found: number | null }>`
    select
      (select subscribed from subscriptions
       where target_type = ${type} and target_id = ${id} and user_id = ${userId}) as said,
      case
        when exists (select 1 from notes where author_id = ${userId} and target_type = ${type}
          and target_id = ${id} and system = 0) then 1
        when exists (select 1 from mentions where target_type = ${type} and target_id = ${id}
          and user_id = ${userId}) then 1
        when exists (select 1 from award_emoji where target_type = ${type} and target_id = ${id}
          and user_id = ${userId}) then 1
      end as found`.execute(db);
  const said = rows[0]?.said ?? null;
  return said === null ? takesPart || rows[0]?.found === 1 : said === 1;
};

/** Keeps a user's word on whether he follows a target. */
export const setSubscribed = async (
  tx: Tx,
  userId: number,
  { type, id }: Pick<Target, 'type' | 'id'>,
  subscribed: boolean,
): Promise<void> => {
  const word = { subscribed: subscribed ? (1 as const) : (0 as const), updated_at: tx.now };
  await tx.db
    .insertInto('subscriptions')
    .values({ user_id: userId, target_type: type, target_id: id, created_at: tx.now, ...word })
    .onConflict((clash) => clash.columns(['target_type', 'target_id', 'user_id']).doUpdateSet(word))
    .execute();
};
