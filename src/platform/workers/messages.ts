/** Messages between a thread and its parent. Each carries plain values that can be cloned. */

/** Message to the thread: a task, or the answer to a question. */
export type ToThread = { kind: 'task'; task: unknown } | { kind: 'answer'; id: number; answer: unknown };

/** Message from the thread: ready, a question, the result of a task, or its error. */
export type FromThread =
  | { kind: 'ready' }
  | { kind: 'question'; id: number; question: unknown }
  | { kind: 'done'; result: unknown }
  | { kind: 'failed'; text: string };
