/** Records the outcome of deliveries: the log, the delivery, the state of the hook, and the end of the work. */
import type { Platform } from '../../core/platform.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { Tx } from '../../platform/db/open.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';
import type { WorkRun } from '../../platform/queue/enqueue.ts';
import { finishTogether } from '../../platform/queue/leases.ts';
import { isPaused } from '../hooks/json.ts';
import type { HookRow } from '../hooks/queries.ts';
import { type Attempt, insertLogs, isDelivered } from './attempt.ts';
import { failuresBeforePause, getPause, maxDeliveryAge } from '../hooks/backoff.ts';
import { makeBatchWriter } from './batch_writes.ts';
import { beginPause, endPause } from './paused_hooks.ts';
import { type Pending, removeDeliveries } from './pending.ts';

type Sent = {
  pending: Pending;
  /** Time of the change. */
  changedAt: number;
  attempt: Attempt;
  run: WorkRun;
};

type HookState = Pick<HookRow, 'id' | 'failures' | 'failing_since' | 'disabled_until'>;

const updateState = compiled((db, { id, failures, failing_since, disabled_until }: HookState) =>
  db.updateTable('hooks').set({ failures, failing_since, disabled_until }).where('id', '=', id).compile(),
);

type NextAttempt = Pick<Pending, 'delivery_id' | 'attempts' | 'next_attempt_at'>;

const postponeDelivery = compiled((db, { delivery_id, attempts, next_attempt_at }: NextAttempt) =>
  db
    .updateTable('hook_deliveries')
    .set({ attempts, next_attempt_at })
    .where('id', '=', delivery_id)
    .compile(),
);

/** Ends the failures and the pause of a hook, which must be locked. */
export const recordSuccess = async (tx: Tx, { id, failures, disabled_until }: HookState): Promise<void> => {
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
  { sent: { pending, changedAt }, hook }: { sent: Sent; hook: HookState },
): Promise<void> => {
  const { delivery_id } = pending;
  const attempts = pending.attempts + 1;
  const next_attempt_at = tx.now + getPause(attempts, random);
  if (tx.now - changedAt > maxDeliveryAge) await removeDeliveries(tx.db, [pending]);
  else await postponeDelivery(tx.db, { delivery_id, attempts, next_attempt_at });
  await countFailure(tx, random, { before: pending.hook, hook });
};

const lockedHooks = compiled((db, { ids }: { ids: readonly number[] }, dialect) =>
  db
    .selectFrom('hooks')
    .select(['id', 'failures', 'failing_since', 'disabled_until'])
    .where(dialect.oneOf('id', ids))
    .orderBy('id')
    .modifyEnd(dialect.forUpdate)
    .compile(),
);

/** Locks the hooks. Those that were deleted meanwhile, with their deliveries and logs, are absent. */
export const lockHooks = async ({ db }: Tx, hookIds: readonly number[]): Promise<Map<number, HookState>> => {
  const ids = [...new Set(hookIds)];
  return new Map((await lockedHooks(db, { ids })).map((row) => [row.id, row]));
};

/** Records one attempt. Returns whether its work is finished, too. */
const recordOne = async ({ store, random }: Platform, sent: Sent): Promise<boolean> => {
  const { attempt, pending, run } = sent;
  const chance = isDelivered(attempt) ? 0 : (random(1)[0] ?? 0) / 256;
  return await store.writeRelaxed(async (tx) => {
    const hook = (await lockHooks(tx, [pending.hook.id])).get(pending.hook.id);
    const isDone = hook === undefined || (isDelivered(attempt) && pending.isLast);
    if (isDone) await run.finishIn(tx);
    if (hook === undefined) return isDone;
    await insertLogs(tx, [attempt.log]);
    if (!isDelivered(attempt)) await recordFailure(tx, chance, { sent, hook });
    else {
      await removeDeliveries(tx.db, [pending]);
      await recordSuccess(tx, hook);
    }
    return isDone;
  });
};

const isHealthy = (hook: HookState | undefined): boolean =>
  hook !== undefined && hook.failures === 0 && hook.disabled_until === null;

/**
 * Records successes of hooks that work. Returns for each whether its work is finished, too; null for what was not
 * recorded, because its hook had failed before or is gone.
 */
const recordSuccesses = async ({ store }: Platform, sent: readonly Sent[]): Promise<(boolean | null)[]> =>
  // After a power cut an unrecorded delivery is sent again, with the same id.
  await store.writeRelaxed(async (tx) => {
    const hooks = await lockHooks(
      tx,
      sent.map(({ pending }) => pending.hook.id),
    );
    const recorded = sent.filter(({ pending }) => isHealthy(hooks.get(pending.hook.id)));
    if (recorded.length > 0) {
      await insertLogs(
        tx,
        recorded.map(({ attempt }) => attempt.log),
      );
      await removeDeliveries(
        tx.db,
        recorded.map(({ pending }) => pending),
      );
      const done = recorded.filter(({ pending }) => pending.isLast);
      await finishTogether(
        tx,
        done.map(({ run }) => run.piece),
      );
    }
    return sent.map((one) => (recorded.includes(one) ? one.pending.isLast : null));
  });

/**
 * As many attempts as are sent at the same time share a batch, and those that end within a few milliseconds. Nothing
 * waits for the record of the last delivery of a target.
 */
const batches = {
  maxItems: 20,
  pause: 20,
  isUrgent: ({ pending }: Sent): boolean => !pending.isLast,
};

const getSuccessWriter = memoizePerStore((platform: Platform) =>
  makeBatchWriter<Sent, boolean | null>(async (sent) => await recordSuccesses(platform, sent), batches),
);

/** Records an attempt. Returns whether no delivery waits behind it: then its work is finished, too. */
export const recordAttempt = async (platform: Platform, sent: Sent): Promise<boolean> => {
  const isPlain = isDelivered(sent.attempt) && isHealthy(sent.pending.hook);
  return (isPlain ? await getSuccessWriter(platform)(sent) : null) ?? (await recordOne(platform, sent));
};
