/**
 * Test databases. `test/run.ts` migrates one template for each engine and names it in `GANTRY_TEST_TEMPLATE`; each
 * test gets a copy. Without the variable, a test gets an empty database and migrates it.
 */
import { randomBytes } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { openStore } from '../../../src/platform/db/open.ts';
import { systemClock } from '../../../src/platform/time.ts';

const serverUrl = process.env['GANTRY_TEST_DATABASE_URL'];
/** A file on SQLite, the name of a database on the server on PostgreSQL. */
const template = process.env['GANTRY_TEST_TEMPLATE'];
const templateSchema = 'gantry';

export type TestDatabase = {
  file: string;
  schema: string;
  /** PostgreSQL only. */
  url?: string;
  drop: () => Promise<void>;
};

/** Runs one statement on the server, in the database that the URL names. */
const runOn = async (url: string, statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
};

const databaseUrl = (url: string, name: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
};

/** Creates a database in the folder or on the server; empty if there is no template to copy. */
export const newDatabase = async (folder: string, { isEmpty = false } = {}): Promise<TestDatabase> => {
  const file = join(folder, 'gantry.sqlite');
  const name = `test_${randomBytes(8).toString('hex')}`;
  const isCopied = template !== undefined && !isEmpty;
  if (serverUrl === undefined) {
    if (isCopied) copyFileSync(template, file);
    return { file, schema: name, drop: async () => undefined };
  }
  if (!isCopied) {
    const drop = async (): Promise<void> => await runOn(serverUrl, `drop schema if exists ${name} cascade`);
    return { file, schema: name, url: serverUrl, drop };
  }
  // To copy files takes a fifth less than to log the copied pages.
  await runOn(serverUrl, `create database ${name} template ${template} strategy file_copy`);
  return {
    file,
    schema: templateSchema,
    url: databaseUrl(serverUrl, name),
    drop: async () => await runOn(serverUrl, `drop database if exists ${name} with (force)`),
  };
};

/** Creates an empty database on the server of PostgreSQL, for tests of what connects to a database. */
export const newPostgresDatabase = async (): Promise<{ url: string; drop: () => Promise<void> }> => {
  if (serverUrl === undefined) throw new Error('the test runs on PostgreSQL only');
  const name = `test_${randomBytes(8).toString('hex')}`;
  await runOn(serverUrl, `create database ${name}`);
  return {
    url: databaseUrl(serverUrl, name),
    drop: async () => await runOn(serverUrl, `drop database if exists ${name} with (force)`),
  };
};

const migrateEmpty = async (options: { file: string; url?: string; schema: string }): Promise<void> => {
  const onFatal = (error: unknown): void => {
    throw error;
  };
  const store = await openStore({ ...options, connections: 1, onFatal }, systemClock);
  try {
    await migrate(store);
  } finally {
    await store.close();
  }
};

/** Migrates the template database and returns the value for `GANTRY_TEST_TEMPLATE`. */
export const makeTemplate = async (folder: string): Promise<string> => {
  if (serverUrl === undefined) {
    const file = join(folder, 'template.sqlite');
    await migrateEmpty({ file, schema: templateSchema });
    return file;
  }
  const name = 'gantry_template';
  await runOn(serverUrl, `create database ${name}`);
  await migrateEmpty({ file: '', url: databaseUrl(serverUrl, name), schema: templateSchema });
  return name;
};
