/** Asks for jobs as long as a slot is free, and runs them. */
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from './client.ts';
import type { Choice } from './executors/choose.ts';
import { identityOf } from './executors/processes.ts';
import { endUser } from './executors/users.ts';
import { type Slot, takeSlot } from './folders.ts';
import { runJob } from './job.ts';
import type { Job } from './protocol.ts';
import { dropNote, markOf, noteJob } from './recover.ts';
import type { Pace } from './reporter.ts';

export type PoolParts = {
  client: Client;
  choice: Choice;
  url: string;
  version: string;
  systemId: string;
  /** Of all that this runner keeps. */
  root: string;
  /** Jobs at once. */
  concurrency: number;
  logLimit: number;
  idleLimit: number;
  /** Bytes of a job's files; null: as many as the disk takes. */
  diskLimit: number | null;
  pace: Pace;
  /** Jobs get users of their own. */
  drops: boolean;
  log: (message: string, details?: object) => void;
};

export type Pool = {
  /** Takes no more jobs; resolves when those that run have ended. */
  drain: () => Promise<void>;
  /** Ends those that run. */
  abort: () => void;
};

/** Milliseconds. */
const pauses = { empty: 1_000, changed: 50, refused: 10_000, first: 100, most: 2_000 };

type Held = Map<number, Promise<void>>;

/** Begins a job in a slot that is free. */
const makeStarter = (parts: PoolParts, held: Held, ending: AbortSignal) => {
  const { root, log } = parts;
  const identity = identityOf(process.pid) ?? `${process.pid}:0`;
  const perform = async (job: Job, slot: Slot): Promise<void> => {
    const shared = { ...parts, job, slot, caches: join(root, 'cache'), ending };
    try {
      noteJob(slot.folder, job);
      // Those of a job that a runner left when it was killed.
      if (slot.user !== null) await endUser(slot.user);
      const { outcome, heard } = await runJob({ ...shared, mark: markOf(root, identity, job.id) });
      log('a job ended', { job: job.id, ...outcome, heard });
    } catch (error) {
      log('a job could not be run', { job: job.id, error: String(error) });
    } finally {
      dropNote(slot.folder);
      slot.release();
      held.delete(slot.number);
    }
  };
  return (job: Job): void => {
    const slot = takeSlot(root, new Set(held.keys()), parts.drops);
    log('a job begins', { job: job.id, slot: slot.number });
    held.set(slot.number, perform(job, slot));
  };
};

/** One question; answers how many milliseconds the next one has to wait. */
const makeAsker = ({ client, log }: PoolParts, begin: (job: Job) => void, polling: AbortSignal) => {
  let failures = 0;
  const hear = async (): Promise<number> => {
    const began = performance.now();
    const { job, status, quick } = await client.requestJob(polling);
    failures = 0;
    if (job !== null) {
      begin(job);
      return 0;
    }
    if (status === 401 || status === 403) {
      log('the coordinator does not know this runner', { status });
      return pauses.refused;
    }
    if (quick) return pauses.changed;
    return status === 204 && performance.now() - began > pauses.empty ? 0 : pauses.empty;
  };
  return async (): Promise<number> => {
    try {
      return await hear();
    } catch (error) {
      failures += 1;
      if (failures === 1 && !polling.aborted)
        log('the coordinator does not answer', { error: String(error) });
      return Math.min(pauses.most, pauses.first * 2 ** Math.min(failures, 10));
    }
  };
};

export const startPool = (parts: PoolParts): Pool => {
  const polling = new AbortController();
  const ending = new AbortController();
  const held: Held = new Map();
  const stopped = once(polling.signal, 'abort');
  const ask = makeAsker(parts, makeStarter(parts, held, ending.signal), polling.signal);
  const run = async (): Promise<void> => {
    // oxlint-disable no-await-in-loop -- one question after another
    while (!polling.signal.aborted) {
      if (held.size >= parts.concurrency) {
        await Promise.race([...held.values(), stopped]);
        continue;
      }
      const pause = await ask();
      if (pause > 0) await wait(pause, undefined, { signal: polling.signal }).catch(() => undefined);
    }
    // oxlint-enable no-await-in-loop
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
