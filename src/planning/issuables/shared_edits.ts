/** Parts of an edit that issues and merge requests share. Each returns the columns to store and the system note. */
import type { Viewer } from '../../core/access/viewer.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { Cause } from '../../core/events/record_event.ts';
import { type LabelRef, findOrCreateLabels } from '../../projects/labels/find_by_title.ts';
import { findAssignableMilestone } from '../../projects/milestones/find_assignable.ts';
import { recordLabelChange } from './record_resource_events.ts';
import { keepAssignable } from './keep_assignable.ts';
import { labelIds, setAssignees, setLabels } from './label_assignee_links.ts';
import type { Relations } from './lists/rows.ts';
import { labelsText, milestoneText } from './text/system_note_text.ts';
import type { LoadedTarget } from './target.ts';

/** Values that require the permission to administer issues or merge requests. */
type Administered = {
  assignee_ids?: number[];
  /** Only for a merge request. */
  reviewer_ids?: number[];
  milestone_id?: number | null;
  /** null: the current values. */
  labels?: string[] | null;
  add_labels?: string[];
  remove_labels?: string[];
  /** Keyed by id; for boards, not for the API. */
  add_label_ids?: number[];
  remove_label_ids?: number[];
};

export type SharedEdit = Administered & {
  title?: string;
  description?: string | null;
  discussion_locked?: boolean;
};

/** Drops the values that require the permission to administer the kind. */
export const withoutAdminFields = <E extends SharedEdit>(edit: E): Omit<E, keyof Administered> => {
  const {
    assignee_ids: _a,
    reviewer_ids: _v,
    milestone_id: _m,
    labels: _l,
    add_labels: _p,
    remove_labels: _r,
    add_label_ids: _pi,
    remove_label_ids: _ri,
    ...rest
  } = edit;
  return rest;
};

/** The record that is edited, with what it embeds. */
type Edited = { loaded: LoadedTarget; record: Relations & { milestone_id: number | null } };

/** @returns null: unchanged */
export const milestonePart = async (
  tx: Tx,
  { loaded, record }: Edited,
  { milestone_id: requested }: SharedEdit,
): Promise<{ set: { milestone_id?: number | null }; note: string | null }> => {
  if (requested === undefined) return { set: {}, note: null };
  const milestone =
    requested === null ? null : await findAssignableMilestone(tx.db, loaded.project, requested);
  const milestone_id = milestone?.id ?? null;
  if (milestone_id === record.milestone_id) return { set: {}, note: null };
  return {
    set: { milestone_id },
    note: milestoneText(record.milestone?.iid ?? null, milestone?.iid ?? null),
  };
};

/** Returns the titles of the labels after the edit; null if the edit has none. */
const labelsAfterEdit = (had: string[], edit: SharedEdit): string[] | null => {
  const { labels = null, add_labels = null, remove_labels = null } = edit;
  if (labels === null && add_labels === null && remove_labels === null) return null;
  const kept = (labels ?? had).filter((title) => remove_labels?.includes(title) !== true);
  return [...new Set([...kept, ...(add_labels ?? [])])];
};

/** Stores the labels and returns the system note. */
export const editLabels = async (
  tx: Tx,
  cause: Cause,
  { loaded: { target, project }, record }: Edited,
  edit: SharedEdit,
): Promise<string | null> => {
  const requested = labelsAfterEdit(record.labels, edit);
  const { add_label_ids = [], remove_label_ids = [] } = edit;
  const changesIds = add_label_ids.length + remove_label_ids.length > 0;
  if (requested === null && !changesIds) return null;
  const before = await labelIds(tx, target);
  const titled =
    requested === null
      ? before
      : (await findOrCreateLabels(tx, cause, project, requested)).map(({ id }: LabelRef) => id);
  const kept = titled.filter((id) => !remove_label_ids.includes(id));
  const after = [...new Set([...kept, ...add_label_ids])];
  await setLabels(tx, target, before, after);
  await recordLabelChange(tx, { target, user_id: cause.user.id }, { before, after });
  return labelsText(before, after);
};

/** Ids of users before and after; null: unchanged. */
export type PeopleChange = { before: number[]; after: number[] } | null;

/** A reviewer who had reviewed and is asked again, with the state of the former review. */
export type RepeatedRequest = { user_id: number; state: string };

/** Like `PeopleChange`; `before` has no reviewers who are asked again. */
export type ReviewersChange = (NonNullable<PeopleChange> & { requestedAgain: RepeatedRequest[] }) | null;

/** Computes the change of a record's users. Ids of users who cannot see the record are ignored. */
export const changedPeople = async (
  tx: Tx,
  project: LoadedTarget['project'],
  { before, ids }: { before: number[]; ids: number[] | undefined },
  isVisibleTo: (viewer: Viewer, requested: number[]) => boolean,
): Promise<PeopleChange> => {
  if (ids === undefined) return null;
  const after = await keepAssignable(tx, project, ids, isVisibleTo);
  // None or 0 clears it.
  const unchanged = after.length === 0 && ids.some((id) => id !== 0);
  return unchanged || after.join() === before.join() ? null : { before, after };
};

/** Stores the assignees. */
export const editAssignees = async (
  tx: Tx,
  { target, project }: LoadedTarget,
  { assignee_ids }: SharedEdit,
  isVisibleTo: (viewer: Viewer, requested: number[]) => boolean,
): Promise<PeopleChange> => {
  const people = { before: target.assignee_ids, ids: assignee_ids };
  const change = await changedPeople(tx, project, people, isVisibleTo);
  if (change !== null) await setAssignees(tx, target, change.before, change.after);
  return change;
};

/** The system note on a change of users, from their names before and after. */
export const peopleNote = async (
  tx: Tx,
  change: PeopleChange,
  textOf: (before: string[], after: string[]) => string | null,
): Promise<string | null> => {
  if (change === null) return null;
  const { before, after } = change;
  const names = await usernames(tx, [...before, ...after]);
  const named = (ids: number[]): string[] => ids.map((id) => names.get(id) ?? '');
  return textOf(named(before), named(after));
};

const usernames = async (tx: Tx, ids: number[]): Promise<Map<number, string>> => {
  const rows = await tx.db.selectFrom('users').select(['id', 'username']).where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, row.username]));
};

/** Columns that record who changed the description, separate from `set`, because they are not a change themselves. */
export const lastEdit = (
  set: object,
  { user }: Pick<Cause, 'user'>,
  now: number,
): { last_edited_at?: number; last_edited_by_id?: number } =>
  'description' in set ? { last_edited_at: now, last_edited_by_id: user.id } : {};

/** Collects the old and new values for the change log. For a description, only the fact that it changed. */
export const collectChanges = <R extends Relations & { reviewers?: { id: number }[] }>(
  before: R,
  after: R,
  set: object,
): object => {
  const columns = Object.keys(set).filter((name) => name !== 'description') as (keyof R & string)[];
  const values = columns.map((name) => [name, [before[name], after[name]]]);
  const listIds = (users: { id: number }[] = []): number[] => users.map(({ id }) => id);
  const lists = [
    { name: 'labels', values: [before.labels, after.labels] },
    { name: 'assignee_ids', values: [listIds(before.assignees), listIds(after.assignees)] },
    { name: 'reviewer_ids', values: [listIds(before.reviewers), listIds(after.reviewers)] },
  ].filter(({ values: [was, is] }) => String(was) !== String(is));
  return {
    ...Object.fromEntries([...values, ...lists.map(({ name, values: both }) => [name, both])]),
    ...('description' in set && { description: true }),
  };
};
