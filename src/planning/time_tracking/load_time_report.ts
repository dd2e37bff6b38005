import { sql } from 'kysely';
import type { Reader } from '../../platform/db/open.ts';
import type { Target } from '../issuables/target.ts';

export type TimeSpent = { name: string; username: string; seconds: number };

/** Users of a report. */
const maxUsers = 100;

/** Sums the time that each user spent on a target, most first; no statement if nobody did. */
export const loadTimeReport = async (
  db: Reader,
  { type, id, total_time_spent }: Pick<Target, 'type' | 'id' | 'total_time_spent'>,
): Promise<TimeSpent[]> => {
  if (total_time_spent === 0) return [];
  const { rows } = await sql<TimeSpent>`select users.name, users.username, sum(time_spent) as seconds
    from timelogs join users on users.id = timelogs.user_id
    where target_type = ${type} and target_id = ${id}
    group by users.id, users.name, users.username
    order by sum(time_spent) desc, users.id limit ${maxUsers}`.execute(db);
  return rows;
};
