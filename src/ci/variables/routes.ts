/** Endpoints of CI variables: the same for the instance, groups and projects. */
import type { Static } from 'typebox';
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { toFlag } from '../../platform/db/schema/column_types.ts';
import { notFound } from '../../platform/errors.ts';
import { findGroupFor } from '../../identity/groups/find.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
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
} from '../../platform/http/schema.ts';
import { findProjectFor } from '../../projects/projects/find.ts';
import { type VariableEdit, createVariable, deleteVariable, findVariable, updateVariable } from './change.ts';
import { variableJson, variableShape } from './json.ts';
import { type Owner, listVariables } from './queries.ts';

const key = text({ description: 'letters, digits and underscores' });
const types = ['env_var', 'file'] as const;

const edits = {
  variable_type: optional(oneOf(types)),
  protected: optional(boolean({ description: 'only for jobs of protected branches and tags' })),
  masked: optional(boolean({ description: 'hidden in logs' })),
  raw: optional(boolean({ description: 'do not expand `$` references' })),
  environment_scope: optional(text({ description: 'environments whose jobs receive it; `*`: all jobs' })),
  description: optional(clearable(text())),
};

const filter = {
  filter: optional(
    hash({ environment_scope: text() }, 'selects a variable among variables with the same key'),
  ),
};

const shape = object({ ...edits });

const toEdit = (input: Static<typeof shape>): Omit<VariableEdit, 'value'> => {
  const { variable_type, protected: isProtected, masked, raw, environment_scope, description } = input;
  return {
    ...(variable_type !== undefined && { variable_type }),
    ...(isProtected !== undefined && { protected: toFlag(isProtected) }),
    ...(masked !== undefined && { masked: toFlag(masked) }),
    ...(raw !== undefined && { raw: toFlag(raw) }),
    ...(environment_scope !== undefined && { environment_scope }),
    ...(description !== undefined && { description }),
  };
};

const toSelector = (input: { key: string; filter?: unknown }) => {
  const { environment_scope } = (input.filter ?? {}) as { environment_scope?: unknown };
  if (environment_scope !== undefined && typeof environment_scope !== 'string') throw notFound('Variable');
  return { key: input.key, scope: environment_scope };
};

/** A kind of owner, with its paths and the function that finds and authorizes it. */
type VariableOwnerRoute = {
  label: string;
  path: string;
  audience: 'user' | 'admin';
  ownParams: Record<string, ReturnType<typeof idOrPath>>;
  findOwner: (call: Call, input: object) => Promise<Owner>;
};

const getId = (input: object): number | string => (input as { id: number | string }).id;

const ownerRoutes: VariableOwnerRoute[] = [
  {
    label: 'a project',
    path: '/projects/:id/variables',
    audience: 'user',
    ownParams: { id: idOrPath('project') },
    findOwner: async (call, input) => ({
      type: 'Project',
      id: (await findProjectFor(call, getId(input), 'admin_variable')).id,
    }),
  },
  {
    label: 'a group',
    path: '/groups/:id/variables',
    audience: 'user',
    ownParams: { id: idOrPath('group') },
    findOwner: async (call, input) => ({
      type: 'Namespace',
      id: (await findGroupFor(call, getId(input), 'admin_group_variable')).id,
    }),
  },
  {
    label: 'the instance',
    path: '/admin/ci/variables',
    audience: 'admin',
    ownParams: {},
    findOwner: async () => ({ type: 'Instance', id: 0 }),
  },
];

const sharedDeclaration = ({ audience }: VariableOwnerRoute) =>
  ({ area: 'variables', audience, reply: variableShape }) as const;

const reads = (ownerRoute: VariableOwnerRoute) => [
  endpoint({
    method: 'GET',
    path: ownerRoute.path,
    summary: `List variables of ${ownerRoute.label}`,
    ...sharedDeclaration(ownerRoute),
    list: true,
    params: object({ ...ownerRoute.ownParams, ...pageParams }),
    handle: async (call, params) => {
      const owner = await ownerRoute.findOwner(call, params);
      const { items, total } = await listVariables(call.platform, owner, pageRequest(params));
      return { items: items.map(variableJson), total };
    },
  }),
  endpoint({
    method: 'GET',
    path: `${ownerRoute.path}/:key`,
    summary: `Get a variable of ${ownerRoute.label}`,
    ...sharedDeclaration(ownerRoute),
    params: object({ ...ownerRoute.ownParams, key, ...filter }),
    handle: async (call, params) => {
      const owner = await ownerRoute.findOwner(call, params);
      return variableJson(await findVariable(call, call.db, owner, toSelector(params)));
    },
  }),
];

const create = (ownerRoute: VariableOwnerRoute) =>
  endpoint({
    method: 'POST',
    path: ownerRoute.path,
    summary: `Create a variable of ${ownerRoute.label}`,
    ...sharedDeclaration(ownerRoute),
    params: object({
      ...ownerRoute.ownParams,
      key,
      value: longText('at most 10,000 bytes'),
      masked_and_hidden: optional(boolean({ description: 'masked and never shown again' })),
      ...edits,
    }),
    handle: async (call, params) => {
      const owner = await ownerRoute.findOwner(call, params);
      const hidden = params.masked_and_hidden === true ? { masked: 1 as const, hidden: 1 as const } : {};
      const variable = { key: params.key, value: params.value, ...toEdit(params), ...hidden };
      return variableJson(await createVariable(call, owner, variable));
    },
  });

const changes = (ownerRoute: VariableOwnerRoute) => [
  endpoint({
    method: 'PUT',
    path: `${ownerRoute.path}/:key`,
    summary: `Update a variable of ${ownerRoute.label}`,
    ...sharedDeclaration(ownerRoute),
    params: object({ ...ownerRoute.ownParams, key, value: optional(longText()), ...edits, ...filter }),
    handle: async (call, params) => {
      const owner = await ownerRoute.findOwner(call, params);
      const edit = { ...toEdit(params), ...(params.value !== undefined && { value: params.value }) };
      return variableJson(await updateVariable(call, owner, toSelector(params), edit));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${ownerRoute.path}/:key`,
    summary: `Delete a variable of ${ownerRoute.label}`,
    ...sharedDeclaration(ownerRoute),
    reply: null,
    params: object({ ...ownerRoute.ownParams, key, ...filter }),
    handle: async (call, params) =>
      await deleteVariable(call, await ownerRoute.findOwner(call, params), toSelector(params)),
  }),
];

export const variableRoutes = ownerRoutes.flatMap((ownerRoute) => [
  ...reads(ownerRoute),
  create(ownerRoute),
  ...changes(ownerRoute),
]);
