import { sql } from 'kysely';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { Target } from '../issuables/target.ts';

type Person = { name: string; username: string };

export type TimeSpent = Person & { seconds: number };

/** Time that was added, or taken away if negative; what it was spent on and when. */
export type TimeEntry = TimeSpent & {
  id: number;
  user_id: number;
  summary: string;
  /** `YYYY-MM-DD`; null: the day of `created_at`. */
  spent_on: string | null;
  created_at: number;
};

export type TimeReport = {
  /** Time spent by each user, most first. */
  people: TimeSpent[];
  /** Newest first. */
  entries: TimeEntry[];
};

/** Users of a report, and its entries: of more, the newest. */
const maxRows = 100;

type Key = Pick<Target, 'type' | 'id'>;

const logsOf = ({ type, id }: Key) => sql`timelogs join users on users.id = timelogs.user_id
  where target_type = ${type} and target_id = ${id}`;

const selectEntries = compiled((db, { type, id }: Key) =>
  sql<TimeEntry>`select timelogs.id, timelogs.user_id, users.name, users.username, time_spent as seconds, summary,
      spent_on, timelogs.created_at
    from ${logsOf({ type, id })}
    order by timelogs.created_at desc, timelogs.id desc limit ${sql.lit(maxRows)}`.compile(db),
);

const selectPeople = compiled((db, { type, id }: Key) =>
  sql<TimeSpent>`select users.name, users.username, sum(time_spent) as seconds from ${logsOf({ type, id })}
    group by users.id, users.name, users.username
    order by sum(time_spent) desc, users.id limit ${sql.lit(maxRows)}`.compile(db),
);

/** Loads the time that users spent on a target. Entries can add up to zero. */
export const loadTimeReport = async (db: Reader, { type, id }: Key): Promise<TimeReport> => {
  const entries = await selectEntries(db, { type, id });
  const people = entries.length === 0 ? [] : await selectPeople(db, { type, id });
  return { people, entries };
};
