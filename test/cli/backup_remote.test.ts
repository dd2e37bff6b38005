/** Backups of an instance with a repository storage behind a `gantry gitd`, and restores into another one. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { newSmallDisk } from '../support/machine/small_disk.ts';
import { newWorkTree, repositoryUrl } from '../support/repositories/git.ts';
import { newPlace, type Place, type Running } from './gantry.ts';

const token = 'glpat-remote-0123456789';
/** More bytes than a small database has. */
const large = 40 * 2 ** 20;
const secret = { GANTRY_GITD_SECRET: 's'.repeat(32) };
const places: Place[] = [];
let folder: string;

type Site = { place: Place; service: Running };

/** A place whose storage "far" is behind a gitd of its own. */
const newSite = async (): Promise<Place> => {
  const place = newPlace();
  places.push(place);
  const gitd = await place.serve(`gitd --listen 127.0.0.1:0 --root ${place.data}-far`, { env: secret });
  Object.assign(place.env, secret, { GANTRY_REPOSITORY_STORAGES: `default,far=${gitd.url}` });
  return place;
};

const serve = async (place: Place): Promise<Site> => ({
  place,
  service: await place.serve('serve', { env: { GANTRY_ROOT_TOKEN: token } }),
});

const api = async ({ service }: Site, line: string, body?: object) => {
  const [method = '', path = ''] = line.split(' ');
  const response = await fetch(`${service.url}/api/v4${path}`, {
    method,
    headers: { 'private-token': token, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.ok(response.ok, `${line}: ${response.status} ${text}`);
  return JSON.parse(text);
};

const ok = async (place: Place, line: string): Promise<string> => {
  const { code, stdout, stderr } = await place.run(line);
  assert.equal(code, 0, `${line}: ${stderr}${stdout}`);
  return stdout;
};

const commit = async (site: Site, project: string, file: string) =>
  await api(site, `POST /projects/root%2F${project}/repository/commits`, {
    branch: 'main',
    commit_message: file,
    actions: [{ action: 'create', file_path: file, content: file }],
  });

const titles = async (site: Site, project: string): Promise<string[]> =>
  (await api(site, `GET /projects/root%2F${project}/repository/commits`)).map(
    ({ title }: { title: string }) => title,
  );

const storageOf = async (site: Site, project: string): Promise<string> =>
  (await api(site, `GET /projects/root%2F${project}`)).repository_storage;

let site: Site;
before(async () => {
  site = await serve(await newSite());
  folder = join(dirname(site.place.data), 'backups');
  for (const name of ['near', 'far']) {
    const repository_storages = [name === 'far' ? 'far' : 'default'];
    await api(site, 'PUT /application/settings', { repository_storages });
    await api(site, 'POST /projects', { name });
    await commit(site, name, 'first');
  }
  assert.equal(await storageOf(site, 'far'), 'far');
});
after(async () => {
  for (const place of places) await place.remove();
});

test('are made, verified and restored into another storage', async () => {
  await ok(site.place, `backup create --to ${folder}`);
  await commit(site, 'far', 'second');
  const made = JSON.parse(await ok(site.place, `backup create --to ${folder} --verify --json`));
  assert.deepEqual([made.counts.repositories, made.problems], [2, []]);
  const other = await newSite();
  await ok(other, `backup restore ${folder}`);
  const restored = await serve(other);
  assert.deepEqual(await titles(restored, 'far'), ['second', 'first']);
  assert.deepEqual(await titles(restored, 'near'), ['first']);
  await commit(restored, 'far', 'third');
  await restored.service.end('SIGTERM');
  assert.match(await ok(other, 'doctor --thorough'), /repositories: every written repository is there/);
});

test('restore one project into the remote storage', async () => {
  const copy = JSON.parse(
    await ok(site.place, `backup restore ${folder} --project root/far --as root/copy --json`),
  );
  assert.equal(copy.full_path, 'root/copy');
  assert.deepEqual([await titles(site, 'copy'), await storageOf(site, 'copy')], [['second', 'first'], 'far']);
  await commit(site, 'copy', 'third');
});

test('follow a repository that moves there and back', async () => {
  for (const to of ['default', 'far']) {
    await ok(site.place, `storage move --project root/far --to ${to} --wait`);
    assert.equal(await storageOf(site, 'far'), to);
    await commit(site, 'far', `in ${to}`);
    await ok(site.place, `backup create --to ${folder} --verify`);
  }
  assert.deepEqual(await titles(site, 'far'), ['in far', 'in default', 'second', 'first']);
});

test('need room for the repositories of the remote storage, too', async (t) => {
  await api(site, 'PUT /application/settings', { repository_storages: ['far'] });
  await api(site, 'POST /projects', { name: 'large' });
  const tree = await newWorkTree();
  writeFileSync(join(tree.path, 'large'), randomBytes(large));
  await tree.commit('large', {});
  await tree.git('push', '-q', repositoryUrl(site.service.url, 'root/large', token), 'main');
  await tree.remove();
  const to = join(dirname(site.place.data), 'small');
  mkdirSync(to);
  const disk = newSmallDisk(to, 1);
  if (typeof disk === 'string') return t.skip(disk);
  try {
    const { code, stderr } = await site.place.run(`backup create --to ${to}`);
    assert.equal(code, 1);
    const [, size = '0'] = /the backup needs about (\S+) MiB in/.exec(stderr) ?? [];
    assert.ok(Number(size) * 2 ** 20 > large, stderr);
  } finally {
    disk.remove();
  }
});
