import { sql } from 'kysely';
import { type Actor, type Call, requireActor } from '../../../core/access/call.ts';
import { may } from '../../../core/access/may.ts';
import type { Tx } from '../../../platform/db/open.ts';
import { refused } from '../../../platform/errors.ts';
import { recordEvent } from '../../../core/events/record_event.ts';
import { keepAssignable } from '../../issuables/keep_assignable.ts';
import { setAssignees, setLabels } from '../../issuables/label_assignee_links.ts';
import { storeSearchText } from '../../issuables/search/search.ts';
import { movedFromText, movedToText } from '../../issuables/text/system_note_text.ts';
import { findLabels } from '../../../projects/labels/find_by_title.ts';
import { addSystemNotes } from '../../notes/add_system_notes.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { iidTurn, takeIid } from '../../../projects/projects/take_iid.ts';
import { finishTodos } from '../../todos/add_todos.ts';
import { issueVisibility } from '../create.ts';
import { movedColumns } from '../fields.ts';
import { type LoadedIssue, lockIssue, reloadIssue } from '../find.ts';
import { copyNotes } from './copy_notes.ts';
import { findSameMilestone, findTargetProject } from './find_in_target.ts';
import { rewriteText } from './rewrite_text.ts';

const noPermission = () => refused('Cannot move issue due to insufficient permissions!');
const sameProject = () => refused('Cannot move issue to project it originates from!');

const insertCopy = async (tx: Tx, { issue, project: from }: LoadedIssue, to: Project): Promise<number> => {
  const iid = await takeIid(tx, to.id, 'issue');
  const description = issue.description === null ? null : await rewriteText(tx, from, issue.description);
  const { id } = await tx.db
    .insertInto('issues')
    .values({
      ...movedColumns(issue),
      project_id: to.id,
      iid,
      description,
      milestone_id: await findSameMilestone(tx.db, to, issue.milestone?.title),
      moved_to_id: null,
      updated_at: tx.now,
      deleted_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await storeSearchText(tx, 'Issue', { id, title: issue.title, description }, true);
  return id;
};

/** Copies the awards and the description's mentions, with their authors and times. */
const copyTrail = async (tx: Tx, fromId: number, toId: number): Promise<void> => {
  await sql`insert into award_emoji (name, user_id, target_type, target_id, created_at, updated_at)
    select name, user_id, target_type, ${toId}, created_at, updated_at from award_emoji
    where target_type = 'Issue' and target_id = ${fromId}`.execute(tx.db);
  await sql`insert into mentions (target_type, target_id, note_id, user_id)
    select target_type, ${toId}, 0, user_id from mentions
    where target_type = 'Issue' and target_id = ${fromId} and note_id = 0`.execute(tx.db);
};

const copyLinks = async (
  tx: Tx,
  { issue, target }: LoadedIssue,
  toId: number,
  to: Project,
): Promise<void> => {
  const copy = { type: 'Issue' as const, id: toId, created_at: issue.created_at };
  const labels = await findLabels(tx.db, to, issue.labels);
  await setLabels(
    tx,
    copy,
    [],
    labels.map(({ id }) => id),
  );
  const assignees = await keepAssignable(tx, to, target.assignee_ids, issueVisibility(to, issue));
  await setAssignees(tx, copy, [], assignees);
};

const closeOld = async (tx: Tx, actor: Actor, { issue }: LoadedIssue, movedToId: number): Promise<void> => {
  await tx.db
    .updateTable('issues')
    .set({
      state: 'closed',
      moved_to_id: movedToId,
      updated_at: tx.now,
      ...(issue.state === 'opened' && { closed_at: tx.now, closed_by_id: actor.user.id }),
    })
    .where('id', '=', issue.id)
    .execute();
};

/** Records one event in each project: readers of one change log may not see the other project. */
const recordMove = async (tx: Tx, actor: Actor, old: LoadedIssue, moved: LoadedIssue): Promise<void> => {
  const target_type = 'Issue';
  await recordEvent(tx, actor, {
    kind: 'issue.moved',
    project_id: old.project.id,
    target_type,
    target_id: old.issue.id,
    data: { to_project_id: moved.project.id, to_issue_id: moved.issue.id },
  });
  await recordEvent(tx, actor, {
    kind: 'issue.created',
    project_id: moved.project.id,
    target_type,
    target_id: moved.issue.id,
    data: {
      iid: moved.issue.iid,
      title: moved.issue.title,
      from_project_id: old.project.id,
      from_issue_id: old.issue.id,
    },
  });
};

const moveLocked = async (tx: Tx, actor: Actor, old: LoadedIssue, to: Project): Promise<LoadedIssue> => {
  const id = await insertCopy(tx, old, to);
  await copyTrail(tx, old.issue.id, id);
  await copyNotes(tx, old, { id, project_id: to.id }, { withSystemNotes: true });
  await copyLinks(tx, old, id, to);
  await closeOld(tx, actor, old, id);
  const moved = await reloadIssue(tx.db, to, id);
  await addSystemNotes(tx, actor.user.id, old.target, [movedToText(to.full_path, moved.issue.iid)]);
  await addSystemNotes(tx, actor.user.id, moved.target, [
    movedFromText(old.project.full_path, old.issue.iid),
  ]);
  await finishTodos(tx, actor.user.id, old.target);
  await recordMove(tx, actor, old, moved);
  return moved;
};

/**
 * Moves an issue: creates a copy in the target project, then closes the original and marks it as moved.
 * @throws Failure 400 without permission, for a hidden target and for the same project; 404 for an administrator's
 * target that is missing
 */
export const moveIssue = async (
  call: Call,
  loaded: LoadedIssue,
  toProjectId: number,
): Promise<LoadedIssue> => {
  const to = await findTargetProject(call, toProjectId, noPermission);
  const permitted = may(call.viewer, 'move_issue', loaded.project) && may(call.viewer, 'move_issue', to);
  if (!permitted || loaded.issue.moved_to_id !== null) throw noPermission();
  if (to.id === loaded.project.id) throw sameProject();
  return await call.write(
    async (tx) => {
      const old = await lockIssue(tx, loaded.project, loaded.issue.id, 'Issue');
      if (old.issue.moved_to_id !== null) throw noPermission();
      return await moveLocked(tx, requireActor(call), old, to);
    },
    iidTurn(to.id, 'issue'),
  );
};
