/** Sends a job's log while it grows. The answers say whether the job may continue. */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { JobClient, Verdict } from './client.ts';
import type { Outcome } from './protocol.ts';
import type { JobLog } from '../log/job_log.ts';

/** Why a job must stop; `gone`: the coordinator has not answered for a long time. */
export type Stop = 'cancel' | 'abort' | 'gone';

export type Reporter = {
  /** Notifies that the log has grown. */
  grown: () => void;
  /** Sends the rest of the log, then the outcome. Returns false if it could not be delivered. */
  finish: (outcome: Outcome) => Promise<boolean>;
};

export type Pace = {
  /** Default milliseconds between two parts of a log. */
  part: number;
  /** Milliseconds of silence before a keep-alive is sent. */
  keepAlive: number;
  /** Milliseconds for which an unreachable coordinator is retried. */
  timeout: number;
};

/** The interval with which coordinators say "no hurry"; a local one is polled faster. */
const idleInterval = 3;
const partSize = 2 ** 20;
const maxPauseMilliseconds = 2_000;

type Parts = { client: JobClient; trace: JobLog; pace: Pace; onStop: (stop: Stop) => void };

/** The part of the log that the coordinator has, and its last answer. */
const makeDelivery = ({ client, trace, pace, onStop }: Parts) => {
  const over = new AbortController();
  const state = {
    offset: 0,
    /** Nothing more is sent for this job. */
    isDead: false,
    lastSent: performance.now(),
    interval: pace.part,
  };
  const die = (stop: Stop): void => {
    if (state.isDead) return;
    state.isDead = true;
    onStop(stop);
  };
  const obey = ({ status, job, interval }: Verdict): void => {
    state.lastSent = performance.now();
    if (interval !== null) state.interval = interval > idleInterval ? interval * 1000 : pace.part;
    if (job === 'canceling') return onStop('cancel');
    if (status === 403 || status === 404 || job === 'canceled' || job === 'failed') die('abort');
  };
  const sendPart = async (): Promise<void> => {
    const bytes = trace.read(state.offset, partSize);
    const word = await client.appendTrace(state.offset, bytes, over.signal);
    obey(word);
    if (word.status === 202) state.offset += bytes.length;
    else if (word.status === 416 && word.size !== null) state.offset = Math.min(word.size, trace.size());
    else if (!state.isDead) throw new Error(`the coordinator refused the log: ${word.status}`);
  };
  const sayAlive = async (): Promise<void> => {
    const word = await client.keepAlive(over.signal);
    if (word.status >= 500 || word.status === 429) throw new Error('not now');
    obey(word);
  };
  return {
    state,
    die,
    isWhole: () => state.offset >= trace.size(),
    sendPart,
    sayAlive,
    /** The coordinator's log differs: send it again from the start. */
    restart: () => void (state.offset = 0),
  };
};

type Delivery = ReturnType<typeof makeDelivery>;

/** Sends new bytes. After failures it backs off, and finally gives up. */
const makeAttempts = ({ state, die, isWhole, sendPart, sayAlive }: Delivery, pace: Pace) => {
  let lastHeard = performance.now();
  let pause = 0;
  return {
    /** Milliseconds until the next part. */
    pause: () => pause,
    attempt: async (isEnding: boolean): Promise<void> => {
      try {
        if (!isWhole()) await sendPart();
        else if (!isEnding && performance.now() - state.lastSent >= pace.keepAlive) await sayAlive();
        lastHeard = performance.now();
        pause = 0;
      } catch {
        pause = Math.min(maxPauseMilliseconds, Math.max(100, pause * 2));
        if (performance.now() - lastHeard > pace.timeout) die('gone');
      }
    },
  };
};

export const startReporter = (parts: Parts): Reporter => {
  const { client, trace, pace } = parts;
  const delivery = makeDelivery(parts);
  const { state } = delivery;
  const { pause, attempt } = makeAttempts(delivery, pace);
  const ending = new AbortController();
  const ended = once(ending.signal, 'abort');
  let grown = Promise.withResolvers<void>();

  /** Waits until the log has grown or a keep-alive is due. */
  const untilDue = async (): Promise<void> => {
    if (pause() > 0) return await wait(pause());
    if (ending.signal.aborted) return;
    const sleep = new AbortController();
    const timer = wait(pace.keepAlive, undefined, { signal: sleep.signal }).catch(() => undefined);
    await Promise.race([grown.promise, timer]);
    sleep.abort();
  };
  const isDone = (): boolean => state.isDead || (ending.signal.aborted && delivery.isWhole());
  const run = async (): Promise<void> => {
    let sentAt = -Infinity;
    while (!isDone()) {
      await untilDue();
      grown = Promise.withResolvers();
      // The first line is sent immediately, later lines are batched.
      const early = ending.signal.aborted ? 0 : sentAt + state.interval - performance.now();
      if (early > 0) await Promise.race([wait(early), ended]);
      sentAt = performance.now();
      await attempt(ending.signal.aborted);
      if (!delivery.isWhole()) grown.resolve();
    }
  };
  const tellEnd = async (outcome: Outcome): Promise<boolean> => {
    const checksum = { crc: trace.crc(), size: trace.size() };
    const first = await client.finish(outcome, checksum, pace.timeout);
    if (first.status === 412) {
      delivery.restart();
      await run();
    }
    const isRewound = first.status === 412 || first.status === 202;
    const last = isRewound && !state.isDead ? await client.finish(outcome, checksum, pace.timeout) : first;
    return last.status === 200;
  };
  const running = run();
  return {
    grown: () => grown.resolve(),
    finish: async (outcome) => {
      ending.abort();
      grown.resolve();
      await running;
      return !state.isDead && (await tellEnd(outcome).catch(() => false));
    },
  };
};
