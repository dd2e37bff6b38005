import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../test/support/repositories/seed_commits.ts';
import {
  type SeededProject,
  type SeededUser,
  seedMember,
  seedProject,
  seedUser,
} from '../../../test/support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
let developer: SeededUser;
let reporter: SeededUser;
let project: SeededProject;
let head: string;

before(async () => {
  gantry = await startTestService();
  [developer, reporter] = [await seedUser(gantry), await seedUser(gantry)];
  project = await place();
  head = await seedCommit(gantry, project.id, { 'README.md': 'Hello\n' });
});
after(async () => await gantry.close());

const place = async (visibility: 'public' | 'private' = 'public'): Promise<SeededProject> => {
  const made = await seedProject(gantry, { visibility });
  await seedMember(gantry, { user: developer.id, project: made.id, access_level: 30 });
  await seedMember(gantry, { user: reporter.id, project: made.id, access_level: 20 });
  return made;
};

const base = () => `/projects/${project.id}/releases`;

const api = async (line: string, json?: object, as: string | null = developer.token): Promise<Reply> =>
  await gantry.api(line, { as, ...(json && { json }) });

const release = async (tag_name: string, rest: object = {}): Promise<Reply> =>
  await api(`POST ${base()}`, { tag_name, ref: 'main', ...rest });

const getStatuses = (replies: Reply[]): number[] =>
  replies.map(({ status }) => status).toSorted((a, b) => a - b);

test('creates a release with its tag, reads, edits and deletes it, and keeps the tag', async () => {
  gantry.setTime(Date.UTC(2030, 0, 2));
  const made = await release('v1.0/rc', { name: 'First', description: '# News' });
  gantry.setTime(null);
  assert.equal(made.status, 201);
  const { body } = made;
  assert.deepEqual(
    [body.tag_name, body.name, body.description, body.created_at, body.released_at],
    ['v1.0/rc', 'First', '# News', '2030-01-02T00:00:00.000Z', '2030-01-02T00:00:00.000Z'],
  );
  assert.deepEqual([body.author.username, body.commit.id], [developer.username, head]);
  assert.deepEqual([body.assets.count, body.assets.links, body.evidences, body.milestones], [4, [], [], []]);
  assert.equal(
    body._links.self,
    `${gantry.url}/${project.full_path}/-/releases/${encodeURIComponent('v1.0/rc')}`,
  );
  const path = `${base()}/v1.0%2Frc`;
  assert.equal((await api(`GET ${path}`, undefined, null)).body.tag_name, 'v1.0/rc');
  const changed = await api(`PUT ${path}`, { name: 'Other', description: '' });
  assert.deepEqual([changed.status, changed.body.name], [200, 'Other']);
  const empty = await api(`PUT ${path}`, {});
  assert.match(empty.body.message, /^400 \(Bad request\) at least one of name, description, released_at/);
  const gone = await api(`DELETE ${path}`);
  assert.deepEqual([gone.status, gone.body.tag_name], [200, 'v1.0/rc']);
  assert.equal((await api(`GET ${path}`)).status, 404);
  assert.equal((await api(`DELETE ${path}`)).status, 404);
  assert.equal((await release('v1.0/rc', { ref: undefined })).status, 201);
});

test('allows one release per tag and requires a ref for a new tag', async () => {
  await release('once');
  const again = await release('once');
  assert.deepEqual([again.status, again.body], [409, { message: 'Release already exists' }]);
  await api(`POST /projects/${project.id}/repository/tags`, { tag_name: 'tagged', ref: 'main' });
  for (const tag of ['raced', 'tagged']) {
    const many = await Promise.all(Array.from({ length: 5 }, async () => await release(tag)));
    assert.deepEqual(getStatuses(many), [201, 409, 409, 409, 409], tag);
    const messages = new Set(many.map(({ body }) => body.message));
    assert.deepEqual(messages, new Set([undefined, 'Release already exists']), tag);
  }
  const refless = await api(`POST ${base()}`, { tag_name: 'no-ref' });
  assert.deepEqual([refless.status, refless.body], [422, { message: 'Ref is not specified' }]);
  const unknown = await release('no-such', { ref: 'nowhere' });
  assert.deepEqual([unknown.status, unknown.body], [400, { message: 'Target nowhere is invalid' }]);
  const missing = await api(`POST ${base()}`, { description: 'x' });
  assert.deepEqual(missing.body, { message: '400 (Bad request) "tag_name" not given' });
});

test('lists releases by release date and finds the latest', async () => {
  const other = await place();
  await seedCommit(gantry, other.id, { a: 'a\n' });
  const path = `/projects/${other.id}/releases`;
  assert.equal((await api(`GET ${path}/permalink/latest`)).status, 404);
  for (const [tag_name, released_at] of [
    ['b', '2020-01-01'],
    ['a', '2021-01-01'],
    ['future', '2999-01-01'],
  ]) {
    await api(`POST ${path}`, { tag_name, ref: 'main', released_at });
  }
  const tags = async (query: string) =>
    (await api(`GET ${path}${query}`)).body.map(({ tag_name }: { tag_name: string }) => tag_name);
  assert.deepEqual(await tags(''), ['future', 'a', 'b']);
  assert.deepEqual(await tags('?order_by=created_at&sort=asc'), ['b', 'a', 'future']);
  assert.deepEqual(await tags('?per_page=1&page=2'), ['a']);
  const latest = await api(`GET ${path}/permalink/latest`);
  assert.deepEqual([latest.body.tag_name, latest.body.upcoming_release], ['a', false]);
});

test('adds links with a release and later', async () => {
  const linkInput = { name: 'Package', url: 'https://example.com/p.tgz', link_type: 'package' };
  const made = await release('linked', { assets: { links: [linkInput] } });
  assert.equal(made.status, 201, made.text);
  const [link] = made.body.assets.links;
  assert.deepEqual(link, { id: link.id, ...linkInput, direct_asset_url: linkInput.url });
  assert.equal(made.body.assets.count, 5);
  const path = `${base()}/linked/assets/links`;
  const second = await api(`POST ${path}`, { name: 'Docs', url: 'https://example.com/docs' });
  assert.deepEqual([second.status, second.body.link_type], [201, 'other']);
  const listed = await api(`GET ${path}`, undefined, null);
  assert.deepEqual(
    [listed.body.map(({ name }: { name: string }) => name), listed.headers.get('x-total')],
    [['Docs', 'Package'], '2'],
  );
  const one = `${path}/${second.body.id}`;
  assert.equal((await api(`PUT ${one}`, { name: 'Manual' })).body.name, 'Manual');
  assert.equal((await api(`GET ${one}`)).body.name, 'Manual');
  const taken = await api(`PUT ${one}`, { name: 'Package' });
  assert.deepEqual([taken.status, taken.body.message], [400, { name: ['has already been taken'] }]);
  const gone = await api(`DELETE ${one}`);
  assert.deepEqual([gone.status, gone.body.name], [200, 'Manual']);
  assert.equal((await api(`GET ${one}`)).status, 404);
});

test('requires valid and unique link URLs', async () => {
  await release('strict');
  const path = `${base()}/strict/assets/links`;
  const wrong = await api(`POST ${path}`, { name: 'x', url: 'javascript:alert(1)' });
  assert.deepEqual(wrong.body.message, { url: ['is blocked: Only allowed schemes are http, https, ftp'] });
  // Random letters of four bytes compress badly and test the size limit of PostgreSQL indexes.
  const letters = Array.from(randomBytes(3_000), (byte) => String.fromCodePoint(0x1f300 + byte));
  const makeUrl = (count: number): string => `https://example.com/${letters.slice(0, count).join('')}`;
  const long = { assets: { links: [{ name: 'x', url: makeUrl(1_000) }] } };
  const tooLong = { url: ['is too long (maximum is 2048 bytes)'] };
  assert.deepEqual((await release('long', long)).body.message, tooLong);
  const added = await api(`POST ${path}`, { name: 'x', url: makeUrl(1_000) });
  assert.deepEqual([added.status, added.body.message], [400, tooLong]);
  assert.equal((await api(`POST ${path}`, { name: 'Long', url: makeUrl(507) })).status, 201);
  const link = { name: 'x', url: 'https://example.com' };
  const raced = await Promise.all(Array.from({ length: 4 }, async () => await api(`POST ${path}`, link)));
  assert.deepEqual(getStatuses(raced), [201, 400, 400, 400]);
  const twice = await release('twice', { assets: { links: [link, link] } });
  assert.deepEqual([twice.status, twice.body.message], [400, { name: ['has already been taken'] }]);
  const nameless = await release('nameless', { assets: { links: [{ url: 'https://example.com' }] } });
  assert.deepEqual(nameless.body.message, '400 (Bad request) "assets[links][name]" not given');
  for (const assets of [
    'x',
    { links: 'x' },
    { links: [1] },
    { links: [{ name: 'a\0', url: 'https://a.b' }] },
  ]) {
    assert.equal((await release('odd', { assets })).status, 400, JSON.stringify(assets));
  }
});

test('lets developers create releases and hides releases from users without code access', async () => {
  assert.equal((await api(`POST ${base()}`, { tag_name: 'x', ref: 'main' }, reporter.token)).status, 403);
  await release('guarded');
  const path = `${base()}/guarded`;
  assert.equal((await api(`PUT ${path}`, { name: 'x' }, reporter.token)).status, 403);
  assert.equal((await api(`DELETE ${path}`, undefined, reporter.token)).status, 403);
  assert.equal(
    (await api(`POST ${path}/assets/links`, { name: 'x', url: 'https://a.b' }, reporter.token)).status,
    403,
  );
  const closed = await place('private');
  const stranger = await seedUser(gantry);
  for (const path_ of ['', '/permalink/latest', '/x', '/x/assets/links']) {
    const answer = await api(`GET /projects/${closed.id}/releases${path_}`, undefined, stranger.token);
    assert.deepEqual([answer.status, answer.body.message], [404, '404 Project Not Found']);
  }
});

test('lets users release a protected tag if they may create it', async () => {
  const { store } = gantry.service.platform;
  await store.write(async (tx) => {
    const row = { project_id: project.id, name: 'stable-*', create_access_level: 40, created_at: tx.now };
    await tx.db.insertInto('protected_tags').values(row).execute();
  });
  assert.equal((await release('stable-1')).status, 403);
  assert.equal(
    (await gantry.api(`POST ${base()}`, { json: { tag_name: 'stable-1', ref: 'main' } })).status,
    201,
  );
  assert.equal((await api(`PUT ${base()}/stable-1`, { name: 'x' })).status, 403);
  assert.equal((await api(`DELETE ${base()}/stable-1`)).status, 403);
  const ofTag = `/projects/${project.id}/repository/tags/stable-1/release`;
  assert.equal((await api(`PUT ${ofTag}`, { description: 'x' })).status, 403);
  assert.equal((await gantry.api(`DELETE ${base()}/stable-1`)).status, 200);
  assert.equal((await api(`POST ${ofTag}`, { description: 'x' })).status, 403);
  assert.equal((await gantry.api(`POST ${ofTag}`, { json: { description: 'x' } })).status, 201);
});

test('requires a valid link path and validates it in linear time', async () => {
  await release('paths');
  const path = `${base()}/paths/assets/links`;
  const linked = async (filepath: string) =>
    (await api(`POST ${path}`, { name: filepath, url: `https://example.com${filepath}`, filepath })).status;
  for (const good of ['/a', '/bin/a.b-c_d', '/a/b/c9', '/.x/y']) assert.equal(await linked(good), 201, good);
  for (const bad of ['a', '/', '/a/', '/a//b', '/a.', `/${'a'.repeat(100)}!`, '/a b']) {
    assert.equal(await linked(bad), 400, bad);
  }
});
