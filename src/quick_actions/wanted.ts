/** What quick actions in a comment ask for, compared with what is there. Pure. */
import type { Acted } from '../issuables/actions.ts';
import type { SharedEdit } from '../issuables/edit.ts';
import type { QuickAction } from '../issuables/quick_actions.ts';

/** An edit of a record, as quick actions can ask for it. */
export type WantedEdit = Omit<SharedEdit, 'description' | 'add_labels' | 'remove_labels'> & {
  state_event?: 'close' | 'reopen';
  confidential?: boolean;
  due_date?: string | null;
  review_requested_ids?: number[];
};

/** The record as it is, its time with it. */
export type Current = Acted & { state: string };

const adminFields = [
  'assignee_ids',
  'reviewer_ids',
  'review_requested_ids',
  'milestone_id',
  'labels',
  'due_date',
] as const;
const ownFields = ['title', 'confidential'] as const;

type Field = (typeof adminFields)[number] | (typeof ownFields)[number];

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The last word counts, and only where it changes something. */
const stateEvent = (actions: QuickAction[], { state }: Current): WantedEdit => {
  const last = actions.findLast(({ name }) => name === 'close' || name === 'reopen')?.name;
  if (last === 'close' && state === 'opened') return { state_event: 'close' };
  return last === 'reopen' && state === 'closed' ? { state_event: 'reopen' } : {};
};

/**
 * The edit that leads from the record to what was asked for, of what the caller may edit.
 * @param allowed whether he may edit the record at all, and what is for those who administer its kind
 */
export const wantedEdit = (
  before: Current,
  after: Acted,
  actions: QuickAction[],
  allowed: { update: boolean; admin: boolean },
): WantedEdit => {
  if (!allowed.update) return {};
  const fields: readonly Field[] = allowed.admin ? [...ownFields, ...adminFields] : ownFields;
  const changed = fields.filter((name) => name in before && !isSame(before[name], after[name]));
  const values = Object.fromEntries(changed.map((name) => [name, after[name]])) as WantedEdit;
  return { ...values, ...stateEvent(actions, before) };
};
