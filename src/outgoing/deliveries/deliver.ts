/**
 * Sends the pending deliveries of one hook and one target, oldest first. Runs as background work with its own turn, so
 * that order is kept; a failed delivery holds back later deliveries of its target until it succeeds. Work of a paused
 * hook ends immediately: `paused_hooks.ts` enqueues it again. A process that dies between sending and recording sends
 * again, with the same id.
 */
import type { Platform } from '../../core/platform.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { Tx } from '../../platform/db/open.ts';
import { makeLruCache } from '../../platform/lru_cache.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';
import { type WorkHandler, type WorkRun, enqueue } from '../../platform/queue/enqueue.ts';
import { deliverHooksWork, makeDeliveryWork } from '../changes/observe.ts';
import type { Snapshot } from '../changes/snapshots/snapshot.ts';
import { isPaused } from '../hooks/json.ts';
import type { HookRow } from '../hooks/queries.ts';
import { buildPayload, getEventName } from '../payloads/build.ts';
import { type Attempt, attemptDelivery, insertLog, isDelivered } from './attempt.ts';
import { failuresBeforePause, getPause, maxDeliveryAge } from './backoff.ts';
import { beginPause, endPause } from './paused_hooks.ts';
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

type Oldest = { hook: HookRow; pending: Pending };

/** Deliveries of one run; then other work of the lane runs. */
const maxPerRun = 50;

type Queue = { hook_id: number; target: string };

const oldestPending = compiled((db, { hook_id, target }: Queue) =>
  db
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
    .where('hook_deliveries.hook_id', '=', hook_id)
    .where('hook_deliveries.target', '=', target)
    .orderBy('hook_deliveries.id')
    .limit(1)
    .compile(),
);

const hookById = compiled((db, { id }: { id: number }) =>
  db.selectFrom('hooks').selectAll().where('id', '=', id).compile(),
);

/** Loads the delivery to send; null if there is none, or the hook is paused. */
const loadOldest = async ({ store, clock }: Platform, queue: Queue): Promise<Oldest | null> => {
  const [hook] = await hookById(store.db, { id: queue.hook_id });
  if (hook === undefined || isPaused(hook, clock.now())) return null;
  const [pending] = await oldestPending(store.db, queue);
  return pending === undefined ? null : { hook, pending };
};

/** Payloads that several hooks of one change share, in bytes, and the longest of them. */
const maxCachedBytes = 8_388_608;
const maxCachedText = 16_384;

/** The payload of a change, and the event's name for hooks of projects and groups, and of the instance. */
type Built = { text: string; name: string; systemName: string };

const builtPayloads = memoizePerStore((_platform: Platform) =>
  makeLruCache<Promise<Built>>(maxCachedBytes, () => maxCachedText),
);

const buildAll = async (platform: Platform, text: string): Promise<Built> => {
  const snapshot = JSON.parse(text) as Snapshot;
  return {
    text: JSON.stringify(await buildPayload(platform, snapshot)),
    name: getEventName(snapshot, false),
    systemName: getEventName(snapshot, true),
  };
};

/** Builds the payload of a change once for all hooks that receive it, also at the same time. */
const getBuilt = async (platform: Platform, { hook_event_id, snapshot }: Pending): Promise<Built> => {
  const cache = builtPayloads(platform);
  const key = String(hook_event_id);
  const cached = cache.get(key);
  if (cached !== undefined) return await cached;
  const building = buildAll(platform, snapshot);
  cache.set(key, building);
  let isKept = false;
  try {
    const built = await building;
    isKept = built.text.length <= maxCachedText;
    return built;
  } finally {
    if (!isKept) cache.delete(key);
  }
};

const isSystemHook = ({ project_id, group_id }: HookRow): boolean => project_id === null && group_id === null;

/** The id of a delivery: the same at each attempt, also after a crash. */
const toDeliveryId = (uuid: string, hookId: number): string => `${uuid}-${hookId}`;

const buildMessage = async (
  platform: Platform,
  hook: HookRow,
  pending: Pending,
): Promise<Message & { trigger_name: string }> => {
  const built = await getBuilt(platform, pending);
  return {
    id: toDeliveryId(pending.uuid, hook.id),
    event_uuid: pending.uuid,
    event_name: isSystemHook(hook) ? built.systemName : built.name,
    trigger_name: pending.trigger_name,
    body: renderBody(hook, built.text),
  };
};

const deleteDelivery = compiled((db, { id }: { id: number }) =>
  db.deleteFrom('hook_deliveries').where('id', '=', id).compile(),
);

const deleteUnusedEvent = compiled((db, { id }: { id: number }) =>
  db
    .deleteFrom('hook_events')
    .where('id', '=', id)
    .where((is) =>
      is.not(is.exists(is.selectFrom('hook_deliveries').select('id').where('hook_event_id', '=', id))),
    )
    .compile(),
);

/** Removes a delivery, and its change if no other hook waits for it. The sweep removes what this leaves. */
const removeDelivery = async ({ db }: Tx, { id, hook_event_id }: Pending): Promise<void> => {
  await deleteDelivery(db, { id });
  await deleteUnusedEvent(db, { id: hook_event_id });
};

type HookState = Pick<HookRow, 'id' | 'failures' | 'failing_since' | 'disabled_until'>;

const updateState = compiled((db, { id, failures, failing_since, disabled_until }: HookState) =>
  db.updateTable('hooks').set({ failures, failing_since, disabled_until }).where('id', '=', id).compile(),
);

type NextAttempt = Pick<Pending, 'id' | 'attempts' | 'next_attempt_at'>;

const postponeDelivery = compiled((db, { id, attempts, next_attempt_at }: NextAttempt) =>
  db.updateTable('hook_deliveries').set({ attempts, next_attempt_at }).where('id', '=', id).compile(),
);

const recordSuccess = async (tx: Tx, hook: HookState, pending: Pending): Promise<void> => {
  await removeDelivery(tx, pending);
  const { id, failures, disabled_until } = hook;
  if (failures === 0 && disabled_until === null) return;
  if (disabled_until !== null) await endPause(tx, id);
  await updateState(tx.db, { id, failures: 0, failing_since: null, disabled_until: null });
};

/**
 * Counts a failure of the hook, and pauses it after several in a row. Attempts that were under way when another one
 * paused it do not count: together they would make the pause grow to a day.
 */
const countFailure = async (
  tx: Tx,
  random: number,
  { before, hook }: { before: HookState; hook: HookState },
): Promise<void> => {
  const { id } = hook;
  if (hook.disabled_until !== before.disabled_until && isPaused(hook, tx.now)) return;
  const failures = hook.failures + 1;
  const disabled_until = failures < failuresBeforePause ? null : tx.now + getPause(failures, random);
  const failing_since = hook.failures === 0 ? tx.now : hook.failing_since;
  await updateState(tx.db, { id, failures, failing_since, disabled_until });
  if (disabled_until !== null) await beginPause(tx, id, disabled_until);
};

const recordFailure = async (
  tx: Tx,
  random: number,
  { before, hook, pending }: { before: HookState; hook: HookState; pending: Pending },
): Promise<void> => {
  const attempts = pending.attempts + 1;
  const next_attempt_at = tx.now + getPause(attempts, random);
  if (tx.now - pending.created_at > maxDeliveryAge) await removeDelivery(tx, pending);
  else await postponeDelivery(tx.db, { id: pending.id, attempts, next_attempt_at });
  await countFailure(tx, random, { before, hook });
};

const lockedHook = compiled((db, { id }: { id: number }, dialect) =>
  db
    .selectFrom('hooks')
    .select(['id', 'failures', 'failing_since', 'disabled_until'])
    .where('id', '=', id)
    .modifyEnd(dialect.forUpdate)
    .compile(),
);

const anyPending = compiled((db, { hook_id, target }: Queue) =>
  db
    .selectFrom('hook_deliveries')
    .select('id')
    .where('hook_id', '=', hook_id)
    .where('target', '=', target)
    .limit(1)
    .compile(),
);

type Run = { platform: Platform; queue: Queue; finishIn: WorkRun['finishIn'] };

/** Records an attempt. Returns whether no delivery waits behind it: then the work is finished, too. */
const record = async (
  { platform, queue, finishIn }: Run,
  one: Oldest,
  attempt: Attempt,
): Promise<boolean> => {
  const random = isDelivered(attempt) ? 0 : (platform.random(1)[0] ?? 0) / 256;
  // After a power cut an unrecorded delivery is sent again, with the same id.
  return await platform.store.writeRelaxed(async (tx) => {
    // The hook may have been deleted meanwhile, with its deliveries and its log.
    const [alive] = await lockedHook(tx.db, { id: one.hook.id });
    if (alive !== undefined) {
      await insertLog(tx, attempt.log);
      if (isDelivered(attempt)) await recordSuccess(tx, alive, one.pending);
      else await recordFailure(tx, random, { before: one.hook, hook: alive, pending: one.pending });
    }
    const isEmpty = (await anyPending(tx.db, queue)).length === 0;
    if (isEmpty) await finishIn(tx);
    return isEmpty;
  });
};

/**
 * Ends the work and enqueues it for a later time. A power cut loses both changes; the work then restarts when its lease
 * expires.
 */
const runAgain = async ({ platform, queue, finishIn }: Run, run_at: number): Promise<void> => {
  const { payload, options } = makeDeliveryWork(queue.hook_id, queue.target);
  await platform.store.writeRelaxed(async (tx) => {
    await enqueue(tx, deliverHooksWork, payload, { ...options, run_at });
    await finishIn(tx);
  });
};

/** Only a repeated attempt waits: the first one is due at once, whatever the clock was when it was written. */
const mustWait = ({ attempts, next_attempt_at }: Pending, now: number): boolean =>
  attempts > 0 && next_attempt_at > now;

const deliverPending = async (run: Run): Promise<void> => {
  const { platform, queue } = run;
  for (let sent = 0; sent < maxPerRun; sent += 1) {
    const oldest = await loadOldest(platform, queue);
    if (oldest === null) return;
    const { hook, pending } = oldest;
    if (mustWait(pending, platform.clock.now())) return await runAgain(run, pending.next_attempt_at);
    const message = await buildMessage(platform, hook, pending);
    if (await record(run, oldest, await attemptDelivery(platform, hook, message))) return;
  }
  await runAgain(run, platform.clock.now());
};

export const deliverHandlers = (platform: Platform): { [name: string]: WorkHandler } => ({
  [deliverHooksWork]: async ({ hook_id, target }, { finishIn }) => {
    const queue = { hook_id: Number(hook_id), target: String(target) };
    await deliverPending({ platform, queue, finishIn });
  },
});
