/** The start takes over the work of the folder's last process, never of a living one. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import pg from 'pg';
import { pino } from 'pino';
import { type TestStore, openTestStore } from '../../../test/support/databases/store.ts';
import { findPreviousProcess, signFolder } from './previous_process.ts';

let stored: TestStore;
before(async () => void (stored = await openTestStore({ isEmpty: true })));
after(async () => await stored.close());

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'gantry-last-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const log = pino({ level: 'silent' });
const [dead, alive] = [randomUUID(), randomUUID()];

const signAs = (name: string): void => writeFileSync(join(folder, 'process_name'), `${name}\n`);

test('a new data folder names no earlier process', async () => {
  assert.equal(await findPreviousProcess(stored.store, folder), null);
});

test('a process that signed the folder and ended is the last process', async () => {
  signAs(dead);
  assert.equal(await findPreviousProcess(stored.store, folder), dead);
});

test('this process is not its own last process', async () => {
  signAs(dead);
  signFolder(folder, log);
  assert.equal(await findPreviousProcess(stored.store, folder), null);
});

test('a name truncated by a power cut names no process', async () => {
  for (const rest of ['', dead.slice(0, 20), '\0'.repeat(36)]) {
    signAs(rest);
    assert.equal(await findPreviousProcess(stored.store, folder), null);
  }
});

test('a folder that cannot be signed, as on a full disk, does not prevent a start', async () => {
  mkdirSync(join(folder, 'process_name'));
  assert.equal(await findPreviousProcess(stored.store, folder), null);
  signFolder(folder, log);
});

const connectAs = async (application_name: string): Promise<pg.Client> => {
  const client = new pg.Client({
    connectionString: process.env['GANTRY_TEST_DATABASE_URL'],
    application_name,
  });
  await client.connect();
  return client;
};

const isPostgres = process.env['GANTRY_TEST_DATABASE_URL'] !== undefined;

test(
  'one that uses the store has not ended: the folder is a copy of its own',
  { skip: !isPostgres },
  async () => {
    signAs(alive);
    const [query, listener] = [
      await connectAs(`gantry ${alive}`),
      await connectAs(`gantry listens ${alive}`),
    ];
    assert.equal(await findPreviousProcess(stored.store, folder, 100), null);
    await query.end();
    assert.equal(await findPreviousProcess(stored.store, folder, 100), null);
    const search = findPreviousProcess(stored.store, folder, 60_000);
    await listener.end();
    assert.equal(await search, alive);
  },
);
