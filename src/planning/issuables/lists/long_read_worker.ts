/** Worker thread that reads with its own database handle: see `platform/workers/run_in_worker.ts`. */
import { DatabaseSync } from 'node:sqlite';
import { serveTasks } from '../../../platform/workers/serve_tasks.ts';
import type { ReadTask } from './run_long_read.ts';

const databases = new Map<string, DatabaseSync>();

const open = (file: string): DatabaseSync => {
  const database = databases.get(file) ?? new DatabaseSync(file, { readOnly: true });
  databases.set(file, database);
  return database;
};

serveTasks(async (task) => {
  const { file, text, parameters } = task as ReadTask;
  const began = performance.now();
  const rows = open(file)
    .prepare(text)
    .all(...parameters);
  return { rows, milliseconds: performance.now() - began };
});
