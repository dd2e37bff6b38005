/** What one process remembers of the jobs that runners speak of. None of it is needed: it saves questions and says more. */
import type { Platform } from '../access/call.ts';
import { oncePer } from '../once_per.ts';

export type Remembered = {
  id: number;
  /** Not to be read in its log; null: not looked up yet. */
  secrets: string[] | null;
  /** How often its log was asked for again. */
  refusals: number;
  /** Its log comes again from its start. */
  isRestarting: boolean;
  /** It is known that its log shows the values of variables. */
  isDebugged: boolean;
};

export type Memory = {
  /** By the hash of the job's token: kept past its end, so that its runner is told why. */
  jobs: Map<string, Remembered>;
  /** Ids of jobs that were heard since that was last written. */
  heard: Set<number>;
};

const mostJobs = 10_000;

const ofStore = oncePer((_store): Memory => ({ jobs: new Map(), heard: new Set() }));

export const memoryOf = ({ store }: Pick<Platform, 'store'>): Memory => ofStore(store);

export const remember = (
  platform: Pick<Platform, 'store'>,
  token_hash: string,
  id: number,
  secrets: string[] | null = null,
): Remembered => {
  const { jobs } = memoryOf(platform);
  const job = jobs.get(token_hash) ?? { id, secrets, refusals: 0, isRestarting: false, isDebugged: false };
  // The last heard stands last.
  jobs.delete(token_hash);
  jobs.set(token_hash, job);
  const [oldest] = jobs.keys();
  if (jobs.size > mostJobs && oldest !== undefined) jobs.delete(oldest);
  return job;
};
