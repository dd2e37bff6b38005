import { type Actor, type Call, actorOf } from '../access/call.ts';
import { may } from '../access/may.ts';
import type { Tx } from '../db/open.ts';
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
import { countIssue } from './counters.ts';
import { assignable } from './create.ts';
import { type FoundIssue, lockIssue, reloadIssue } from './find.ts';
import { type Assigned, type Row, followEdit } from './follow_edit.ts';
import { labelIds, setAssignees, setLabels } from './links.ts';
import type { FullIssue } from './rows.ts';
import { checkTitle } from './rules.ts';

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
  const {
    assignee_ids: _a,
    milestone_id: _m,
    labels: _l,
    add_labels: _p,
    remove_labels: _r,
    due_date: _d,
    ...rest
  } = edit;
  return rest;
};

const allowed = (call: Call, { project }: FoundIssue, edit: IssueEdit): IssueEdit => {
  const own = may(call.viewer, 'admin_issue', project) ? edit : withoutAdminFields(edit);
  if (may(call.viewer, 'set_issue_times', project)) return own;
  const { updated_at: _updated, ...rest } = own;
  return rest;
};

/** One part of an edit: what to store in the row, and what to note. */
type Part = { set: Row; note: string | null };

const statePart = ({ issue }: FoundIssue, edit: IssueEdit, actor: Actor, now: number): Part => {
  const state = edit.state_event === 'close' ? 'closed' : 'opened';
  if (edit.state_event === undefined || state === issue.state) return { set: {}, note: null };
  const closing = state === 'closed';
  const set = {
    state,
    closed_at: closing ? now : null,
    closed_by_id: closing ? actor.user.id : null,
  } as const;
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
  if (edit.labels === undefined && edit.add_labels === undefined && edit.remove_labels === undefined)
    return null;
  const kept = (edit.labels ?? issue.labels).filter((title) => edit.remove_labels?.includes(title) !== true);
  return [...new Set([...kept, ...(edit.add_labels ?? [])])];
};

const labelNote = async (
  tx: Tx,
  actor: Actor,
  found: FoundIssue,
  edit: IssueEdit,
): Promise<string | null> => {
  const { issue, project } = found;
  const wanted = wantedLabels(issue, edit);
  if (wanted === null) return null;
  const before = await labelIds(tx, issue.id);
  const after = (await findOrCreateLabels(tx, actor, project, wanted)).map(({ id }: LabelRef) => id);
  await setLabels(tx, issue, before, after);
  return labelsText(before, after);
};

const assign = async (tx: Tx, { issue, project, target }: FoundIssue, edit: IssueEdit): Promise<Assigned> => {
  if (edit.assignee_ids === undefined) return null;
  const before = target.assignee_ids;
  const after = await assignable(tx, project, edit.assignee_ids, issue);
  // Ids of nobody who could be assigned are ignored; none, or 0, clears.
  const unchanged = after.length === 0 && edit.assignee_ids.some((id) => id !== 0);
  if (unchanged || after.join() === before.join()) return null;
  await setAssignees(tx, issue, before, after);
  return { before, after };
};

const assigneeNote = async (tx: Tx, assigned: Assigned): Promise<string | null> => {
  if (assigned === null) return null;
  const { before, after } = assigned;
  const names = await usernames(tx, [...before, ...after]);
  const named = (ids: number[]): string[] => ids.map((id) => names.get(id) ?? '');
  return issueAssigneesText(named(before), named(after));
};

const usernames = async (tx: Tx, ids: number[]): Promise<Map<number, string>> => {
  const rows = await tx.db.selectFrom('users').select(['id', 'username']).where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, row.username]));
};

const storeRow = async (
  tx: Tx,
  { issue, project }: FoundIssue,
  set: Row,
  updated_at: number,
): Promise<FoundIssue> => {
  await tx.db
    .updateTable('issues')
    .set({ ...set, updated_at })
    .where('id', '=', issue.id)
    .execute();
  const found = await reloadIssue(tx.db, project, issue.id);
  await countIssue(tx, project.id, issue, found.issue);
  return found;
};

const applyEdit = async (tx: Tx, actor: Actor, before: FoundIssue, edit: IssueEdit): Promise<FoundIssue> => {
  const parts = [
    statePart(before, edit, actor, tx.now),
    ...textParts(before, edit),
    await milestonePart(tx, before, edit),
  ];
  const assigned = await assign(tx, before, edit);
  const labels = await labelNote(tx, actor, before, edit);
  const set = Object.assign({}, ...parts.map((part) => part.set)) as Row;
  const isRelated = assigned !== null || labels !== null;
  if (Object.keys(set).length === 0 && !isRelated && edit.updated_at === undefined) return before;
  const after = await storeRow(tx, before, set, edit.updated_at ?? later(before, tx.now));
  const notes = [...parts.map((part) => part.note), await assigneeNote(tx, assigned), labels];
  await addSystemNotes(tx, actor.user.id, after.target, notes);
  await followEdit(tx, actor, { before, after, set, assigned, isRelated });
  return after;
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
