/** Counts the activity of a user by day, for the calendar of their profile. */
import { sql } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { allOf } from '../../core/access/visible.ts';
import { readMany } from '../../planning/issuables/lists/run_long_read.ts';
import { dayMilliseconds } from '../../platform/time.ts';
import { visibleActivities } from './visible_activities.ts';

/** All activity counts, except joining and leaving a project. */
export const isContribution = sql<boolean>`activities.action not in ('joined', 'left', 'expired')`;

/** Contributions of a day, which is counted from 1970, in UTC. */
export type DayCount = { day: number; total: number };

/**
 * Counts what a user did and the caller sees since a day, without days on which there was nothing. One statement along
 * the index of the user's activity, in a worker thread where the database is large.
 */
export const countContributions = async (
  call: Call,
  userId: number,
  firstDay: number,
): Promise<DayCount[]> => {
  const { dialect } = call.platform.store;
  const day = sql`activities.created_at / ${sql.lit(dayMilliseconds)}`;
  const where = allOf([
    sql<boolean>`activities.author_id = ${userId}`,
    sql<boolean>`activities.created_at >= ${firstDay * dayMilliseconds}`,
    isContribution,
    visibleActivities(call.viewer, dialect),
  ]);
  const query = sql<DayCount>`select ${day} as day, count(*) as total
    from activities join projects on projects.id = activities.project_id
    where ${where} group by ${day} order by day`;
  return await readMany(call, { query, maxRecords: null });
};
