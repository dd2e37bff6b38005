import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { type TestStore, openTestStore } from '../../../test/support/databases/store.ts';
import { readConfig } from '../../platform/config/read_config.ts';
import { migrate } from '../../platform/db/migrate.ts';
import { createRoot, isFirstStart, passwordFile } from './first_start.ts';

let test: TestStore;
const folders = [1, 2, 3].map(() => mkdtempSync(join(tmpdir(), 'gantry-first-')));

before(async () => {
  test = await openTestStore();
  await migrate(test.store);
});
after(async () => {
  await test.close();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

it('creates the administrator once when several services start on one database', async () => {
  assert.equal(await isFirstStart(test.store), true);
  const passwords = await Promise.all(
    folders.map((folder) => createRoot(test.store, readConfig({ data: folder }, {}).config, randomBytes)),
  );
  const held = folders.map((folder) => {
    const file = join(folder, passwordFile);
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
  });
  assert.deepEqual(held, passwords);
  assert.equal(passwords.filter((password) => password !== null).length, 1);
  const users = await test.store.db.selectFrom('users').select('username').execute();
  assert.deepEqual(
    users.map(({ username }) => username),
    ['root'],
  );
  assert.equal(await isFirstStart(test.store), false);
});
