/** Endpoints of milestones of projects and groups, the same under both paths. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { nothingToChange } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  boolean,
  clearable,
  day,
  id as idParam,
  idOrPath,
  integers,
  longText,
  object,
  oneOf,
  optional,
  text,
  time,
} from '../../platform/http/schema.ts';
import { type OwnerKind, findGroupAbove, findOwner } from '../project_or_group/owner.ts';
import { createMilestone } from './create.ts';
import { deleteMilestone } from './delete.ts';
import { milestoneJson, milestoneShape } from './json.ts';
import { promoteMilestone } from './promote.ts';
import { findMilestone, listMilestones } from './queries.ts';
import { type MilestoneEdit, updateMilestone } from './update.ts';

const milestone_id = idParam('id of the milestone, not its iid');
const fields = {
  description: optional(clearable(longText())),
  due_date: optional(clearable(day())),
  start_date: optional(clearable(day())),
};

const requireEdit = (input: MilestoneEdit): MilestoneEdit => {
  const edit: MilestoneEdit = {
    ...(input.title !== undefined && { title: input.title }),
    ...(input.description !== undefined && { description: input.description }),
    ...(input.start_date !== undefined && { start_date: input.start_date }),
    ...(input.due_date !== undefined && { due_date: input.due_date }),
    ...(input.state_event !== undefined && { state_event: input.state_event }),
  };
  if (Object.keys(edit).length > 0) return edit;
  throw nothingToChange(['title', 'description', 'start_date', 'due_date', 'state_event']);
};

/** The differences between the endpoints of projects and of groups. */
const side = (kind: OwnerKind) => {
  const noun = kind === 'projects' ? 'project' : 'group';
  return {
    noun,
    path: `/${kind}/:id/milestones`,
    one: `/${kind}/:id/milestones/:milestone_id`,
    id: idOrPath(noun),
    shared: { area: 'milestones', audience: 'user', reply: milestoneShape } as const,
    toSee: (call: Call, id: number | string) =>
      findOwner(call, kind, id, { projects: 'read_milestone', groups: null }),
    toChange: (call: Call, id: number | string) =>
      findOwner(call, kind, id, { projects: 'admin_milestone', groups: 'admin_group_milestone' }),
  };
};

type Side = ReturnType<typeof side>;

const list = ({ noun, path, id, shared, toSee }: Side) =>
  endpoint({
    method: 'GET',
    path,
    summary: `List milestones of a ${noun}`,
    ...shared,
    list: true,
    params: object({
      id,
      iids: optional(integers()),
      state: oneOf(['active', 'closed', 'all'], { default: 'all' }),
      title: optional(text()),
      search: optional(text({ description: 'search title and description' })),
      search_title: optional(text({ description: 'search the title' })),
      include_ancestors: boolean({ default: false, description: 'include milestones of parent groups' }),
      include_parent_milestones: boolean({ default: false, description: 'as `include_ancestors`' }),
      containing_date: optional(day('only milestones that contain this day')),
      start_date: optional(day('only milestones that end on this day or later')),
      end_date: optional(day('only milestones that start on this day or earlier')),
      updated_after: optional(time('inclusive')),
      updated_before: optional(time('inclusive')),
      ...pageParams,
    }),
    handle: async (call, params) => {
      const { items, total } = await listMilestones(
        call.db,
        await toSee(call, params.id),
        params,
        pageRequest(params),
      );
      return { items: items.map((row) => milestoneJson(row, call)), total };
    },
  });

const get = ({ noun, one, id, shared, toSee }: Side) =>
  endpoint({
    method: 'GET',
    path: one,
    summary: `Get a milestone of a ${noun}`,
    ...shared,
    params: object({ id, milestone_id }),
    handle: async (call, params) =>
      milestoneJson(await findMilestone(call.db, await toSee(call, params.id), params.milestone_id), call),
  });

const create = ({ noun, path, id, shared, toChange }: Side) =>
  endpoint({
    method: 'POST',
    path,
    summary: `Create a milestone of a ${noun}`,
    ...shared,
    params: object({ id, title: text(), ...fields }),
    handle: async (call, params) => {
      const { title, description = null, start_date = null, due_date = null } = params;
      const owner = await toChange(call, params.id);
      const row = await createMilestone(call, owner, { title, description, start_date, due_date });
      return milestoneJson(row, call);
    },
  });

const update = ({ noun, one, id, shared, toChange }: Side) =>
  endpoint({
    method: 'PUT',
    path: one,
    summary: `Update, close or activate a milestone of a ${noun}`,
    ...shared,
    params: object({
      id,
      milestone_id,
      title: optional(text()),
      ...fields,
      state_event: optional(oneOf(['close', 'activate'])),
    }),
    handle: async (call, params) => {
      const edit = requireEdit(params);
      const owner = await toChange(call, params.id);
      return milestoneJson(await updateMilestone(call, { owner, id: params.milestone_id }, edit), call);
    },
  });

const remove = ({ noun, one, id, shared, toChange }: Side) =>
  endpoint({
    method: 'DELETE',
    path: one,
    summary: `Delete a milestone of a ${noun}`,
    ...shared,
    reply: null,
    params: object({ id, milestone_id }),
    handle: async (call, params) =>
      await deleteMilestone(call, await toChange(call, params.id), params.milestone_id),
  });

const promote = ({ one, id, shared, toChange }: Side) =>
  endpoint({
    method: 'POST',
    path: `${one}/promote`,
    summary: 'Promote a project milestone to its group',
    ...shared,
    params: object({ id, milestone_id }),
    handle: async (call, params) => {
      const project = await toChange(call, params.id);
      const group = await findGroupAbove(call, project, 'admin_group_milestone');
      return milestoneJson(await promoteMilestone(call, { project, group }, params.milestone_id), call);
    },
  });

const makeRoutes = (side: Side) => [list(side), get(side), create(side), update(side), remove(side)];

const projectSide = side('projects');

export const milestoneRoutes = [
  ...makeRoutes(projectSide),
  promote(projectSide),
  ...makeRoutes(side('groups')),
];
