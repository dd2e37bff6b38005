/** Scheduled backups: made and verified by the service, counted, and reported by the doctor. */
import assert from 'node:assert/strict';
import { globSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { recordBackup } from '../../src/app/backup/backup_records.ts';
import type { Manifest } from '../../src/app/backup/manifest.ts';
import { backupHandlers, startBackups } from '../../src/app/backup/scheduled_backups.ts';
import { readConfig } from '../../src/platform/config/read_config.ts';
import type { Store } from '../../src/platform/db/open.ts';
import type { Payload, WorkRun } from '../../src/platform/queue/enqueue.ts';
import { systemClock } from '../../src/platform/time.ts';
import { newUsedPlace, type Place } from './gantry.ts';

let place: Place;
let folder: string;
let env: Record<string, string>;
before(async () => {
  place = await newUsedPlace();
  folder = join(dirname(place.data), 'backups');
  env = { GANTRY_BACKUP_TO: folder, GANTRY_BACKUP_SCHEDULE: '0 0 1 1 *', GANTRY_BACKUP_KEEP: '1' };
});
after(async () => await place.remove());

const doctorLine = async (): Promise<string> => {
  const { stdout } = await place.run('doctor --json');
  const { checks } = JSON.parse(stdout) as { checks: { state: string; check: string; detail: string }[] };
  const backup = checks.find(({ check }) => check === 'backup');
  return `${backup?.state}: ${backup?.detail}`;
};

const metrics = async (url: string): Promise<string> => await (await fetch(`${url}/-/metrics`)).text();

/** Makes the next backup due, as if the service had been down at its time. */
const makeDue = async (): Promise<void> =>
  await place.store(
    async ({ write }) =>
      void (await write(
        async ({ db }) =>
          await db.updateTable('work').set({ run_at: 0 }).where('name', '=', 'backup.create').execute(),
      )),
  );

test('refuses a schedule without a place or with one file, and one that is no pattern', async () => {
  const alone = await place.run('serve', { env: { GANTRY_BACKUP_SCHEDULE: '0 3 * * *' } });
  assert.equal(alone.code, 1);
  assert.match(alone.stderr, /GANTRY_BACKUP_TO is needed/);
  const file = await place.run('serve', { env: { ...env, GANTRY_BACKUP_TO: 'one.tar.zst' } });
  assert.equal(file.code, 1);
  assert.match(file.stderr, /GANTRY_BACKUP_TO is one file, one\.tar\.zst, which each backup would overwrite/);
  const wrong = await place.run('serve', { env: { ...env, GANTRY_BACKUP_SCHEDULE: '61 3 * * *' } });
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /GANTRY_BACKUP_SCHEDULE is not a cron pattern/);
});

test('says at the start that the folder cannot be written, and serves', async () => {
  const file = join(dirname(place.data), 'a_file');
  writeFileSync(file, '');
  const service = await place.serve('serve', { env: { ...env, GANTRY_BACKUP_TO: join(file, 'backups') } });
  assert.equal((await fetch(`${service.url}/-/liveness`)).status, 200);
  const message = /scheduled backups will fail: the folder of GANTRY_BACKUP_TO.*ReadWritePaths=/;
  assert.match(service.stdout(), message);
  await service.end('SIGTERM');
  const usual = await place.serve('serve', { env });
  assert.doesNotMatch(usual.stdout(), /scheduled backups will fail|of several services/);
  await usual.end('SIGTERM');
});

test('makes up for a missed backup, verifies it, and keeps as many as configured', async () => {
  assert.match(await doctorLine(), /^warn: none was made/);
  const { code, stderr } = await place.run('backup create', { env });
  assert.equal(code, 0, stderr);
  assert.match(await doctorLine(), /^warn: the last one, from \S+, was not verified/);
  const [first] = readdirSync(join(folder, 'backups'));
  await (await place.serve('serve', { env })).end('SIGTERM');
  await makeDue();
  const service = await place.serve('serve', { env });
  assert.match(await metrics(service.url), /^gantry_backup_last_success_timestamp \d+/m);
  while (!service.stdout().includes('a scheduled backup was made and verified')) await wait(200);
  assert.match(await metrics(service.url), /^gantry_backup_last_verified_timestamp \d+/m);
  await service.end('SIGTERM');
  const left = readdirSync(join(folder, 'backups'));
  assert.equal(left.length, 1);
  assert.notEqual(left[0], first);
  assert.match(await doctorLine(), /^ok: the last verification was at/);
  const next = await place.store(
    async ({ db }) =>
      await db.selectFrom('work').select('run_at').where('name', '=', 'backup.create').execute(),
  );
  assert.equal(next.length, 1);
  assert.ok((next[0]?.run_at ?? 0) > Date.now());
});

test('is not verified where the settings say so, and the doctor accepts that', async () => {
  const more = {
    ...env,
    GANTRY_BACKUP_VERIFY: 'never',
    GANTRY_BACKUP_SCRATCH: join(dirname(folder), 'scratch'),
  };
  await makeDue();
  const service = await place.serve('serve', { env: more });
  while (!service.stdout().includes('"a scheduled backup was made"')) await wait(200);
  await service.end('SIGTERM');
  const { stdout } = await place.run('doctor', { env: more });
  assert.match(stdout, /^ok {4}backup: the last was made at \d{4}-.*GANTRY_BACKUP_VERIFY=never/m);
});

test('is reported by the doctor once its last verification is older than eight days', async () => {
  const age = async (days: number): Promise<void> =>
    await place.store(
      async ({ write }) =>
        void (await write(
          async ({ db, now }) =>
            await db
              .updateTable('backups')
              .set({ verified_at: now - days * 86_400_000 })
              .where('verified_at', 'is not', null)
              .execute(),
        )),
    );
  await age(7.9);
  assert.match(await doctorLine(), /^ok: the last verification was at/);
  await age(8.1);
  assert.match(await doctorLine(), /^warn: the last verification was at \d{4}-/);
});

test('shows how far a backup is, how others ended, and when the next is due', async () => {
  type Status = {
    backups: { running: boolean; part: string | null; done: number | null }[];
    next_at: string | null;
  };
  const status = async (): Promise<Status> =>
    JSON.parse((await place.run('backup status --json')).stdout) as Status;
  const idle = await status();
  assert.equal(idle.backups[0]?.running, false);
  assert.match(idle.next_at ?? '', /^\d{4}-01-01T00:00:00/);
  const { stdout } = await place.run('backup status');
  assert.match(stdout, /^\S+ {2}\S+ {2}made at \S+, .* added, not verified$/m);
  assert.match(stdout, /^The next scheduled one is due at \d{4}-01-01/m);
  // What a running backup writes every 20 seconds.
  await place.store(async (store) => {
    const running = recordBackup(
      store,
      {
        name: '20990101T000000Z-00000000',
        destination: folder,
        holder: 'test',
        now: Date.now,
        getProgress: () => ({ label: 'files saved', done: 3, total: 7 }),
        renewal: 10,
      },
      async () => {
        while ((await status()).backups[0]?.done !== 3) await wait(100);
        assert.deepEqual(
          { ...(await status()).backups[0], started_at: 0 },
          {
            name: '20990101T000000Z-00000000',
            destination: folder,
            running: true,
            part: 'files saved',
            done: 3,
            total: 7,
            started_at: 0,
            finished_at: null,
            verified_at: null,
            added: null,
            error: null,
          },
        );
        return { added: 1 };
      },
    );
    await running;
  });
  const ended = await status();
  assert.deepEqual([ended.backups[0]?.running, ended.backups[0]?.part], [false, null]);
});

test('is tried again after ten minutes and after an hour, then at the next time of the schedule', async () => {
  const blocked = { ...env, GANTRY_BACKUP_TO: join(dirname(folder), 'blocked') };
  writeFileSync(blocked.GANTRY_BACKUP_TO, 'no folder');
  const minutes: number[] = [];
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    await makeDue();
    const service = await place.serve('serve', { env: blocked });
    while (!service.stdout().includes('"the scheduled backup failed"')) await wait(200);
    await service.end('SIGTERM');
    const [row] = await place.store(
      async ({ db }) =>
        await db.selectFrom('work').select('run_at').where('name', '=', 'backup.create').execute(),
    );
    minutes.push(Math.round(((row?.run_at ?? 0) - Date.now()) / 60_000));
  }
  const [first = 0, second = 0, third = 0] = minutes;
  // The machine may be slow: a minute may have passed.
  assert.ok(first > 5 && first <= 10, `${first}`);
  assert.ok(second > 55 && second <= 60, `${second}`);
  assert.ok(third > 60, `${third}`);
});

type Planned = { run_at: number; failures: unknown };

const planned = async (store: Store): Promise<Planned[]> => {
  const query = store.db.selectFrom('work').select(['run_at', 'payload']);
  const rows = await query.where('name', '=', 'backup.create').execute();
  return rows.map(({ run_at, payload }) => ({ run_at, ...(JSON.parse(payload) as { failures: unknown }) }));
};

test('is not made again after a verification that failed, and the last verified one stays', async () => {
  const before = await place.run('backup create --verify', { env });
  assert.equal(before.code, 0, before.stderr);
  const [verified = ''] = readdirSync(join(folder, 'backups')).toSorted().toReversed();
  const { manifest } = JSON.parse(readFileSync(join(folder, 'backups', verified), 'utf8')) as {
    manifest: string;
  };
  // Without its lists, the next backup would store everything again.
  const { contents, database } = JSON.parse(manifest) as Manifest;
  const lists = [contents.sha256, database.sha256];
  const objects = globSync('objects/*/*', { cwd: folder });
  for (const file of objects.filter((one) => !lists.includes(basename(one)))) {
    const bytes = readFileSync(join(folder, file));
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 0xff;
    writeFileSync(join(folder, file), bytes);
  }
  await makeDue();
  const service = await place.serve('serve', { env });
  while (!/scheduled backup (?:was made|failed)/.test(service.stdout())) await wait(200);
  await service.end('SIGTERM');
  assert.match(service.stdout(), /"a scheduled backup was made, but not verified"/);
  assert.equal(
    (await place.store(planned)).filter(({ run_at }) => run_at > Date.now() + 7_200_000).length,
    1,
  );
  const left = readdirSync(join(folder, 'backups'));
  assert.deepEqual([left.length, left.includes(verified)], [2, true]);
});

test('keeps count of failures, and is made up for, although another service planned the next', async () => {
  const { config } = readConfig({}, { ...place.env, ...env });
  await place.store(async (store) => {
    const log = pino({ level: 'silent' });
    const platform = { config, store, clock: systemClock, log };
    const run = async (payload: Payload, to: string): Promise<void> => {
      const one = { ...platform, config: { ...config, backup_to: to } };
      await backupHandlers(one)['backup.create']?.(payload, {} as WorkRun);
    };
    const stop = await startBackups(platform);
    const blocked = join(dirname(place.data), 'no_folder');
    writeFileSync(blocked, 'no folder');
    await run({ failures: 1 }, blocked);
    assert.deepEqual(
      (await planned(store)).map(({ failures }) => failures),
      [2],
    );
    await store.write(async ({ db }) => void (await db.deleteFrom('work').execute()));
    await startBackups(platform);
    const running = run({ failures: 0 }, folder);
    stop();
    await assert.rejects(running, /the service stopped/);
    const [row] = await planned(store);
    assert.ok((row?.run_at ?? Infinity) <= Date.now() + 60_000);
  });
});
