/** Turns the quick actions of a comment into an edit of the record. Pure. */
import type { Acted } from '../issuables/apply_quick_actions.ts';
import type { SharedEdit } from '../issuables/shared_edits.ts';
import type { QuickAction } from '../issuables/text/quick_actions.ts';

/** An edit of a record that quick actions can request. */
export type RequestedEdit = Omit<SharedEdit, 'description' | 'add_labels' | 'remove_labels'> & {
  state_event?: 'close' | 'reopen';
  confidential?: boolean;
  due_date?: string | null;
  review_requested_ids?: number[];
};

/** The current record with its times. */
export type Current = Acted & { state: string };

const adminFields = [
  'assignee_ids',
  'reviewer_ids',
  'review_requested_ids',
  'milestone_id',
  'labels',
  'discussion_locked',
  'due_date',
] as const;
const ownFields = ['title', 'confidential'] as const;

type Field = (typeof adminFields)[number] | (typeof ownFields)[number];

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The last action on a value counts, and only if it changes the value. */
const stateEvent = (actions: QuickAction[], { state }: Current): RequestedEdit => {
  const last = actions.findLast(({ name }) => name === 'close' || name === 'reopen')?.name;
  if (last === 'close' && state === 'opened') return { state_event: 'close' };
  return last === 'reopen' && state === 'closed' ? { state_event: 'reopen' } : {};
};

/**
 * Builds the edit from the current to the requested record, limited to what the caller may edit.
 * @param allowed whether the caller may edit the record at all, and its administered fields
 */
export const buildEdit = (
  before: Current,
  after: Acted,
  actions: QuickAction[],
  allowed: { update: boolean; admin: boolean },
): RequestedEdit => {
  if (!allowed.update) return {};
  const fields: readonly Field[] = allowed.admin ? [...ownFields, ...adminFields] : ownFields;
  const changed = fields.filter((name) => name in before && !isSame(before[name], after[name]));
  const values = Object.fromEntries(changed.map((name) => [name, after[name]])) as RequestedEdit;
  return { ...values, ...stateEvent(actions, before) };
};
