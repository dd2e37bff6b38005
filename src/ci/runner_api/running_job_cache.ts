/** Caches facts about running jobs in one process. Losing it is harmless: it saves queries and improves messages. */
import type { Platform } from '../../core/platform.ts';
import { memoizePerStore } from '../../platform/memoize_per_store.ts';

export type CachedJob = {
  id: number;
  /** Values to mask in its trace; null: not loaded yet. */
  secrets: string[] | null;
  /** Number of times its trace was requested again. */
  refusals: number;
  /** The runner was asked to resend the trace from its start. */
  isRestarting: boolean;
  /** Its trace is marked as showing the values of variables. */
  isDebugged: boolean;
};

export type JobCache = {
  /** Keyed by the hash of the job's token. An entry outlives its job, so that the runner learns how the job ended. */
  jobs: Map<string, CachedJob>;
  /** Ids of jobs with requests since `seen_at` was last written. */
  heard: Set<number>;
};

const maxJobs = 10_000;

const ofStore = memoizePerStore((_store): JobCache => ({ jobs: new Map(), heard: new Set() }));

export const getJobCache = ({ store }: Pick<Platform, 'store'>): JobCache => ofStore(store);

export const cacheJob = (
  platform: Pick<Platform, 'store'>,
  token_hash: string,
  id: number,
  secrets: string[] | null = null,
): CachedJob => {
  const { jobs } = getJobCache(platform);
  const job = jobs.get(token_hash) ?? { id, secrets, refusals: 0, isRestarting: false, isDebugged: false };
  // Reinsert, which makes it the newest entry.
  jobs.delete(token_hash);
  jobs.set(token_hash, job);
  const [oldest] = jobs.keys();
  if (jobs.size > maxJobs && oldest !== undefined) jobs.delete(oldest);
  return job;
};
