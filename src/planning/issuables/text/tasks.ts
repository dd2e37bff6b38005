/** Parses and counts the task lists of descriptions. */
import { int, object } from '../../../platform/http/schema.ts';

export type Task = { text: string; done: boolean };

/** Parses a line as an item of a task list: `- [ ] text`, `1. [x] text`; null if it is not one. */
export const parseTask = (line: string): Task | null => {
  // each part starts with what the part before cannot end in, so this cannot backtrack
  const parts = /^[\s>]*(?:[-+*]|\d{1,9}[.)])\s+\[([ xX])\]\s/.exec(line);
  const text = parts === null ? '' : line.slice(parts[0].length).trim();
  return text === '' ? null : { text, done: parts?.[1] !== ' ' };
};

export const taskCountsShape = object({ count: int, completed_count: int });

/** Counts the tasks of a description, and the completed tasks. */
export const taskCounts = (description: string | null): { count: number; completed_count: number } => {
  if (description === null || !description.includes('[')) return { count: 0, completed_count: 0 };
  const tasks = description.split('\n').flatMap((line) => parseTask(line) ?? []);
  return { count: tasks.length, completed_count: tasks.filter(({ done }) => done).length };
};

/** The box of a task, behind the marks of lists and quotes: what the renderer shows as a checkbox. */
const box = /^((?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*)\[([ xX])\](?=\s)/;

/**
 * Checks or unchecks the task in a line of a text.
 * @param line counted from 0
 * @returns null if the line is no task
 */
export const toggleTask = (text: string, line: number): string | null => {
  // Every second part is a line, the others are their ends.
  const parts = text.split(/(\r\n|\r|\n)/);
  const old = parts[2 * line];
  if (old === undefined || !box.test(old)) return null;
  parts[2 * line] = old.replace(
    box,
    (_whole, marks: string, tick: string) => `${marks}[${tick === ' ' ? 'x' : ' '}]`,
  );
  return parts.join('');
};
