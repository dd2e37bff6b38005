/** Jobs that no runner can run as their file says: they fail in place of running without what they need. */
import type { Platform } from '../access/call.ts';
import type { Facts } from '../pipelines/job_facts.ts';
import { dropJob } from '../pipelines/job_states.ts';
import { lockJob } from '../pipelines/store.ts';
import { inTurn } from '../pipelines/turns.ts';
import type { Claimed } from './claim.ts';
import type { Depended } from './payload_dependencies.ts';

/** There is nobody here to fetch them from. */
const asksForSecrets = (secrets: unknown): boolean =>
  typeof secrets === 'object' && secrets !== null && Object.keys(secrets).length > 0;

/** Why it cannot be run, in the words of a job's failure; null: it can. */
export const whyUnrunnable = (
  { config: { secrets }, user }: Pick<Facts, 'config' | 'user'>,
  depended: readonly Depended[],
): string | null => {
  if (user?.state === 'blocked') return 'user_blocked';
  if (depended.some(({ isGone }) => isGone)) return 'missing_dependency_failure';
  return asksForSecrets(secrets) ? 'secrets_provider_not_found' : null;
};

/** Ends what was given to a runner that is not told of it. */
export const dropClaimed = async (
  { store }: Pick<Platform, 'store'>,
  { job, token_hash }: Claimed,
  reason: string,
): Promise<void> => {
  await inTurn(store, job.pipeline_id, async () => {
    await store.write(async (tx) => {
      const locked = await lockJob(tx, job.id);
      if (locked?.job.token_hash === token_hash) await dropJob(tx, job.id, reason);
    });
  });
};
