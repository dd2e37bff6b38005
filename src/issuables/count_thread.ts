/** Counts in a thread of its own, on its own handle: see `apart/threads.ts`. */
import { DatabaseSync } from 'node:sqlite';
import { serveTasks } from '../apart/serve_tasks.ts';
import type { CountTask } from './count.ts';

const databases = new Map<string, DatabaseSync>();

const open = (file: string): DatabaseSync => {
  const database = databases.get(file) ?? new DatabaseSync(file, { readOnly: true });
  databases.set(file, database);
  return database;
};

serveTasks(async (task) => {
  const { file, text, parameters } = task as CountTask;
  const began = performance.now();
  const row = open(file)
    .prepare(text)
    .get(...parameters);
  return { total: row?.['total'], milliseconds: performance.now() - began };
});
