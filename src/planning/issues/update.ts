import { type Actor, type Call, requireActor } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import type { Tx } from '../../platform/db/open.ts';
import { updateRow } from '../../platform/db/update.ts';
import { getNextUpdateTime } from '../../platform/time.ts';
import {
  type SharedEdit,
  editAssignees,
  editLabels,
  lastEdit,
  milestonePart,
  peopleNote,
  withoutAdminFields,
} from '../issuables/shared_edits.ts';
import { type EditInput, type Part, changedColumns, keepPermitted } from '../issuables/fields.ts';
import { issueAssigneesText, stateText } from '../issuables/text/system_note_text.ts';
import { checkTitle } from '../issuables/text/title.ts';
import { addCrossReferences } from '../notes/cross_references.ts';
import { addSystemNotes } from '../notes/add_system_notes.ts';
import { followEdit } from '../todos/follow_edit.ts';
import { issueVisibility } from './create.ts';
import { issueFields } from './fields.ts';
import { type LoadedIssue, lockLoadedIssue, reloadIssue, toLoadedIssue } from './find.ts';
import { issueNoun } from './noun.ts';
import type { IssueRow } from './rows.ts';

export type IssueEdit = SharedEdit &
  EditInput<typeof issueFields> & {
    state_event?: 'close' | 'reopen';
    updated_at?: number;
  };

/** Drops fields that the caller may not set. */
const keepAllowed = (call: Call, { project }: LoadedIssue, edit: IssueEdit): IssueEdit => {
  const permitted = keepPermitted(issueFields, { viewer: call.viewer, project }, edit);
  const own = may(call.viewer, 'admin_issue', project) ? permitted : withoutAdminFields(permitted);
  if (may(call.viewer, 'set_issue_times', project)) return own;
  const { updated_at: _updated, ...rest } = own;
  return rest;
};

/** The columns that an edit changes. */
type Row = Partial<IssueRow>;

const statePart = ({ issue }: LoadedIssue, edit: IssueEdit, actor: Actor, now: number): Part<IssueRow> => {
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

/** Columns that refer to records which an issue embeds. */
const references = ['milestone_id', 'closed_by_id'] as const;

type Stored = { set: Row; updated_at: number; isRelated: boolean; actor: Actor };

/** Stores changed columns. Loads the issue again only if it embeds other records than before. */
const storeRow = async (
  tx: Tx,
  { issue, project }: LoadedIssue,
  { set, updated_at, isRelated, actor }: Stored,
): Promise<LoadedIssue> => {
  const changed = { ...set, updated_at, ...lastEdit(set, actor, tx.now) };
  await updateRow(tx.db, 'issues', issue.id, { set: changed });
  return isRelated || references.some((name) => name in set)
    ? await reloadIssue(tx.db, project, issue.id)
    : toLoadedIssue(project, { ...issue, ...changed });
};

const applyEdit = async (
  tx: Tx,
  actor: Actor,
  before: LoadedIssue,
  edit: IssueEdit,
): Promise<LoadedIssue> => {
  const { issue, project } = before;
  const edited = { loaded: before, record: issue };
  const parts = [
    statePart(before, edit, actor, tx.now),
    ...changedColumns<IssueRow>(issueFields, issue, edit),
    await milestonePart(tx, edited, edit),
  ];
  const assigned = await editAssignees(tx, before, edit, issueVisibility(project, issue));
  const labels = await editLabels(tx, actor, edited, edit);
  const set = Object.assign({}, ...parts.map((part) => part.set)) as Row;
  const isRelated = assigned !== null || labels !== null;
  if (Object.keys(set).length === 0 && !isRelated && edit.updated_at === undefined) return before;
  const updated_at = edit.updated_at ?? getNextUpdateTime(before.issue, tx.now);
  const after = await storeRow(tx, before, { set, updated_at, isRelated, actor });
  const notes = [
    ...parts.map((part) => part.note),
    await peopleNote(tx, assigned, issueAssigneesText),
    labels,
  ];
  await addSystemNotes(tx, actor.user.id, after.target, notes);
  const records = { before: issue, after: after.issue };
  await followEdit(tx, actor, { noun: issueNoun, loaded: after, ...records, set, assigned, isRelated });
  return after;
};

/**
 * Edits an issue in one transaction. An edit that changes nothing leaves no trace.
 * @param edit what changes, or what makes it of the locked issue
 * @param check called with the locked issue before the edit; throws to abort it
 * @throws Failure 400 for a title that is blank or too long
 */
export const updateIssue = async (
  call: Call,
  loaded: LoadedIssue,
  edit: IssueEdit | ((locked: LoadedIssue) => IssueEdit),
  check?: (locked: LoadedIssue, tx: Tx) => void | Promise<void>,
): Promise<LoadedIssue> => {
  const toAllowed = (changes: IssueEdit): IssueEdit => {
    const title = changes.title === undefined ? {} : { title: checkTitle(changes.title) };
    return keepAllowed(call, loaded, { ...changes, ...title });
  };
  const allowed = typeof edit === 'function' ? null : toAllowed(edit);
  const actor = requireActor(call);
  return await call.write(async (tx) => {
    const locked = await lockLoadedIssue(tx, call, loaded);
    await check?.(locked, tx);
    const made = typeof edit === 'function' ? toAllowed(edit(locked)) : allowed;
    const edited = await applyEdit(tx, actor, locked, made ?? {});
    await addCrossReferences(tx, call, edited, { before: locked.issue, after: edited.issue });
    return edited;
  });
};
