import type { Reader } from '../db/open.ts';
import { ancestorsOf } from '../namespaces/ancestors.ts';

export type MilestoneRef = { id: number; title: string; iid: number };

/** The milestone of this id, if the project or a group above it has it: one that its issues may carry. */
export const assignableMilestone = async (
  db: Reader,
  project: { id: number; namespace_id: number },
  id: number,
): Promise<MilestoneRef | null> => {
  const found = await db
    .selectFrom('milestones')
    .select(['id', 'title', 'iid'])
    .where('id', '=', id)
    .where((is) =>
      is.or([is('project_id', '=', project.id), is('group_id', 'in', ancestorsOf(project.namespace_id))]),
    )
    .executeTakeFirst();
  return found ?? null;
};
