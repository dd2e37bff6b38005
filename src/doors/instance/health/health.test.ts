/** What monitors read of the parts of the service. */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { seedProject } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { judgeBackups, judgeSpace, judgeWork } from './judge_health.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
  // Starts gitd, which takes its time on a busy machine.
  const { id } = await seedProject(gantry);
  await gantry.api(`GET /projects/${id}/repository/branches`);
});
after(async () => await gantry.close());

const read = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${gantry.url}${path}`, { headers });
  return { status: response.status, text: await response.text() };
};
const json = { accept: 'application/json' };

test('health is a word for programs that compare, and names every part for those that read JSON', async () => {
  assert.deepEqual(await read('/-/health'), { status: 200, text: 'OK' });
  const { status, text } = await read('/-/health', json);
  const report = JSON.parse(text);
  assert.deepEqual([status, report.status], [200, 'ok']);
  assert.deepEqual(Object.keys(report.checks), [
    'database',
    'storages',
    'disk',
    'blobs',
    'queue',
    'runners',
    'backups',
  ]);
  assert.deepEqual(
    report.checks.storages.map((one: { name: string; status: string }) => [one.name, one.status]),
    [['default', 'ok']],
  );
  assert.ok(report.checks.disk.free_bytes > 0 && report.checks.database.size_bytes > 0);
});

test('names the part that is ill, with 503', async () => {
  const { data } = gantry.service.platform.config;
  const [marker, away] = ['gantry-instance', 'elsewhere'].map((name) => join(data, 'blobs', name)) as [
    string,
    string,
  ];
  renameSync(marker, away);
  try {
    assert.deepEqual(await read('/-/health'), { status: 503, text: 'blobs failed' });
    const { status, text } = await read('/-/health', json);
    const report = JSON.parse(text);
    assert.deepEqual([status, report.status, report.checks.blobs], [503, 'failed', { status: 'failed' }]);
    assert.equal((await read('/-/readiness')).status, 200, 'requests are still served');
    assert.match((await read('/-/metrics')).text, /^gantry_part_up\{part="blobs"\} 0$/m);
  } finally {
    renameSync(away, marker);
  }
  assert.equal((await read('/-/health')).text, 'OK');
});

test('names the queue where it cannot be read', async () => {
  const rename = async (from: string, to: string): Promise<void> =>
    await gantry.service.platform.store.write(async ({ db }) => {
      await sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(db);
    });
  await rename('work', 'work_away');
  try {
    const { status, text } = await read('/-/health');
    assert.equal(status, 503);
    assert.match(text, /^queue failed$/m);
  } finally {
    await rename('work_away', 'work');
  }
  assert.equal((await read('/-/health')).text, 'OK');
});

test('readiness lists every part with all=1', async () => {
  const { status, text } = await read('/-/readiness?all=1');
  const body = JSON.parse(text);
  assert.equal(status, 200);
  assert.deepEqual(body.store_check, [{ status: 'ok' }]);
  assert.equal(body.storages_check[0].name, 'default');
  assert.equal(body.blobs_check[0].status, 'ok');
  assert.deepEqual(Object.keys(JSON.parse((await read('/-/readiness')).text)), ['status', 'store_check']);
});

test('a failed, interrupted or old backup needs attention', async () => {
  const { store, clock } = gantry.service.platform;
  const now = clock.now();
  const check = async () => JSON.parse((await read('/-/health', json)).text).checks.backups;
  const failed = async () =>
    /^gantry_backup_failed (\d)$/m.exec((await read('/-/metrics')).text)?.[1] ?? 'none';
  const add = async (change: object) =>
    await store.write(async ({ db }) => {
      const none = { held_until: null, finished_at: null, verified_at: null, bytes: null, error: null };
      const name = JSON.stringify(change);
      const row = { name, destination: '/srv', holder: 'one', started_at: now, ...none, ...change };
      await db.insertInto('backups').values(row).execute();
    });
  const none = { finished_at: null, verified_at: null, error: null };
  assert.deepEqual([await check(), await failed()], [{ status: 'ok', ...none }, '0']);
  const day = 86_400_000;
  await add({ finished_at: now - 9 * day, verified_at: now - 9 * day });
  assert.equal((await check()).status, 'attention');
  await add({ finished_at: now - day, verified_at: now - day });
  const at = new Date(now - day).toISOString();
  assert.deepEqual(await check(), { status: 'ok', finished_at: at, verified_at: at, error: null });
  await add({ held_until: now + day });
  assert.deepEqual([(await check()).status, await failed()], ['ok', '0'], 'one that runs');
  await add({ held_until: now - 1 });
  assert.deepEqual([(await check()).error, await failed()], ['it was interrupted', '1']);
  await add({ error: 'the bucket is away' });
  const { status, error } = await check();
  assert.deepEqual([status, error, await failed()], ['attention', 'the bucket is away', '1']);
  await add({ held_until: now + day, started_at: now + 1 });
  assert.deepEqual([(await check()).error, await failed()], ['the bucket is away', '1'], 'the next attempt');
  assert.deepEqual(await read('/-/health'), { status: 200, text: 'OK' });
  await store.write(async ({ db }) => void (await db.deleteFrom('backups').execute()));
});

test('a short disk, late or failed work, and a place without a backup need attention', () => {
  assert.equal(judgeSpace({ free: 999_999_999, total: 1e12 }), 'attention');
  assert.equal(judgeSpace({ free: 2e9, total: 1e12 }), 'ok');
  const sums = { waiting: 5, running: 0, failed: 0, lag_seconds: 10 };
  assert.equal(judgeWork(sums), 'ok');
  assert.equal(judgeWork({ ...sums, failed: 1 }), 'attention');
  assert.equal(judgeWork({ ...sums, lag_seconds: 301 }), 'attention');
  const none = { finished_at: null, verified_at: null, error: null, isVerifying: true };
  assert.equal(judgeBackups({ ...none, isConfigured: true }, 0), 'attention');
  assert.equal(judgeBackups({ ...none, isConfigured: false }, 0), 'ok');
  const made = { ...none, isConfigured: true, finished_at: 1_000 };
  assert.equal(judgeBackups(made, 2_000), 'attention');
  assert.equal(judgeBackups({ ...made, isVerifying: false }, 2_000), 'ok', 'verified elsewhere');
});
