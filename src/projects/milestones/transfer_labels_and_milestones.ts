/**
 * After a transfer of a project: copies labels and milestones of its former groups that its records use into the
 * project.
 */
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Tx } from '../../platform/db/open.ts';
import type { MilestonesTable } from '../../platform/db/schema/projects.ts';
import { insertRow } from '../../platform/db/insert.ts';
import { transferLabels } from '../labels/transfer_labels.ts';
import { type Owner, renewLists } from '../project_or_group/owner.ts';
import { selectAncestors } from '../../identity/namespaces/ancestors.ts';
import { lockMilestones, takeMilestoneIid } from './queries.ts';

type TransferredProject = { id: number; namespace_id: number };

type GroupMilestone = Selectable<MilestonesTable>;

/** Subquery: milestones that issues, merge requests and releases of the project have. */
const usedMilestones = ({ id }: TransferredProject): RawBuilder<number> => sql<number>`(
  select milestone_id from issues where project_id = ${id} and milestone_id is not null
  union select milestone_id from merge_requests where project_id = ${id} and milestone_id is not null
  union select milestone_id from release_milestones
    where release_id in (select id from releases where project_id = ${id}))`;

const listFormerMilestones = async (tx: Tx, project: TransferredProject): Promise<GroupMilestone[]> =>
  await tx.db
    .selectFrom('milestones')
    .selectAll()
    .where('group_id', 'is not', null)
    .where('group_id', 'not in', selectAncestors(project.namespace_id))
    .where('id', 'in', usedMilestones(project))
    .orderBy('id')
    .execute();

/** Returns the milestone of this title that the project has in its new namespace; copies it if it is missing. */
const findOrCopyMilestone = async (tx: Tx, owner: Owner, former: GroupMilestone): Promise<number> => {
  const match = await tx.db
    .selectFrom('milestones')
    .select('id')
    .where('title', '=', former.title)
    .where((is) =>
      is.or([is('project_id', '=', owner.id), is('group_id', 'in', selectAncestors(owner.namespace_id))]),
    )
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  if (match !== undefined) return match.id;
  const { id: _id, ...columns } = former;
  const own = { project_id: owner.id, group_id: null, iid: await takeMilestoneIid(tx, owner) };
  return await insertRow(tx.db, 'milestones', { ...columns, ...own, updated_at: tx.now });
};

const transferMilestones = async (tx: Tx, owner: Owner): Promise<void> => {
  for (const former of await listFormerMilestones(tx, owner)) {
    const id = await findOrCopyMilestone(tx, owner, former);
    for (const table of ['issues', 'merge_requests'] as const) {
      await tx.db
        .updateTable(table)
        .set({ milestone_id: id })
        .where('project_id', '=', owner.id)
        .where('milestone_id', '=', former.id)
        .execute();
    }
    const its = sql<boolean>`milestone_id = ${former.id}
      and release_id in (select id from releases where project_id = ${owner.id})`;
    await sql`insert into release_milestones (release_id, milestone_id)
      select release_id, ${id} from release_milestones where ${its} on conflict do nothing`.execute(tx.db);
    await sql`delete from release_milestones where ${its}`.execute(tx.db);
  }
};

/** @param project with its new namespace */
export const transferLabelsAndMilestones = async (tx: Tx, project: TransferredProject): Promise<void> => {
  const owner: Owner = { kind: 'projects', ...project };
  await lockMilestones(tx, owner);
  await transferLabels(tx, project);
  await transferMilestones(tx, owner);
  await renewLists(tx, owner);
};
