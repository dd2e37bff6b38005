/** How the issues of a milestone grew and were closed, from the recorded changes of milestone and state. */
import { sql } from 'kysely';
import type { Call } from '../../../core/access/call.ts';
import { visibleIssues } from '../../../core/access/visible.ts';

type Requester = Pick<Call, 'db' | 'viewer' | 'platform'>;

/** A change of an issue: of its place in the milestone, or of its state. */
type Event = { at: number; change: 'add' | 'remove' | 'closed' | 'reopened' };

/** When an issue was created, and its changes since, oldest first. */
export type IssueHistory = { created_at: number; isFirstIn: boolean; events: Event[] };

/** Issues of a milestone at one time. */
export type MilestoneCounts = { total: number; open: number };

/** Milestones with more have no history. */
export const maxIssues = 2_000;
export const maxEvents = 20_000;

type IssueRow = { id: number; created_at: number; closed_at: number | null; is_member: number };
type EventRow = { target_id: number; kind: string; action: Event['change']; created_at: number };

/** Adds what was not recorded: changes from before the service recorded them. */
const completeHistory = ({ created_at, closed_at, is_member }: IssueRow, rows: EventRow[]): IssueHistory => {
  const events = rows.map(({ action, created_at: at }) => ({ at, change: action }));
  const places = rows.filter(({ kind }) => kind === 'milestone');
  const isClosed = rows.some(({ kind }) => kind === 'state');
  return {
    created_at,
    isFirstIn: places.length === 0 ? is_member === 1 : places[0]?.action === 'remove',
    events: closed_at === null || isClosed ? events : [...events, { at: closed_at, change: 'closed' }],
  };
};

/** Loads the histories of the issues that are or were in a milestone and that the caller sees; null: too many. */
export const loadMilestoneHistory = async (
  { db, viewer, platform }: Requester,
  milestoneId: number,
): Promise<IssueHistory[] | null> => {
  const { dialect } = platform.store;
  const { rows: issues } = await sql<IssueRow>`
    select issues.id, issues.created_at,
      case when issues.state = 'closed' then issues.closed_at end as closed_at,
      case when issues.milestone_id = ${milestoneId} then 1 else 0 end as is_member
    from issues join projects on projects.id = issues.project_id
    where issues.id in (select id from issues where milestone_id = ${milestoneId}
        union select target_id from resource_events
          where milestone_id = ${milestoneId} and target_type = 'Issue')
      and ${visibleIssues(viewer, dialect)}
    limit ${maxIssues + 1}`.execute(db);
  if (issues.length === 0 || issues.length > maxIssues) return issues.length === 0 ? [] : null;
  const ids = issues.map(({ id }) => id);
  const { rows: events } = await sql<EventRow>`
    select target_id, kind, action, created_at from resource_events
    where target_type = 'Issue' and ${dialect.oneOf('target_id', ids)} and kind in ('milestone', 'state')
      and (kind = 'state' or milestone_id = ${milestoneId})
    order by created_at, id limit ${maxEvents + 1}`.execute(db);
  if (events.length > maxEvents) return null;
  const byIssue = Map.groupBy(events, ({ target_id }) => target_id);
  return issues.map((issue) => completeHistory(issue, byIssue.get(issue.id) ?? []));
};

/** Tells whether an issue is in the milestone at a time, and whether it is open then. */
const stateAt = (
  { created_at, isFirstIn, events }: IssueHistory,
  time: number,
): { isIn: boolean; isOpen: boolean } => {
  let [isIn, isOpen] = [isFirstIn && created_at < time, true];
  for (const { at, change } of events) {
    if (at >= time) break;
    if (change === 'add' || change === 'remove') isIn = change === 'add';
    else isOpen = change === 'reopened';
  }
  return { isIn, isOpen };
};

/** Counts the issues of a milestone just before a time. Pure. */
export const countAt = (histories: readonly IssueHistory[], time: number): MilestoneCounts => {
  const inside = histories.map((history) => stateAt(history, time)).filter(({ isIn }) => isIn);
  return { total: inside.length, open: inside.filter(({ isOpen }) => isOpen).length };
};

/** Returns when the first issue came into the milestone; null: none did. */
export const firstEntry = (histories: readonly IssueHistory[]): number | null => {
  const times = histories.flatMap(({ created_at, isFirstIn, events }) => {
    const added = events.find(({ change }) => change === 'add');
    return isFirstIn ? [created_at] : added === undefined ? [] : [added.at];
  });
  return times.length === 0 ? null : Math.min(...times);
};
