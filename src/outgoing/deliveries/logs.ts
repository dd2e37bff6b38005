/** The log of a hook's deliveries, and deliveries by hand: tests and resends. */
import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Call } from '../../core/access/call.ts';
import type { Reader } from '../../platform/db/open.ts';
import type { HookLogsTable } from '../../platform/db/schema/hooks.ts';
import { Failure, notFound } from '../../platform/errors.ts';
import type { Page, PageRequest } from '../../platform/http/page.ts';
import { enqueue } from '../../platform/queue/enqueue.ts';
import type { EventFlag } from '../hooks/event_flags.ts';
import type { HookOwner } from '../hooks/owners.ts';
import type { HookRow } from '../hooks/queries.ts';
import { resumeWork } from '../hooks/topic.ts';
import { buildPayload, getEventName } from '../payloads/build.ts';
import { type Attempt, attemptDelivery, insertLogs, isDelivered } from './attempt.ts';
import { toStatusCondition } from './attempt_status.ts';
import { lockHooks, recordSuccess } from './record.ts';
import { type Message, renderBody } from './request.ts';
import { takeSample } from './sample_for_test.ts';

export type LogRow = Selectable<HookLogsTable>;

/**
 * Lists the attempts of a hook, newest first.
 * @param statuses response codes and words of which an attempt has one; empty: all attempts
 * @throws Failure 400 for another status
 */
export const listLogs = async (
  db: Reader,
  { hook_id, statuses = [] }: { hook_id: number; statuses?: readonly string[] | undefined },
  { limit, offset }: Pick<PageRequest, 'limit' | 'offset'>,
): Promise<Page<LogRow>> => {
  const query = db
    .selectFrom('hook_logs')
    .where('hook_id', '=', hook_id)
    .$if(statuses.length > 0, (logs) => logs.where(toStatusCondition(statuses)));
  const [{ total }, items] = await Promise.all([
    query.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    query.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute(),
  ]);
  return { items, total };
};

/** @throws Failure 404 */
export const findLog = async (db: Reader, hookId: number, id: number): Promise<LogRow> => {
  const row = await db
    .selectFrom('hook_logs')
    .selectAll()
    .where('id', '=', id)
    .where('hook_id', '=', hookId)
    .executeTakeFirst();
  if (row === undefined) throw notFound('Hook event');
  return row;
};

const unprocessable = (message: string): Failure => new Failure('unprocessable', { message, error: message });

/**
 * Sends a message now and logs the attempt.
 * @param endsPause whether a success ends the pause of the hook
 * @throws Failure 422 on a quiet instance
 */
const sendNow = async (
  call: Call,
  { hook, endsPause }: { hook: HookRow; endsPause: boolean },
  message: Message & { trigger_name: string },
): Promise<Attempt> => {
  if (call.platform.config.quiet)
    throw unprocessable('This instance is a quiet copy, which sends no webhooks');
  const attempt = await attemptDelivery(call.platform, hook, message);
  await call.write(async (tx) => {
    const current = (await lockHooks(tx, [hook.id])).get(hook.id);
    if (current === undefined) return;
    await insertLogs(tx, [attempt.log]);
    if (!endsPause || !isDelivered(attempt) || current.failures === 0) return;
    await recordSuccess(tx, current);
    await enqueue(tx, resumeWork, { hook_id: hook.id, now: true });
  });
  return attempt;
};

/** Sends what an attempt sent once more, with the same ids. */
export const resendLog = async (call: Call, hook: HookRow, log: LogRow): Promise<Attempt> =>
  await sendNow(
    call,
    { hook, endsPause: false },
    {
      id: log.delivery_uuid,
      event_uuid: log.event_uuid,
      event_name: log.event_name,
      trigger_name: log.trigger_name,
      body: log.request_data,
    },
  );

/**
 * Sends the payload of the latest record of a kind. A success ends the pause of the hook, and what is
 * pending is sent at once.
 * @throws Failure 422 if there is none
 */
export const testHook = async (
  call: Call,
  owner: HookOwner,
  hook: HookRow,
  flag: EventFlag,
): Promise<Attempt> => {
  const snapshot = await takeSample(call, owner, flag);
  if (snapshot === null) {
    throw unprocessable(`There is no record to test ${flag} with`);
  }
  const payload = JSON.stringify(await buildPayload(call.platform, snapshot));
  return await sendNow(
    call,
    { hook, endsPause: true },
    {
      id: randomUUID(),
      event_uuid: randomUUID(),
      event_name: getEventName(snapshot, owner.type === 'instance'),
      trigger_name: snapshot.payload,
      body: renderBody(hook, payload),
    },
  );
};
