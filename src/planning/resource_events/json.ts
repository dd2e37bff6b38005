import type { Selectable } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import { basicUser, basicUserShape, basicUsersById } from '../../identity/users/json.ts';
import type { ResourceEventsTable } from '../../platform/db/schema/planning.ts';
import { int, nullable, object, optional, string, timestamp } from '../../platform/http/schema.ts';
import { formatTime } from '../../platform/time.ts';
import { milestoneJson, milestoneOwnerPath, milestoneShape } from '../../projects/milestones/json.ts';
import { rowsById } from '../../platform/db/rows_by_id.ts';

export type ResourceEventRow = Selectable<ResourceEventsTable>;

const labelShape = object({ id: int, name: string, color: string, description: nullable(string) });

export const resourceEventShape = object({
  id: int,
  user: nullable(basicUserShape),
  created_at: timestamp,
  resource_type: string,
  resource_id: int,
  /** For a change of state. */
  state: optional(string),
  /** Only for label events; null if the label was deleted. */
  label: optional(nullable(labelShape)),
  /** For a change of the milestone. */
  milestone: optional(milestoneShape),
  /** For a change of labels or the milestone. */
  action: optional(string),
});

const present = (ids: (number | null)[]): number[] => [...new Set(ids.filter((id) => id !== null))];

const loadLabels = async ({ db }: Call, ids: number[]) => {
  if (ids.length === 0) return new Map<number, never>();
  const rows = await db
    .selectFrom('labels')
    .select(['id', 'title as name', 'color', 'description'])
    .where('id', 'in', ids)
    .execute();
  return rowsById(rows);
};

const loadMilestones = async ({ db }: Call, ids: number[]) => {
  if (ids.length === 0) return new Map<number, never>();
  const rows = await db
    .selectFrom('milestones')
    .selectAll()
    .select(milestoneOwnerPath().as('owner_path'))
    .where('id', 'in', ids)
    .execute();
  return rowsById(rows);
};

/** Renders events of one target in at most three statements. */
export const resourceEventsJson = async (call: Call, rows: readonly ResourceEventRow[]) => {
  const [users, labels, milestones] = await Promise.all([
    basicUsersById(call.db, present(rows.map(({ user_id }) => user_id))),
    loadLabels(call, present(rows.map(({ label_id }) => label_id))),
    loadMilestones(call, present(rows.map(({ milestone_id }) => milestone_id))),
  ]);
  return rows.map((row) => {
    const user = users.get(row.user_id ?? 0);
    const milestone = milestones.get(row.milestone_id ?? 0);
    return {
      id: row.id,
      user: user === undefined ? null : basicUser(user, call),
      created_at: formatTime(row.created_at),
      resource_type: row.target_type,
      resource_id: row.target_id,
      ...(row.kind === 'label' && { label: labels.get(row.label_id ?? 0) ?? null }),
      ...(milestone !== undefined && { milestone: milestoneJson(milestone, call) }),
      ...(row.kind === 'state' ? { state: row.action } : { action: row.action }),
    };
  });
};
