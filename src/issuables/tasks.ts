/** Task lists in descriptions. */
import { int, object } from '../http/schema.ts';

export type Task = { text: string; done: boolean };

/** The item of a task list that a line is: `- [ ] text`, `1. [x] text`; null if it is none. */
export function taskOf(line: string): Task | null {
  // each part starts with what the part before cannot end in, so this cannot backtrack
  const parts = /^[\s>]*(?:[-+*]|\d{1,9}[.)])\s+\[([ xX])\]\s/.exec(line);
  const text = parts === null ? '' : line.slice(parts[0].length).trim();
  return text === '' ? null : { text, done: parts?.[1] !== ' ' };
}

export const taskCountsShape = object({ count: int, completed_count: int });

/** How many tasks a description has, and how many of them are done. */
export const taskCounts = (description: string | null): { count: number; completed_count: number } => {
  if (description === null || !description.includes('[')) return { count: 0, completed_count: 0 };
  const tasks = description.split('\n').flatMap((line) => taskOf(line) ?? []);
  return { count: tasks.length, completed_count: tasks.filter(({ done }) => done).length };
};
