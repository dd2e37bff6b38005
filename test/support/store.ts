/** A store of its own for a test file, without a service, on the engine that the environment names. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { OpenOptions } from '../../src/db/engine.ts';
import { type Store, openStore } from '../../src/db/open.ts';
import type { Clock } from '../../src/time.ts';

const url = process.env['GANTRY_TEST_DATABASE_URL'];

export type TestStore = {
  store: Store;
  /** What `store` was opened with: for another one on the same database. */
  options: OpenOptions;
  /** What the store called fatal. */
  fatal: unknown[];
  /** Sets the clock; null: the real one again. */
  setTime: (now: number | null) => void;
  clock: Clock;
  close: () => Promise<void>;
};

/** PostgreSQL: a connection beside the store. */
export const connectToServer = async (): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
};

/** PostgreSQL: runs one statement beside the store. */
export const onServer = async (text: string): Promise<void> => {
  const client = await connectToServer();
  await client.query(text);
  await client.end();
};

/** An empty database, opened. */
export const openTestStore = async (): Promise<TestStore> => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-store-'));
  const schema = `test_${randomBytes(8).toString('hex')}`;
  const fatal: unknown[] = [];
  const onFatal = (error: unknown): void => void fatal.push(error);
  const options = {
    file: join(folder, 'gantry.sqlite'),
    schema,
    connections: 8,
    onFatal,
    ...(url !== undefined && { url }),
  };
  let fixed: number | null = null;
  const clock: Clock = { now: () => fixed ?? Date.now() };
  const store = await openStore(options, clock);
  const close = async (): Promise<void> => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
    if (url !== undefined) await onServer(`drop schema if exists ${schema} cascade`);
  };
  return { store, options, fatal, clock, setTime: (now) => void (fixed = now), close };
};
