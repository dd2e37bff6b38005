/** The other side of `threads.ts`: what a thread's program runs. One task at a time. */
import { parentPort } from 'node:worker_threads';
import type { FromThread, ToThread } from './messages.ts';

/** Asks the thread that gave the task. */
export type Ask = (question: unknown) => Promise<unknown>;

/** @param work answers plain values */
export const serveTasks = (work: (task: unknown, ask: Ask) => Promise<unknown>): void => {
  const port = parentPort;
  if (port === null) throw new Error('this program runs in a thread');
  const tell = (message: FromThread): void => port.postMessage(message);
  const waiting = new Map<number, (answer: unknown) => void>();
  let asked = 0;
  const ask: Ask = async (question) => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const id = ++asked;
    waiting.set(id, resolve);
    tell({ kind: 'question', id, question });
    return await promise;
  };
  const run = async (task: unknown): Promise<void> => {
    try {
      tell({ kind: 'done', result: await work(task, ask) });
    } catch (error) {
      tell({ kind: 'failed', text: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  };
  port.on('message', (message: ToThread) => {
    if (message.kind === 'task') {
      void run(message.task);
      return;
    }
    waiting.get(message.id)?.(message.answer);
    waiting.delete(message.id);
  });
  tell({ kind: 'ready' });
};
