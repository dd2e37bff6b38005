/** Makes a consistent copy of a SQLite database while other connections write to it. */
import { Worker } from 'node:worker_threads';

/** Runs in a thread: the copy of a large database takes minutes. */
const program = `
const { workerData } = require('node:worker_threads');
const { DatabaseSync } = require('node:sqlite');
const database = new DatabaseSync(workerData.from, { readOnly: true });
database.exec('pragma busy_timeout = 10000');
database.prepare('vacuum into ?').run(workerData.to);
database.close();
`;

/** @param to path of a file that does not exist */
export const copyDatabaseFile = async (from: string, to: string): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const worker = new Worker(program, { eval: true, workerData: { from, to } });
  worker.once('error', reject);
  worker.once('exit', () => resolve());
  await promise;
};
