/**
 * Work on what strangers wrote, apart from the thread that answers everybody: it may take its time and its memory, and
 * is ended where it takes too much of them. A thread starts with the first task and ends when none has come for a
 * while. Tasks are done one after another, of each owner in turn, so that who brings many holds up himself alone.
 */
import { Worker } from 'node:worker_threads';
import type { FromThread, ToThread } from './messages.ts';
import type { Program } from './program.ts';
import { type Turns, makeTurns } from './turns.ts';

/** It took longer, or more memory, than it may. */
export class TooMuch extends Error {}

export type Task = {
  /** Who brings it: of one, no more than a few wait. */
  owner: string;
  task: unknown;
  answer?: (question: unknown) => Promise<unknown>;
};

type Waiting = Task & { resolve: (result: unknown) => void; reject: (error: Error) => void };

/** Milliseconds without a task after which a thread ends: at rest there is none. */
const rest = 15_000;

type Thread = {
  worker: Worker;
  /** null: none is being done. */
  current: Waiting | null;
  /** Of what is being done; of a thread at rest, until it ends. */
  timer: NodeJS.Timeout | undefined;
  /** Milliseconds that are left to the task. */
  left: number;
  since: number;
  /** Questions of the task that are not answered yet: it waits. */
  asked: number;
  /** Its program is loaded: what that takes is not the task's. */
  isReady: boolean;
};

type Crew = { program: Program; turns: Turns<Waiting>; thread: Thread | null };

const crews = new Map<string, Crew>();

const endThread = (crew: Crew, thread: Thread): void => {
  clearTimeout(thread.timer);
  if (crew.thread === thread) crew.thread = null;
  void thread.worker.terminate();
};

const fail = (crew: Crew, thread: Thread, error: Error): void => {
  const { current } = thread;
  thread.current = null;
  endThread(crew, thread);
  current?.reject(error);
  goOn(crew);
};

const runClock = (crew: Crew, thread: Thread): void => {
  thread.since = performance.now();
  thread.timer = setTimeout(() => fail(crew, thread, new TooMuch('it takes too long')), thread.left);
};

const stopClock = (thread: Thread): void => {
  clearTimeout(thread.timer);
  thread.left = Math.max(1, thread.left - (performance.now() - thread.since));
};

const tell = ({ worker }: Thread, message: ToThread): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  worker.postMessage(message);
};

const answer = async (crew: Crew, thread: Thread, id: number, question: unknown): Promise<void> => {
  const { current } = thread;
  if (thread.asked === 0) stopClock(thread);
  thread.asked += 1;
  try {
    const answered = await current?.answer?.(question);
    if (thread.current !== current) return;
    tell(thread, { kind: 'answer', id, answer: answered });
    thread.asked -= 1;
    if (thread.asked === 0) runClock(crew, thread);
  } catch (error) {
    if (thread.current === current) fail(crew, thread, error as Error);
  }
};

type End = Extract<FromThread, { kind: 'done' | 'failed' }>;

const settle = (crew: Crew, thread: Thread, message: End): void => {
  const { current } = thread;
  stopClock(thread);
  thread.current = null;
  if (message.kind === 'done') current?.resolve(message.result);
  else current?.reject(new Error(message.text));
  goOn(crew);
};

const startThread = (crew: Crew): Thread => {
  const { path, memory } = crew.program;
  const worker = new Worker(path, {
    resourceLimits: { maxOldGenerationSizeMb: memory, maxYoungGenerationSizeMb: 16 },
    env: {},
    // What it prints is read by nobody.
    stdout: true,
    stderr: true,
  });
  const thread: Thread = {
    worker,
    current: null,
    timer: undefined,
    left: 0,
    since: 0,
    asked: 0,
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
    const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    fail(crew, thread, isMemory ? new TooMuch('it takes too much memory') : error);
  });
  worker.on('exit', () => {
    if (crew.thread === thread) fail(crew, thread, new Error('a thread ended'));
  });
  return thread;
};

const letRest = (crew: Crew): void => {
  const { thread } = crew;
  if (thread === null) return;
  clearTimeout(thread.timer);
  // Nobody who ends waits for it.
  thread.worker.unref();
  thread.timer = setTimeout(() => endThread(crew, thread), rest).unref();
};

/** Gives the thread its next task; without one, it ends after a while. */
const goOn = (crew: Crew): void => {
  if (crew.thread !== null && crew.thread.current !== null) return;
  const next = crew.turns.next();
  if (next === null) {
    letRest(crew);
    return;
  }
  const thread = (crew.thread ??= startThread(crew));
  clearTimeout(thread.timer);
  thread.current = next;
  thread.left = crew.program.longest;
  thread.asked = 0;
  thread.worker.ref();
  tell(thread, { kind: 'task', task: next.task });
  if (thread.isReady) runClock(crew, thread);
};

/**
 * What the program makes of the task, which is copied, as its result is.
 * @throws TooMuch past the limits of the program; Failure 503 where too many of the same owner wait; what `answer` threw
 */
export const runApart = async (program: Program, task: Task): Promise<unknown> => {
  const crew = crews.get(program.path) ?? { program, turns: makeTurns<Waiting>(), thread: null };
  crews.set(program.path, crew);
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  crew.turns.add(task.owner, { ...task, resolve, reject });
  goOn(crew);
  return await promise;
};
