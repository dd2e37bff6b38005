/** Polls for jobs while a slot is free, and runs them. */
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from './coordinator/client.ts';
import type { Choice } from './executors/choose_executor.ts';
import { getIdentity } from './executors/processes.ts';
import { endUser } from './executors/job_users.ts';
import { type Slot, takeSlot } from './files/slot_folders.ts';
import { runJob } from './job/run_job.ts';
import type { Job } from './coordinator/protocol.ts';
import { dropNote, buildMark, noteJob } from './recover_jobs.ts';
import type { Pace } from './coordinator/report_log.ts';

export type PoolParts = {
  client: Client;
  choice: Choice;
  url: string;
  version: string;
  systemId: string;
  /** The runner's folder: slots, caches and logs. */
  root: string;
  /** Maximum jobs that run at the same time. */
  concurrency: number;
  logLimit: number;
  idleLimit: number;
  /** Disk space of a job's files in bytes; null: no limit. */
  diskLimit: number | null;
  pace: Pace;
  /** Each slot runs its jobs as a separate user. */
  drops: boolean;
  log: (message: string, details?: object) => void;
};

export type Pool = {
  /** Stops polling; resolves when all running jobs have ended. */
  drain: () => Promise<void>;
  /** Stops polling and all running jobs. */
  abort: () => void;
};

/** Milliseconds until the next poll, by the outcome of the last one. */
const pauses = { empty: 1_000, changed: 50, refused: 10_000, first: 100, max: 2_000 };

type RunningJobs = Map<number, Promise<void>>;

/** Returns a function that starts a job in a free slot. */
const makeStarter = (parts: PoolParts, held: RunningJobs, ending: AbortSignal) => {
  const { root, log } = parts;
  const identity = getIdentity(process.pid) ?? `${process.pid}:0`;
  const runPreparedJob = async (job: Job, slot: Slot): Promise<void> => {
    const shared = { ...parts, job, slot, caches: join(root, 'cache'), ending };
    try {
      noteJob(slot.folder, job);
      // A killed runner may have left processes of its last job in this slot.
      if (slot.user !== null) await endUser(slot.user);
      const { outcome, heard } = await runJob({ ...shared, mark: buildMark(root, identity, job.id) });
      log('job ended', { job: job.id, ...outcome, heard });
    } catch (error) {
      log('could not run job', { job: job.id, error: String(error) });
    } finally {
      dropNote(slot.folder);
      slot.release();
      held.delete(slot.number);
    }
  };
  return (job: Job): void => {
    const slot = takeSlot(root, new Set(held.keys()), parts.drops);
    log('job started', { job: job.id, slot: slot.number });
    held.set(slot.number, runPreparedJob(job, slot));
  };
};

/** Returns a function that polls once. Its result is the delay before the next poll in milliseconds. */
const makePoller = ({ client, log }: PoolParts, begin: (job: Job) => void, polling: AbortSignal) => {
  let failures = 0;
  const requestJob = async (): Promise<number> => {
    const began = performance.now();
    const { job, status, quick } = await client.requestJob(polling);
    failures = 0;
    if (job !== null) {
      begin(job);
      return 0;
    }
    if (status === 401 || status === 403) {
      log('the coordinator rejected the token of this runner', { status });
      return pauses.refused;
    }
    if (quick) return pauses.changed;
    return status === 204 && performance.now() - began > pauses.empty ? 0 : pauses.empty;
  };
  return async (): Promise<number> => {
    try {
      return await requestJob();
    } catch (error) {
      failures += 1;
      if (failures === 1 && !polling.aborted)
        log('the coordinator does not answer', { error: String(error) });
      return Math.min(pauses.max, pauses.first * 2 ** Math.min(failures, 10));
    }
  };
};

/** Starts polling for jobs. An unreachable coordinator is retried with growing delays. */
export const startPool = (parts: PoolParts): Pool => {
  const polling = new AbortController();
  const ending = new AbortController();
  const held: RunningJobs = new Map();
  const stopped = once(polling.signal, 'abort');
  const poll = makePoller(parts, makeStarter(parts, held, ending.signal), polling.signal);
  const run = async (): Promise<void> => {
    while (!polling.signal.aborted) {
      if (held.size >= parts.concurrency) {
        await Promise.race([...held.values(), stopped]);
        continue;
      }
      const pause = await poll();
      if (pause > 0) await wait(pause, undefined, { signal: polling.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    drain: async () => {
      polling.abort();
      await running;
      await Promise.all(held.values());
    },
    abort: () => {
      polling.abort();
      ending.abort('abort');
    },
  };
};
