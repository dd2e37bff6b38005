import { compiled } from '../db/compiled.ts';
import type { Reader } from '../db/open.ts';
import { ancestorsOf } from '../namespaces/ancestors.ts';

export type MilestoneRef = { id: number; title: string; iid: number };

type Asked = { id: number; project_id: number; namespace_id: number };

const milestoneById = compiled((db, { id, project_id, namespace_id }: Asked) =>
  db
    .selectFrom('milestones')
    .select(['id', 'title', 'iid'])
    .where('id', '=', id)
    .where((is) =>
      is.or([is('project_id', '=', project_id), is('group_id', 'in', ancestorsOf(namespace_id))]),
    )
    .compile(),
);

/** The milestone of this id, if the project or a group above it has it: one that its issues may carry. */
export const assignableMilestone = async (
  db: Reader,
  project: { id: number; namespace_id: number },
  id: number,
): Promise<MilestoneRef | null> => {
  const [found] = await milestoneById(db, { id, project_id: project.id, namespace_id: project.namespace_id });
  return found ?? null;
};
