/** Computes the progress of a milestone's issues from the recorded changes of milestone and state. */
import { type RawBuilder, sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { visibleIssues } from '../../../core/access/visible.ts';
import { dayMilliseconds } from '../../../platform/time.ts';
import { readMany } from '../../issuables/lists/run_long_read.ts';

/** Issues of a milestone at one time. */
export type MilestoneCounts = { total: number; open: number };

/** Change of these numbers on a day, counted from 1970. */
export type DayChange = MilestoneCounts & { day: number };

/** The issues that are or were in the milestone and that the caller sees, and what was recorded of each. */
const recorded = ({ viewer, platform }: Call, milestoneId: number): RawBuilder<unknown> =>
  sql`members as (
    select issues.id, issues.created_at,
      case when issues.state = 'closed' then issues.closed_at end as closed_at,
      case when issues.milestone_id = ${milestoneId} then 1 else 0 end as is_member
    from issues join projects on projects.id = issues.project_id
    where issues.id in (select id from issues where milestone_id = ${milestoneId}
        union select target_id from resource_events
          where milestone_id = ${milestoneId} and target_type = 'Issue')
      and ${visibleIssues(viewer, platform.store.dialect)}
  ), changes as (
    select members.id as issue_id, resource_events.id, resource_events.kind, resource_events.created_at as time,
      case when resource_events.action in ('add', 'reopened') then 1 else 0 end as turns_on,
      row_number() over (partition by members.id, resource_events.kind
        order by resource_events.created_at, resource_events.id) as nth
    from members cross join resource_events
    where resource_events.target_type = 'Issue' and resource_events.target_id = members.id
      and (resource_events.kind = 'state'
        or resource_events.kind = 'milestone' and resource_events.milestone_id = ${milestoneId})
  )`;

/**
 * All steps in the life of each issue: the changes, and what must have been before the service recorded any. An issue
 * whose first change takes it out was in the milestone from the start. Without joins, whose size PostgreSQL would guess.
 */
const steps = sql`facts as (
    select id as issue_id, 0 as id, 'issue' as kind, created_at as time, is_member as turns_on, 0 as nth, closed_at
    from members
    union all
    select issue_id, id, kind, time, turns_on, nth, null from changes
  ), completed as (
    select issue_id, id, kind, time, turns_on, closed_at,
      max(case when kind = 'milestone' and nth = 1 then turns_on end) over life as first_turn,
      max(case when kind = 'milestone' and nth = 1 then time end) over life as first_time,
      max(case when kind = 'state' then 1 else 0 end) over life as has_states
    from facts window life as (partition by issue_id)
  ), steps as (
    select issue_id, id, case when kind = 'issue' then 'milestone' else kind end as kind,
      case when kind = 'issue' and first_time < time then first_time else time end as time,
      case when kind = 'issue' then coalesce(1 - first_turn, turns_on) else turns_on end as turns_on
    from completed
    union all
    select issue_id, 0, 'state', closed_at, 0 from completed
    where kind = 'issue' and closed_at is not null and has_states = 0
  ), numbered as (
    select issue_id, time, kind, turns_on,
      row_number() over (partition by issue_id order by time, id) as nth from steps
  )`;

/** After each step, the last event of each kind is the state: the greatest number, with the change it made. */
const states = sql`states as (
    select issue_id, time, nth,
      coalesce(max(case when kind = 'milestone' then 2 * nth + turns_on end) over life, 0) % 2 as is_in,
      coalesce(max(case when kind = 'state' then 2 * nth + turns_on end) over life, 1) % 2 as is_open
    from numbered window life as (partition by issue_id order by nth)
  ), differences as (
    select time, is_in - lag(is_in, 1, 0) over life as total,
      is_in * is_open - lag(is_in * is_open, 1, 0) over life as open
    from states window life as (partition by issue_id order by nth)
  )`;

/**
 * Loads by how much the numbers of issues changed on each day on which they did, oldest first. Reads the issues and
 * their changes along indexes, in a worker where they are many.
 */
export const loadMilestoneDays = async (call: Call, milestoneId: number): Promise<DayChange[]> => {
  const query = sql<DayChange>`
    with ${recorded(call, milestoneId)}, ${steps}, ${states}
    select time / ${sql.lit(dayMilliseconds)} as day, sum(total) as total, sum(open) as open
    from differences where total <> 0 or open <> 0
    group by time / ${sql.lit(dayMilliseconds)} order by day`;
  return await readMany(call, { query, maxRecords: null });
};

/** Returns the numbers at the end of a day. Pure. */
export const countAt = (changes: readonly DayChange[], day: number): MilestoneCounts => {
  const counts = { total: 0, open: 0 };
  for (const change of changes) {
    if (change.day > day) break;
    counts.total += change.total;
    counts.open += change.open;
  }
  return counts;
};
