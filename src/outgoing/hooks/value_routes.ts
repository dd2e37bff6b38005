/** Endpoints of single custom headers and URL variables of hooks, by key. Values are never shown. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { notFound } from '../../platform/errors.ts';
import { id, longText, object, text } from '../../platform/http/schema.ts';
import type { HookEdit } from './hook_columns.ts';
import type { HookRow } from './queries.ts';
import { type HookOwnerRoute, hookOwnerRoutes } from './owner_routes.ts';
import { type Values, unsealValues } from './secrets.ts';
import { updateHook } from './write.ts';

type Kind = {
  /** Path segment and attribute of hooks. */
  name: 'custom_headers' | 'url_variables';
  label: string;
  column: 'sealed_custom_headers' | 'sealed_url_variables';
  /** Returns the stored key that a requested key means. Names of headers ignore case. */
  findKey: (values: Values, key: string) => string | undefined;
};

const kinds: readonly Kind[] = [
  {
    name: 'custom_headers',
    label: 'custom header',
    column: 'sealed_custom_headers',
    findKey: (values, key) =>
      Object.keys(values).find((stored) => stored.toLowerCase() === key.toLowerCase()),
  },
  {
    name: 'url_variables',
    label: 'URL variable',
    column: 'sealed_url_variables',
    findKey: (values, key) => (Object.hasOwn(values, key) ? key : undefined),
  },
];

type KeyValue = { key: string; value?: string };

/** Makes an edit that keeps all values but the named one, which it replaces or removes. */
const editValue =
  ({ platform }: Call, { name, column, findKey, label }: Kind, { key, value }: KeyValue) =>
  (before: HookRow): HookEdit => {
    const values = unsealValues(platform, before[column]);
    const stored = findKey(values, key);
    if (stored === undefined && value === undefined)
      throw notFound(`${label.charAt(0).toUpperCase()}${label.slice(1)}`);
    const kept = Object.keys(values)
      .filter((other) => other !== stored)
      .map((other): KeyValue => ({ key: other }));
    return { [name]: value === undefined ? kept : [...kept, { key, value }] };
  };

const routesOf = (route: HookOwnerRoute) =>
  kinds.flatMap((kind) => {
    const shared = {
      path: `${route.path}/:hook_id/${kind.name}/:key`,
      area: 'hooks',
      audience: route.audience,
      reply: null,
    } as const;
    const params = { ...route.ownParams, hook_id: id(), key: text() };
    return [
      endpoint({
        ...shared,
        method: 'PUT',
        status: 204,
        summary: `Set a ${kind.label} of a hook of ${route.label}`,
        params: object({ ...params, value: longText('never shown') }),
        handle: async (call, { hook_id, key, value, ...input }) => {
          const owner = await route.findOwner(call, input);
          await updateHook(call, owner, hook_id, editValue(call, kind, { key, value }));
        },
      }),
      endpoint({
        ...shared,
        method: 'DELETE',
        summary: `Remove a ${kind.label} of a hook of ${route.label}`,
        params: object(params),
        handle: async (call, { hook_id, key, ...input }) => {
          const owner = await route.findOwner(call, input);
          await updateHook(call, owner, hook_id, editValue(call, kind, { key }));
        },
      }),
    ];
  });

export const hookValueRoutes = hookOwnerRoutes.flatMap(routesOf);
