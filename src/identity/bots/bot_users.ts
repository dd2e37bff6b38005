/** Bots: users that hold the access tokens of a project or group, and nothing else. */
import { type RawBuilder, sql } from 'kysely';
import type { Reader, Tx } from '../../platform/db/open.ts';
import type { SourceType } from '../../platform/db/schema/column_types.ts';
import { forbidden } from '../../platform/errors.ts';
import { selectDescendants } from '../namespaces/ancestors.ts';

export type BotSource = { type: SourceType; id: number };

/** SQL: the row of a bot, in parentheses. */
export const botOf = (userId: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select 1 from bots where bots.user_id = ${userId})`;

export const isBot = async (db: Reader, userId: number): Promise<boolean> =>
  (await db.selectFrom('bots').select('user_id').where('user_id', '=', userId).executeTakeFirst()) !==
  undefined;

/** Keeps bots from credentials that would outlast their tokens. @throws Failure 403 */
export const requireNoBot = async (db: Reader, userId: number): Promise<void> => {
  if (await isBot(db, userId)) throw forbidden('A bot has no credentials but its own token');
};

/**
 * Moves the last day of a bot's role from the last day of its old token to the last day of the new token. Does nothing
 * for other users, and for a role that was given a different last day. Days are `YYYY-MM-DD`; null: no last day.
 */
export const moveRoleEnd = async (
  { db }: Tx,
  userId: number,
  { from, to }: { from: string | null; to: string | null },
): Promise<void> => {
  await sql`update members set expires_at = ${to} where user_id = ${userId}
    and coalesce(expires_at, '') = ${from ?? ''} and exists ${botOf(sql.ref('members.user_id'))}`.execute(db);
};

const endUsers = async ({ db, now }: Tx, bots: RawBuilder<unknown>): Promise<void> => {
  await sql`update tokens set revoked = 1 where revoked = 0 and user_id in ${bots}`.execute(db);
  await sql`update users set state = 'blocked', updated_at = ${now}
    where state = 'active' and id in ${bots}`.execute(db);
};

/** Blocks a bot and revokes all of its tokens. */
export const endBot = async (tx: Tx, userId: number): Promise<void> =>
  await endUsers(tx, sql`(select user_id from bots where user_id = ${userId})`);

/** Ends the bots of a project, or of a group with all that is below it, when it is removed. */
export const endBotsOf = async (tx: Tx, { type, id }: BotSource): Promise<void> => {
  if (type === 'Project') {
    await endUsers(tx, sql`(select user_id from bots where source_type = 'Project' and source_id = ${id})`);
    return;
  }
  const groups = selectDescendants(id);
  await endUsers(
    tx,
    sql`(select user_id from bots where (source_type = 'Namespace' and source_id in ${groups})
      or (source_type = 'Project' and source_id in (select id from projects where namespace_id in ${groups})))`,
  );
};
