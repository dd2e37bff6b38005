/** Bots: users that exist only to hold the access tokens of a project or group. */
import { type RawBuilder, sql } from 'kysely';
import type { Reader } from '../../platform/db/open.ts';
import { forbidden } from '../../platform/errors.ts';

/** SQL subquery: has a row if the user is a bot. */
export const selectBot = (userId: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select 1 from bots where bots.user_id = ${userId})`;

export const isBot = async (db: Reader, userId: number): Promise<boolean> =>
  (await db.selectFrom('bots').select('user_id').where('user_id', '=', userId).executeTakeFirst()) !==
  undefined;

/** Refuses further credentials to bots: they would outlast the bot's token. @throws Failure 403 */
export const requireNoBot = async (db: Reader, userId: number): Promise<void> => {
  if (await isBot(db, userId)) throw forbidden('A bot has no credentials but its own token');
};
