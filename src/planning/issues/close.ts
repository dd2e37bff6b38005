/** Closes the issues that a merged merge request or a pushed commit names in a closing phrase. */
import { may } from '../../core/access/may.ts';
import type { Viewer } from '../../core/access/viewer.ts';
import type { Tx } from '../../platform/db/open.ts';
import { type Cause, recordEvent } from '../../core/events/record_event.ts';
import { getNextUpdateTime } from '../../platform/time.ts';
import { type ClosedBy, stateText } from '../issuables/text/system_note_text.ts';
import { addSystemNotes } from '../notes/add_system_notes.ts';
import { type Project, loadProject } from '../../projects/projects/find.ts';
import { recordStateChange } from '../issuables/record_resource_events.ts';
import { finishTodos } from '../todos/add_todos.ts';
import { type LoadedIssue, lockIssue, reloadIssue } from './find.ts';

const store = async (tx: Tx, cause: Cause, { issue, project }: LoadedIssue): Promise<LoadedIssue> => {
  const updated_at = getNextUpdateTime(issue, tx.now);
  await tx.db
    .updateTable('issues')
    .set({ state: 'closed', closed_at: tx.now, closed_by_id: cause.user.id, updated_at })
    .where('id', '=', issue.id)
    .execute();
  return await reloadIssue(tx.db, project, issue.id);
};

/** The user who closes the issues, and the cause that the system note names. */
type Closing = { viewer: Viewer; by: (project: Project) => ClosedBy };

/** Closes one issue if it is open and the viewer may close it. */
const closeIssue = async (
  tx: Tx,
  cause: Cause,
  { id, project }: { id: number; project: Project },
  { viewer, by }: Closing,
): Promise<void> => {
  if (project.autoclose_referenced_issues === 0) return;
  const loaded = await lockIssue(tx, project, id);
  const isAllowed = loaded.isVisibleTo(viewer) && may(viewer, 'update_issue', project, loaded.target);
  if (loaded.issue.state === 'closed' || !isAllowed) return;
  const after = await store(tx, cause, loaded);
  await addSystemNotes(tx, cause.user.id, after.target, [stateText('opened', 'closed', by(project))]);
  await finishTodos(tx, cause.user.id, after.target);
  await recordStateChange(tx, { target: after.target, user_id: cause.user.id }, 'closed');
  await recordEvent(tx, cause, {
    kind: 'issue.closed',
    project_id: project.id,
    target_type: 'Issue',
    target_id: id,
    data: { state: ['opened', 'closed'], ...by(project) },
  });
};

/** Closes the open issues among these, each only if the viewer may. */
export const closeIssues = async (
  tx: Tx,
  cause: Cause,
  issues: readonly { id: number; project_id: number }[],
  closing: Closing,
): Promise<void> => {
  // In a fixed order, so that two transactions that close the same issues cannot deadlock.
  for (const { id, project_id } of issues.toSorted((a, b) => a.id - b.id)) {
    const project = await loadProject(tx.db, project_id);
    if (project !== null) await closeIssue(tx, cause, { id, project }, closing);
  }
};
