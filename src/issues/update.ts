import type { UpdateObject } from 'kysely';
import { type Actor, type Call, actorOf } from '../access/call.ts';
import { may } from '../access/may.ts';
import type { Tx } from '../db/open.ts';
import type { Schema } from '../db/schema.ts';
import {
  type SharedEdit,
  editAssignees,
  editLabels,
  milestonePart,
  peopleNote,
  withoutAdminFields as withoutShared,
} from '../issuables/edit.ts';
import {
  confidentialText,
  descriptionText,
  issueAssigneesText,
  stateText,
  titleText,
} from '../issuables/system_note_text.ts';
import { checkTitle } from '../issuables/title.ts';
import { noteMentionsOf } from '../notes/cross_references.ts';
import { addSystemNotes } from '../notes/system.ts';
import { followEdit } from '../todos/follow_edit.ts';
import { seesIssue } from './create.ts';
import { type FoundIssue, lockIssue, reloadIssue } from './find.ts';
import { issueNoun } from './noun.ts';

export type IssueEdit = SharedEdit & {
  confidential?: boolean;
  state_event?: 'close' | 'reopen';
  due_date?: string | null;
  updated_at?: number;
};

/** Only those who may administer issues set these; from others they are dropped without a word. */
const withoutAdminFields = (edit: IssueEdit): IssueEdit => {
  const { due_date: _d, ...rest } = withoutShared(edit);
  return rest;
};

const allowed = (call: Call, { project }: FoundIssue, edit: IssueEdit): IssueEdit => {
  const own = may(call.viewer, 'admin_issue', project) ? edit : withoutAdminFields(edit);
  if (may(call.viewer, 'set_issue_times', project)) return own;
  const { updated_at: _updated, ...rest } = own;
  return rest;
};

/** The columns that an edit changes. */
type Row = UpdateObject<Schema, 'issues'>;

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
  return await reloadIssue(tx.db, project, issue.id);
};

const applyEdit = async (tx: Tx, actor: Actor, before: FoundIssue, edit: IssueEdit): Promise<FoundIssue> => {
  const { issue, project } = before;
  const edited = { found: before, record: issue };
  const parts = [
    statePart(before, edit, actor, tx.now),
    ...textParts(before, edit),
    await milestonePart(tx, edited, edit),
  ];
  const assigned = await editAssignees(tx, before, edit, seesIssue(project, issue));
  const labels = await editLabels(tx, actor, edited, edit);
  const set = Object.assign({}, ...parts.map((part) => part.set)) as Row;
  const isRelated = assigned !== null || labels !== null;
  if (Object.keys(set).length === 0 && !isRelated && edit.updated_at === undefined) return before;
  const after = await storeRow(tx, before, set, edit.updated_at ?? later(before, tx.now));
  const notes = [
    ...parts.map((part) => part.note),
    await peopleNote(tx, assigned, issueAssigneesText),
    labels,
  ];
  await addSystemNotes(tx, actor.user.id, after.target, notes);
  const records = { before: issue, after: after.issue };
  await followEdit(tx, actor, { noun: issueNoun, found: after, ...records, set, assigned, isRelated });
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
    const edited = await applyEdit(tx, actor, locked, given);
    await noteMentionsOf(tx, call, edited, { before: locked.issue, after: edited.issue });
    return edited;
  });
};
