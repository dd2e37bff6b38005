import { sql } from 'kysely';
import { type Actor, type Call, actorOf } from '../access/call.ts';
import { may } from '../access/may.ts';
import type { Tx } from '../db/open.ts';
import { refused } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import { assignable } from '../issuables/assignable.ts';
import { setAssignees, setLabels } from '../issuables/links.ts';
import { storeSearchText } from '../issuables/search.ts';
import { movedFromText, movedToText } from '../issuables/system_note_text.ts';
import { findLabels } from '../labels/by_title.ts';
import { addSystemNotes } from '../notes/system.ts';
import { type Project, findProject } from '../projects/find.ts';
import { takeIid } from '../projects/take_iid.ts';
import { finishTodos } from '../todos/add.ts';
import { seesIssue } from './create.ts';
import { type FoundIssue, lockIssue, reloadIssue } from './find.ts';
import { copyNotes, rewritten } from './moved_text.ts';

const noPermission = () => refused('Cannot move issue due to insufficient permissions!');
const sameProject = () => refused('Cannot move issue to project it originates from!');

/** The milestone of the same title that is active in the target project or a group above it. */
const sameMilestone = async (tx: Tx, project: Project, title: string | undefined): Promise<number | null> => {
  if (title === undefined) return null;
  const { rows } = await sql<{ id: number }>`
    with recursive ancestors (id, parent_id) as (
      select id, parent_id from namespaces where id = ${project.namespace_id}
      union
      select namespaces.id, namespaces.parent_id from namespaces join ancestors on namespaces.id = ancestors.parent_id
    )
    select id from milestones where title = ${title} and state = 'active'
      and (project_id = ${project.id} or group_id in (select id from ancestors))
    order by case when project_id is null then 1 else 0 end, id limit 1`.execute(tx.db);
  return rows[0]?.id ?? null;
};

const insertCopy = async (tx: Tx, { issue, project: from }: FoundIssue, to: Project): Promise<number> => {
  const { state, confidential } = issue;
  const iid = await takeIid(tx, to.id, 'issue');
  const description = issue.description === null ? null : await rewritten(tx, from, issue.description);
  const { id } = await tx.db
    .insertInto('issues')
    .values({
      project_id: to.id,
      iid,
      title: issue.title,
      description,
      state,
      author_id: issue.author_id,
      milestone_id: await sameMilestone(tx, to, issue.milestone?.title),
      confidential,
      due_date: issue.due_date,
      time_estimate: issue.time_estimate,
      user_notes_count: issue.user_notes_count,
      upvotes: issue.upvotes,
      downvotes: issue.downvotes,
      moved_to_id: null,
      closed_at: issue.closed_at,
      closed_by_id: issue.closed_by_id,
      created_at: issue.created_at,
      updated_at: tx.now,
      deleted_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await storeSearchText(tx, 'Issue', { id, title: issue.title, description }, true);
  return id;
};

/** Awards and the description's mentions go along with their authors and times. */
const copyTrail = async (tx: Tx, fromId: number, toId: number): Promise<void> => {
  await sql`insert into award_emoji (name, user_id, target_type, target_id, created_at, updated_at)
    select name, user_id, target_type, ${toId}, created_at, updated_at from award_emoji
    where target_type = 'Issue' and target_id = ${fromId}`.execute(tx.db);
  await sql`insert into mentions (target_type, target_id, note_id, user_id)
    select target_type, ${toId}, 0, user_id from mentions
    where target_type = 'Issue' and target_id = ${fromId} and note_id = 0`.execute(tx.db);
};

const copyLinks = async (tx: Tx, { issue, target }: FoundIssue, toId: number, to: Project): Promise<void> => {
  const copy = { type: 'Issue' as const, id: toId, created_at: issue.created_at };
  const labels = await findLabels(tx.db, to, issue.labels);
  await setLabels(
    tx,
    copy,
    [],
    labels.map(({ id }) => id),
  );
  const assignees = await assignable(tx, to, target.assignee_ids, seesIssue(to, issue));
  await setAssignees(tx, copy, [], assignees);
};

const closeOld = async (tx: Tx, actor: Actor, { issue }: FoundIssue, movedToId: number): Promise<void> => {
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

/** One event in either project: who reads the change log of one need not know of the other. */
const recordMove = async (tx: Tx, actor: Actor, old: FoundIssue, moved: FoundIssue): Promise<void> => {
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

const moveLocked = async (tx: Tx, actor: Actor, old: FoundIssue, to: Project): Promise<FoundIssue> => {
  const id = await insertCopy(tx, old, to);
  await copyTrail(tx, old.issue.id, id);
  await copyNotes(tx, old, { id, project_id: to.id });
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
 * Moves an issue: a new issue in the target project, the old one closed and marked as moved.
 * @throws Failure 404 for a target that is missing or hidden from the caller, 400 without permission or for the same project
 */
export const moveIssue = async (call: Call, found: FoundIssue, toProjectId: number): Promise<FoundIssue> => {
  const to = await findProject(call, toProjectId);
  const permitted = may(call.viewer, 'move_issue', found.project) && may(call.viewer, 'move_issue', to);
  if (!permitted || found.issue.moved_to_id !== null) throw noPermission();
  if (to.id === found.project.id) throw sameProject();
  return await call.write(async (tx) => {
    const old = await lockIssue(tx, found.project, found.issue.id, 'Issue');
    if (old.issue.moved_to_id !== null) throw noPermission();
    return await moveLocked(tx, actorOf(call), old, to);
  });
};
