/** `backup restore --quiet`: a copy beside the original that reaches no other system, until it is activated. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { openPlaceToRead } from '../../src/app/backup/open_place.ts';
import { findManifest } from '../../src/app/backup/places/backup_place.ts';
import { restoreBackup } from '../../src/app/backup/restore.ts';
import { readConfig } from '../../src/platform/config/read_config.ts';
import { enqueue } from '../../src/platform/queue/enqueue.ts';
import { type Place, type Running, newPlace } from './gantry.ts';

const token = 'glpat-quiet-012345678901';
let place: Place;
let copy: Place;
let folder: string;
let receiver: Server;
const received: string[] = [];

const call = async ({ url }: Running, line: string, body?: object) => {
  const [method = '', path = ''] = line.split(' ');
  const response = await fetch(`${url}/api/v4${path}`, {
    method,
    headers: { 'private-token': token, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  assert.ok(response.ok, `${line}: ${response.status} ${await response.clone().text()}`);
  return (await response.json()) as { id: number }[] & { id: number };
};

const ok = async (one: Place, line: string, env: Record<string, string> = {}): Promise<string> => {
  const { code, stdout, stderr } = await one.run(line, { env });
  assert.equal(code, 0, `${line}: ${stderr}`);
  return stdout;
};

before(async () => {
  receiver = createServer((request, response) => {
    received.push(String(request.headers['x-gitlab-event']));
    request.resume();
    response.end();
  });
  await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  place = newPlace();
  copy = newPlace();
  folder = join(dirname(place.data), 'backups');
  const service = await place.serve('serve', { env: { GANTRY_ROOT_TOKEN: token } });
  await call(service, 'PUT /application/settings?allow_local_requests_from_web_hooks_and_services=true');
  await call(service, 'POST /projects', { name: 'Site', initialize_with_readme: true });
  await call(service, 'POST /projects/1/repository/commits', {
    branch: 'main',
    commit_message: 'CI',
    actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content: 'work: { script: [true] }' }],
  });
  await call(service, 'POST /projects/1/pipeline_schedules', {
    description: 'Nightly',
    ref: 'main',
    cron: '* * * * *',
  });
  await call(service, 'POST /projects/1/hooks', {
    url: `http://127.0.0.1:${port}/`,
    issues_events: true,
    push_events: false,
  });
  await service.end('SIGTERM');
  await ok(place, `backup create --to ${folder}`);
});
after(async () => {
  for (const one of [copy, place]) await one.remove();
  receiver.close();
});

/** Makes the schedule of the project due. */
const makeDue = async (): Promise<void> =>
  await copy.store(
    async ({ write }) =>
      void (await write(
        async ({ db }) => await db.updateTable('pipeline_schedules').set({ next_run_at: 1 }).execute(),
      )),
  );

/** Waits until the service has tried this work, and put it off. */
const untilHeld = async (name: string): Promise<void> => {
  const isHeld = async (): Promise<boolean> =>
    await copy.store(async ({ db }) => {
      const rows = await db
        .selectFrom('work')
        .select('id')
        .where('name', '=', name)
        .where('last_error', 'like', '%the instance is a quiet copy%')
        .execute();
      return rows.length > 0;
    });
  while (!(await isHeld())) await pause(200);
};

test('a copy is quiet as soon as its database is there', async () => {
  const other = newPlace();
  try {
    const { config } = readConfig({}, other.env);
    mkdirSync(config.data, { mode: 0o700 });
    const reader = await openPlaceToRead(config, folder, other.data);
    const manifest = await findManifest(reader, undefined);
    let part = '';
    const killed = restoreBackup({
      config,
      place: reader,
      manifest,
      isQuiet: true,
      onPart: (label) => void (part = label),
      advance: () => {
        if (part === 'database restored') throw new Error('killed');
      },
    });
    await assert.rejects(killed, /killed/);
    const loud = await other.run(`backup restore ${folder}`);
    assert.equal(loud.code, 1);
    assert.match(loud.stderr, /with --quiet was interrupted here: complete it with --quiet/);
    const service = await other.serve();
    assert.match(service.stdout(), /the instance is quiet/);
    await service.end('SIGTERM');
    await ok(other, `backup restore ${folder} --quiet`);
    const completed = await other.serve();
    assert.match(completed.stdout(), /the instance is quiet/);
    const page = await (await fetch(`${completed.url}/users/sign_in`)).text();
    assert.match(page, /This is a copy, restored from the backup/);
    await completed.end('SIGTERM');
  } finally {
    await other.remove();
  }
});

/** Asks for a delivery at once, and for an import. */
const askForRequests = async (service: Running): Promise<void> => {
  const [hook] = await call(service, 'GET /projects/1/hooks');
  const test = `${service.url}/api/v4/projects/1/hooks/${hook?.id}/test/issues_events`;
  const tested = await fetch(test, { method: 'POST', headers: { 'private-token': token } });
  assert.deepEqual([tested.status, (await tested.text()).includes('quiet copy')], [422, true]);
  const { port } = receiver.address() as AddressInfo;
  const import_url = `http://127.0.0.1:${port}/theirs.git`;
  const { id } = await call(service, 'POST /projects', { name: 'Theirs', import_url });
  await untilHeld('repository.import');
  await call(service, `DELETE /projects/${id}`);
};

test('a quiet copy sends nothing, runs no schedule and makes no backup', async () => {
  await place.store(
    async ({ write }) =>
      await write(async (tx) => await enqueue(tx, 'backup.create', {}, { unique_key: 'backup.create' })),
  );
  await ok(place, `backup create --to ${folder}`);
  const text = await ok(copy, `backup restore ${folder} --quiet`);
  assert.match(text, /It sends nothing until "gantry backup activate"/);
  await makeDue();
  const env = {
    GANTRY_BACKUP_TO: folder,
    GANTRY_BACKUP_SCHEDULE: '* * * * *',
    GANTRY_SMTP_URL: 'smtp://127.0.0.1:9',
    GANTRY_MAIL_FROM: 'gantry@example.com',
    GANTRY_RUNNER_EXECUTOR: 'shell',
  };
  const service = await copy.serve('serve', { env });
  assert.match(service.stdout(), /the instance is quiet/);
  await call(service, 'POST /projects/1/issues', { title: 'On the copy' });
  await untilHeld('hooks.deliver');
  await untilHeld('schedules.due');
  await untilHeld('backup.create');
  await askForRequests(service);
  const page = await (await fetch(`${service.url}/users/sign_in`)).text();
  assert.match(page, /This is a copy, restored from the backup \d{8}T/);
  const pipelines = await call(service, 'GET /projects/1/pipelines?source=schedule');
  assert.deepEqual(pipelines, []);
  assert.deepEqual(await call(service, 'GET /runners/all'), []);
  await service.end('SIGTERM');
  assert.deepEqual(received, []);
  const refused = await copy.run(`backup create --to ${folder}`);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /this instance is a quiet copy/);
  const listed = JSON.parse(await ok(place, `backup list ${folder} --json`)) as unknown[];
  assert.equal(listed.length, 2);
});

test('once activated, it sends what has waited, and runs its schedules', async () => {
  assert.deepEqual(JSON.parse(await ok(copy, 'backup activate --json')), { activated: true });
  assert.deepEqual(JSON.parse(await ok(copy, 'backup activate --json')), { activated: false });
  await copy.store(
    async ({ write }) =>
      void (await write(async ({ db }) => await db.updateTable('work').set({ run_at: 0 }).execute())),
  );
  await makeDue();
  const service = await copy.serve('serve');
  while (received.length === 0) await pause(100);
  assert.deepEqual(received, ['Issue Hook']);
  while ((await call(service, 'GET /projects/1/pipelines?source=schedule')).length === 0) await pause(100);
  const page = await (await fetch(`${service.url}/users/sign_in`)).text();
  assert.doesNotMatch(page, /This is a copy/);
  await service.end('SIGTERM');
});

test('GANTRY_QUIET silences an instance while it is set', async () => {
  const service = await copy.serve('serve', { env: { GANTRY_QUIET: 'true' } });
  await call(service, 'POST /projects/1/issues', { title: 'Quiet' });
  await untilHeld('hooks.deliver');
  await service.end('SIGTERM');
  assert.equal(received.length, 1);
});
