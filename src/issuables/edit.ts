/** What an edit of an issue and of a merge request have in common: each part says what to store and what to note. */
import type { Viewer } from '../access/viewer.ts';
import type { Tx } from '../db/open.ts';
import type { Cause } from '../events/record.ts';
import { type LabelRef, findOrCreateLabels } from '../labels/by_title.ts';
import { assignableMilestone } from '../milestones/find.ts';
import { assignable } from './assignable.ts';
import { labelIds, setAssignees, setLabels } from './links.ts';
import type { Relations } from './rows.ts';
import { labelsText, milestoneText } from './system_note_text.ts';
import type { Found } from './target.ts';

export type SharedEdit = {
  title?: string;
  description?: string | null;
  assignee_ids?: number[];
  milestone_id?: number | null;
  /** null: those that it has. */
  labels?: string[] | null;
  add_labels?: string[];
  remove_labels?: string[];
};

/** Only those who may administer the kind set these; from others they are dropped without a word. */
export const withoutAdminFields = <E extends SharedEdit>(
  edit: E,
): Omit<E, 'assignee_ids' | 'milestone_id' | 'labels' | 'add_labels' | 'remove_labels'> => {
  const { assignee_ids: _a, milestone_id: _m, labels: _l, add_labels: _p, remove_labels: _r, ...rest } = edit;
  return rest;
};

/** The record that is edited, with what it embeds. */
type Edited = { found: Found; record: Relations & { milestone_id: number | null } };

/** @returns null: unchanged */
export const milestonePart = async (
  tx: Tx,
  { found, record }: Edited,
  { milestone_id: wanted }: SharedEdit,
): Promise<{ set: { milestone_id?: number | null }; note: string | null }> => {
  if (wanted === undefined) return { set: {}, note: null };
  const milestone = wanted === null ? null : await assignableMilestone(tx.db, found.project, wanted);
  const milestone_id = milestone?.id ?? null;
  if (milestone_id === record.milestone_id) return { set: {}, note: null };
  return {
    set: { milestone_id },
    note: milestoneText(record.milestone?.iid ?? null, milestone?.iid ?? null),
  };
};

/** Titles of the labels after the edit; null: unchanged. */
const wantedLabels = (had: string[], edit: SharedEdit): string[] | null => {
  const { labels = null, add_labels = null, remove_labels = null } = edit;
  if (labels === null && add_labels === null && remove_labels === null) return null;
  const kept = (labels ?? had).filter((title) => remove_labels?.includes(title) !== true);
  return [...new Set([...kept, ...(add_labels ?? [])])];
};

/** Stores the labels; what to note of it. */
export const editLabels = async (
  tx: Tx,
  cause: Cause,
  { found: { target, project }, record }: Edited,
  edit: SharedEdit,
): Promise<string | null> => {
  const wanted = wantedLabels(record.labels, edit);
  if (wanted === null) return null;
  const before = await labelIds(tx, target);
  const after = (await findOrCreateLabels(tx, cause, project, wanted)).map(({ id }: LabelRef) => id);
  await setLabels(tx, target, before, after);
  return labelsText(before, after);
};

/** Ids before and after; null: unchanged. */
export type Assigned = { before: number[]; after: number[] } | null;

/** Stores the assignees. */
export const editAssignees = async (
  tx: Tx,
  { target, project }: Found,
  { assignee_ids }: SharedEdit,
  isVisibleTo: (viewer: Viewer, wanted: number[]) => boolean,
): Promise<Assigned> => {
  if (assignee_ids === undefined) return null;
  const before = target.assignee_ids;
  const after = await assignable(tx, project, assignee_ids, isVisibleTo);
  // Ids of nobody who could be assigned are ignored; none, or 0, clears.
  const unchanged = after.length === 0 && assignee_ids.some((id) => id !== 0);
  if (unchanged || after.join() === before.join()) return null;
  await setAssignees(tx, target, before, after);
  return { before, after };
};

/** What to note of it, from the names of users before and after. */
export const assigneeNote = async (
  tx: Tx,
  assigned: Assigned,
  textOf: (before: string[], after: string[]) => string | null,
): Promise<string | null> => {
  if (assigned === null) return null;
  const { before, after } = assigned;
  const names = await usernames(tx, [...before, ...after]);
  const named = (ids: number[]): string[] => ids.map((id) => names.get(id) ?? '');
  return textOf(named(before), named(after));
};

const usernames = async (tx: Tx, ids: number[]): Promise<Map<number, string>> => {
  const rows = await tx.db.selectFrom('users').select(['id', 'username']).where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, row.username]));
};

/** What changed, before and after, for the change log; of a description only that it did. */
export const changesOf = <R extends Relations>(before: R, after: R, set: object): object => {
  const columns = Object.keys(set).filter((name) => name !== 'description') as (keyof R & string)[];
  const values = columns.map((name) => [name, [before[name], after[name]]]);
  const idsOf = ({ assignees }: R): number[] => assignees.map(({ id }) => id);
  const lists = [
    { name: 'labels', values: [before.labels, after.labels] },
    { name: 'assignee_ids', values: [idsOf(before), idsOf(after)] },
  ].filter(({ values: [was, is] }) => String(was) !== String(is));
  return {
    ...Object.fromEntries([...values, ...lists.map(({ name, values: both }) => [name, both])]),
    ...('description' in set && { description: true }),
  };
};
