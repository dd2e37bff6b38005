/** What the two sides of a thread say to each other: each message carries plain values that can be copied. */

/** To the thread: something to do, or the answer to what it asked. */
export type ToThread = { kind: 'task'; task: unknown } | { kind: 'answer'; id: number; answer: unknown };

/** From the thread: that it is there, a question, what came of the task, or why nothing did. */
export type FromThread =
  | { kind: 'ready' }
  | { kind: 'question'; id: number; question: unknown }
  | { kind: 'done'; result: unknown }
  | { kind: 'failed'; text: string };
