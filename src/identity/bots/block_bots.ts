/** Blocks bots when what they belong to is removed. */
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../platform/db/open.ts';
import type { SourceType } from '../../platform/db/schema/column_types.ts';
import { selectDescendants } from '../namespaces/ancestors.ts';

export type BotSource = { type: SourceType; id: number };

const blockBotUsers = async ({ db, now }: Tx, bots: RawBuilder<unknown>): Promise<void> => {
  await sql`update tokens set revoked = 1 where revoked = 0 and user_id in ${bots}`.execute(db);
  await sql`update users set state = 'blocked', updated_at = ${now}
    where state = 'active' and id in ${bots}`.execute(db);
};

/** Blocks a bot and revokes all of its tokens. */
export const blockBot = async (tx: Tx, userId: number): Promise<void> =>
  await blockBotUsers(tx, sql`(select user_id from bots where user_id = ${userId})`);

/** Blocks the bots of a project, or of a group and everything below it, when it is removed. */
export const blockBotsOf = async (tx: Tx, { type, id }: BotSource): Promise<void> => {
  if (type === 'Project') {
    await blockBotUsers(
      tx,
      sql`(select user_id from bots where source_type = 'Project' and source_id = ${id})`,
    );
    return;
  }
  const groups = selectDescendants(id);
  await blockBotUsers(
    tx,
    sql`(select user_id from bots where (source_type = 'Namespace' and source_id in ${groups})
      or (source_type = 'Project' and source_id in (select id from projects where namespace_id in ${groups})))`,
  );
};
