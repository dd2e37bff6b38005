/**
 * Sends the pending deliveries of one hook and one target, oldest first. Runs as background work with a turn of its own,
 * so that order is kept; a failed delivery holds back the later ones of its target until it succeeds. A process that
 * dies between sending and recording sends again, with the same id.
 */
import type { Platform } from '../../core/platform.ts';
import type { Tx } from '../../platform/db/open.ts';
import { makeLruCache } from '../../platform/lru_cache.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';
import { type WorkHandler, enqueueAll } from '../../platform/queue/enqueue.ts';
import { deliverHooksWork, makeDeliveryWork } from '../changes/observe.ts';
import type { Snapshot } from '../changes/snapshots/snapshot.ts';
import type { HookRow } from '../hooks/queries.ts';
import { buildPayload, getEventName } from '../payloads/build.ts';
import { type Attempt, attemptDelivery, insertLog, isDelivered } from './attempt.ts';
import { failuresBeforePause, getPause, maxDeliveryAge } from './backoff.ts';
import { type Message, renderBody } from './request.ts';

type Pending = {
  id: number;
  hook_event_id: number;
  attempts: number;
  next_attempt_at: number;
  uuid: string;
  trigger_name: string;
  snapshot: string;
  created_at: number;
};

/** Deliveries of one run; then others of the lane have their turn. */
const maxPerRun = 50;

const loadOldest = async (
  { store }: Platform,
  hookId: number,
  target: string,
): Promise<{ hook: HookRow; pending: Pending } | null> => {
  const pending = await store.db
    .selectFrom('hook_deliveries')
    .innerJoin('hook_events', 'hook_events.id', 'hook_deliveries.hook_event_id')
    .select([
      'hook_deliveries.id',
      'hook_deliveries.hook_event_id',
      'hook_deliveries.attempts',
      'hook_deliveries.next_attempt_at',
      'hook_events.uuid',
      'hook_events.trigger_name',
      'hook_events.snapshot',
      'hook_events.created_at',
    ])
    .where('hook_deliveries.hook_id', '=', hookId)
    .where('hook_deliveries.target', '=', target)
    .orderBy('hook_deliveries.id')
    .limit(1)
    .executeTakeFirst();
  if (pending === undefined) return null;
  const hook = await store.db.selectFrom('hooks').selectAll().where('id', '=', hookId).executeTakeFirst();
  return hook === undefined ? null : { hook, pending };
};

/** Payloads that several hooks of one change share, in bytes. */
const maxCachedBytes = 8_388_608;

const payloadCache = memoizePerStore((_platform: Platform) =>
  makeLruCache<Promise<string>>(maxCachedBytes, () => 16_384),
);

/** Builds the payload of a change once for all hooks that receive it. */
const payloadText = async (platform: Platform, id: number, snapshot: Snapshot): Promise<string> => {
  const cache = payloadCache(platform);
  const cached = cache.get(String(id));
  if (cached !== undefined) return await cached;
  const built = buildPayload(platform, snapshot).then((payload) => JSON.stringify(payload));
  const text = await built;
  if (text.length <= 16_384) cache.set(String(id), built);
  return text;
};

const isSystemHook = ({ project_id, group_id }: HookRow): boolean => project_id === null && group_id === null;

/** The id of a delivery: the same at each attempt, also after a crash. */
const toDeliveryId = (uuid: string, hookId: number): string => `${uuid}-${hookId}`;

const buildMessage = async (
  platform: Platform,
  hook: HookRow,
  pending: Pending,
): Promise<Message & { trigger_name: string }> => {
  const snapshot = JSON.parse(pending.snapshot) as Snapshot;
  const payload = await payloadText(platform, pending.hook_event_id, snapshot);
  return {
    id: toDeliveryId(pending.uuid, hook.id),
    event_uuid: pending.uuid,
    event_name: getEventName(snapshot, isSystemHook(hook)),
    trigger_name: pending.trigger_name,
    body: renderBody(hook, payload),
  };
};

/** Removes a delivery, and its change if no other hook waits for it. The sweep removes what this leaves. */
const removeDelivery = async ({ db }: Tx, { id, hook_event_id }: Pending): Promise<void> => {
  await db.deleteFrom('hook_deliveries').where('id', '=', id).execute();
  await db
    .deleteFrom('hook_events')
    .where('id', '=', hook_event_id)
    .where((is) =>
      is.not(
        is.exists(is.selectFrom('hook_deliveries').select('id').where('hook_event_id', '=', hook_event_id)),
      ),
    )
    .execute();
};

const recordSuccess = async (tx: Tx, hook: HookRow, pending: Pending): Promise<void> => {
  await removeDelivery(tx, pending);
  if (hook.failures === 0 && hook.disabled_until === null) return;
  await tx.db
    .updateTable('hooks')
    .set({ failures: 0, disabled_until: null })
    .where('id', '=', hook.id)
    .execute();
};

const recordFailure = async (tx: Tx, random: number, { hook, pending }: Failed): Promise<void> => {
  const failures = hook.failures + 1;
  const attempts = pending.attempts + 1;
  const next_attempt_at = tx.now + getPause(attempts, random);
  if (tx.now - pending.created_at > maxDeliveryAge) await removeDelivery(tx, pending);
  else
    await tx.db
      .updateTable('hook_deliveries')
      .set({ attempts, next_attempt_at })
      .where('id', '=', pending.id)
      .execute();
  const disabled_until = failures < failuresBeforePause ? null : tx.now + getPause(failures, random);
  await tx.db.updateTable('hooks').set({ failures, disabled_until }).where('id', '=', hook.id).execute();
};

type Failed = { hook: HookRow; pending: Pending };

const record = async (platform: Platform, one: Failed, attempt: Attempt): Promise<void> => {
  const random = (platform.random(1)[0] ?? 0) / 256;
  // A delivery whose record a power cut takes is sent again, with the same id.
  await platform.store.writeRelaxed(async (tx) => {
    // The hook may have been deleted meanwhile, with its deliveries and its log.
    const alive = await tx.db
      .selectFrom('hooks')
      .selectAll()
      .where('id', '=', one.hook.id)
      .modifyEnd(tx.dialect.forUpdate)
      .executeTakeFirst();
    if (alive === undefined) return;
    await insertLog(tx, attempt.log);
    if (isDelivered(attempt)) await recordSuccess(tx, alive, one.pending);
    else await recordFailure(tx, random, { ...one, hook: alive });
  });
};

const enqueueAgain = async (
  { store }: Platform,
  hookId: number,
  target: string,
  run_at: number,
): Promise<void> => {
  const { payload, options } = makeDeliveryWork(hookId, target);
  await store.write(
    async (tx) => await enqueueAll(tx, deliverHooksWork, [{ payload, options: { ...options, run_at } }]),
  );
};

/** Time before which a delivery must not be tried: its own, or the end of the pause of its hook. */
const getDueTime = ({ hook, pending }: Failed): number =>
  Math.max(pending.next_attempt_at, hook.disabled_until ?? 0);

const deliverPending = async (platform: Platform, hookId: number, target: string): Promise<void> => {
  for (let sent = 0; sent < maxPerRun; sent += 1) {
    const oldest = await loadOldest(platform, hookId, target);
    if (oldest === null) return;
    const due = getDueTime(oldest);
    if (due > platform.clock.now()) {
      await enqueueAgain(platform, hookId, target, due);
      return;
    }
    const message = await buildMessage(platform, oldest.hook, oldest.pending);
    await record(platform, oldest, await attemptDelivery(platform, oldest.hook, message));
  }
  await enqueueAgain(platform, hookId, target, platform.clock.now());
};

export const deliverHandlers = (platform: Platform): { [name: string]: WorkHandler } => ({
  [deliverHooksWork]: async ({ hook_id, target }) =>
    await deliverPending(platform, Number(hook_id), String(target)),
});
