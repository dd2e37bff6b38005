import assert from 'node:assert/strict';
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { sql } from 'kysely';
import { startS3 } from '../support/servers/s3.ts';
import { type Place, engine, newPlace, newUsedPlace } from './gantry.ts';

let place: Place | undefined;
afterEach(async () => await place?.remove());

const used = async (): Promise<Place> => {
  place = await newUsedPlace();
  return place;
};

type Report = { ok: boolean; checks: { state: string; check: string; detail: string; advice?: string }[] };

const report = async ({ run }: Place, line = 'doctor'): Promise<Report & { code: number | null }> => {
  const { code, stdout, stderr } = await run(`${line} --json`);
  assert.equal(stderr, '');
  return { code, ...(JSON.parse(stdout) as Report) };
};

/** The failed checks, with their advice. */
const failing = async (of: Place, line?: string): Promise<string[]> => {
  const { code, ok, checks } = await report(of, line);
  const failed = checks.filter(({ state }) => state === 'fail');
  assert.deepEqual([code, ok], failed.length === 0 ? [0, true] : [1, false]);
  return failed.map(({ check, detail, advice = '' }) => `${check}: ${detail}: ${advice}`);
};

test('reports a healthy service, running or stopped', async () => {
  const sound = await used();
  assert.deepEqual(await failing(sound), []);
  await sound.serve();
  assert.deepEqual(await failing(sound, 'doctor --thorough'), []);
  const { stdout, code } = await sound.run('doctor');
  assert.equal(code, 0);
  for (const check of [
    'node',
    'sqlite',
    'git',
    'data folder',
    'owner',
    'secrets',
    'disk',
    'database',
    'schema',
    'counters',
  ]) {
    assert.match(stdout, new RegExp(`^ok    ${check}: `, 'm'));
  }
  assert.match(
    stdout,
    /^warn  root password: \S+initial_root_password still holds the initial password\n {6}\S/m,
  );
});

test('reports a folder and secrets that others may read', async () => {
  const open = await used();
  chmodSync(open.data, 0o755);
  chmodSync(join(open.data, 'secrets.json'), 0o644);
  assert.deepEqual(await failing(open), [
    `data folder: ${open.data} is open to others (mode 0755): run: chmod 700 ${open.data}`,
    `secrets: ${open.data}/secrets.json is open to others (mode 0644): run: chmod 600 ${open.data}/secrets.json`,
  ]);
});

test('reports missing secrets', async () => {
  const poor = await used();
  rmSync(join(poor.data, 'secrets.json'));
  assert.match((await failing(poor)).join('\n'), /^secrets: \S+ is missing: restore it from the backup/);
});

test('reports a missing folder without creating it', async () => {
  place = newPlace();
  assert.match((await failing(place)).join('\n'), /^data folder: \S+ does not exist: name it with --data/);
  assert.equal(existsSync(place.data), false);
});

test('reports counters that differ from the issues and merge requests', async () => {
  const wrong = await used();
  await wrong.store(async ({ write }) => {
    await write(async ({ db, now }) => {
      const names = { path: 'p', full_path: 'root/p', name: 'p', visibility: 'private' } as const;
      const times = { created_at: now, updated_at: now, last_activity_at: now };
      const nulls = {
        description: null,
        creator_id: null,
        default_branch: null,
        forked_from_project_id: null,
      };
      await db
        .insertInto('projects')
        .values({ ...names, ...times, ...nulls, namespace_id: 1, deleted_at: null })
        .execute();
      await db.insertInto('project_counters').values({ project_id: 1, opened_issues: 1 }).execute();
    });
  });
  assert.match((await failing(wrong)).join('\n'), /^counters: wrong in projects 1: /);
  await wrong.store(async ({ write }) => {
    await write(
      async ({ db }) =>
        await db
          .updateTable('project_counters')
          .set({ opened_issues: 0, merged_merge_requests: 1 })
          .execute(),
    );
  });
  assert.match((await failing(wrong)).join('\n'), /^counters: wrong in projects 1: /);
  await wrong.store(async ({ write }) => {
    await write(
      async ({ db }) => await db.updateTable('project_counters').set({ merged_merge_requests: 0 }).execute(),
    );
  });
  assert.deepEqual(await failing(wrong), []);
});

test('reports an older and a newer schema', async () => {
  const { store, ...other } = await used();
  const change = async (statement: ReturnType<typeof sql>): Promise<void> =>
    await store(async ({ write }) => void (await write(async ({ db }) => await statement.execute(db))));
  await change(sql`insert into migrations values ('9999_future', 0)`);
  assert.match((await failing({ store, ...other })).join('\n'), /^schema: .*written by a newer Gantry/);
  await change(sql`delete from migrations`);
  assert.match(
    (await failing({ store, ...other })).join('\n'),
    /^schema: lacks 0001_begin.*run "gantry migrate"/,
  );
});

test('reports a damaged database', { skip: engine === 'postgres' }, async () => {
  const broken = await used();
  writeFileSync(join(broken.data, 'gantry.sqlite'), 'x'.repeat(8192));
  assert.match((await failing(broken)).join('\n'), /^database: the database \S+ cannot be read .*restore/);
});

test('reports a database that does not answer', async () => {
  const away = await used();
  const env = { GANTRY_DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:9/none' };
  const { code, stdout } = await away.run('doctor', { env });
  assert.equal(code, 1);
  assert.match(stdout, /^fail {2}database: PostgreSQL cannot be used/m);
  assert.doesNotMatch(stdout, /secret@/);
});

test('reports whether the blob store answers, refuses or is unreachable', async () => {
  const s3 = await startS3();
  try {
    const { run } = await used();
    const linesOf = async (env: Record<string, string>): Promise<string> =>
      (await run('doctor', { env: { ...s3.environment, ...env } })).stdout;
    assert.match(await linesOf({}), /^ok {4}bytes: the bucket gantry-bytes at http\S+ answers$/m);
    const wrong = await linesOf({ GANTRY_BLOB_S3_SECRET_KEY: 'hunter2' });
    assert.match(wrong, /^fail {2}bytes: .*SignatureDoesNotMatch/m);
    assert.ok(!wrong.includes('hunter2'));
    await s3.stop();
    assert.match(await linesOf({}), /^fail {2}bytes: .*ECONNREFUSED/m);
    await s3.start();
  } finally {
    await s3.close();
  }
});
