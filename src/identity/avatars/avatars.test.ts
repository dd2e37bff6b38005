/** Avatars over the API: what is taken, where they are shown, who may see them, and what is left behind. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, test } from 'node:test';
import {
  type SeededProject,
  type SeededUser,
  seedGroup,
  seedIssue,
  seedMember,
  seedProject,
  seedUser,
  unique,
} from '../../../test/support/seed.ts';
import { openVisitor } from '../../../test/support/visitor.ts';
import { type TestService, rootToken, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
let owner: SeededUser;
let project: SeededProject;

before(async () => {
  gantry = await startTestService();
  owner = await seedUser(gantry);
  project = await seedProject(gantry, { visibility: 'private' });
  await seedMember(gantry, { user: owner.id, project: project.id, access_level: 50 });
});
after(async () => await gantry.close());

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const pictures = {
  'image/png': png,
  'image/jpeg': Buffer.from('ffd8ffe000104a464946', 'hex'),
  'image/gif': Buffer.from('GIF89a\u0001\u0000'),
  'image/webp': Buffer.from('RIFF\u0001\u0000\u0000\u0000WEBPVP8 '),
  'image/vnd.microsoft.icon': Buffer.from('00000100010010100000', 'hex'),
};

// oxlint-disable-next-line typescript/no-explicit-any -- answers of several shapes
type Sent = { status: number; body: any; ignored: string | null };

const send = async (
  line: string,
  fields: Record<string, string | Buffer>,
  token: string = rootToken,
): Promise<Sent> => {
  const [method = '', path = ''] = line.split(' ');
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') body.append(name, value);
    else body.append(name, new Blob([new Uint8Array(value)]), 'picture.svg');
  }
  const headers = { 'private-token': token };
  const response = await fetch(`${gantry.url}/api/v4${path}`, { method, headers, body });
  const ignored = response.headers.get('gantry-ignored-parameters');
  return { status: response.status, body: await response.json(), ignored };
};

const load = async (url: string, headers: Record<string, string> = {}): Promise<Response> => {
  const response = await fetch(url, { headers });
  return response;
};

test('takes pictures by their content and serves them so that nothing in them runs', async () => {
  for (const [type, content] of Object.entries(pictures)) {
    const { status, body } = await send('PUT /user/avatar', { avatar: content }, owner.token);
    assert.equal(status, 200, type);
    assert.match(body.avatar_url, /\/uploads\/-\/system\/user\/avatar\/\d+\/[0-9a-f]{32}\.\w+$/);
    const response = await load(body.avatar_url);
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), content);
    const { headers } = response;
    assert.equal(headers.get('content-type'), type);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('content-security-policy'), "default-src 'none'; sandbox");
    assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable');
    const known = await load(body.avatar_url, { 'if-none-match': headers.get('etag') ?? '' });
    assert.equal(known.status, 304);
  }
});

test('refuses what is no picture, what is too large, and no file', async () => {
  const refuse = async (avatar: string | Buffer): Promise<unknown> => {
    const { status, body } = await send('PUT /user/avatar', { avatar }, owner.token);
    assert.equal(status, 400);
    return body.message;
  };
  const unsupported = { avatar: ['file format is not supported. Use PNG, JPEG, GIF, WebP or ICO'] };
  for (const text of ['<svg xmlns="http://www.w3.org/2000/svg"/>', '<html>', '\u0089PNG', '']) {
    assert.deepEqual(await refuse(Buffer.from(text)), unsupported);
  }
  const large = Buffer.concat([png, Buffer.alloc(200 * 1024)]);
  assert.deepEqual(await refuse(large), { avatar: ['is too big (should be at most 200 KiB)'] });
  assert.deepEqual(await refuse('picture.png'), { avatar: ['is invalid'] });
  assert.equal((await gantry.api('PUT /user/avatar', { json: { avatar: { name: 'a' } } })).status, 400);
  assert.equal((await gantry.api('PUT /user/avatar', { json: {} })).status, 400);
});

test('shows the avatar of a user in every record that shows the user', async () => {
  const author = await seedUser(gantry);
  await seedMember(gantry, { user: author.id, project: project.id, access_level: 40 });
  const { iid } = await seedIssue(gantry, { project: project.id, author: author.id, assignees: [author.id] });
  const at = `/projects/${project.id}`;
  const as = author.token;
  await gantry.api(`POST ${at}/issues/${iid}/notes`, { as, json: { body: 'a' } });
  const readAll = async (): Promise<unknown[]> => [
    (await gantry.api('GET /user', { as })).body.avatar_url,
    (await gantry.api(`GET /users/${author.id}`, { as: owner.token })).body.avatar_url,
    (await gantry.api(`GET /users?username=${author.username}`)).body[0].avatar_url,
    (await gantry.api(`GET ${at}/issues/${iid}`)).body.author.avatar_url,
    (await gantry.api(`GET ${at}/issues?iids[]=${iid}`)).body[0].assignees[0].avatar_url,
    (await gantry.api(`GET ${at}/issues/${iid}/notes`)).body[0].author.avatar_url,
    (await gantry.api(`GET ${at}/members/${author.id}`)).body.avatar_url,
    (await gantry.api(`GET /namespaces/${author.username}`, { as })).body.avatar_url,
  ];
  assert.match(String((await readAll())[0]), /gravatar/);
  for (const content of [png, pictures['image/gif']]) {
    const { body } = await send(`PUT /users/${author.id}`, { avatar: content });
    assert.match(body.avatar_url, /\/uploads\//);
    assert.deepEqual(new Set(await readAll()), new Set([body.avatar_url]));
  }
  assert.equal((await send(`PUT /users/${author.id}`, { avatar: '' })).status, 200);
  assert.match(String((await readAll())[3]), /gravatar/);
  assert.equal(new Set(await readAll()).size, 1);
});

test('creates users, groups and projects with an avatar', async () => {
  const name = unique('made');
  const user = { name, username: name, email: `${name}@example.com`, password: 'correct horse battery' };
  for (const [line, fields] of [
    ['POST /users', user],
    ['POST /groups', { name: `${name}-group`, path: `${name}-group` }],
    ['POST /projects', { name }],
  ] as const) {
    const { status, body, ignored } = await send(line, { ...fields, avatar: png, other: png });
    assert.deepEqual([status, ignored], [201, 'other'], line);
    assert.match(body.avatar_url, /^http.*\/uploads\/-\/system\//, line);
    const headers = { 'private-token': rootToken };
    assert.equal((await load(body.avatar_url, headers)).status, 200, line);
    const refused = await send(line, { ...fields, avatar: Buffer.from('x') });
    assert.equal(refused.status, 400, line);
  }
});

test('shows avatars of projects and groups to those who see them', async () => {
  const group = await seedGroup(gantry, { visibility: 'private' });
  const stranger = await seedUser(gantry);
  for (const [path, id] of [
    ['projects', project.id],
    ['groups', group.id],
  ] as const) {
    assert.equal((await gantry.api(`GET /${path}/${id}/avatar`)).status, 404);
    const { status, body } = await send(`PUT /${path}/${id}`, { avatar: png });
    assert.equal(status, 200);
    const shown = await load(body.avatar_url, { 'private-token': rootToken });
    assert.equal(shown.headers.get('cache-control'), 'private, max-age=31536000, immutable');
    const direct = await load(`${gantry.url}/api/v4/${path}/${id}/avatar`, { 'private-token': rootToken });
    assert.deepEqual(Buffer.from(await direct.arrayBuffer()), png);
    assert.equal(direct.headers.get('cache-control'), 'private, no-cache');
    for (const headers of [{}, { 'private-token': stranger.token }]) {
      assert.equal((await load(body.avatar_url, headers as Record<string, string>)).status, 404);
    }
    const other = body.avatar_url.replace(/[0-9a-f]{32}/, '0'.repeat(32));
    assert.equal((await load(other, { 'private-token': rootToken })).status, 404);
  }
  const listed = await gantry.api(`GET /projects/${project.id}`, { as: owner.token });
  assert.match(listed.body.avatar_url, /\/system\/project\//);
  const refused = await send(`PUT /projects/${project.id}`, { avatar: png }, stranger.token);
  assert.equal(refused.status, 404);
});

test('shows the avatar of a private project to a browser that is signed in', async () => {
  const { body } = await send(`PUT /projects/${project.id}`, { avatar: png });
  const path = body.avatar_url.slice(gantry.url.length);
  const visitor = openVisitor(gantry);
  assert.equal((await visitor.get(path)).status, 404);
  const { username } = owner;
  await gantry.api(`PUT /users/${owner.id}`, { json: { password: 'correct horse battery' } });
  await visitor.signIn(username, 'correct horse battery');
  assert.equal((await visitor.get(path)).status, 200);
  const page = await visitor.get(`/${project.full_path}`);
  assert.ok(page.text.includes(`src="${body.avatar_url}"`));
});

test('removes the bytes of avatars that are replaced or whose owners are deleted', async () => {
  const group = await seedGroup(gantry);
  const inGroup = await seedProject(gantry, { namespace: group.id });
  const user = await seedUser(gantry);
  const urls = [
    (await send('PUT /user/avatar', { avatar: png }, user.token)).body.avatar_url,
    (await send(`PUT /groups/${group.id}`, { avatar: png })).body.avatar_url,
    (await send(`PUT /projects/${inGroup.id}`, { avatar: png })).body.avatar_url,
    (await send('PUT /user/avatar', { avatar: png }, user.token)).body.avatar_url,
  ];
  const { blobs, store } = gantry.service.platform;
  const digest = hash('sha256', png);
  const isStored = async (): Promise<boolean[]> =>
    await Promise.all(
      urls.map(async (url) => {
        const [, key = ''] = /([0-9a-f]{32})\./.exec(url) ?? [];
        return await blobs.has(`avatars/${key}`, digest);
      }),
    );
  await gantry.service.worker.drain();
  assert.deepEqual(await isStored(), [false, true, true, true]);
  assert.equal((await gantry.api(`DELETE /users/${user.id}`)).status, 204);
  assert.equal((await gantry.api(`DELETE /groups/${group.id}`)).status, 202);
  const isWaiting = async (): Promise<boolean> => {
    await store.write(async ({ db, now }) => await db.updateTable('work').set({ run_at: now }).execute());
    await gantry.service.worker.drain();
    return (await isStored()).includes(true);
  };
  for (let tries = 0; tries < 20 && (await isWaiting()); tries += 1);
  assert.deepEqual(await isStored(), [false, false, false, false]);
});

test('names no key of an avatar in the change log', async () => {
  const { body } = await send(`PUT /projects/${project.id}`, { avatar: png, description: 'Changed' });
  const [, key = '-'] = /([0-9a-f]{32})\./.exec(body.avatar_url) ?? [];
  const { db } = gantry.service.platform.store;
  const events = await db.selectFrom('events').select('data').where('project_id', '=', project.id).execute();
  const texts = events.map(({ data }) => data);
  assert.ok(texts.some((text) => text.includes('"avatar":[]')));
  assert.ok(texts.every((text) => !text.includes(key)));
});

test('finds the avatar of a public e-mail address, and else that of the avatar service', async () => {
  const { username, token } = await seedUser(gantry);
  const email = `${username}@example.com`;
  const find = async (query: string): Promise<string | null> =>
    (await gantry.api(`GET /avatar?${query}`, { as: null })).body.avatar_url;
  const service = /^http:\/\/www\.gravatar\.com\/avatar\/[0-9a-f]{32}\?s=40&d=identicon$/;
  await send('PUT /user/avatar', { avatar: png }, token);
  assert.match(String(await find(`email=${email}&size=40`)), service);
  const { id } = (await gantry.api('GET /user', { as: token })).body;
  await gantry.api(`PUT /users/${id}`, { json: { public_email: email } });
  assert.match(String(await find(`email=${email.toUpperCase()}&size=40`)), /\/uploads\//);
  assert.match(String(await find('email=nobody@example.com&size=40')), service);
  await gantry.api('PUT /application/settings', { json: { gravatar_enabled: false } });
  assert.equal(await find('email=nobody@example.com'), null);
  await gantry.api('PUT /application/settings', { json: { gravatar_enabled: true } });
  assert.equal((await gantry.api('GET /avatar?email=a&size=0')).status, 400);
});
