/**
 * Deliveries of paused hooks. At the end of a pause one delivery is tried; after the first success, or after an edit of
 * the hook, the others follow in groups, so that 10,000 pending deliveries cost little while their receiver fails.
 */
import type { Platform } from '../../core/platform.ts';
import { compiled } from '../../platform/db/compiled_query.ts';
import type { Tx } from '../../platform/db/open.ts';
import { type WorkHandler, type WorkRun, enqueue, enqueueAll } from '../../platform/queue/enqueue.ts';
import { never } from '../../platform/queue/leases.ts';
import { deliverHooksWork, makeDeliveryWork, turnsOfHook } from '../changes/observe.ts';
import { isPaused } from '../hooks/json.ts';
import { lockPause } from '../hooks/pause_lock.ts';
import { resumeWork } from '../hooks/topic.ts';

/** Background work that tries a delivery of a hook whose pause ends. */
export const probeWork = 'hooks.probe';

const probeKey = (hookId: number): string => `${probeWork} ${hookId}`;

/** Enqueues the attempt that may end a pause. */
const enqueueProbe = async (tx: Tx, hookId: number, runAt: number): Promise<void> => {
  const options = { unique_key: probeKey(hookId), run_at: runAt };
  await enqueue(tx, probeWork, { hook_id: hookId }, options);
};

/** Most pieces that the start of a pause removes; others end when they are taken. */
const maxRemoved = 1_000;

/** The character after a space: the range then contains the turns of this hook, and not turns of longer ids. */
const afterSpace = '!';

const removeWaiting = compiled((db, { from, to }: { from: string; to: string }, dialect) =>
  db
    .deleteFrom('work')
    .where('id', 'in', (is) =>
      is
        .selectFrom('work')
        .select('id')
        .where('turn', '>=', from)
        .where('turn', '<', to)
        .where('name', '=', deliverHooksWork)
        .where('locked_until', 'is', null)
        .where('run_at', '<', never)
        .limit(maxRemoved)
        .modifyEnd(dialect.skipLocked),
    )
    .compile(),
);

/**
 * Begins a pause: the waiting work of the hook ends, since what is pending follows after the pause. Work that was given
 * up stays for operators to see.
 */
export const beginPause = async (tx: Tx, hookId: number, until: number): Promise<void> => {
  const from = turnsOfHook(hookId);
  await removeWaiting(tx.db, { from, to: from.slice(0, -1) + afterSpace });
  await enqueueProbe(tx, hookId, until);
};

const lockHook = compiled((db, { id }: { id: number }, dialect) =>
  db
    .selectFrom('hooks')
    .select(['id', 'disabled_until', 'failures'])
    .where('id', '=', id)
    .modifyEnd(dialect.forUpdate)
    .compile(),
);

/** Schedules the pending deliveries of a hook for after its pause, which the caller then ends. */
export const endPause = async (tx: Tx, hookId: number): Promise<void> => {
  await lockPause(tx, hookId);
  await tx.db.deleteFrom('work').where('unique_key', '=', probeKey(hookId)).execute();
  await enqueue(tx, resumeWork, { hook_id: hookId });
};

/** Number of targets that one transaction resumes, and milliseconds until the next transaction. */
const maxTargets = 200;
const pauseBetweenGroups = 200;

type Group = {
  hook_id: number;
  /** The last target that was resumed. */
  after: string;
  /** Also deliveries that wait for their next attempt. */
  now: boolean;
};

const pauseOfHook = compiled((db, { id }: { id: number }) =>
  db.selectFrom('hooks').select(['id', 'disabled_until', 'failures']).where('id', '=', id).compile(),
);

const resumeGroup = async (tx: Tx, { hook_id, after, now }: Group): Promise<void> => {
  const [hook] = await pauseOfHook(tx.db, { id: hook_id });
  // Its next pause has a separate end.
  if (hook === undefined || isPaused(hook, tx.now)) return;
  const rows = await tx.db
    .selectFrom('hook_deliveries')
    .select('target')
    .distinct()
    .where('hook_id', '=', hook_id)
    .where('target', '>', after)
    .orderBy('target')
    .limit(maxTargets)
    .execute();
  const targets = rows.map(({ target }) => target);
  const last = targets.at(-1);
  if (last === undefined) return;
  if (now) {
    await tx.db
      .updateTable('hook_deliveries')
      .set({ next_attempt_at: tx.now })
      .where('hook_id', '=', hook_id)
      .where(tx.dialect.oneOf('target', targets))
      .where('next_attempt_at', '>', tx.now)
      .execute();
  }
  await enqueueAll(
    tx,
    deliverHooksWork,
    targets.map((target) => makeDeliveryWork(hook_id, target)),
  );
  if (targets.length < maxTargets) return;
  const next = { hook_id, after: last, now };
  await enqueue(tx, resumeWork, next, { run_at: tx.now + pauseBetweenGroups });
};

/** Milliseconds after which another delivery is tried if no attempt was recorded, as while a storage is down. */
const probeInterval = 600_000;

/** Targets among which the next attempt is chosen. */
const maxChoices = 1_000;

/**
 * The oldest delivery of the target that waits longest: a delivery that always fails does not hold back others. Later
 * deliveries of a target are not tried before it.
 */
const longestDue = compiled((db, { hook_id }: { hook_id: number }) =>
  db
    .selectFrom((from) =>
      from
        .selectFrom('hook_deliveries')
        .select((is) => [
          'target',
          is.fn.min('id').as('id'),
          is.fn.max('next_attempt_at').as('next_attempt_at'),
        ])
        .where('hook_id', '=', hook_id)
        .groupBy('target')
        .orderBy('target')
        .limit(maxChoices)
        .as('oldest'),
    )
    .select(['id', 'target'])
    .orderBy('next_attempt_at')
    .orderBy('id')
    .limit(1)
    .compile(),
);

const probe = async (tx: Tx, hookId: number): Promise<void> => {
  const [hook] = await lockHook(tx.db, { id: hookId });
  await lockPause(tx, hookId);
  if (hook === undefined || hook.disabled_until === null) return;
  if (isPaused(hook, tx.now)) return await enqueueProbe(tx, hookId, hook.disabled_until);
  const [pending] = await longestDue(tx.db, { hook_id: hookId });
  if (pending === undefined) {
    // Nothing would end the pause for a process whose clock is behind.
    await tx.db.updateTable('hooks').set({ disabled_until: null }).where('id', '=', hookId).execute();
    return;
  }
  await tx.db
    .updateTable('hook_deliveries')
    .set({ next_attempt_at: tx.now })
    .where('id', '=', pending.id)
    .execute();
  const { payload, options } = makeDeliveryWork(hookId, pending.target);
  await enqueue(tx, deliverHooksWork, payload, options);
  await enqueueProbe(tx, hookId, tx.now + probeInterval);
};

/** Writes and ends the work in one transaction. */
const writeAndFinish = async (
  { store }: Platform,
  { finishIn }: WorkRun,
  write: (tx: Tx) => Promise<void>,
): Promise<void> =>
  await store.writeRelaxed(async (tx) => {
    await write(tx);
    await finishIn(tx);
  });

export const pausedHookHandlers = (platform: Platform): { [name: string]: WorkHandler } => ({
  [probeWork]: async ({ hook_id }, run) =>
    await writeAndFinish(platform, run, async (tx) => await probe(tx, Number(hook_id))),
  [resumeWork]: async ({ hook_id, after, now }, run) => {
    const group = { hook_id: Number(hook_id), after: String(after ?? ''), now: now === true };
    await writeAndFinish(platform, run, async (tx) => await resumeGroup(tx, group));
  },
});
