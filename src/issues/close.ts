/** Closes issues in the name of somebody who did it elsewhere: by merging what says that it closes them. */
import { may } from '../access/may.ts';
import type { Viewer } from '../access/viewer.ts';
import type { Tx } from '../db/open.ts';
import { type Cause, recordEvent } from '../events/record.ts';
import { type ClosedBy, stateText } from '../issuables/system_note_text.ts';
import { addSystemNotes } from '../notes/system.ts';
import { type Project, loadProject } from '../projects/find.ts';
import { finishTodos } from '../todos/add.ts';
import { type FoundIssue, lockIssue, reloadIssue } from './find.ts';

const store = async (tx: Tx, cause: Cause, { issue, project }: FoundIssue): Promise<FoundIssue> => {
  const updated_at = Math.max(issue.updated_at + 1, tx.now);
  await tx.db
    .updateTable('issues')
    .set({ state: 'closed', closed_at: tx.now, closed_by_id: cause.user.id, updated_at })
    .where('id', '=', issue.id)
    .execute();
  return await reloadIssue(tx.db, project, issue.id);
};

/** What closes issues, as the note under one of this project names it. */
type Closing = { viewer: Viewer; by: (project: Project) => ClosedBy };

/** @returns whether it was open, and the viewer may close it */
const closeIssue = async (
  tx: Tx,
  cause: Cause,
  { id, project }: { id: number; project: Project },
  { viewer, by }: Closing,
): Promise<void> => {
  const found = await lockIssue(tx, project, id);
  const isAllowed = found.isVisibleTo(viewer) && may(viewer, 'update_issue', project, found.target);
  if (found.issue.state === 'closed' || !isAllowed) return;
  const after = await store(tx, cause, found);
  await addSystemNotes(tx, cause.user.id, after.target, [stateText('opened', 'closed', by(project))]);
  await finishTodos(tx, cause.user.id, after.target);
  await recordEvent(tx, cause, {
    kind: 'issue.closed',
    project_id: project.id,
    target_type: 'Issue',
    target_id: id,
    data: { state: ['opened', 'closed'], ...by(project) },
  });
};

/** Closes those of the issues that are open, each only if the viewer may. */
export const closeIssues = async (
  tx: Tx,
  cause: Cause,
  issues: readonly { id: number; project_id: number }[],
  closing: Closing,
): Promise<void> => {
  // In one order: two who close the same ones do not wait for each other.
  for (const { id, project_id } of issues.toSorted((a, b) => a.id - b.id)) {
    // oxlint-disable-next-line no-await-in-loop -- one transaction runs one statement after another
    const project = await loadProject(tx.db, project_id);
    // oxlint-disable-next-line no-await-in-loop
    if (project !== null) await closeIssue(tx, cause, { id, project }, closing);
  }
};
