/** Loads the labels, milestones and members that an issue can be given. */
import { listLabels } from '../../../../projects/labels/queries.ts';
import { listMembers } from '../../../../projects/members/queries.ts';
import { listMilestones } from '../../../../projects/milestones/queries.ts';
import { pageRequest } from '../../../../platform/http/page.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { Visit } from '../../page.ts';

type Member = { id: number; name: string; username: string };

export type Choices = {
  labels: { name: string; color: string; description: string | null }[];
  milestones: { id: number; title: string }[];
  members: Member[];
};

/** More are chosen by their names. */
const most = pageRequest({ per_page: 100 });

/** Loads the choices of a project, at most a hundred of each kind. */
export const loadChoices = async ({ call }: Visit, project: Project): Promise<Choices> => {
  const { id, namespace_id } = project;
  const owner = { kind: 'projects' as const, id, namespace_id };
  const source = { type: 'Project' as const, id, namespace_id, level: 0, mayRead: true, mayAdmin: false };
  const active = { state: 'active' as const, include_ancestors: true, include_parent_milestones: true };
  const [labels, milestones, members] = await Promise.all([
    listLabels(call, owner, { include_ancestor_groups: true }, most),
    listMilestones(call.db, owner, active, most),
    listMembers(call.db, source, { query: '', inherited: true, now: call.now }, most),
  ]);
  return {
    labels: labels.items.map(({ title, color, description }) => ({ name: title, color, description })),
    milestones: milestones.items.map((one) => ({ id: one.id, title: one.title })),
    members: members.rows
      .filter(({ state }) => state === 'active')
      .map(({ id: userId, name, username }) => ({ id: userId, name, username })),
  };
};
