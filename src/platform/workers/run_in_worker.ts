/**
 * Runs work on untrusted input in worker threads, with limits of time and memory; a thread that exceeds them is
 * terminated. A thread starts with the first task and ends when idle. Tasks run one after another, round-robin by
 * owner, so that many tasks of one owner delay only that owner.
 */
import { Worker } from 'node:worker_threads';
import { unavailable } from '../errors.ts';
import type { FromThread, ToThread } from './messages.ts';
import type { Program } from './program_path.ts';
import { type FairQueue, makeFairQueue } from './fair_queue.ts';

/** The task exceeded its limit of time or memory. */
export class WorkerLimitError extends Error {}

export type Task = {
  /** Owner of the task; only a few tasks of each owner may wait. */
  owner: string;
  task: unknown;
  answer?: (question: unknown) => Promise<unknown>;
};

type Waiting = Task & { resolve: (result: unknown) => void; reject: (error: Error) => void };

/** Milliseconds without a task after which a thread ends, so that an idle service has none. */
const idleTimeout = 15_000;

type Thread = {
  worker: Worker;
  /** The running task; null: none. */
  current: Waiting | null;
  /** Timeout of the running task, or of the idle thread. */
  timer: NodeJS.Timeout | undefined;
  /** Milliseconds that the task may still take. */
  left: number;
  since: number;
  /** Unanswered questions of the task; the clock stops while there are any. */
  unanswered: number;
  /** The program is loaded. Loading does not count towards the task's time. */
  isReady: boolean;
};

type ProgramThread = { program: Program; turns: FairQueue<Waiting>; thread: Thread | null };

const programThreads = new Map<string, ProgramThread>();

const endThread = (crew: ProgramThread, thread: Thread): void => {
  clearTimeout(thread.timer);
  if (crew.thread === thread) crew.thread = null;
  void thread.worker.terminate();
};

const fail = (crew: ProgramThread, thread: Thread, error: Error): void => {
  const { current } = thread;
  thread.current = null;
  endThread(crew, thread);
  current?.reject(error);
  startNextTask(crew);
};

const runClock = (crew: ProgramThread, thread: Thread): void => {
  thread.since = performance.now();
  thread.timer = setTimeout(() => fail(crew, thread, new WorkerLimitError('it takes too long')), thread.left);
};

const stopClock = (thread: Thread): void => {
  clearTimeout(thread.timer);
  thread.left = Math.max(1, thread.left - (performance.now() - thread.since));
};

const postToThread = ({ worker }: Thread, message: ToThread): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  worker.postMessage(message);
};

const answer = async (crew: ProgramThread, thread: Thread, id: number, question: unknown): Promise<void> => {
  const { current } = thread;
  if (thread.unanswered === 0) stopClock(thread);
  thread.unanswered += 1;
  try {
    const answered = await current?.answer?.(question);
    if (thread.current !== current) return;
    postToThread(thread, { kind: 'answer', id, answer: answered });
    thread.unanswered -= 1;
    if (thread.unanswered === 0) runClock(crew, thread);
  } catch (error) {
    if (thread.current === current) fail(crew, thread, error as Error);
  }
};

type End = Extract<FromThread, { kind: 'done' | 'failed' }>;

const settle = (crew: ProgramThread, thread: Thread, message: End): void => {
  const { current } = thread;
  stopClock(thread);
  thread.current = null;
  if (message.kind === 'done') current?.resolve(message.result);
  else current?.reject(new Error(message.text));
  startNextTask(crew);
};

const startThread = (crew: ProgramThread): Thread => {
  const { path, memory } = crew.program;
  const worker = new Worker(path, {
    resourceLimits: { maxOldGenerationSizeMb: memory, maxYoungGenerationSizeMb: 16 },
    env: {},
    // Discard what the thread prints.
    stdout: true,
    stderr: true,
  });
  const thread: Thread = {
    worker,
    current: null,
    timer: undefined,
    left: 0,
    since: 0,
    unanswered: 0,
    isReady: false,
  };
  worker.on('message', (message: FromThread) => {
    if (message.kind === 'ready') {
      thread.isReady = true;
      if (thread.current !== null) runClock(crew, thread);
      return;
    }
    if (thread.current === null) return;
    if (message.kind === 'question') void answer(crew, thread, message.id, message.question);
    else settle(crew, thread, message);
  });
  worker.on('error', (error: Error & { code?: string }) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY')
      fail(crew, thread, new WorkerLimitError('it takes too much memory'));
    // The system has no more threads, descriptors or memory at the moment.
    else fail(crew, thread, error.code === 'ERR_WORKER_INIT_FAILED' ? unavailable() : error);
  });
  worker.on('exit', () => {
    if (crew.thread === thread) fail(crew, thread, new Error('a thread ended'));
  });
  return thread;
};

const scheduleThreadEnd = (crew: ProgramThread): void => {
  const { thread } = crew;
  if (thread === null) return;
  clearTimeout(thread.timer);
  // An idle thread must not keep the process alive.
  thread.worker.unref();
  thread.timer = setTimeout(() => endThread(crew, thread), idleTimeout).unref();
};

/** Gives the thread its next task; without one, it ends after a while. */
const startNextTask = (crew: ProgramThread): void => {
  if (crew.thread !== null && crew.thread.current !== null) return;
  const next = crew.turns.next();
  if (next === null) {
    scheduleThreadEnd(crew);
    return;
  }
  const thread = (crew.thread ??= startThread(crew));
  clearTimeout(thread.timer);
  thread.current = next;
  thread.left = crew.program.maxMilliseconds;
  thread.unanswered = 0;
  thread.worker.ref();
  postToThread(thread, { kind: 'task', task: next.task });
  if (thread.isReady) runClock(crew, thread);
};

/**
 * Runs a task in the worker thread of a program. Task and result are cloned.
 * @throws WorkerLimitError past the limits of the program; Failure 503 if too many tasks of the owner wait, or no thread
 *   can start; errors of `answer`
 */
export const runInWorker = async (program: Program, task: Task): Promise<unknown> => {
  const crew = programThreads.get(program.path) ?? { program, turns: makeFairQueue<Waiting>(), thread: null };
  programThreads.set(program.path, crew);
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  crew.turns.add(task.owner, { ...task, resolve, reject });
  startNextTask(crew);
  return await promise;
};
