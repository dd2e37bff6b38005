/** Endpoints of deliveries: the log, resends and tests, for the hooks of projects, groups and the instance. */
import type { Call } from '../../core/access/call.ts';
import { endpoint } from '../../core/access/endpoint.ts';
import { pageParams, pageRequest } from '../../platform/http/page.ts';
import {
  anything,
  id,
  int,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
  texts,
  timestamp,
} from '../../platform/http/schema.ts';
import { Failure } from '../../platform/errors.ts';
import { formatTime } from '../../platform/time.ts';
import { type EventFlag, eventFlagNames } from '../hooks/event_flags.ts';
import type { HookOwner } from '../hooks/owners.ts';
import { findHook } from '../hooks/queries.ts';
import { type HookOwnerRoute, hookOwnerRoutes } from '../hooks/owner_routes.ts';
import { isDelivered } from './attempt.ts';
import { statusWords } from './attempt_status.ts';
import { type LogRow, findLog, listLogs, resendLog, testHook } from './logs.ts';

const logShape = object({
  id: int,
  url: string,
  trigger: string,
  request_headers: anything,
  request_data: anything,
  response_headers: anything,
  response_body: string,
  response_status: nullable(int),
  execution_duration: number,
  error: nullable(string),
  created_at: timestamp,
});

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const logJson = (row: LogRow) => ({
  id: row.id,
  url: row.url,
  trigger: `${row.trigger_name}_hooks`,
  request_headers: parse(row.request_headers),
  request_data: parse(row.request_data),
  response_headers: parse(row.response_headers),
  response_body: row.response_body,
  response_status: row.response_status,
  execution_duration: row.execution_duration / 1_000,
  error: row.error,
  created_at: formatTime(row.created_at),
});

const hookId = { hook_id: id() };

const statusParam = optional(
  texts({ description: `response codes, or ${statusWords.map((word) => `\`${word}\``).join(', ')}` }),
);

const declare = ({ audience }: HookOwnerRoute) => ({ area: 'hooks', audience }) as const;

const list = (route: HookOwnerRoute) =>
  endpoint({
    method: 'GET',
    path: `${route.path}/:hook_id/events`,
    summary: `List the latest deliveries of a hook of ${route.label}`,
    ...declare(route),
    list: true,
    params: object({ ...route.ownParams, ...hookId, status: statusParam, ...pageParams }),
    reply: logShape,
    handle: async (call, params) => {
      const hook = await findHook(call.db, await route.findOwner(call, params), params.hook_id);
      const { items, total } = await listLogs(
        call.db,
        { hook_id: hook.id, statuses: params.status },
        pageRequest(params),
      );
      return { items: items.map(logJson), total };
    },
  });

const resend = (route: HookOwnerRoute) =>
  endpoint({
    method: 'POST',
    path: `${route.path}/:hook_id/events/:event_id/resend`,
    summary: `Resend a delivery of a hook of ${route.label}`,
    ...declare(route),
    params: object({ ...route.ownParams, ...hookId, event_id: id() }),
    reply: object({ response_status: nullable(int) }),
    handle: async (call, params) => {
      const hook = await findHook(call.db, await route.findOwner(call, params), params.hook_id);
      const { outcome } = await resendLog(call, hook, await findLog(call.db, hook.id, params.event_id));
      return { response_status: outcome.status };
    },
  });

const testReply = object({ message: string });

/** Sends a test. @throws Failure 422 with the reason if the receiver did not accept it */
const sendTest = async (call: Call, owner: HookOwner, hookId: number, trigger: EventFlag) => {
  const attempt = await testHook(call, owner, await findHook(call.db, owner, hookId), trigger);
  if (isDelivered(attempt)) return { message: '201 Created' };
  const { status, error } = attempt.outcome;
  const message = error ?? `The receiver answered ${status}`;
  throw new Failure('unprocessable', { message, error: message });
};

const test = (route: HookOwnerRoute) =>
  endpoint({
    method: 'POST',
    path: `${route.path}/:hook_id/test/:trigger`,
    summary: `Test a hook of ${route.label} with the latest record`,
    ...declare(route),
    params: object({ ...route.ownParams, ...hookId, trigger: oneOf(eventFlagNames) }),
    reply: testReply,
    handle: async (call, params) =>
      await sendTest(call, await route.findOwner(call, params), params.hook_id, params.trigger),
  });

const testSystemHook = endpoint({
  method: 'POST',
  path: '/hooks/:hook_id',
  summary: 'Test a hook of the instance with a push',
  area: 'hooks',
  audience: 'admin',
  params: object(hookId),
  reply: testReply,
  handle: async (call, { hook_id }) => await sendTest(call, { type: 'instance' }, hook_id, 'push_events'),
});

export const deliveryRoutes = [
  ...hookOwnerRoutes.flatMap((route) => [list(route), resend(route), test(route)]),
  testSystemHook,
];
