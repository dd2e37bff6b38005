/** The second factor that groups require of their members. */
import { type RawBuilder, sql } from 'kysely';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader } from '../../../platform/db/open.ts';
import { forbidden } from '../../../platform/errors.ts';
import { hourMilliseconds } from '../../../platform/time.ts';
import { today } from '../viewer.ts';

/**
 * SQL: the time from which a user needs a second factor; null if they have one or no group requires it.
 *
 * A group's requirement applies to members of the group, of its subgroups and of its ancestors. The grace period
 * begins when the group started to require it or when the user became a member, whichever is later. If several groups
 * apply, the period that ends first counts.
 *
 * Refers to the `users` row of the enclosing query.
 * @param day memberships that end on this day, or before, do not count
 */
export const secondFactorDueAt = (day: string): RawBuilder<number | null> => sql<number | null>`(
  case when users.two_factor_enabled = 0
    and exists (select 1 from namespaces where two_factor_required_at is not null)
  then (
    with recursive memberships (id, since) as (
      select source_id, created_at from members
      where user_id = users.id and source_type = 'Namespace' and (expires_at is null or expires_at > ${day})
    ),
    above (id, since) as (
      select id, since from memberships
      union
      select namespaces.parent_id, above.since from namespaces join above on above.id = namespaces.id
      where namespaces.parent_id is not null
    ),
    below (id, since) as (
      select id, since from memberships
      union
      select namespaces.id, below.since from namespaces join below on below.id = namespaces.parent_id
    )
    select min(
      case when two_factor_required_at > since then two_factor_required_at else since end
        + two_factor_grace_period * ${sql.lit(hourMilliseconds)}
    )
    from (select id, since from above union select id, since from below) as reach
    join namespaces on namespaces.id = reach.id
    where two_factor_required_at is not null and deleted_at is null
  ) end)`;

const selectFactorDueAt = compiled((db, { user_id, day }: { user_id: number; day: string }) =>
  db.selectFrom('users').select(secondFactorDueAt(day).as('due_at')).where('id', '=', user_id).compile(),
);

/** Returns whether a user's grace period is over; `dueAt` as in `secondFactorDueAt`. */
export const isFactorOverdue = (dueAt: number | null, now: number): boolean => dueAt !== null && dueAt <= now;

/** Returns whether a user lacks a second factor that a group requires by now. */
export const lacksRequiredFactor = async (db: Reader, userId: number, now: number): Promise<boolean> => {
  const [row] = await selectFactorDueAt(db, { user_id: userId, day: today(now) });
  return isFactorOverdue(row?.due_at ?? null, now);
};

/**
 * Requires that the grace period is not over.
 * @throws Failure 403
 */
export const requireNoOverdueFactor = (dueAt: number | null, now: number): void => {
  if (!isFactorOverdue(dueAt, now)) return;
  throw forbidden('A group of yours requires two-factor sign-in. Set it up at /profile/two_factor.');
};
