/** Fails jobs that no runner can run as configured, instead of running them incompletely. */
import type { Platform } from '../../../core/platform.ts';
import type { Facts } from '../../pipelines/predefined_variables/job_facts.ts';
import { failJob } from '../../pipelines/processing/job_transitions.ts';
import { lockJob } from '../../pipelines/pipeline_rows.ts';
import { withPipelineMutex } from '../../pipelines/pipeline_mutex.ts';
import type { Claimed } from './claim_jobs.ts';
import type { JobDependency } from '../payload/dependencies.ts';

/** External secret stores are not supported. */
const needsSecrets = (secrets: unknown): boolean =>
  typeof secrets === 'object' && secrets !== null && Object.keys(secrets).length > 0;

/** Returns the failure reason of a job that cannot run; null if it can. */
export const getUnrunnableReason = (
  { config: { secrets }, user }: Pick<Facts, 'config' | 'user'>,
  depended: readonly JobDependency[],
): string | null => {
  if (user?.state === 'blocked') return 'user_blocked';
  if (depended.some(({ isGone }) => isGone)) return 'missing_dependency_failure';
  return needsSecrets(secrets) ? 'secrets_provider_not_found' : null;
};

/** Fails a claimed job that is not handed to its runner. */
export const failClaimed = async (
  { store }: Pick<Platform, 'store'>,
  { job, token_hash }: Claimed,
  reason: string,
): Promise<void> => {
  await withPipelineMutex(store, job.pipeline_id, async () => {
    await store.write(async (tx) => {
      const locked = await lockJob(tx, job.id);
      if (locked?.job.token_hash === token_hash) await failJob(tx, job.id, reason);
    });
  });
};
