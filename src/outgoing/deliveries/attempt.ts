/** One attempt of a delivery: sends the request and logs request and response. */
import { type RawBuilder, sql } from 'kysely';
import type { Platform } from '../../core/platform.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import { insertRows } from '../../platform/db/insert.ts';
import type { Tx } from '../../platform/db/open.ts';
import { dayMilliseconds } from '../../platform/time.ts';
import { getHookRules } from '../hooks/hook_rules.ts';
import type { HookRow } from '../hooks/queries.ts';
import { unsealHook } from '../hooks/secrets.ts';
import { type Outcome, sendRequest } from '../sender/send.ts';
import { isSuccess, wasSuccessful } from './attempt_status.ts';
import { type Message, buildRequest } from './request.ts';

export type Attempt = {
  outcome: Outcome;
  /** Columns of its row in the log. */
  log: LogColumns;
};

export const isDelivered = ({ outcome: { status, error } }: Attempt): boolean => isSuccess(status, error);

type LogColumns = {
  hook_id: number;
  delivery_uuid: string;
  event_uuid: string;
  trigger_name: string;
  event_name: string;
  url: string;
  request_headers: string;
  request_data: string;
  response_headers: string;
  response_body: string;
  response_status: number | null;
  error: string | null;
  execution_duration: number;
};

/** Most attempts of the log per hook that succeeded, and most that failed: successes do not push out failures. */
const maxLogs = 100;
/** One in so many rows trims the log, so that most attempts need no further statement. */
const trimEvery = 10;

/** How long attempts are kept, and changes whose deliveries are gone or were never made. */
const maxAge = 8 * dayMilliseconds;

const deleteOldLogs = compiled((db, { before }: { before: number }) =>
  db.deleteFrom('hook_logs').where('created_at', '<', before).compile(),
);

const deleteOldEvents = compiled((db, { before }: { before: number }) =>
  db.deleteFrom('hook_events').where('created_at', '<', before).compile(),
);

const removeOld = async ({ db, now }: Tx): Promise<void> => {
  await deleteOldLogs(db, { before: now - maxAge });
  await deleteOldEvents(db, { before: now - maxAge });
};

/** Condition: the latest attempts of a hook with the same outcome are later. */
const isEarlier = (hook_id: number, outcome: RawBuilder<boolean>): RawBuilder<boolean> =>
  sql<boolean>`(${outcome} and id <= (select id from hook_logs where hook_id = ${hook_id} and ${outcome}
    order by id desc limit 1 offset ${maxLogs}))`;

/** Deletes all but the latest successes and the latest failures of a hook. */
const deleteEarlierLogs = compiled((db, { hook_id }: { hook_id: number }) =>
  db
    .deleteFrom('hook_logs')
    .where('hook_id', '=', hook_id)
    .where((is) =>
      is.or([isEarlier(hook_id, wasSuccessful), isEarlier(hook_id, sql<boolean>`not ${wasSuccessful}`)]),
    )
    .compile(),
);

/** Adds attempts to the logs of their hooks, which keep the latest ones. At most 20, which share a statement. */
export const insertLogs = async (tx: Tx, logs: readonly LogColumns[]): Promise<void> => {
  const rows = logs.map((columns) => ({ ...columns, created_at: tx.now }));
  const inserted = await insertRows<'hook_logs', { id: number; hook_id: number }>(
    tx.db,
    'hook_logs',
    rows,
    'returning id, hook_id',
  );
  const trimmed = inserted.filter(({ id }) => id % trimEvery === 0);
  if (trimmed.length > 0) await removeOld(tx);
  for (const { hook_id } of trimmed) await deleteEarlierLogs(tx.db, { hook_id });
};

/** Sends a message to a hook. Never throws for what the receiver does. */
export const attemptDelivery = async (
  platform: Platform,
  hook: HookRow,
  message: Message & { trigger_name: string },
): Promise<Attempt> => {
  const { clock, config, settings, version } = platform;
  const instance = { baseUrl: platform.baseUrl(), version, now: clock.now() };
  const { request, loggedHeaders } = buildRequest(hook, unsealHook(platform, hook), message, instance);
  const start = performance.now();
  const outcome = await sendRequest(request, getHookRules(config, settings.current));
  const log = {
    hook_id: hook.id,
    delivery_uuid: message.id,
    event_uuid: message.event_uuid,
    trigger_name: message.trigger_name,
    event_name: message.event_name,
    url: hook.url,
    request_headers: JSON.stringify(loggedHeaders),
    request_data: message.body,
    response_headers: JSON.stringify(outcome.headers),
    response_body: outcome.body,
    response_status: outcome.status,
    error: outcome.error,
    execution_duration: Math.round(performance.now() - start),
  };
  return { outcome, log };
};
