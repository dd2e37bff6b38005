import { type RawBuilder, sql } from 'kysely';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { Reader, Tx } from '../../platform/db/open.ts';
import { type TargetType, toFlag } from '../../platform/db/schema/column_types.ts';
import type { Target } from '../issuables/target.ts';

/** The parts of a target that decide who participates in it. */
type Followed = Pick<Target, 'id' | 'author_id' | 'assignee_ids'>;

/**
 * SQL columns: a user's explicit subscription (1 or 0; null: none), and 1 if they commented, were mentioned or awarded.
 * @param here over each of the tables: the rows of the target
 */
export const followColumns = (here: RawBuilder<unknown>, userId: RawBuilder<unknown>) => ({
  subscription: sql<
    number | null
  >`(select subscribed from subscriptions where ${here} and user_id = ${userId})`,
  participation: sql<number | null>`case
    when exists (select 1 from notes where ${here} and author_id = ${userId} and system = 0) then 1
    when exists (select 1 from mentions where ${here} and user_id = ${userId}) then 1
    when exists (select 1 from award_emoji where ${here} and user_id = ${userId}) then 1
    when exists (select 1 from reviewers where ${here} and user_id = ${userId}) then 1
  end`,
});

type Follow = { subscription: number | null; participation: number | null };

/** @param isOwn whether the user is the author or an assignee */
export const follows = ({ subscription, participation }: Follow, isOwn: boolean): boolean =>
  subscription === null ? isOwn || participation === 1 : subscription === 1;

/**
 * Ids of the targets that a user follows, in one statement: by explicit subscription, else as a participant
 * (author, assignee, reviewer, commenter, mentioned user or author of an award).
 */
export const subscribedTargets = async (
  db: Reader,
  userId: number,
  type: TargetType,
  targets: readonly Followed[],
): Promise<Set<number>> => {
  const ids = sql.join(targets.map(({ id }) => sql`(cast(${id} as bigint))`));
  const here = sql`target_type = ${type} and target_id = targets.id`;
  const { subscription, participation } = followColumns(here, sql`${userId}`);
  const { rows } = await sql<Follow & { id: number }>`
    with targets (id) as (values ${ids})
    select id, ${subscription} as subscription, ${participation} as participation from targets`.execute(db);
  const own = targets
    .filter((one) => [one.author_id, ...one.assignee_ids].includes(userId))
    .map(({ id }) => id);
  return new Set(rows.filter((row) => follows(row, own.includes(row.id))).map(({ id }) => id));
};

type Follower = { type: TargetType; id: number; user_id: number };

const followRow = compiled((db, { type, id, user_id }: Follower) => {
  const { subscription, participation } = followColumns(
    sql`target_type = ${type} and target_id = ${id}`,
    sql`${user_id}`,
  );
  return sql<Follow>`select ${subscription} as subscription, ${participation} as participation`.compile(db);
});

const subscriptionRow = compiled((db, { type, id, user_id }: Follower) =>
  db
    .selectFrom('subscriptions')
    .select('subscribed as subscription')
    .where('target_type', '=', type)
    .where('target_id', '=', id)
    .where('user_id', '=', user_id)
    .compile(),
);

/** Returns whether a user follows a target. Authors and assignees always follow it. */
export const isSubscribed = async (
  db: Reader,
  userId: number,
  { type, id, author_id, assignee_ids }: Followed & Pick<Target, 'type'>,
): Promise<boolean> => {
  const isOwn = [author_id, ...assignee_ids].includes(userId);
  const follower = { type, id, user_id: userId };
  const [row] = isOwn ? await subscriptionRow(db, follower) : await followRow(db, follower);
  return follows({ subscription: null, participation: null, ...row }, isOwn);
};

/**
 * Stores whether a user explicitly follows a target.
 * @returns whether this changed anything; of two equal concurrent requests, only one does
 */
export const setSubscribed = async (
  tx: Tx,
  userId: number,
  { type, id }: Pick<Target, 'type' | 'id'>,
  subscribed: boolean,
): Promise<boolean> => {
  const word = { subscribed: toFlag(subscribed), updated_at: tx.now };
  const rows = await tx.db
    .insertInto('subscriptions')
    .values({ user_id: userId, target_type: type, target_id: id, created_at: tx.now, ...word })
    .onConflict((clash) =>
      clash
        .columns(['target_type', 'target_id', 'user_id'])
        .doUpdateSet(word)
        .where('subscriptions.subscribed', '<>', word.subscribed),
    )
    .returning('user_id')
    .execute();
  return rows.length === 1;
};
