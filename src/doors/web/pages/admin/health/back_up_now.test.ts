/** A backup that an administrator starts on the health page. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { unique } from '../../../../../../test/support/seed.ts';
import { type TestService, engine, startTestService } from '../../../../../../test/support/service.ts';
import { enqueue } from '../../../../../platform/queue/enqueue.ts';
import { until } from '../../../../../../test/support/until.ts';
import { type Visitor, contentIn, openVisitor } from '../../../../../../test/support/visitor.ts';

const password = 'correct horse';
const path = '/admin/health';
const folder = mkdtempSync(join(tmpdir(), 'gantry-backups-'));
let gantry: TestService;
let admin: Visitor;
let user: Visitor;

const signedIn = async (at: TestService, isAdmin: boolean): Promise<Visitor> => {
  const username = unique('user');
  const json = { username, name: username, email: `${username}@example.com`, password, admin: isAdmin };
  assert.equal((await at.api('POST /users', { json })).status, 201);
  const visitor = openVisitor(at);
  await visitor.signIn(username, password);
  return visitor;
};

before(async () => {
  gantry = await startTestService({ GANTRY_BACKUP_TO: folder, GANTRY_BACKUP_VERIFY: 'never' });
  [admin, user] = [await signedIn(gantry, true), await signedIn(gantry, false)];
});
after(async () => {
  await gantry.close();
  rmSync(folder, { recursive: true, force: true });
});

const backupsCard = async (visitor: Visitor): Promise<string> =>
  /<h2>Backups<\/h2>[^]*?<\/section>/.exec(contentIn(await visitor.get(path)))?.[0] ?? '';

const isWaiting = async (): Promise<boolean> =>
  (await gantry.service.platform.store.db
    .selectFrom('work')
    .select('id')
    .where('name', '=', 'backup.requested')
    .executeTakeFirst()) !== undefined;

/** The process of the backup reads the settings of the environment, which names no PostgreSQL here. */
const skip = engine === 'postgres' && 'the service of a test shares no database with other programs';

test('an administrator starts a backup, sees how it ends, and the audit log has it', { skip }, async () => {
  assert.match(await backupsCard(admin), /<button[^>]*>Back up now<\/button>/);
  const { status, location } = await admin.post(`${path}/backup`);
  assert.deepEqual([status, location], [303, path]);
  const shown = contentIn(await admin.get(path));
  assert.match(shown, /<dt>Progress<\/dt>|<dt>Last backup<\/dt><dd><time/);
  await until('the end of the backup', async () => !(await isWaiting()));
  const card = await backupsCard(admin);
  assert.match(card, /<dt>Last backup<\/dt><dd><time/);
  assert.match(card, /Back up now/);
  assert.equal(readdirSync(join(folder, 'backups')).length, 1);
  const { body } = await gantry.api('GET /audit_events?kind=backup.requested');
  assert.deepEqual([body.length, body[0].details], [1, { destination: folder }]);
});

test('a second one is refused while the first is on its way, and the page has no button', async () => {
  const { store } = gantry.service.platform;
  await store.write(
    async ({ db, now }) =>
      await db
        .insertInto('backups')
        .values({
          name: 'running',
          destination: folder,
          holder: 'another machine',
          started_at: now,
          held_until: now + 60_000,
          finished_at: null,
          verified_at: null,
          bytes: null,
          error: null,
          part: 'repositories saved',
          part_done: 3,
          part_total: 10,
          part_at: now,
        })
        .execute(),
  );
  const card = await backupsCard(admin);
  assert.doesNotMatch(card, /Back up now/);
  assert.match(card, /repositories saved: 3 of 10/);
  await admin.post(`${path}/backup`);
  assert.match((await admin.get(path)).text, /No backup was started: another one is requested or runs\./);
  await store.write(async ({ db }) => await db.deleteFrom('backups').where('name', '=', 'running').execute());
});

test('a request that was interrupted counts until it is tried again', async () => {
  const { store } = gantry.service.platform;
  await store.write(async (tx) => {
    await enqueue(tx, 'backup.requested', {}, { run_at: tx.now + 3_600_000 });
    await enqueue(tx, 'backup.requested', {}, { run_at: Number.MAX_SAFE_INTEGER });
  });
  assert.doesNotMatch(await backupsCard(admin), /Back up now/);
  await admin.post(`${path}/backup`);
  assert.match((await admin.get(path)).text, /No backup was started: another one is requested or runs\./);
  await store.write(
    async ({ db, now }) =>
      await db
        .deleteFrom('work')
        .where('name', '=', 'backup.requested')
        .where('run_at', '<', now * 2)
        .execute(),
  );
  assert.match(await backupsCard(admin), /Back up now/, 'a request that was given up does not count');
  await store.write(
    async ({ db }) => await db.deleteFrom('work').where('name', '=', 'backup.requested').execute(),
  );
});

test('a failed backup is shown with its error', { skip }, async () => {
  const { config } = gantry.service.platform;
  config.backup_to = '/dev/null/backups';
  try {
    await admin.post(`${path}/backup`);
    await until('the end of the backup', async () => !(await isWaiting()));
    assert.match(await backupsCard(admin), /<dt>Error of the newest<\/dt><dd>[^<]*\/dev\/null/);
  } finally {
    config.backup_to = folder;
  }
});

test('nobody else starts one, and none without a place', async () => {
  assert.equal((await user.post(`${path}/backup`)).status, 404);
  const { config } = gantry.service.platform;
  for (const [place, problem] of [
    [null, /No backup was started: GANTRY_BACKUP_TO is not set\./],
    ['/srv/one.tar.zst', /GANTRY_BACKUP_TO is one file, \/srv\/one\.tar\.zst/],
  ] as const) {
    config.backup_to = place;
    try {
      assert.doesNotMatch(await backupsCard(admin), /Back up now/);
      await admin.post(`${path}/backup`);
      assert.match((await admin.get(path)).text, problem);
    } finally {
      config.backup_to = folder;
    }
  }
  const { body } = await gantry.api('GET /audit_events?kind=backup.requested');
  assert.equal(body.length, skip === false ? 2 : 0);
});
