import type { UpdateObject } from 'kysely';
import { type Actor, type Call, actorOf } from '../access/call.ts';
import { may } from '../access/may.ts';
import type { Tx } from '../db/open.ts';
import type { Schema } from '../db/schema.ts';
import { recordEvent } from '../events/record.ts';
import { mention } from '../issuables/mention_rows.ts';
import {
  confidentialText,
  descriptionText,
  issueAssigneesText,
  labelsText,
  milestoneText,
  stateText,
  titleText,
} from '../issuables/system_note_text.ts';
import { type LabelRef, findOrCreateLabels } from '../labels/by_title.ts';
import { assignableMilestone } from '../milestones/find.ts';
import { addSystemNotes } from '../notes/system.ts';
import { addTodos, finishTodos, mentionTodos } from '../todos/add.ts';
import { countIssue } from './counters.ts';
import { assignable } from './create.ts';
import { type FoundIssue, lockIssue, reloadIssue } from './find.ts';
import { labelIds, setAssignees, setLabels } from './links.ts';
import type { FullIssue } from './rows.ts';
import { checkTitle } from './rules.ts';
import { storeSearchText } from './search.ts';

export type IssueEdit = {
  title?: string;
  description?: string | null;
  confidential?: boolean;
  assignee_ids?: number[];
  milestone_id?: number | null;
  labels?: string[];
  add_labels?: string[];
  remove_labels?: string[];
  state_event?: 'close' | 'reopen';
  due_date?: string | null;
  updated_at?: number;
};

/** Only those who may administer issues set these; from others they are dropped without a word. */
const withoutAdminFields = (edit: IssueEdit): IssueEdit => {
  const { assignee_ids: _a, milestone_id: _m, labels: _l, add_labels: _p, remove_labels: _r, due_date: _d, ...rest } = edit;
  return rest;
};

const allowed = (call: Call, { project }: FoundIssue, edit: IssueEdit): IssueEdit => {
  const own = may(call.viewer, 'admin_issue', project) ? edit : withoutAdminFields(edit);
  if (may(call.viewer, 'set_issue_times', project)) return own;
  const { updated_at: _updated, ...rest } = own;
  return rest;
};

/** One part of an edit: what to store in the row, and what to note. */
type Part = { set: UpdateObject<Schema, 'issues'>; note: string | null };

const statePart = ({ issue }: FoundIssue, edit: IssueEdit, actor: Actor, now: number): Part => {
  const state = edit.state_event === 'close' ? 'closed' : 'opened';
  if (edit.state_event === undefined || state === issue.state) return { set: {}, note: null };
  const closing = state === 'closed';
  const set = { state, closed_at: closing ? now : null, closed_by_id: closing ? actor.user.id : null } as const;
  return { set, note: stateText(issue.state, state) };
};

const textParts = ({ issue }: FoundIssue, edit: IssueEdit): Part[] => {
  const { title = issue.title, description = issue.description } = edit;
  const confidential = edit.confidential ?? issue.confidential === 1;
  const { due_date = issue.due_date } = edit;
  return [
    { set: title === issue.title ? {} : { title }, note: titleText(issue.title, title) },
    {
      set: description === issue.description ? {} : { description },
      note: descriptionText(issue.description, description),
    },
    {
      set: confidential === (issue.confidential === 1) ? {} : { confidential: confidential ? 1 : 0 },
      note: confidentialText(issue.confidential === 1, confidential),
    },
    { set: due_date === issue.due_date ? {} : { due_date }, note: null },
  ];
};

const milestonePart = async (tx: Tx, { issue, project }: FoundIssue, edit: IssueEdit): Promise<Part> => {
  if (edit.milestone_id === undefined) return { set: {}, note: null };
  const { milestone_id: wanted } = edit;
  const milestone = wanted === null ? null : await assignableMilestone(tx.db, project, wanted);
  const milestone_id = milestone?.id ?? null;
  if (milestone_id === issue.milestone_id) return { set: {}, note: null };
  return {
    set: { milestone_id },
    note: milestoneText(issue.milestone?.iid ?? null, milestone?.iid ?? null),
  };
};

/** Titles of the labels after the edit; null: unchanged. */
const wantedLabels = (issue: FullIssue, edit: IssueEdit): string[] | null => {
  if (edit.labels === undefined && edit.add_labels === undefined && edit.remove_labels === undefined) return null;
  const kept = (edit.labels ?? issue.labels).filter((title) => edit.remove_labels?.includes(title) !== true);
  return [...new Set([...kept, ...(edit.add_labels ?? [])])];
};

const labelNote = async (tx: Tx, actor: Actor, found: FoundIssue, edit: IssueEdit): Promise<string | null> => {
  const { issue, project } = found;
  const wanted = wantedLabels(issue, edit);
  if (wanted === null) return null;
  const before = await labelIds(tx, issue.id);
  const after = (await findOrCreateLabels(tx, actor, project, wanted)).map(({ id }: LabelRef) => id);
  await setLabels(tx, issue, before, after);
  return labelsText(before, after);
};

type Assigned = { note: string | null; added: number[] };

const assigneeNote = async (tx: Tx, found: FoundIssue, edit: IssueEdit): Promise<Assigned> => {
  const { issue, project, target } = found;
  if (edit.assignee_ids === undefined) return { note: null, added: [] };
  const before = target.assignee_ids;
  const after = await assignable(tx, project, edit.assignee_ids, issue);
  // Ids of nobody who could be assigned are ignored; none, or 0, clears.
  const unchanged = after.length === 0 && edit.assignee_ids.some((id) => id !== 0);
  if (unchanged || after.join() === before.join()) return { note: null, added: [] };
  await setAssignees(tx, issue, before, after);
  const names = await usernames(tx, [...before, ...after]);
  const named = (ids: number[]): string[] => ids.map((id) => names.get(id) ?? '');
  return {
    note: issueAssigneesText(named(before), named(after)),
    added: after.filter((id) => !before.includes(id)),
  };
};

const usernames = async (tx: Tx, ids: number[]): Promise<Map<number, string>> => {
  const rows = await tx.db.selectFrom('users').select(['id', 'username']).where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, row.username]));
};

const storeRow = async (
  tx: Tx,
  { issue, project }: FoundIssue,
  set: UpdateObject<Schema, 'issues'>,
  updated_at: number,
): Promise<FoundIssue> => {
  await tx.db.updateTable('issues').set({ ...set, updated_at }).where('id', '=', issue.id).execute();
  const found = await reloadIssue(tx.db, project, issue.id);
  await countIssue(tx, project.id, issue, found.issue);
  return found;
};

const notifyOfText = async (tx: Tx, actor: Actor, before: FoundIssue, after: FoundIssue): Promise<void> => {
  const { issue } = after;
  if (issue.title === before.issue.title && issue.description === before.issue.description) return;
  await storeSearchText(tx, issue, false);
  const text = `${issue.title}\n${issue.description ?? ''}`;
  const mentioned = await mention(tx, after, { note_id: 0, text, isNew: false });
  await addTodos(tx, actor.user.id, after.target, mentionTodos(mentioned, actor.user.id, issue.title));
};

const notifyAssigned = async (tx: Tx, actor: Actor, { target, issue }: FoundIssue, added: number[]): Promise<void> => {
  const others = added.filter((id) => id !== actor.user.id);
  const todos = others.map((user_id) => ({ user_id, action: 'assigned' as const, body: issue.title }));
  await addTodos(tx, actor.user.id, target, todos);
};

const applyEdit = async (tx: Tx, actor: Actor, before: FoundIssue, edit: IssueEdit): Promise<FoundIssue> => {
  const { project } = before;
  const state = statePart(before, edit, actor, tx.now);
  const parts = [state, ...textParts(before, edit), await milestonePart(tx, before, edit)];
  const assigned = await assigneeNote(tx, before, edit);
  const labels = await labelNote(tx, actor, before, edit);
  const notes = [...parts.map((part) => part.note), assigned.note, labels];
  const set = Object.assign({}, ...parts.map((part) => part.set)) as UpdateObject<Schema, 'issues'>;
  const changed = Object.keys(set).length > 0 || assigned.note !== null || labels !== null;
  if (!changed && edit.updated_at === undefined) return before;
  const after = await storeRow(tx, before, set, edit.updated_at ?? later(before, tx.now));
  await addSystemNotes(tx, actor.user.id, after.target, notes);
  await notifyOfText(tx, actor, before, after);
  await notifyAssigned(tx, actor, after, assigned.added);
  await finishTodos(tx, actor.user.id, after.target);
  await recordEvent(tx, actor, {
    kind: eventKind(state, edit),
    project_id: project.id,
    target_type: 'Issue',
    target_id: after.issue.id,
    data: { changed: [...Object.keys(set), ...(labels === null ? [] : ['labels'])] },
  });
  return after;
};

const eventKind = (state: Part, edit: IssueEdit): string => {
  if (state.note === null) return 'issue.updated';
  return edit.state_event === 'close' ? 'issue.closed' : 'issue.reopened';
};

/** `updated_at` never goes back, even if the clock does. */
const later = ({ issue }: FoundIssue, now: number): number => Math.max(issue.updated_at + 1, now);

/**
 * Edits an issue: one transaction, all or nothing; what changes nothing leaves no trace.
 * @throws Failure 400 for a title that is blank or too long
 */
export const updateIssue = async (call: Call, found: FoundIssue, edit: IssueEdit): Promise<FoundIssue> => {
  const title = edit.title === undefined ? {} : { title: checkTitle(edit.title) };
  const given = allowed(call, found, { ...edit, ...title });
  const actor = actorOf(call);
  return await call.write(async (tx) => {
    const locked = await lockIssue(tx, found.project, found.issue.id);
    return await applyEdit(tx, actor, locked, given);
  });
};
