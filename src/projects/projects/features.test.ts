/** Features and topics of projects: stored, shown and enforced. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../test/support/repositories/seed_commits.ts';
import { seedMember, seedProject, seedUser, unique } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const put = async (id: number, json: object) => await gantry.api(`PUT /projects/${id}`, { json });

test('shows unsupported features as off and reports writes as ignored', async () => {
  const json = {
    name: unique('honest'),
    lfs_enabled: true,
    wiki_enabled: true,
    wiki_access_level: 'enabled',
    packages_enabled: true,
    container_registry_enabled: true,
  };
  const made = await gantry.api('POST /projects', { json });
  assert.equal(made.status, 201);
  assert.equal(
    made.headers.get('gantry-ignored-parameters'),
    'lfs_enabled, wiki_enabled, wiki_access_level, packages_enabled, container_registry_enabled',
  );
  const { body } = made;
  const { lfs_enabled, wiki_enabled, packages_enabled, container_registry_enabled } = body;
  assert.deepEqual(
    [lfs_enabled, wiki_enabled, packages_enabled, container_registry_enabled],
    [false, false, false, false],
  );
  const { wiki_access_level, pages_access_level, container_registry_access_level } = body;
  assert.deepEqual(
    [wiki_access_level, pages_access_level, container_registry_access_level],
    ['disabled', 'disabled', 'disabled'],
  );
  // A request with nothing else is no error of the client.
  assert.equal((await put(body.id, { lfs_enabled: true })).status, 200);
});

/** Names in the section of the documentation about absent features: those of a line. */
const documentedNames = (line: RegExp): string[] => {
  const page = readFileSync(new URL('../../../docs/clients.md', import.meta.url), 'utf8');
  const text = page.split('\n').find((one) => line.test(one)) ?? '';
  return [...text.matchAll(/`(\w+_(?:access_level|enabled))`/g)].map(([, name]) => name ?? '');
};

test('answers that absent features are off, as documented, whatever a client sets', async () => {
  const levels = documentedNames(/^- `wiki_access_level`, .* are always `disabled`/);
  const switches = documentedNames(/^- the switches .* are always `false`/);
  assert.ok(levels.length > 8 && switches.length > 2, `${levels.length} ${switches.length}`);
  const set = (level: string) =>
    Object.fromEntries([...levels.map((name) => [name, level]), ...switches.map((name) => [name, true])]);
  const off = Object.fromEntries([
    ...levels.map((name) => [name, 'disabled']),
    ...switches.map((name) => [name, false]),
  ]);
  const made = await gantry.api('POST /projects', { json: { name: unique('absent'), ...set('enabled') } });
  const edited = await put(made.body.id, { description: 'kept', ...set('private') });
  const read = await gantry.api(`GET /projects/${made.body.id}`);
  assert.equal(read.body.description, 'kept');
  for (const [{ status, body, headers }, expected] of [
    [made, 201],
    [edited, 200],
    [read, 200],
  ] as const) {
    assert.equal(status, expected);
    assert.deepEqual(Object.fromEntries(Object.keys(off).map((name) => [name, body[name]])), off);
    const ignored = headers.get('gantry-ignored-parameters')?.split(', ') ?? [];
    assert.deepEqual(ignored.toSorted(), body === read.body ? [] : Object.keys(off).toSorted());
  }
  // What the documentation does not name is kept.
  const kept = Object.keys(read.body).filter(
    (name) => name.endsWith('_access_level') && off[name] === undefined && !/container_registry/.test(name),
  );
  const disabled = Object.fromEntries(kept.map((name) => [name, 'disabled']));
  const { body, headers } = await put(made.body.id, disabled);
  assert.deepEqual(Object.fromEntries(kept.map((name) => [name, body[name]])), disabled);
  assert.equal(headers.get('gantry-ignored-parameters'), null);
});

test('answers that groups have no wiki, whatever a client sets', async () => {
  const path = unique('absent');
  const made = await gantry.api('POST /groups', { json: { name: path, path, wiki_access_level: 'enabled' } });
  const edited = await gantry.api(`PUT /groups/${path}`, {
    json: { wiki_access_level: 'private', name: 'x' },
  });
  for (const { body, headers } of [made, edited]) {
    assert.equal(body.wiki_access_level, 'disabled');
    assert.equal(headers.get('gantry-ignored-parameters'), 'wiki_access_level');
  }
});

test('enforces the access levels of forks, releases and environments', async () => {
  const { id } = await seedProject(gantry);
  await seedCommit(gantry, id, { 'README.md': 'x' });
  const [stranger, developer] = [await seedUser(gantry), await seedUser(gantry)];
  await seedMember(gantry, { user: developer.id, project: id, access_level: 30 });
  const release = { tag_name: 'v1', ref: 'main', name: 'One' };
  assert.equal((await gantry.api(`POST /projects/${id}/releases`, { json: release })).status, 201);
  const requestStatus = async (as: string, line: string) => (await gantry.api(line, { as })).status;
  const [forking, releases, environments] = [
    `POST /projects/${id}/fork`,
    `GET /projects/${id}/releases`,
    `GET /projects/${id}/environments`,
  ];
  assert.equal(await requestStatus(stranger.token, releases), 200);
  const level = (value: string) => ({
    forking_access_level: value,
    releases_access_level: value,
    environments_access_level: value,
  });
  const { body } = await put(id, level('private'));
  assert.deepEqual({ ...body, ...level('private') }, body);
  assert.equal(await requestStatus(stranger.token, forking), 403);
  assert.equal(await requestStatus(stranger.token, releases), 403);
  assert.equal(await requestStatus(developer.token, releases), 200);
  assert.equal(await requestStatus(developer.token, environments), 200);
  await put(id, level('disabled'));
  for (const line of [forking, releases, environments])
    assert.equal(await requestStatus(developer.token, line), 403);
  await put(id, level('enabled'));
  assert.equal(await requestStatus(developer.token, forking), 201);
});

test('stores topics under both names and filters projects by them', async () => {
  const [rust, web] = [unique('Rust'), unique('web')];
  const named = async (query: string) =>
    (await gantry.api(`GET /projects?${query}`)).body.map(({ id }: { id: number }) => id);
  const json = { name: unique('labelled'), tag_list: [rust, web, rust.toUpperCase()] };
  const { body } = await gantry.api('POST /projects', { json });
  assert.deepEqual(
    [body.topics, body.tag_list],
    [
      [rust, web],
      [rust, web],
    ],
  );
  assert.deepEqual(await named(`topic=${rust.toUpperCase()}`), [body.id]);
  assert.deepEqual(await named(`topic=${rust},${web}`), [body.id]);
  assert.deepEqual(await named(`topic=${rust},${unique('none')}`), []);
  const changed = await put(body.id, { topics: `${web},x` });
  assert.deepEqual(changed.body.topics, [web, 'x']);
  assert.deepEqual(await named(`topic=${rust}`), []);
  assert.deepEqual((await put(body.id, { description: 'y' })).body.topics, [web, 'x']);
  assert.deepEqual((await put(body.id, { topics: '' })).body.topics, []);
  assert.deepEqual((await put(body.id, { topics: ['x'.repeat(256)] })).body, {
    message: { topics: ['is invalid'] },
  });
});
