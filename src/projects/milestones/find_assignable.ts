import { compiled } from '../../platform/db/compiled_query.ts';
import { keepUntilChange } from '../../platform/db/keep_until_change.ts';
import type { Reader } from '../../platform/db/open.ts';
import { selectAncestors } from '../../identity/namespaces/ancestors.ts';
import { type MilestoneRow, milestoneOwnerPath } from './json.ts';

type MilestoneQuery = { id: number; project_id: number; namespace_id: number };

const selectAssignable = compiled((db, { id, project_id, namespace_id }: MilestoneQuery) =>
  db
    .selectFrom('milestones')
    .selectAll()
    .select(milestoneOwnerPath().as('owner_path'))
    .where('id', '=', id)
    .where((is) =>
      is.or([is('project_id', '=', project_id), is('group_id', 'in', selectAncestors(namespace_id))]),
    )
    .compile(),
);

const keepMilestone = keepUntilChange<MilestoneRow | null>(['milestones', 'namespaces', 'projects'], 2_000);

/** Loads a milestone of the project or a group above it, as its issues may have. Callers share it. */
export const findAssignableMilestone = async (
  db: Reader,
  project: { id: number; namespace_id: number },
  id: number,
): Promise<MilestoneRow | null> => {
  const query = { id, project_id: project.id, namespace_id: project.namespace_id };
  const key = `${id} ${project.id} ${project.namespace_id}`;
  return await keepMilestone(db, key, async () => (await selectAssignable(db, query))[0] ?? null);
};

/** Finds the active milestone of this title that issues of the project may have. */
export const findActiveMilestoneByTitle = async (
  db: Reader,
  project: { id: number; namespace_id: number },
  title: string,
): Promise<number | undefined> => {
  const row = await db
    .selectFrom('milestones')
    .select('id')
    .where('title', '=', title)
    .where((is) =>
      is.or([is('project_id', '=', project.id), is('group_id', 'in', selectAncestors(project.namespace_id))]),
    )
    .where('state', '=', 'active')
    .orderBy('id')
    .executeTakeFirst();
  return row?.id;
};
