import type { UpdateObject } from 'kysely';
import { type Actor, type Call, actorOf } from '../access/call.ts';
import { may } from '../access/may.ts';
import { canReadCode, canSeeMergeRequests } from '../access/visible.ts';
import type { Tx } from '../db/open.ts';
import type { Schema } from '../db/schema.ts';
import { invalid } from '../errors.ts';
import {
  type SharedEdit,
  editAssignees,
  editLabels,
  milestonePart,
  peopleNote,
  withoutAdminFields,
} from '../issuables/edit.ts';
import {
  descriptionText,
  issueAssigneesText,
  mergeRequestAssigneeText,
  mergeRequestTitleText,
  reviewersText,
  stateText,
  targetBranchText,
  workInProgressText,
} from '../issuables/system_note_text.ts';
import { checkTitle } from '../issuables/title.ts';
import { noteMentionsOf } from '../notes/cross_references.ts';
import { addSystemNotes } from '../notes/system.ts';
import { loadProject } from '../projects/find.ts';
import { followEdit } from '../todos/follow_edit.ts';
import { requireBranches, requireDifferent, requireNoOther } from './branches.ts';
import { storeClosingIssues } from './closing.ts';
import { notDeferred } from './deferred.ts';
import { type FoundMergeRequest, lockMergeRequest, reloadMergeRequest } from './find.ts';
import { branchesOf, readHeads } from './heads.ts';
import { writeUnlessMerging } from './merging.ts';
import { mergeRequestNoun } from './noun.ts';
import { type ReviewerEdit, editReviewers } from './reviewers.ts';
import { type PreparedVersion, insertVersion, prepareVersion } from './versions.ts';

export type MergeRequestEdit = SharedEdit &
  ReviewerEdit & {
    state_event?: 'close' | 'reopen';
    target_branch?: string;
    remove_source_branch?: boolean;
    squash?: boolean;
  };

/** The columns that an edit changes. */
type Row = UpdateObject<Schema, 'merge_requests'>;

/** One part of an edit: what to store in the row, and what to note. */
type Part = { set: Row; note: string | null };

const nothing: Part = { set: {}, note: null };

/** The state that an edit leads to: what does not apply changes nothing. */
const stateAfter = (
  { merge_request: { state } }: FoundMergeRequest,
  { state_event }: MergeRequestEdit,
): FoundMergeRequest['merge_request']['state'] => {
  if (state_event === 'close' && state === 'opened') return 'closed';
  return state_event === 'reopen' && state === 'closed' ? 'opened' : state;
};

/** Only while it is open, once the edit is done. */
const targetAfter = (found: FoundMergeRequest, edit: MergeRequestEdit): string => {
  const { target_branch } = found.merge_request;
  return stateAfter(found, edit) === 'opened' ? (edit.target_branch ?? target_branch) : target_branch;
};

/** Whether the edit makes a version: it is opened again, or goes elsewhere. */
const needsVersion = (found: FoundMergeRequest, edit: MergeRequestEdit): boolean => {
  const { state, target_branch } = found.merge_request;
  const isReopened = state !== 'opened' && stateAfter(found, edit) === 'opened';
  return isReopened || targetAfter(found, edit) !== target_branch;
};

const pairAfter = (found: FoundMergeRequest, edit: MergeRequestEdit) => {
  const { source_project_id, source_branch, project_id } = found.merge_request;
  return { source_project_id, source_branch, project_id, target_branch: targetAfter(found, edit) };
};

const statePart = (found: FoundMergeRequest, edit: MergeRequestEdit, actor: Actor, now: number): Part => {
  const { state: before } = found.merge_request;
  const state = stateAfter(found, edit);
  if (state === before) return nothing;
  const note = stateText(before, state);
  if (state === 'closed') {
    return { set: { state, closed_at: now, closed_by_id: actor.user.id, ...notDeferred }, note };
  }
  return { set: { state, closed_at: null, closed_by_id: null }, note };
};

const targetPart = (found: FoundMergeRequest, edit: MergeRequestEdit): Part => {
  const { target_branch: before } = found.merge_request;
  const target_branch = targetAfter(found, edit);
  if (target_branch === before) return nothing;
  // What was asked for was to merge it where it went then.
  return { set: { target_branch, ...notDeferred }, note: targetBranchText(before, target_branch) };
};

const flagPart = (
  { merge_request }: FoundMergeRequest,
  name: 'force_remove_source_branch' | 'squash',
  wanted: boolean | undefined,
): Part => {
  if (wanted === undefined || wanted === (merge_request[name] === 1)) return nothing;
  return { set: { [name]: wanted ? 1 : 0 }, note: null };
};

const textParts = ({ merge_request }: FoundMergeRequest, edit: MergeRequestEdit): Part[] => {
  const { title = merge_request.title, description = merge_request.description } = edit;
  return [
    {
      set: title === merge_request.title ? {} : { title },
      note: mergeRequestTitleText(merge_request.title, title),
    },
    { set: {}, note: workInProgressText(merge_request.title, title) },
    {
      set: description === merge_request.description ? {} : { description },
      note: descriptionText(merge_request.description, description),
    },
  ];
};

const storeRow = async (
  tx: Tx,
  { merge_request, project }: FoundMergeRequest,
  set: Row,
  prepared: PreparedVersion | null,
): Promise<FoundMergeRequest> => {
  // `updated_at` never goes back, even if the clock does.
  const updated_at = Math.max(merge_request.updated_at + 1, tx.now);
  await tx.db
    .updateTable('merge_requests')
    .set({ ...set, updated_at })
    .where('id', '=', merge_request.id)
    .execute();
  if (prepared !== null) await insertVersion(tx, merge_request, prepared);
  const found = await reloadMergeRequest(tx.db, project, merge_request.id);
  return found;
};

type Applied = { edit: MergeRequestEdit; prepared: PreparedVersion | null; actor: Actor; call: Call };

const applyEdit = async (
  tx: Tx,
  before: FoundMergeRequest,
  { edit, prepared, actor, call }: Applied,
): Promise<FoundMergeRequest> => {
  const { merge_request, project } = before;
  if (prepared !== null) await requireNoOther(tx.db, pairAfter(before, edit), merge_request.id);
  const edited = { found: before, record: merge_request };
  const parts = [
    statePart(before, edit, actor, tx.now),
    targetPart(before, edit),
    ...textParts(before, edit),
    flagPart(before, 'force_remove_source_branch', edit.remove_source_branch),
    flagPart(before, 'squash', edit.squash),
    await milestonePart(tx, edited, edit),
  ];
  const assigned = await editAssignees(tx, before, edit, (viewer) => canSeeMergeRequests(viewer, project));
  const reviewers = await editReviewers(tx, before, edit);
  const labels = await editLabels(tx, actor, edited, edit);
  const set = Object.assign({}, ...parts.map((part) => part.set)) as Row;
  const isRelated = assigned !== null || reviewers !== null || labels !== null;
  if (Object.keys(set).length === 0 && !isRelated) return before;
  const after = await storeRow(tx, before, set, prepared);
  const people = [
    await peopleNote(tx, assigned, assigneesText),
    await peopleNote(tx, reviewers, reviewersText),
  ];
  const notes = [...parts.map((part) => part.note), ...people, labels];
  await addSystemNotes(tx, actor.user.id, after.target, notes);
  const records = { before: merge_request, after: after.merge_request };
  const related = { assigned, reviewers, isRelated };
  await followEdit(tx, actor, { noun: mergeRequestNoun, found: after, ...records, set, ...related });
  await storeClosingIssues(call.platform, tx, after, call.baseUrl);
  await noteMentionsOf(tx, call, after, { before: merge_request, after: after.merge_request });
  return after;
};

/**
 * A closed request does not follow its source branch. What was pushed there since is brought here only by one who may
 * read it: for others the branch is not there.
 * @throws Failure 400
 */
const requireReadableSource = async (
  call: Call,
  { merge_request, project }: FoundMergeRequest,
): Promise<void> => {
  const { source_project_id, state } = merge_request;
  if (state === 'opened' || source_project_id === project.id) return;
  const source = source_project_id === null ? null : await loadProject(call.db, source_project_id);
  if (source === null || !canReadCode(call.viewer, source))
    requireBranches({ source_sha: null, target_sha: null });
};

/**
 * Looks at the branches for the version that an edit makes, before anything is written.
 * @throws Failure 400 where one is missing, 409 for one that there is, 422 for a branch into itself
 */
const prepare = async (
  call: Call,
  found: FoundMergeRequest,
  edit: MergeRequestEdit,
): Promise<PreparedVersion | null> => {
  if (!needsVersion(found, edit)) return null;
  const { merge_request, project } = found;
  const pair = pairAfter(found, edit);
  requireDifferent(pair);
  await requireNoOther(call.db, pair, merge_request.id);
  await requireReadableSource(call, found);
  const branches = await branchesOf(call.db, pair, project);
  const heads = await readHeads(call.platform, branches);
  requireBranches(heads);
  const previous_sha = merge_request.head_sha;
  const prepared = await prepareVersion(call.platform, { ...branches, previous_sha, heads });
  if (prepared === null) requireBranches({ source_sha: null, target_sha: null });
  return prepared;
};

const cleaned = (call: Call, { project }: FoundMergeRequest, edit: MergeRequestEdit): MergeRequestEdit => {
  if (edit.title?.trim() === '') throw invalid({ title: ['is empty'] });
  if (edit.target_branch?.trim() === '') throw invalid({ target_branch: ['is empty'] });
  const titled = edit.title === undefined ? edit : { ...edit, title: checkTitle(edit.title) };
  return may(call.viewer, 'admin_merge_request', project) ? titled : withoutAdminFields(titled);
};

/**
 * The source branch is removed in the author's name once it is merged: one who may not push to where it is, as a
 * developer of the target of a fork, does not ask for that. Dropped without a word, as the fields of a role are.
 */
const withoutForeignRemoval = async (
  { db, viewer }: Call,
  { merge_request }: FoundMergeRequest,
  edit: MergeRequestEdit,
): Promise<MergeRequestEdit> => {
  const { author_id, source_project_id } = merge_request;
  if (edit.remove_source_branch !== true || author_id === viewer.user_id) return edit;
  const source = source_project_id === null ? null : await loadProject(db, source_project_id);
  if (source !== null && may(viewer, 'push_code', source)) return edit;
  const { remove_source_branch: _removal, ...rest } = edit;
  return rest;
};

/** With one assignee as most have, the one is replaced by the other. */
const assigneesText = (before: string[], now: string[]): string | null =>
  before.length > 1 || now.length > 1
    ? issueAssigneesText(before, now)
    : mergeRequestAssigneeText(before[0] ?? null, now[0] ?? null);

const again = Symbol('again');

/**
 * Edits, closes or reopens a merge request: one transaction, all or nothing; what changes nothing leaves no trace.
 * @throws Failure 400 for a title or a branch, 409 for one that there is, 422 for a branch into itself
 */
export const updateMergeRequest = async (
  call: Call,
  found: FoundMergeRequest,
  given: MergeRequestEdit,
): Promise<FoundMergeRequest> => {
  const { project, merge_request } = found;
  const edit = await withoutForeignRemoval(call, found, cleaned(call, found, given));
  const actor = actorOf(call);
  for (let seen = found; ;) {
    // oxlint-disable-next-line no-await-in-loop -- again where somebody changed it meanwhile
    const prepared = await prepare(call, seen, edit);
    // oxlint-disable-next-line no-await-in-loop
    const result = await writeOnce(call, seen, async (tx) => {
      const locked = await lockMergeRequest(tx, project, merge_request.id);
      if (needsVersion(locked, edit) !== (prepared !== null)) return again;
      return await applyEdit(tx, locked, { edit, prepared, actor, call });
    });
    if (result !== again) return result;
    // oxlint-disable-next-line no-await-in-loop
    seen = await reloadMergeRequest(call.db, project, merge_request.id);
  }
};

/** Of two that open the same at once, the store refuses the second. */
const writeOnce = async <T>(
  call: Call,
  { merge_request }: FoundMergeRequest,
  work: (tx: Tx) => Promise<T>,
): Promise<T> => {
  try {
    return await writeUnlessMerging(call.platform, merge_request, work);
  } catch (error) {
    if (!call.platform.store.isUniqueViolation(error)) throw error;
    await requireNoOther(call.db, merge_request, merge_request.id);
    throw error;
  }
};
