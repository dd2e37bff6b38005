/** An upgrade is tried on a copy, copies the database of SQLite first, and can be undone. */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { migrationTexts } from '../../src/platform/db/migrations/list.ts';
import { engine, newUsedPlace, type Place } from './gantry.ts';

let place: Place;
before(async () => {
  place = await newUsedPlace();
  // The schema of the version before backups.
  await place.store(
    async ({ write }) =>
      await write(async ({ db }) => {
        await sql`drop table backups`.execute(db);
        await sql`delete from migrations where name >= '0093'`.execute(db);
      }),
  );
});
after(async () => await place.remove());

const newer = migrationTexts.map(({ name }) => name).filter((name) => name >= '0093');
const folder = (): string => join(place.data, 'before_upgrade');

const applied = async (): Promise<boolean> =>
  await place.store(async ({ db }) => {
    const { rows } = await sql`select name from migrations where name >= '0093'`.execute(db);
    return rows.length > 0;
  });

test('is tried on a copy', async () => {
  const { code, stdout, stderr } = await place.run('migrate --dry-run --json');
  assert.equal(code, 0, stderr);
  const { pending, seconds } = JSON.parse(stdout) as { pending: string[]; seconds: number | null };
  assert.deepEqual(pending, newer);
  assert.equal(typeof seconds, engine === 'sqlite' ? 'number' : 'object');
  assert.equal(await applied(), false);
});

test('copies the database first, and is undone by the copy', async () => {
  const { code, stderr } = await place.run('migrate');
  assert.equal(code, 0, stderr);
  assert.equal(await applied(), true);
  if (engine !== 'sqlite') {
    assert.ok(!existsSync(folder()));
    return;
  }
  const [copy = ''] = readdirSync(folder());
  assert.match(copy, /^\d{8}T\d{6}Z-0\d{3}_\w+\.sqlite$/);
  assert.equal(statSync(join(folder(), copy)).mode & 0o077, 0);
  copyFileSync(join(folder(), copy), join(place.data, 'gantry.sqlite'));
  for (const ending of ['wal', 'shm']) rmSync(join(place.data, `gantry.sqlite-${ending}`), { force: true });
  assert.equal(await applied(), false);
  const again = await place.run('migrate --json');
  assert.deepEqual(JSON.parse(again.stdout), { applied: newer });
});

test('makes no copy where nothing is to be done', async () => {
  const count = existsSync(folder()) ? readdirSync(folder()).length : 0;
  const { code } = await place.run('migrate');
  assert.equal(code, 0);
  assert.equal(existsSync(folder()) ? readdirSync(folder()).length : 0, count);
});
