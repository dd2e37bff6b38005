import type { UpdateObject } from 'kysely';
import { type Actor, type Call, requireActor } from '../../core/access/call.ts';
import { may } from '../../core/access/may.ts';
import { canReadCode, canSeeMergeRequests } from '../../core/access/visible.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { Schema } from '../../platform/db/schema/database.ts';
import { invalid } from '../../platform/errors.ts';
import {
  type SharedEdit,
  editAssignees,
  editLabels,
  lastEdit,
  milestonePart,
  peopleNote,
  withoutAdminFields,
} from '../../planning/issuables/shared_edits.ts';
import { type EditInput, type Part, changedColumns, keepPermitted } from '../../planning/issuables/fields.ts';
import {
  issueAssigneesText,
  mergeRequestAssigneeText,
  reviewersText,
  stateText,
  targetBranchText,
} from '../../planning/issuables/text/system_note_text.ts';
import { checkTitle } from '../../planning/issuables/text/title.ts';
import { addCrossReferences } from '../../planning/notes/cross_references.ts';
import { enqueueAutoMerge } from '../../planning/issuables/auto_merge_work.ts';
import { addSystemNotes } from '../../planning/notes/add_system_notes.ts';
import { getNextUpdateTime } from '../../platform/time.ts';
import { loadProject } from '../../projects/projects/find.ts';
import { followEdit } from '../../planning/todos/follow_edit.ts';
import {
  missingBranch,
  requireBranches,
  requireDifferentBranches,
  requireNoDuplicate,
} from './check_branches.ts';
import { mergeRequestFields } from './fields.ts';
import { storeClosingIssues } from './issues/closing_references.ts';
import { noScheduledMerge } from './merging/scheduled/no_scheduled_merge.ts';
import { type LoadedMergeRequest, lockMergeRequest, reloadMergeRequest } from './find.ts';
import { loadBranches, readHeads } from './refresh/branch_heads.ts';
import { writeUnlessMerging } from './merging/merge_lock.ts';
import { mergeRequestNoun } from './noun.ts';
import type { MergeRequestRow } from './rows.ts';
import { type ReviewerEdit, editReviewers } from './approvals/reviewers.ts';
import {
  type PreparedVersion,
  type PushedVersion,
  insertVersion,
  prepareVersion,
} from './versions/prepare_version.ts';

export type MergeRequestEdit = SharedEdit &
  ReviewerEdit &
  EditInput<typeof mergeRequestFields> & {
    state_event?: 'close' | 'reopen';
    target_branch?: string;
  };

type ColumnChanges = UpdateObject<Schema, 'merge_requests'>;

const nothing: Part<MergeRequestRow> = { set: {}, note: null };

/** Returns the state after an edit. A `state_event` that does not apply has no effect. */
const stateAfter = (
  { merge_request: { state } }: LoadedMergeRequest,
  { state_event }: MergeRequestEdit,
): LoadedMergeRequest['merge_request']['state'] => {
  if (state_event === 'close' && state === 'opened') return 'closed';
  return state_event === 'reopen' && state === 'closed' ? 'opened' : state;
};

/** Returns the target branch after an edit. Only an open request can change it. */
const targetAfter = (loaded: LoadedMergeRequest, edit: MergeRequestEdit): string => {
  const { target_branch } = loaded.merge_request;
  return stateAfter(loaded, edit) === 'opened' ? (edit.target_branch ?? target_branch) : target_branch;
};

/** Returns whether the edit needs a new version: it reopens the request or changes its target. */
const needsVersion = (loaded: LoadedMergeRequest, edit: MergeRequestEdit): boolean => {
  const { state, target_branch } = loaded.merge_request;
  const isReopened = state !== 'opened' && stateAfter(loaded, edit) === 'opened';
  return isReopened || targetAfter(loaded, edit) !== target_branch;
};

const pairAfter = (loaded: LoadedMergeRequest, edit: MergeRequestEdit) => {
  const { source_project_id, source_branch, project_id } = loaded.merge_request;
  return { source_project_id, source_branch, project_id, target_branch: targetAfter(loaded, edit) };
};

const statePart = (
  loaded: LoadedMergeRequest,
  edit: MergeRequestEdit,
  actor: Actor,
  now: number,
): Part<MergeRequestRow> => {
  const { state: before } = loaded.merge_request;
  const state = stateAfter(loaded, edit);
  if (state === before) return nothing;
  const note = stateText(before, state);
  if (state === 'closed') {
    return { set: { state, closed_at: now, closed_by_id: actor.user.id, ...noScheduledMerge }, note };
  }
  return { set: { state, closed_at: null, closed_by_id: null }, note };
};

const targetPart = (loaded: LoadedMergeRequest, edit: MergeRequestEdit): Part<MergeRequestRow> => {
  const { target_branch: before } = loaded.merge_request;
  const target_branch = targetAfter(loaded, edit);
  if (target_branch === before) return nothing;
  // Cancels a scheduled merge: it was set for the previous target.
  return { set: { target_branch, ...noScheduledMerge }, note: targetBranchText(before, target_branch) };
};

const storeRow = async (
  tx: Tx,
  { merge_request, project }: LoadedMergeRequest,
  set: ColumnChanges,
  version: PushedVersion | null,
): Promise<LoadedMergeRequest> => {
  const updated_at = getNextUpdateTime(merge_request, tx.now);
  await tx.db
    .updateTable('merge_requests')
    .set({ ...set, updated_at })
    .where('id', '=', merge_request.id)
    .execute();
  if (version !== null) await insertVersion(tx, merge_request, version);
  return await reloadMergeRequest(tx.db, project, merge_request.id);
};

type EditContext = { edit: MergeRequestEdit; prepared: PreparedVersion | null; actor: Actor; call: Call };

const applyEdit = async (
  tx: Tx,
  before: LoadedMergeRequest,
  { edit, prepared, actor, call }: EditContext,
): Promise<LoadedMergeRequest> => {
  const { merge_request, project } = before;
  if (prepared !== null) await requireNoDuplicate(tx.db, pairAfter(before, edit), merge_request.id);
  const edited = { loaded: before, record: merge_request };
  const parts = [
    statePart(before, edit, actor, tx.now),
    targetPart(before, edit),
    ...changedColumns<MergeRequestRow>(mergeRequestFields, merge_request, edit),
    await milestonePart(tx, edited, edit),
  ];
  const assigned = await editAssignees(tx, before, edit, (viewer) => canSeeMergeRequests(viewer, project));
  const reviewers = await editReviewers(tx, before, edit);
  const labelNote = await editLabels(tx, actor, edited, edit);
  const set = Object.assign({}, ...parts.map((part) => part.set)) as ColumnChanges;
  const hasRelationChange = assigned !== null || reviewers !== null || labelNote !== null;
  if (Object.keys(set).length === 0 && !hasRelationChange) return before;
  const version = prepared && { prepared, pushed_by_id: actor.user.id };
  const after = await storeRow(tx, before, { ...set, ...lastEdit(set, actor, tx.now) }, version);
  // The edit may have unblocked an automatic merge: the title no longer marks a draft, or the reviewer who requested
  // changes was removed.
  if (after.merge_request.merge_when_pipeline_succeeds === 1) await enqueueAutoMerge(tx, merge_request.id);
  const people = [
    await peopleNote(tx, assigned, assigneesText),
    await peopleNote(tx, reviewers, reviewersText),
  ];
  const notes = [...parts.map((part) => part.note), ...people, labelNote];
  await addSystemNotes(tx, actor.user.id, after.target, notes);
  const records = { before: merge_request, after: after.merge_request };
  const related = { assigned, reviewers, isRelated: hasRelationChange };
  await followEdit(tx, actor, { noun: mergeRequestNoun, loaded: after, ...records, set, ...related });
  await storeClosingIssues(call.platform, tx, after, call.baseUrl);
  await addCrossReferences(tx, call, after, { before: merge_request, after: after.merge_request });
  return after;
};

/**
 * Requires that the caller may read the source branch of a reopened request. A closed request does not follow its source
 * branch, so reopening it fetches commits that the caller may not be allowed to read. Without read access, the branch
 * counts as missing.
 * @throws Failure 400
 */
const requireReadableSource = async (
  call: Call,
  { merge_request, project }: LoadedMergeRequest,
): Promise<void> => {
  const { source_project_id, state } = merge_request;
  if (state === 'opened' || source_project_id === project.id) return;
  const source = source_project_id === null ? null : await loadProject(call.db, source_project_id);
  if (source === null || !canReadCode(call.viewer, source)) throw missingBranch('source_branch');
};

/**
 * Prepares the version that an edit needs, before anything is written.
 * @throws Failure 400 for a missing branch, 409 for a duplicate, 422 for equal branches
 */
const prepare = async (
  call: Call,
  loaded: LoadedMergeRequest,
  edit: MergeRequestEdit,
): Promise<PreparedVersion | null> => {
  if (!needsVersion(loaded, edit)) return null;
  const { merge_request, project } = loaded;
  const pair = pairAfter(loaded, edit);
  requireDifferentBranches(pair);
  await requireNoDuplicate(call.db, pair, merge_request.id);
  await requireReadableSource(call, loaded);
  const branches = await loadBranches(call.db, pair, project);
  const heads = await readHeads(call.platform, branches);
  requireBranches(heads);
  const previous_sha = merge_request.head_sha;
  const prepared = await prepareVersion(call.platform, { ...branches, previous_sha, heads });
  if (prepared === null) throw missingBranch('source_branch');
  return prepared;
};

const validateEdit = (
  call: Call,
  { project }: LoadedMergeRequest,
  edit: MergeRequestEdit,
): MergeRequestEdit => {
  if (edit.title?.trim() === '') throw invalid({ title: ['is empty'] });
  if (edit.target_branch?.trim() === '') throw invalid({ target_branch: ['is empty'] });
  const titled = edit.title === undefined ? edit : { ...edit, title: checkTitle(edit.title) };
  const permitted = keepPermitted(mergeRequestFields, { viewer: call.viewer, project }, titled);
  return may(call.viewer, 'admin_merge_request', project) ? permitted : withoutAdminFields(permitted);
};

/**
 * Drops `remove_source_branch` if the caller may not push to the source project, because the branch is removed on
 * behalf of the author. The author may always set it. Like other fields that need a role, it is dropped silently.
 */
const dropForbiddenBranchRemoval = async (
  { db, viewer }: Call,
  { merge_request }: LoadedMergeRequest,
  edit: MergeRequestEdit,
): Promise<MergeRequestEdit> => {
  const { author_id, source_project_id } = merge_request;
  if (edit.remove_source_branch !== true || author_id === viewer.user_id) return edit;
  const source = source_project_id === null ? null : await loadProject(db, source_project_id);
  if (source !== null && may(viewer, 'push_code', source)) return edit;
  const { remove_source_branch: _removal, ...rest } = edit;
  return rest;
};

/**
 * Returns the note about a change of assignees. If there is at most one assignee before and after, the note names the
 * old and the new one.
 */
const assigneesText = (before: string[], now: string[]): string | null =>
  before.length > 1 || now.length > 1
    ? issueAssigneesText(before, now)
    : mergeRequestAssigneeText(before[0] ?? null, now[0] ?? null);

/** Assignees and reviewers that `check` computes from the locked request; they override the values of the edit. */
export type People = Pick<MergeRequestEdit, 'assignee_ids' | 'reviewer_ids'>;

const retry = Symbol('retry');

/**
 * Edits, closes or reopens a merge request in one transaction. An edit without changes writes nothing.
 * @param check called with the locked merge request before the edit; throws to abort the edit, or returns assignees and
 *   reviewers to store in place of the edit's
 * @throws Failure 400 for an invalid title or branch, 409 for a duplicate, 422 for equal branches
 */
export const updateMergeRequest = async (
  call: Call,
  loaded: LoadedMergeRequest,
  input: MergeRequestEdit,
  check?: (locked: LoadedMergeRequest) => People | void,
): Promise<LoadedMergeRequest> => {
  const { project, merge_request } = loaded;
  const edit = await dropForbiddenBranchRemoval(call, loaded, validateEdit(call, loaded, input));
  const actor = requireActor(call);
  for (let current = loaded; ;) {
    const prepared = await prepare(call, current, edit);
    const result = await writeUnlessDuplicate(call, current, edit, async (tx) => {
      const locked = await lockMergeRequest(tx, project, merge_request.id);
      const people = check?.(locked) ?? {};
      if (needsVersion(locked, edit) !== (prepared !== null)) return retry;
      return await applyEdit(tx, locked, { edit: { ...edit, ...people }, prepared, actor, call });
    });
    if (result !== retry) return result;
    current = await reloadMergeRequest(call.db, project, merge_request.id);
  }
};

/**
 * Runs the transaction of an edit.
 * @throws Failure 409 for a duplicate that a concurrent request stored after the check: the unique index rejects the edit
 */
const writeUnlessDuplicate = async <T>(
  call: Call,
  current: LoadedMergeRequest,
  edit: MergeRequestEdit,
  work: (tx: Tx) => Promise<T>,
): Promise<T> => {
  const { merge_request } = current;
  try {
    return await writeUnlessMerging(call.platform, merge_request, work);
  } catch (error) {
    if (!call.platform.store.isUniqueViolation(error)) throw error;
    await requireNoDuplicate(call.db, pairAfter(current, edit), merge_request.id);
    throw error;
  }
};
