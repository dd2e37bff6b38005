/**
 * Copies the labels and milestones of the former groups that a transferred project's records carry into the project.
 */
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Tx } from '../../platform/db/open.ts';
import type { MilestonesTable } from '../../platform/db/schema/projects.ts';
import { insertRow } from '../../platform/db/insert.ts';
import { bringLabels } from '../labels/bring_labels.ts';
import { type Owner, renewLists } from '../labels/project_or_group.ts';
import { selectAncestors } from '../../identity/namespaces/ancestors.ts';
import { lockMilestones, takeMilestoneIid } from './queries.ts';

type TransferredProject = { id: number; namespace_id: number };

type GroupMilestone = Selectable<MilestonesTable>;

/** Subquery: milestones that records of the project carry. */
const carried = ({ id }: TransferredProject): RawBuilder<number> => sql<number>`(
  select milestone_id from issues where project_id = ${id} and milestone_id is not null
  union select milestone_id from merge_requests where project_id = ${id} and milestone_id is not null
  union select milestone_id from release_milestones
    where release_id in (select id from releases where project_id = ${id}))`;

const leftMilestones = async (tx: Tx, project: TransferredProject): Promise<GroupMilestone[]> =>
  await tx.db
    .selectFrom('milestones')
    .selectAll()
    .where('group_id', 'is not', null)
    .where('group_id', 'not in', selectAncestors(project.namespace_id))
    .where('id', 'in', carried(project))
    .orderBy('id')
    .execute();

/** Finds the milestone of this title at the project's new place, or copies it into the project. */
const standIn = async (tx: Tx, owner: Owner, left: GroupMilestone): Promise<number> => {
  const match = await tx.db
    .selectFrom('milestones')
    .select('id')
    .where('title', '=', left.title)
    .where((is) =>
      is.or([is('project_id', '=', owner.id), is('group_id', 'in', selectAncestors(owner.namespace_id))]),
    )
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  if (match !== undefined) return match.id;
  const { id: _id, ...columns } = left;
  const own = { project_id: owner.id, group_id: null, iid: await takeMilestoneIid(tx, owner) };
  return await insertRow(tx.db, 'milestones', { ...columns, ...own, updated_at: tx.now });
};

const bringMilestones = async (tx: Tx, owner: Owner): Promise<void> => {
  for (const left of await leftMilestones(tx, owner)) {
    const id = await standIn(tx, owner, left);
    for (const table of ['issues', 'merge_requests'] as const) {
      await tx.db
        .updateTable(table)
        .set({ milestone_id: id })
        .where('project_id', '=', owner.id)
        .where('milestone_id', '=', left.id)
        .execute();
    }
    const its = sql<boolean>`milestone_id = ${left.id}
      and release_id in (select id from releases where project_id = ${owner.id})`;
    await sql`insert into release_milestones (release_id, milestone_id)
      select release_id, ${id} from release_milestones where ${its} on conflict do nothing`.execute(tx.db);
    await sql`delete from release_milestones where ${its}`.execute(tx.db);
  }
};

/** @param project at its new place */
export const followTransfers = async (tx: Tx, project: TransferredProject): Promise<void> => {
  const owner: Owner = { kind: 'projects', ...project };
  await lockMilestones(tx, owner);
  await bringLabels(tx, project);
  await bringMilestones(tx, owner);
  await renewLists(tx, owner);
};
