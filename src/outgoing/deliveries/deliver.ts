/**
 * Sends the pending deliveries of one hook and one target, oldest first. Runs as background work with its own turn, so
 * that order is kept; a failed delivery holds back later deliveries of its target until it succeeds. Work of a paused
 * hook ends immediately: `paused_hooks.ts` enqueues it again. A process that dies between sending and recording sends
 * again, with the same id.
 */
import type { Platform } from '../../core/platform.ts';
import { type WorkHandler, type WorkRun, enqueue } from '../../platform/queue/enqueue.ts';
import { deliverHooksWork, makeDeliveryWork } from '../changes/observe.ts';
import { isBackingOff } from '../hooks/backoff.ts';
import { attemptDelivery } from './attempt.ts';
import { buildMessage } from './message.ts';
import { type Pending, type Queue, loadOldest } from './pending.ts';
import { recordAttempt } from './record.ts';

/** Deliveries of one run; then other work of the lane runs. */
const maxPerRun = 50;

type Run = { platform: Platform; queue: Queue; run: WorkRun };

/**
 * Ends the work and enqueues it for a later time. A power cut loses both changes; the work then restarts when its lease
 * expires.
 */
const runAgain = async ({ platform, queue, run }: Run, run_at: number): Promise<void> => {
  const { payload, options } = makeDeliveryWork(queue.hook_id, queue.target);
  await platform.store.writeRelaxed(async (tx) => {
    await enqueue(tx, deliverHooksWork, payload, { ...options, run_at });
    await run.finishIn(tx);
  });
};

/** Only a repeated attempt waits: the first one is due at once, whatever the clock was when it was written. */
const mustWait = ({ attempts, next_attempt_at }: Pending, now: number): boolean =>
  attempts > 0 && isBackingOff(next_attempt_at, now, attempts);

const deliverPending = async (delivery: Run): Promise<void> => {
  const { platform, queue, run } = delivery;
  for (let sent = 0; sent < maxPerRun; sent += 1) {
    const pending = await loadOldest(platform, queue);
    if (pending === null) return;
    const { hook, hook_event_id, next_attempt_at } = pending;
    if (mustWait(pending, platform.clock.now())) return await runAgain(delivery, next_attempt_at);
    const message = await buildMessage(platform, hook, hook_event_id);
    if (message === null) continue;
    const attempt = await attemptDelivery(platform, hook, message);
    const isDone = await recordAttempt(platform, { pending, changedAt: message.created_at, attempt, run });
    if (isDone) return;
  }
  await runAgain(delivery, platform.clock.now());
};

export const deliverHandlers = (platform: Platform): { [name: string]: WorkHandler } => ({
  [deliverHooksWork]: async ({ hook_id, target }, run) => {
    const queue = { hook_id: Number(hook_id), target: String(target) };
    await deliverPending({ platform, queue, run });
  },
});
