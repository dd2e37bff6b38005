/** Opens a store for a test file, without a service, on the engine that the environment names. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { OpenOptions } from '../../../src/platform/db/engine.ts';
import { type Store, openStore } from '../../../src/platform/db/open.ts';
import type { Clock } from '../../../src/platform/time.ts';
import { newDatabase } from './copy_template.ts';

const url = process.env['GANTRY_TEST_DATABASE_URL'];

export type TestStore = {
  store: Store;
  /** The options that `store` was opened with, to open another one on the same database. */
  options: OpenOptions;
  /** Errors that the store reported as fatal. */
  fatal: unknown[];
  /** Sets the clock; null restores the real one. */
  setTime: (now: number | null) => void;
  clock: Clock;
  close: () => Promise<void>;
};

/** PostgreSQL: a connection besides the store's. @param to default: the server's own database */
export const connectToServer = async (to = url): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: to });
  await client.connect();
  return client;
};

/** PostgreSQL: runs one statement on another connection. */
export const onServer = async (text: string): Promise<void> => {
  const client = await connectToServer();
  await client.query(text);
  await client.end();
};

/** Opens a new database: a copy of the run's template if there is one, empty if `isEmpty` is set. */
export const openTestStore = async ({ isEmpty = false } = {}): Promise<TestStore> => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-store-'));
  const { drop, ...database } = await newDatabase(folder, { isEmpty });
  const fatal: unknown[] = [];
  const onFatal = (error: unknown): void => void fatal.push(error);
  const options = { ...database, connections: 8, onFatal };
  let fixed: number | null = null;
  const clock: Clock = { now: () => fixed ?? Date.now() };
  const store = await openStore(options, clock);
  const close = async (): Promise<void> => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
    await drop();
  };
  return { store, options, fatal, clock, setTime: (now) => void (fixed = now), close };
};
