/** Moves issues in lists that are ordered by hand: boards, and lists with `order_by=relative_position`. */
import { sql } from 'kysely';
import { type Call, requireActor } from '../../../core/access/call.ts';
import type { Cause } from '../../../core/events/record_event.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import { visibleIssues } from '../../../core/access/visible.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { Failure } from '../../../platform/errors.ts';
import { type LoadedIssue, lockIssue } from '../find.ts';
import { type Neighbours, placeIssue } from './place_issue.ts';

const unprocessable = (): Failure => new Failure('unprocessable', { error: 'Unprocessable Entity' });

const getTopGroup = (path: string): string => path.split('/')[0] ?? '';

/**
 * Checks that the caller sees the neighbours, and that they are in the same top-level group or personal namespace: a
 * board has no others.
 * @throws Failure 422
 */
export const checkNeighbours = async (
  { db, viewer, platform }: Call,
  { project, issue }: LoadedIssue,
  { above, below }: Neighbours,
): Promise<void> => {
  const { dialect } = platform.store;
  const ids = [above, below].filter((id) => id !== null);
  const { rows } = await sql<{ id: number; full_path: string }>`select issues.id, projects.full_path
    from issues join projects on projects.id = issues.project_id
    where ${dialect.oneOf('issues.id', ids)} and ${visibleIssues(viewer, dialect)}`.execute(db);
  const isNear = (id: number): boolean =>
    id !== issue.id &&
    rows.some((row) => row.id === id && getTopGroup(row.full_path) === getTopGroup(project.full_path));
  if (ids.length === 0 || above === below || !ids.every(isNear)) throw unprocessable();
};

/** Places a locked issue, and records that it was moved. @throws Failure 422 if a neighbour was deleted meanwhile */
export const reorderLocked = async (
  tx: Tx,
  cause: Cause,
  { issue, project }: LoadedIssue,
  neighbours: Neighbours,
): Promise<void> => {
  if (!(await placeIssue(tx, issue.id, neighbours))) throw unprocessable();
  await recordEvent(tx, cause, {
    kind: 'issue.reordered',
    project_id: project.id,
    target_type: 'Issue',
    target_id: issue.id,
    data: { iid: issue.iid },
  });
};

/**
 * Moves an issue between two others, or next to one.
 * @throws Failure 422 for a neighbour that is missing, hidden, or of another namespace
 */
export const reorderIssue = async (
  call: Call,
  loaded: LoadedIssue,
  neighbours: Neighbours,
): Promise<void> => {
  await checkNeighbours(call, loaded, neighbours);
  await call.write(async (tx) => {
    const locked = await lockIssue(tx, loaded.project, loaded.issue.id, 'Issue');
    await reorderLocked(tx, requireActor(call), locked, neighbours);
  });
};
