/** Makes the pending deliveries of a hook due at once, after an edit ended its pause. */
import type { Platform } from '../../core/platform.ts';
import type { WorkHandler } from '../../platform/queue/enqueue.ts';
import { enqueueAll } from '../../platform/queue/enqueue.ts';
import { deliverHooksWork, makeDeliveryWork } from '../changes/observe.ts';
import { resumeWork } from '../hooks/topic.ts';

/** How many targets one transaction resumes. */
const maxTargets = 200;

/** Returns the last target that was resumed; null: there are no more. */
const resumeSome = async ({ store }: Platform, hookId: number, after: string): Promise<string | null> =>
  await store.write(async (tx) => {
    const rows = await tx.db
      .selectFrom('hook_deliveries')
      .select('target')
      .distinct()
      .where('hook_id', '=', hookId)
      .where('target', '>', after)
      .orderBy('target')
      .limit(maxTargets)
      .execute();
    const targets = rows.map(({ target }) => target);
    if (targets.length === 0) return null;
    await tx.db
      .updateTable('hook_deliveries')
      .set({ next_attempt_at: tx.now })
      .where('hook_id', '=', hookId)
      .where(tx.dialect.oneOf('target', targets))
      .where('next_attempt_at', '>', tx.now)
      .execute();
    const pieces = targets.map((target) => makeDeliveryWork(hookId, target));
    await enqueueAll(tx, deliverHooksWork, pieces);
    return targets.length < maxTargets ? null : (targets.at(-1) ?? null);
  });

export const resumeHandlers = (platform: Platform): { [name: string]: WorkHandler } => ({
  [resumeWork]: async ({ hook_id }) => {
    let after: string | null = '';
    while (after !== null) after = await resumeSome(platform, Number(hook_id), after);
  },
});
