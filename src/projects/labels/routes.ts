/** Endpoints of labels of projects and groups, the same under both paths. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { missingAttribute, nothingToChange } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  boolean,
  clearable,
  idOrPath,
  integer,
  longText,
  object,
  optional,
  text,
} from '../../platform/http/schema.ts';
import { createLabel } from './create.ts';
import { deleteLabel } from './delete.ts';
import { labelShape } from './json.ts';
import { type OwnerKind, findGroupAbove, findOwner } from '../project_or_group/owner.ts';
import { promoteLabel } from './promote.ts';
import {
  type LabelFilter,
  type LabelKey,
  findLabel,
  listLabels,
  renderLabel,
  renderLabels,
} from './queries.ts';
import { setLabelSubscribed } from './subscribe.ts';
import { type LabelEdit, updateLabel } from './update.ts';

const maxDescriptionLength = 65_535;
const greatestPriority = 2 ** 31 - 1;

const color = text({ description: '`#RGB`, `#RRGGBB` or a CSS color name' });
const description = clearable(text({ maxLength: maxDescriptionLength }));
const priority = clearable(integer({ minimum: 0, maximum: greatestPriority, description: 'null: not set' }));
const label_id = text({ description: 'id or title' });
/** Its length is checked with the title's. */
const name = longText('at most 255 characters, without a comma');
const edits = {
  new_name: optional(name),
  color: optional(color),
  description: optional(description),
  priority: optional(priority),
};
/** Identifies the label where the path does not. */
const named = { name: optional(name), label_id: optional(label_id) };

const toLabelKey = (input: { name?: string; label_id?: string }): LabelKey => {
  if (input.label_id !== undefined) return { id_or_title: input.label_id };
  if (input.name !== undefined) return { title: input.name };
  throw missingAttribute('name');
};

const requireEdit = (input: LabelEdit): LabelEdit => {
  const edit: LabelEdit = {
    ...(input.new_name !== undefined && { new_name: input.new_name }),
    ...(input.color !== undefined && { color: input.color }),
    ...(input.description !== undefined && { description: input.description }),
    ...(input.priority !== undefined && { priority: input.priority }),
  };
  if (Object.keys(edit).length > 0) return edit;
  throw nothingToChange(['new_name', 'color', 'description', 'priority']);
};

/** The differences between the endpoints of projects and of groups. */
const side = (kind: OwnerKind) => {
  const noun = kind === 'projects' ? 'project' : 'group';
  const shared = { area: 'labels', audience: 'user', reply: labelShape } as const;
  return {
    noun,
    path: `/${kind}/:id/labels`,
    one: `/${kind}/:id/labels/:label_id`,
    id: idOrPath(noun),
    shared,
    toSee: (call: Call, id: number | string) =>
      findOwner(call, kind, id, { projects: 'read_label', groups: null }),
    toChange: (call: Call, id: number | string) =>
      findOwner(call, kind, id, { projects: 'admin_label', groups: 'admin_group_label' }),
  };
};

type Side = ReturnType<typeof side>;

const list = ({ noun, path, id, shared, toSee }: Side) =>
  endpoint({
    method: 'GET',
    path,
    summary: `List labels of a ${noun}`,
    ...shared,
    list: true,
    cached: true,
    params: object({
      id,
      with_counts: boolean({ default: true, description: 'include issue and merge request counts' }),
      include_ancestor_groups: boolean({ default: true }),
      search: optional(text()),
      archived: optional(boolean({ description: 'true: empty, because labels are not archived' })),
      ...(noun === 'group' && {
        include_descendant_groups: boolean({ default: false, description: 'include subgroups' }),
        only_group_labels: boolean({ default: true, description: 'false: include labels of its projects' }),
      }),
      ...pageParams,
    }),
    handle: async (call, params) => {
      const owner = await toSee(call, params.id);
      if (params.archived === true) return { items: [], total: 0 };
      const { items, total } = await listLabels(call, owner, params as LabelFilter, pageRequest(params));
      return { items: await renderLabels(call, items, params.with_counts), total };
    },
  });

const create = ({ noun, path, id, shared, toChange }: Side) =>
  endpoint({
    method: 'POST',
    path,
    summary: `Create a label of a ${noun}`,
    ...shared,
    params: object({
      id,
      name,
      color,
      description: optional(description),
      priority: optional(priority),
    }),
    handle: async (call, params) => {
      const owner = await toChange(call, params.id);
      const label = { ...params, description: params.description ?? null, priority: params.priority ?? null };
      return await renderLabel(call, await createLabel(call, owner, label));
    },
  });

const get = ({ noun, one, id, shared, toSee }: Side) =>
  endpoint({
    method: 'GET',
    path: one,
    summary: `Get a label of a ${noun}`,
    ...shared,
    params: object({
      id,
      label_id,
      include_ancestor_groups: boolean({
        default: true,
        description: 'false: labels of groups above are missing',
      }),
    }),
    handle: async (call, params) => {
      const owner = await toSee(call, params.id);
      const reach = params.include_ancestor_groups ? 'available' : 'own';
      return await renderLabel(call, await findLabel(call.db, owner, toLabelKey(params), reach));
    },
  });

const update = ({ noun, path, one, id, shared, toChange }: Side, where: 'path' | 'params') =>
  endpoint({
    method: 'PUT',
    path: where === 'path' ? one : path,
    summary: where === 'path' ? `Update a label of a ${noun}` : `Update a label of a ${noun} by name`,
    ...shared,
    params: object({ id, ...(where === 'path' ? { label_id } : named), ...edits }),
    handle: async (call, params) => {
      const [label, edit] = [toLabelKey(params), requireEdit(params)];
      return await renderLabel(call, await updateLabel(call, await toChange(call, params.id), label, edit));
    },
  });

const remove = ({ noun, path, one, id, shared, toChange }: Side, where: 'path' | 'params') =>
  endpoint({
    method: 'DELETE',
    path: where === 'path' ? one : path,
    summary: where === 'path' ? `Delete a label of a ${noun}` : `Delete a label of a ${noun} by name`,
    ...shared,
    reply: null,
    params: object({ id, ...(where === 'path' ? { label_id } : named) }),
    handle: async (call, params) => {
      const label = toLabelKey(params);
      await deleteLabel(call, await toChange(call, params.id), label);
    },
  });

const subscription = ({ noun, one, id, shared, toSee }: Side, verb: 'subscribe' | 'unsubscribe') =>
  endpoint({
    method: 'POST',
    path: `${one}/${verb}`,
    summary: `${verb === 'subscribe' ? 'Subscribe to' : 'Unsubscribe from'} a label of a ${noun}`,
    ...shared,
    params: object({ id, label_id }),
    handle: async (call, params) => {
      const owner = await toSee(call, params.id);
      return await renderLabel(
        call,
        await setLabelSubscribed(call, owner, toLabelKey(params), verb === 'subscribe'),
      );
    },
  });

const promote = ({ path, one, id, shared, toChange }: Side, where: 'path' | 'params') =>
  endpoint({
    method: 'PUT',
    path: `${where === 'path' ? one : path}/promote`,
    summary: `Promote a project label to its group${where === 'path' ? '' : ' by name'}`,
    ...shared,
    params: object({ id, ...(where === 'path' ? { label_id } : named) }),
    handle: async (call, params) => {
      const label = toLabelKey(params);
      const project = await toChange(call, params.id);
      const group = await findGroupAbove(call, project, 'admin_group_label');
      return await renderLabel(call, await promoteLabel(call, { project, group }, label));
    },
  });

const makeRoutes = (side: Side) => [
  list(side),
  create(side),
  update(side, 'params'),
  remove(side, 'params'),
  get(side),
  update(side, 'path'),
  remove(side, 'path'),
  subscription(side, 'subscribe'),
  subscription(side, 'unsubscribe'),
];

const projectSide = side('projects');

export const labelRoutes = [
  ...makeRoutes(projectSide),
  promote(projectSide, 'params'),
  promote(projectSide, 'path'),
  ...makeRoutes(side('groups')),
];
