/** Records changes of state, labels and milestone, in the transaction of each. */
import { insertRows } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import type { ResourceEventsTable } from '../../platform/db/schema/planning.ts';
import type { Target } from './target.ts';

/** The record that changes, and the user who changes it. */
export type Changed = { target: Pick<Target, 'type' | 'id'>; user_id: number | null };

type Detail = Pick<ResourceEventsTable, 'kind' | 'action' | 'label_id' | 'milestone_id'>;

const insert = async (
  tx: Tx,
  { target: { type, id }, user_id }: Changed,
  details: readonly Detail[],
): Promise<void> => {
  const shared = { target_type: type, target_id: id, user_id, created_at: tx.now };
  await insertRows(
    tx.db,
    'resource_events',
    details.map((detail) => ({ ...shared, ...detail })),
  );
};

const without = (ids: readonly number[], others: readonly number[]): number[] =>
  ids.filter((id) => !others.includes(id));

export const recordStateChange = async (
  tx: Tx,
  changed: Changed,
  action: 'closed' | 'reopened' | 'merged',
): Promise<void> =>
  await insert(tx, changed, [{ kind: 'state', action, label_id: null, milestone_id: null }]);

const labelDetail =
  (action: 'add' | 'remove') =>
  (label_id: number): Detail => ({ kind: 'label', action, label_id, milestone_id: null });

const milestoneDetails = (action: 'add' | 'remove', milestone_id: number | null): Detail[] =>
  milestone_id === null ? [] : [{ kind: 'milestone', action, label_id: null, milestone_id }];

/** @param change ids of labels before and after */
export const recordLabelChange = async (
  tx: Tx,
  changed: Changed,
  { before, after }: { before: readonly number[]; after: readonly number[] },
): Promise<void> => {
  await insert(tx, changed, [
    ...without(after, before).map(labelDetail('add')),
    ...without(before, after).map(labelDetail('remove')),
  ]);
};

/** Records the labels and the milestone of a new record. */
export const recordFirstValues = async (
  tx: Tx,
  changed: Changed,
  { labelIds, milestone_id }: { labelIds: readonly number[]; milestone_id: number | null },
): Promise<void> => {
  const details = [...labelIds.map(labelDetail('add')), ...milestoneDetails('add', milestone_id)];
  await insert(tx, changed, details);
};

/** @param change ids of the milestones before and after; null: none */
export const recordMilestoneChange = async (
  tx: Tx,
  changed: Changed,
  { before, after }: { before: number | null; after: number | null },
): Promise<void> => {
  if (before === after) return;
  await insert(tx, changed, [...milestoneDetails('remove', before), ...milestoneDetails('add', after)]);
};
