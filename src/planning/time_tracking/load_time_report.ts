import { sql } from 'kysely';
import type { Reader } from '../../platform/db/open.ts';
import type { Target } from '../issuables/target.ts';

type Person = { name: string; username: string };

export type TimeSpent = Person & { seconds: number };

/** Time that was added, or taken away if negative, and when. */
export type TimeEntry = TimeSpent & { created_at: number };

export type TimeReport = {
  /** Time spent by each user, most first. */
  people: TimeSpent[];
  /** Newest first. */
  entries: TimeEntry[];
};

/** Users of a report, and its entries: of more, the newest. */
const maxRows = 100;

/** Loads the time that users spent on a target. Entries can add up to zero. */
export const loadTimeReport = async (
  db: Reader,
  { type, id }: Pick<Target, 'type' | 'id'>,
): Promise<TimeReport> => {
  const logs = sql`timelogs join users on users.id = timelogs.user_id
    where target_type = ${type} and target_id = ${id}`;
  const entries =
    await sql<TimeEntry>`select users.name, users.username, time_spent as seconds, timelogs.created_at from ${logs}
      order by timelogs.created_at desc, timelogs.id desc limit ${maxRows}`.execute(db);
  if (entries.rows.length === 0) return { people: [], entries: [] };
  const people =
    await sql<TimeSpent>`select users.name, users.username, sum(time_spent) as seconds from ${logs}
      group by users.id, users.name, users.username
      order by sum(time_spent) desc, users.id limit ${maxRows}`.execute(db);
  return { people: people.rows, entries: entries.rows };
};
