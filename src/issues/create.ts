import { type Actor, type Call, actorOf } from '../access/call.ts';
import { may } from '../access/may.ts';
import { viewersOfProject } from '../access/viewers_of.ts';
import { canSeeIssue } from '../access/visible.ts';
import type { Tx } from '../db/open.ts';
import { recordEvent } from '../events/record.ts';
import { mention } from '../issuables/mention_rows.ts';
import { findOrCreateLabels } from '../labels/by_title.ts';
import { assignableMilestone } from '../milestones/find.ts';
import type { Project } from '../projects/find.ts';
import { addTodos, mentionTodos } from '../todos/add.ts';
import { takeIid } from './counters.ts';
import { type FoundIssue, reloadIssue } from './find.ts';
import { setAssignees, setLabels } from './links.ts';
import { checkTitle } from './rules.ts';
import { storeSearchText } from './search.ts';

export type NewIssue = {
  title: string;
  description?: string | null;
  confidential?: boolean;
  assignee_ids?: number[];
  milestone_id?: number | null;
  labels?: string[];
  created_at?: number;
  due_date?: string | null;
};

/** Only those who may administer issues set these; from others they are dropped without a word. */
const withoutAdminFields = ({ assignee_ids: _a, milestone_id: _m, labels: _l, due_date: _d, ...rest }: NewIssue) =>
  rest as NewIssue;

const allowed = (call: Call, project: Project, given: NewIssue): NewIssue => {
  const own = may(call.viewer, 'admin_issue', project) ? given : withoutAdminFields(given);
  if (may(call.viewer, 'set_issue_times', project)) return own;
  const { created_at: _created, ...rest } = own;
  return rest;
};

/** Ids of those who exist and may see the issue, in the order given. */
export const assignable = async (
  tx: Tx,
  project: Project,
  ids: readonly number[],
  issue: { author_id: number; confidential: number },
): Promise<number[]> => {
  const wanted = [...new Set(ids)].filter((id) => id > 0);
  const viewers = await viewersOfProject(tx.db, project, wanted, tx.now);
  const facts = { id: 0, deleted_at: null, assignee_ids: wanted, ...issue };
  return wanted.filter((id) => {
    const viewer = viewers.get(id);
    return viewer !== undefined && canSeeIssue(viewer, project, facts);
  });
};

const insertRow = async (tx: Tx, project: Project, actor: Actor, given: NewIssue) => {
  const confidential = given.confidential === true ? (1 as const) : (0 as const);
  const { milestone_id: wanted = null } = given;
  const milestone = wanted === null ? null : await assignableMilestone(tx.db, project, wanted);
  const iid = await takeIid(tx, project.id, { state: 'opened', confidential });
  const created_at = given.created_at ?? tx.now;
  const row = {
    project_id: project.id,
    iid,
    title: given.title,
    description: given.description ?? null,
    state: 'opened' as const,
    author_id: actor.user.id,
    milestone_id: milestone?.id ?? null,
    confidential,
    due_date: given.due_date ?? null,
    moved_to_id: null,
    closed_at: null,
    closed_by_id: null,
    created_at,
    updated_at: tx.now,
    deleted_at: null,
  };
  const { id } = await tx.db.insertInto('issues').values(row).returning('id').executeTakeFirstOrThrow();
  return { id, ...row };
};

const storeUserAgent = async (tx: Tx, id: number, { userAgent, ip }: Call): Promise<void> => {
  if (userAgent === '') return;
  const row = { target_type: 'Issue' as const, target_id: id, user_agent: userAgent.slice(0, 1000), ip_address: ip };
  await tx.db.insertInto('user_agent_details').values(row).execute();
};

/** Tells assignees and those who are mentioned. */
const notify = async (tx: Tx, actor: Actor, found: FoundIssue, assigneeIds: number[]): Promise<void> => {
  const { issue, target } = found;
  const text = `${issue.title}\n${issue.description ?? ''}`;
  const mentioned = await mention(tx, found, { note_id: 0, text, isNew: true });
  const assigned = assigneeIds
    .filter((id) => id !== actor.user.id)
    .map((user_id) => ({ user_id, action: 'assigned' as const, body: issue.title }));
  await addTodos(tx, actor.user.id, target, [...assigned, ...mentionTodos(mentioned, actor.user.id, issue.title)]);
};

/**
 * Creates an issue, with all its side effects in one transaction.
 * @throws Failure 400 for a title that is blank or too long
 */
export const createIssue = async (call: Call, project: Project, input: NewIssue): Promise<FoundIssue> => {
  const title = checkTitle(input.title);
  const given = allowed(call, project, { ...input, title });
  const actor = actorOf(call);
  return await call.write(async (tx) => {
    const row = await insertRow(tx, project, actor, given);
    await storeSearchText(tx, row, true);
    if (given.labels !== undefined && given.labels.length > 0) {
      const labels = await findOrCreateLabels(tx, actor, project, given.labels);
      await setLabels(tx, row, [], labels.map(({ id }) => id));
    }
    const assigneeIds = await assignable(tx, project, given.assignee_ids ?? [], row);
    await setAssignees(tx, row, [], assigneeIds);
    await storeUserAgent(tx, row.id, call);
    await recordEvent(tx, actor, {
      kind: 'issue.created',
      project_id: project.id,
      target_type: 'Issue',
      target_id: row.id,
      data: { iid: row.iid, title: row.title },
    });
    const found = await reloadIssue(tx.db, project, row.id);
    await notify(tx, actor, found, assigneeIds);
    return found;
  });
};
