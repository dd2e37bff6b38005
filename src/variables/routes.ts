/** Variables of CI jobs: of the instance, of groups and of projects, the same calls under each path. */
import type { Static } from 'typebox';
import { type Call, endpoint } from '../access/call.ts';
import { notFound } from '../errors.ts';
import { findGroupFor } from '../groups/find.ts';
import { pageParams, pageRequest } from '../http/page.ts';
import {
  boolean,
  clearable,
  hash,
  idOrPath,
  longText,
  object,
  oneOf,
  optional,
  text,
} from '../http/schema.ts';
import { findProjectFor } from '../projects/find.ts';
import { type VariableEdit, createVariable, deleteVariable, findVariable, updateVariable } from './change.ts';
import { variableJson, variableShape } from './json.ts';
import { type Owner, listVariables } from './queries.ts';

const key = text({ description: 'letters, digits and underscores' });
const types = ['env_var', 'file'] as const;

const edits = {
  variable_type: optional(oneOf(types)),
  protected: optional(boolean({ description: 'only for jobs of protected branches and tags' })),
  masked: optional(boolean({ description: 'hidden in logs' })),
  raw: optional(boolean({ description: 'a `$` in it is nothing special' })),
  environment_scope: optional(text({ description: 'the environments that it is for; `*`: all jobs' })),
  description: optional(clearable(text())),
};

const filter = {
  filter: optional(hash({ environment_scope: text() }, 'which one, where several have the key')),
};

const shape = object({ ...edits });

const editOf = (given: Static<typeof shape>): Omit<VariableEdit, 'value'> => {
  const flag = (value: boolean): 0 | 1 => (value ? 1 : 0);
  const { variable_type, protected: isProtected, masked, raw, environment_scope, description } = given;
  return {
    ...(variable_type !== undefined && { variable_type }),
    ...(isProtected !== undefined && { protected: flag(isProtected) }),
    ...(masked !== undefined && { masked: flag(masked) }),
    ...(raw !== undefined && { raw: flag(raw) }),
    ...(environment_scope !== undefined && { environment_scope }),
    ...(description !== undefined && { description }),
  };
};

const meantBy = (given: { key: string; filter?: unknown }) => {
  const { environment_scope } = (given.filter ?? {}) as { environment_scope?: unknown };
  if (environment_scope !== undefined && typeof environment_scope !== 'string') throw notFound('Variable');
  return { key: given.key, scope: environment_scope };
};

/** Finds whose variables are meant, if the caller may administer them. */
type Side = {
  of: string;
  path: string;
  audience: 'user' | 'admin';
  own: Record<string, ReturnType<typeof idOrPath>>;
  find: (call: Call, given: object) => Promise<Owner>;
};

const idIn = (given: object): number | string => (given as { id: number | string }).id;

const sides: Side[] = [
  {
    of: 'a project',
    path: '/projects/:id/variables',
    audience: 'user',
    own: { id: idOrPath('project') },
    find: async (call, given) => ({
      type: 'Project',
      id: (await findProjectFor(call, idIn(given), 'admin_variable')).id,
    }),
  },
  {
    of: 'a group',
    path: '/groups/:id/variables',
    audience: 'user',
    own: { id: idOrPath('group') },
    find: async (call, given) => ({
      type: 'Namespace',
      id: (await findGroupFor(call, idIn(given), 'admin_group_variable')).id,
    }),
  },
  {
    of: 'the instance',
    path: '/admin/ci/variables',
    audience: 'admin',
    own: {},
    find: async () => ({ type: 'Instance', id: 0 }),
  },
];

const sharedBy = ({ audience }: Side) => ({ area: 'variables', audience, reply: variableShape }) as const;

const reads = (side: Side) => [
  endpoint({
    method: 'GET',
    path: side.path,
    summary: `Variables of ${side.of}`,
    ...sharedBy(side),
    list: true,
    params: object({ ...side.own, ...pageParams }),
    handle: async (call, given) => {
      const owner = await side.find(call, given);
      const { items, total } = await listVariables(call.platform, owner, pageRequest(given));
      return { items: items.map(variableJson), total };
    },
  }),
  endpoint({
    method: 'GET',
    path: `${side.path}/:key`,
    summary: `One variable of ${side.of}`,
    ...sharedBy(side),
    params: object({ ...side.own, key, ...filter }),
    handle: async (call, given) => {
      const owner = await side.find(call, given);
      return variableJson(await findVariable(call, call.db, owner, meantBy(given)));
    },
  }),
];

const create = (side: Side) =>
  endpoint({
    method: 'POST',
    path: side.path,
    summary: `Give ${side.of} a variable`,
    ...sharedBy(side),
    params: object({
      ...side.own,
      key,
      value: longText('10,000 bytes at most'),
      masked_and_hidden: optional(boolean({ description: 'masked, and never shown again' })),
      ...edits,
    }),
    handle: async (call, given) => {
      const owner = await side.find(call, given);
      const hidden = given.masked_and_hidden === true ? { masked: 1 as const, hidden: 1 as const } : {};
      const made = { key: given.key, value: given.value, ...editOf(given), ...hidden };
      return variableJson(await createVariable(call, owner, made));
    },
  });

const changes = (side: Side) => [
  endpoint({
    method: 'PUT',
    path: `${side.path}/:key`,
    summary: `Edit a variable of ${side.of}`,
    ...sharedBy(side),
    params: object({ ...side.own, key, value: optional(longText()), ...edits, ...filter }),
    handle: async (call, given) => {
      const owner = await side.find(call, given);
      const edit = { ...editOf(given), ...(given.value !== undefined && { value: given.value }) };
      return variableJson(await updateVariable(call, owner, meantBy(given), edit));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${side.path}/:key`,
    summary: `Delete a variable of ${side.of}`,
    ...sharedBy(side),
    reply: null,
    params: object({ ...side.own, key, ...filter }),
    handle: async (call, given) => await deleteVariable(call, await side.find(call, given), meantBy(given)),
  }),
];

export const variableRoutes = sides.flatMap((side) => [...reads(side), create(side), ...changes(side)]);
