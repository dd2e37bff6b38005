/** Runs in a worker thread: serves the tasks of `run_in_worker.ts`, one at a time. */
import { parentPort } from 'node:worker_threads';
import type { FromThread, ToThread } from './messages.ts';

/** Asks the parent thread a question about the current task. */
export type AskParent = (question: unknown) => Promise<unknown>;

/**
 * Serves tasks.
 * @param work returns a value that can be cloned
 */
export const serveTasks = (work: (task: unknown, ask: AskParent) => Promise<unknown>): void => {
  const port = parentPort;
  if (port === null) throw new Error('this program runs in a thread');
  const post = (message: FromThread): void => port.postMessage(message);
  const waiting = new Map<number, (answer: unknown) => void>();
  let lastQuestionId = 0;
  const ask: AskParent = async (question) => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const id = ++lastQuestionId;
    waiting.set(id, resolve);
    post({ kind: 'question', id, question });
    return await promise;
  };
  const run = async (task: unknown): Promise<void> => {
    try {
      post({ kind: 'done', result: await work(task, ask) });
    } catch (error) {
      post({ kind: 'failed', text: error instanceof Error ? (error.stack ?? error.message) : String(error) });
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
  post({ kind: 'ready' });
};
