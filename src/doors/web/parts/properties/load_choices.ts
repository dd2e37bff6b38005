/** Loads the labels, milestones and members that an issue can be given. */
import type { Call } from '../../../../core/access/call.ts';
import { today } from '../../../../core/access/viewer.ts';
import { keepUntilChange } from '../../../../platform/db/keep_until_change.ts';
import { listLabels } from '../../../../projects/labels/queries.ts';
import { listMembers } from '../../../../projects/members/queries.ts';
import { listMilestones } from '../../../../projects/milestones/queries.ts';
import { pageRequest } from '../../../../platform/http/page.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { availableTo, projectOwner } from '../../../../projects/project_or_group/owner.ts';
import type { Visit } from '../../page.ts';

type Member = { id: number; name: string; username: string };

export type Choices = {
  project_id: number;
  labels: { id: number; name: string; color: string; description: string | null }[];
  milestones: { id: number; title: string }[];
  members: Member[];
};

/** More are chosen by their names. */
const most = pageRequest({ per_page: 100 });

const keepChoices = keepUntilChange<Choices>(
  ['labels', 'milestones', 'members', 'users', 'namespaces', 'group_links'],
  500,
);

const readChoices = async (call: Call, { id, namespace_id }: Project): Promise<Choices> => {
  const owner = { kind: 'projects' as const, id, namespace_id };
  const source = { type: 'Project' as const, id, namespace_id, level: 0, mayRead: true, mayAdmin: false };
  const active = { state: 'active' as const, include_ancestors: true, include_parent_milestones: true };
  const [labels, milestones, members] = await Promise.all([
    listLabels(call, owner, { include_ancestor_groups: true }, most),
    listMilestones(call.db, owner, active, most),
    listMembers(call.db, source, { query: '', inherited: true, now: call.now }, most),
  ]);
  return {
    project_id: id,
    labels: labels.items.map(({ id: labelId, title, color, description }) => ({
      id: labelId,
      name: title,
      color,
      description,
    })),
    milestones: milestones.items.map((one) => ({ id: one.id, title: one.title })),
    members: members.rows
      .filter(({ state }) => state === 'active')
      .map(({ id: userId, name, username }) => ({ id: userId, name, username })),
  };
};

/** Adds the labels and the milestone that an address names, where the project has more of them than are offered. */
export const addChosen = async (
  { call: { db } }: Visit,
  project: Project,
  choices: Choices,
  { label_ids = [], milestone_id }: { label_ids?: readonly number[]; milestone_id: number | null },
): Promise<Choices> => {
  const owner = projectOwner(project);
  const labelIds = label_ids.filter((id) => choices.labels.every((one) => one.id !== id));
  const isOffered = milestone_id === null || choices.milestones.some(({ id }) => id === milestone_id);
  const [labels, milestones] = await Promise.all([
    labelIds.length === 0
      ? []
      : db
          .selectFrom('labels')
          .select(['id', 'title as name', 'color', 'description'])
          .where('id', 'in', labelIds)
          .where(availableTo('labels', owner))
          .execute(),
    isOffered
      ? []
      : db
          .selectFrom('milestones')
          .select(['id', 'title'])
          .where('id', '=', milestone_id)
          .where('state', '=', 'active')
          .where(availableTo('milestones', owner))
          .execute(),
  ]);
  return {
    ...choices,
    labels: [...choices.labels, ...labels],
    milestones: [...choices.milestones, ...milestones],
  };
};

/** Loads the choices of a project, at most a hundred of each kind: the same for every viewer of the page. */
export const loadChoices = async ({ call }: Visit, project: Project): Promise<Choices> =>
  // Memberships end with a day.
  await keepChoices(
    call.db,
    `${project.id} ${project.namespace_id} ${today(call.now)}`,
    async () => await readChoices(call, project),
  );
