/** A folder in use is refused to a second process, and `gantry adopt` takes over folders of other instances. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { type Ended, type Place, newPlace } from './gantry.ts';

const shared = mkdtempSync(join(tmpdir(), 'gantry-shared-'));
after(() => rmSync(shared, { recursive: true, force: true }));

const places: Place[] = [];
afterEach(async () => {
  for (const place of places.splice(0)) await place.remove();
});

const add = (): Place => {
  const place = newPlace();
  places.push(place);
  return place;
};

const refused = ({ code, stderr }: Ended, line: RegExp): void => {
  assert.equal(code, 1, stderr);
  assert.match(stderr, /^gantry: [^\n]+\n$/);
  assert.match(stderr, line);
};

const secret = { GANTRY_GITD_SECRET: 's'.repeat(32) };
const inUse = /another Gantry uses the repository storage \S+: stop it, or let one "gantry gitd" serve/;

test('refuses a storage in use to a second service, to adopt and to gitd', async () => {
  const env = { GANTRY_REPOSITORY_STORAGES: `default=${join(shared, 'one')}` };
  const first = add();
  const running = await first.serve('serve', { env });
  const second = add();
  refused(await second.run('serve', { env }), inUse);
  refused(await second.run('adopt storage:default', { env }), inUse);
  const gitd = `gitd --listen 127.0.0.1:0 --root ${join(shared, 'one')}`;
  refused(await second.run(gitd, { env: secret }), inUse);
  await running.end('SIGKILL');
  await (await first.serve('serve', { env })).end('SIGTERM');
});

test('refuses a storage served by a gitd to a second gitd, until the first was killed', async () => {
  const place = add();
  const line = `gitd --listen 127.0.0.1:0 --root ${join(shared, 'two')}`;
  const running = await place.serve(line, { env: secret });
  refused(await place.run(line, { env: secret }), inUse);
  await running.end('SIGKILL');
  await (await place.serve(line, { env: secret })).end('SIGTERM');
});

test('refuses a data folder in use to a second service and to adopt', async () => {
  const place = add();
  const running = await place.serve();
  const line = /another Gantry runs on \S+: stop it, or name another folder with --data/;
  refused(await place.run('serve'), line);
  refused(await place.run('adopt blobs'), line);
  await running.end('SIGTERM');
});

test('takes over parts of another instance, and names those that exist', async () => {
  const place = add();
  await (await place.serve()).end('SIGTERM');
  const secretsFile = join(place.data, 'secrets.json');
  const { instance } = JSON.parse(readFileSync(secretsFile, 'utf8')) as { instance: string };
  const markers = ['blobs', 'repositories/default'].map((folder) =>
    join(place.data, folder, 'gantry-instance'),
  );
  for (const marker of markers) writeFileSync(marker, '00000000-0000-4000-8000-000000000000\n');
  const unknown = await place.run('adopt storage:big');
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /unknown part storage:big; use one of secrets, blobs, storage:default/);
  refused(
    await place.run('adopt blobs'),
    /belongs to the instance 0{8}-.*run "gantry adopt storage:default"/,
  );
  const { code, stdout } = await place.run('adopt blobs storage:default --json');
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout), { instance, adopted: ['blobs', 'storage:default'] });
  for (const marker of markers) assert.equal(readFileSync(marker, 'utf8'), `${instance}\n`);
  rmSync(secretsFile);
  refused(await place.run('serve'), /secrets\.json is missing.*gantry adopt secrets/);
  const adopted = await place.run('adopt secrets');
  assert.equal(adopted.stdout, `secrets now belongs to the instance ${instance}\n`);
  await (await place.serve()).end('SIGTERM');
});
