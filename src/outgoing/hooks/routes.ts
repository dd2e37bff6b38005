/** Endpoints of hooks: the same for projects, groups and the instance. */
import { endpoint } from '../../core/access/endpoint.ts';
import { missingAttribute } from '../../platform/errors.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  boolean,
  clearable,
  id,
  longText,
  object,
  oneOf,
  optional,
  raw,
  text,
  unavailable,
} from '../../platform/http/schema.ts';
import {
  type EventFlag,
  branchFilterStrategies,
  eventFlagNames,
  eventFlags,
  hookFormats,
} from './event_flags.ts';
import { hookJson, hookShapes } from './json.ts';
import { type HookOwnerRoute, hookOwnerRoutes } from './owner_routes.ts';
import { findHook, listHooks } from './queries.ts';
import type { HookEdit } from './hook_columns.ts';
import { hookValueRoutes } from './value_routes.ts';
import { createHook, deleteHook, updateHook } from './write.ts';

const flagParams = Object.fromEntries(
  eventFlagNames.map((name) => [name, optional(boolean({ description: eventFlags[name] }))]),
) as { [F in EventFlag]: ReturnType<typeof optional<ReturnType<typeof boolean>>> };

const url = text({ maxLength: 2048, description: 'http(s) URL; `{name}` inserts a URL variable' });

const edits = {
  name: optional(clearable(text())),
  description: optional(clearable(text({ maxLength: 2048 }))),
  token: optional(
    clearable(text({ description: 'sent as `X-Gitlab-Token` and used as signing key; never shown' })),
  ),
  signing_token: optional(
    clearable(
      text({ description: 'signing key, `whsec_...` or text, used instead of the token; never shown' }),
    ),
  ),
  ...flagParams,
  push_events_branch_filter: optional(
    clearable(
      text({ maxLength: 1000, description: 'only pushes to matching branches; empty: all branches' }),
    ),
  ),
  branch_filter_strategy: optional(oneOf(branchFilterStrategies)),
  enable_ssl_verification: optional(boolean({ description: "verify the receiver's TLS certificate" })),
  custom_webhook_template: optional(
    clearable(longText('JSON to send instead of the payload; `{{project.name}}` inserts a payload value')),
  ),
  format: optional(
    oneOf(hookFormats, { description: 'the payload (`json`), or a message for a chat; default: `json`' }),
  ),
  url_variables: optional(raw('list of `key` and `value`; values are never shown')),
  custom_headers: optional(raw('list of `key` and `value`; values are never shown')),
};

/** Events that clients ask for and that do not exist here. */
const missingEvents = {
  milestone_events: unavailable(),
  project_events: unavailable(),
  resource_access_token_events: unavailable(),
  resource_deploy_token_events: unavailable(),
  subgroup_events: unavailable(),
  vulnerability_events: unavailable(),
};

const hookId = { hook_id: id() };

const declare = (route: HookOwnerRoute) =>
  ({ area: 'hooks', audience: route.audience, reply: hookShapes[route.type] }) as const;

const reads = (route: HookOwnerRoute) => [
  endpoint({
    method: 'GET',
    path: route.path,
    summary: `List hooks of ${route.label}`,
    ...declare(route),
    list: true,
    params: object({ ...route.ownParams, ...pageParams }),
    handle: async (call, params) => {
      const owner = await route.findOwner(call, params);
      const { items, total } = await listHooks(call.db, owner, pageRequest(params));
      return { items: items.map((row) => hookJson(call, row)), total };
    },
  }),
  endpoint({
    method: 'GET',
    path: `${route.path}/:hook_id`,
    summary: `Get a hook of ${route.label}`,
    ...declare(route),
    params: object({ ...route.ownParams, ...hookId }),
    handle: async (call, params) =>
      hookJson(call, await findHook(call.db, await route.findOwner(call, params), params.hook_id)),
  }),
];

const writes = (route: HookOwnerRoute) => [
  endpoint({
    method: 'POST',
    path: route.path,
    summary: `Add a hook to ${route.label}`,
    ...declare(route),
    params: object({ ...route.ownParams, url, ...edits, ...missingEvents }),
    handle: async (call, params) => {
      const owner = await route.findOwner(call, params);
      const edit = params as unknown as HookEdit & { url: string };
      if (edit.url.trim() === '') throw missingAttribute('url');
      return hookJson(call, await createHook(call, owner, edit));
    },
  }),
  endpoint({
    method: 'PUT',
    path: `${route.path}/:hook_id`,
    summary: `Update a hook of ${route.label}`,
    ...declare(route),
    params: object({ ...route.ownParams, ...hookId, url: optional(url), ...edits, ...missingEvents }),
    handle: async (call, params) => {
      const owner = await route.findOwner(call, params);
      return hookJson(call, await updateHook(call, owner, params.hook_id, params));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${route.path}/:hook_id`,
    summary: `Delete a hook of ${route.label}`,
    ...declare(route),
    reply: null,
    params: object({ ...route.ownParams, ...hookId }),
    handle: async (call, params) =>
      void (await deleteHook(call, await route.findOwner(call, params), params.hook_id)),
  }),
];

export const hookRoutes = [
  ...hookOwnerRoutes.flatMap((route) => [...reads(route), ...writes(route)]),
  ...hookValueRoutes,
];
