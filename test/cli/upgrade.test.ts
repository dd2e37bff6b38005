/** An upgrade is tried on a copy, copies the database first, and can be undone. */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { openAnyStore } from '../../src/app/service/open_database.ts';
import { readConfig } from '../../src/platform/config/read_config.ts';
import { migrationTexts } from '../../src/platform/db/migrations/list.ts';
import { systemClock } from '../../src/platform/time.ts';
import { fillOlderSchema } from '../support/databases/older_schema.ts';
import { newSmallDisk } from '../support/machine/small_disk.ts';
import { engine, newPlace, newUsedPlace, type Place } from './gantry.ts';

let place: Place;
const copies: Place[] = [];

const removeFiles = (data: string): void => {
  for (const ending of ['', '-wal', '-shm']) rmSync(join(data, `gantry.sqlite${ending}`), { force: true });
};

const later = migrationTexts.filter(({ name }) => name >= '0093');

/** Whether a later migration inserts this row of `instance`. */
const isInsertedLater = (row: string): boolean =>
  later.some(({ statements }) => String(statements).includes(`('${row}'`));

/** Puts a database of the version before backups in the place of the current one. */
const makeOlder = async ({ data, env, store }: Place): Promise<void> => {
  const rows = await store(async ({ db }) => await db.selectFrom('instance').selectAll().execute());
  if (engine === 'sqlite') removeFiles(data);
  else
    await store(async ({ db }) => {
      const schema = sql.ref(env['GANTRY_DATABASE_SCHEMA'] ?? '');
      await sql`drop schema ${schema} cascade`.execute(db);
    });
  const parts = { config: readConfig({}, env).config, clock: systemClock, onFatal: () => undefined };
  const older = await openAnyStore(parts);
  await fillOlderSchema(older, '0093');
  await older.write(async ({ db }) => {
    await db.deleteFrom('instance').execute();
    const earlier = rows.filter(({ name }) => !isInsertedLater(name));
    await db.insertInto('instance').values(earlier).execute();
  });
  await older.close();
};

before(async () => {
  place = await newUsedPlace();
  await makeOlder(place);
});
after(async () => {
  for (const one of [...copies, place]) await one.remove();
});

const newer = later.map(({ name }) => name);
const folder = (): string => join(place.data, 'before_upgrade');

const applied = async (): Promise<boolean> =>
  await place.store(async ({ db }) => {
    const { rows } = await sql`select name from migrations where name >= '0093'`.execute(db);
    return rows.length > 0;
  });

test('is tried on a copy, with the time of each migration', async () => {
  const { code, stdout, stderr } = await place.run('migrate --dry-run --json');
  assert.equal(code, 0, stderr);
  const { pending, copy_seconds, seconds, migrations } = JSON.parse(stdout) as {
    pending: string[];
    copy_seconds: number;
    seconds: number;
    migrations: { name: string; seconds: number }[];
  };
  assert.deepEqual(pending, newer);
  // PostgreSQL builds indexes after all other migrations.
  assert.deepEqual(new Set(migrations.map(({ name }) => name)), new Set(newer));
  assert.equal(
    seconds,
    migrations.reduce((sum, one) => sum + one.seconds, 0),
  );
  assert.ok(copy_seconds > 0);
  assert.equal(await applied(), false);
  const { stdout: text, stderr: progress } = await place.run('migrate --dry-run');
  assert.match(text, /Copying the database took \d+\.\d seconds\./);
  assert.match(text, /the migrations took \d+\.\d seconds:\n {2}0093_backups {2,}\d+\.\d s/);
  assert.match(progress, /databases copied: 1 of 1\n/);
  assert.ok(progress.includes(`migrations tried: ${newer.length} of ${newer.length}\n`), progress);
  if (engine === 'sqlite') return;
  const left = await place.store(
    async ({ db }) => await sql`select 1 from pg_namespace where nspname like '%_dry_run'`.execute(db),
  );
  assert.deepEqual(left.rows, []);
});

test('is tried twice at once, in the scratch folder, which keeps nothing', async () => {
  const env = { GANTRY_BACKUP_SCRATCH: join(place.data, '../scratch') };
  const both = await Promise.all([1, 2].map(async () => await place.run('migrate --dry-run', { env })));
  for (const { code, stderr } of both) assert.equal(code, 0, stderr);
  assert.deepEqual(readdirSync(join(env.GANTRY_BACKUP_SCRATCH, 'backup_work_scratch')), []);
  assert.equal(existsSync(join(place.data, 'backup_work')), false);
});

test('needs room for the copy, and changes nothing without it', async (t) => {
  const scratch = join(place.data, '../small');
  const copies = folder();
  for (const one of [scratch, copies]) mkdirSync(one, { recursive: true });
  const disks = [newSmallDisk(scratch, 1), newSmallDisk(copies, 1)];
  try {
    const [lacking] = disks.filter((disk) => typeof disk === 'string');
    if (lacking !== undefined) return t.skip(lacking);
    if (engine === 'sqlite') {
      const trial = await place.run('migrate --dry-run', { env: { GANTRY_BACKUP_SCRATCH: scratch } });
      assert.equal(trial.code, 1);
      assert.match(trial.stderr, /a trial of the migrations needs about .* GANTRY_BACKUP_SCRATCH/);
    }
    const { code, stderr } = await place.run('migrate');
    assert.equal(code, 1);
    assert.match(stderr, /cannot be copied to .* \(the copy needs about .*\): free some space/);
    assert.deepEqual(readdirSync(copies), []);
    assert.equal(await applied(), false);
  } finally {
    for (const disk of disks) if (typeof disk !== 'string') disk.remove();
    rmSync(copies, { recursive: true });
  }
});

test('copies the database first, and is undone by the copy', async () => {
  const refused = await place.run('migrate', { env: { GANTRY_UPGRADE_COPY: 'perhaps' } });
  assert.equal(refused.code, 2);
  const { code, stderr } = await place.run('migrate');
  assert.equal(code, 0, stderr);
  assert.equal(await applied(), true);
  const [copy = ''] = readdirSync(folder());
  assert.match(copy, /^\d{8}T\d{6}Z-0\d{3}_\w+\.sqlite$/);
  assert.equal(statSync(join(folder(), copy)).mode & 0o077, 0);
  const file = new DatabaseSync(join(folder(), copy), { readOnly: true });
  assert.deepEqual(file.prepare("select name from migrations where name >= '0093'").all(), []);
  assert.equal(file.prepare('select username from users').all().length, 1);
  file.close();
  if (engine === 'sqlite') {
    removeFiles(place.data);
    copyFileSync(join(folder(), copy), join(place.data, 'gantry.sqlite'));
    assert.equal(await applied(), false);
    const again = await place.run('migrate --json');
    assert.deepEqual(JSON.parse(again.stdout), { applied: newer });
    return;
  }
  // The version that made it moves it into an empty schema; here, the present one does, once it has migrated it.
  const home = newPlace();
  copies.push(home);
  mkdirSync(home.data, { recursive: true });
  copyFileSync(join(folder(), copy), join(home.data, 'gantry.sqlite'));
  copyFileSync(join(place.data, 'secrets.json'), join(home.data, 'secrets.json'));
  const { GANTRY_DATABASE_URL: url = '', GANTRY_DATABASE_SCHEMA: schema = '', ...env } = home.env;
  const local = { env: { ...env, GANTRY_DATABASE_URL: '' } };
  for (const line of ['adopt storage:default blobs', `migrate --to ${url} --to-schema ${schema}`]) {
    const moved = await home.run(line, local);
    assert.equal(moved.code, 0, `${line}: ${moved.stderr}`);
  }
  const users = await home.store(async ({ db }) => await db.selectFrom('users').select('username').execute());
  assert.deepEqual(users, [{ username: 'u1' }]);
});

test('makes no copy where nothing is to be done, or none is wanted', async () => {
  const count = readdirSync(folder()).length;
  const { code } = await place.run('migrate');
  assert.equal(code, 0);
  assert.equal(readdirSync(folder()).length, count);
  rmSync(folder(), { recursive: true });
  await makeOlder(place);
  const without = await place.run('migrate', { env: { GANTRY_UPGRADE_COPY: 'false' } });
  assert.equal(without.code, 0, without.stderr);
  assert.equal(await applied(), true);
  assert.equal(existsSync(folder()), false);
});
