import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { freshKey, sampleKeys } from '../../../test/support/repositories/ssh_keys.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const add = async (as: string, json: object) => await gantry.api('POST /user/keys', { as, json });

const setting = async (json: object): Promise<void> =>
  assert.equal((await gantry.api('PUT /application/settings', { json })).status, 200);

const audited = async (kind: string, id: number) =>
  (await gantry.api(`GET /audit_events?kind=${kind}&target_type=Key&target_id=${id}`)).body;

test('a user adds, reads and deletes a key', async () => {
  const { id, token } = await seedUser(gantry);
  const sample = sampleKeys.rsa2048;
  const { status, body } = await add(token, { title: 'Laptop', key: sample.text });
  assert.equal(status, 201);
  assert.match(body.created_at, /^\d{4}-/);
  assert.deepEqual(body, {
    id: body.id,
    title: 'Laptop',
    key: sample.text,
    fingerprint: sample.md5,
    fingerprint_sha256: `SHA256:${sample.sha256}`,
    created_at: body.created_at,
    expires_at: null,
    usage_type: 'auth_and_signing',
    last_used_at: null,
  });
  const list = await gantry.api('GET /user/keys', { as: token });
  assert.deepEqual([list.body, list.headers.get('x-total')], [[body], '1']);
  assert.deepEqual((await gantry.api(`GET /user/keys/${body.id}`, { as: token })).body, body);
  const [created] = await audited('key.created', body.id);
  assert.deepEqual([created.actor_id, created.details.user_id], [id, id]);
  assert.equal((await gantry.api(`DELETE /user/keys/${body.id}`, { as: token })).status, 204);
  assert.deepEqual((await gantry.api('GET /user/keys', { as: token })).body, []);
  assert.equal((await audited('key.deleted', body.id)).length, 1);
  assert.equal((await add(token, { key: sample.text })).status, 201);
});

test('stores and shows the usage type of a key', async () => {
  const { id, token } = await seedUser(gantry);
  for (const usage_type of ['auth', 'signing', 'auth_and_signing']) {
    const { status, body, headers } = await add(token, { title: 'x', key: freshKey(), usage_type });
    assert.deepEqual([status, body.usage_type], [201, usage_type]);
    assert.equal(headers.get('gantry-ignored-parameters'), null);
    const shown = await gantry.api(`GET /users/${id}/keys/${body.id}`, { as: token });
    assert.equal(shown.body.usage_type, usage_type);
  }
  const json = { title: 'x', key: freshKey(), usage_type: 'signing' };
  assert.equal((await gantry.api(`POST /users/${id}/keys`, { json })).body.usage_type, 'signing');
  const { status, body } = await add(token, { title: 'x', key: freshKey(), usage_type: 'all' });
  assert.deepEqual([status, body], [400, { message: { usage_type: ['does not have a valid value'] } }]);
});

test('uses the comment of a key as its default title', async () => {
  const { token } = await seedUser(gantry);
  assert.equal((await add(token, { key: freshKey('me at work') })).body.title, 'me at work');
  assert.equal((await add(token, { title: '  ', key: freshKey('me') })).body.title, 'me');
  const { status, body } = await add(token, { key: freshKey() });
  assert.deepEqual([status, body], [400, { message: { title: ["can't be blank"] } }]);
});

test('refuses anything but a public key', async () => {
  const { token } = await seedUser(gantry);
  const cases: [object, unknown][] = [
    [{}, '400 (Bad request) "key" not given'],
    [{ key: ' ' }, { key: ["can't be blank"] }],
    [{ key: 'ssh-rsa AAAA' }, { key: ['is invalid'] }],
    [{ key: `${freshKey()}\n${freshKey()}` }, { key: ['is invalid'] }],
    [{ key: `ssh-rsa ${'A'.repeat(5000)}` }, { key: ['is too long (maximum is 5000 characters)'] }],
    [{ key: ['ssh-rsa'] }, { key: ['is invalid'] }],
    [{ key: freshKey('me'), expires_at: '2001-01-01T00:00:00Z' }, { key: ['has expired'] }],
  ];
  for (const [json, message] of cases) {
    const { status, body } = await add(token, { title: 'x', ...json });
    assert.deepEqual([status, body], [400, { message }]);
  }
});

test('a key is stored only once, with any comment', async () => {
  const [one, other] = [await seedUser(gantry), await seedUser(gantry)];
  const key = freshKey();
  assert.equal((await add(one.token, { title: 'a', key })).status, 201);
  for (const { token } of [one, other]) {
    const { status, body } = await add(token, { title: 'b', key: `${key} other` });
    assert.deepEqual([status, body], [400, { message: { fingerprint: ['has already been taken'] } }]);
  }
});

test('of two users who add a key concurrently, one succeeds', async () => {
  const users = await Promise.all([seedUser(gantry), seedUser(gantry), seedUser(gantry)]);
  const key = freshKey('race');
  const statuses = await Promise.all(users.map(async ({ token }) => (await add(token, { key })).status));
  assert.equal(statuses.filter((status) => status === 201).length, 1);
  assert.equal(statuses.filter((status) => status === 400).length, 2);
});

test('of concurrent deletions of a key, one succeeds', async () => {
  const { token: as } = await seedUser(gantry);
  const { id } = (await add(as, { key: freshKey('a') })).body;
  const gone = await Promise.all([1, 2, 3].map(() => gantry.api(`DELETE /user/keys/${id}`, { as })));
  assert.deepEqual(
    gone.map(({ status }) => status).toSorted((a, b) => a - b),
    [204, 404, 404],
  );
  assert.equal((await audited('key.deleted', id)).length, 1);
});

test('hides the keys of other users', async () => {
  const [one, other] = [await seedUser(gantry), await seedUser(gantry)];
  const { body } = await add(one.token, { key: freshKey('mine') });
  for (const line of [`GET /user/keys/${body.id}`, `DELETE /user/keys/${body.id}`]) {
    const reply = await gantry.api(line, { as: other.token });
    assert.deepEqual([reply.status, reply.body], [404, { message: '404 Key Not Found' }]);
  }
  const wrongUser = await gantry.api(`DELETE /users/${other.id}/keys/${body.id}`);
  assert.deepEqual([wrongUser.status, wrongUser.body], [404, { message: '404 Key Not Found' }]);
});

test('shows signed-in users the keys of a user without comments', async () => {
  const [one, other] = [await seedUser(gantry), await seedUser(gantry)];
  const key = freshKey();
  const { body } = await add(one.token, { title: 'Laptop', key: `${key} me@example.com` });
  const { status, body: list } = await gantry.api(`GET /users/${one.id}/keys`, { as: other.token });
  const { id, created_at } = body;
  assert.deepEqual(
    [status, list],
    [200, [{ id, title: 'Laptop', key, created_at, expires_at: null, usage_type: 'auth_and_signing' }]],
  );
  assert.equal((await gantry.api('GET /users/999999/keys', { as: other.token })).status, 404);
});

test('administrators add, delete and look up keys of users', async () => {
  const { id, username } = await seedUser(gantry);
  const sample = sampleKeys.ecdsa384;
  const made = await gantry.api(`POST /users/${id}/keys`, { json: { key: sample.text } });
  assert.equal(made.status, 201);
  const queries = [
    `/keys/${made.body.id}`,
    `/keys?fingerprint=${encodeURIComponent(`SHA256:${sample.sha256}`)}`,
    `/keys?fingerprint=${sample.md5}`,
    `/keys?fingerprint=MD5:${sample.md5.toUpperCase()}`,
  ];
  for (const path of queries) {
    const { status, body } = await gantry.api(`GET ${path}`);
    assert.deepEqual([status, body.id, body.user.username], [200, made.body.id, username], path);
  }
  assert.equal((await gantry.api('GET /keys?fingerprint=abc')).status, 400);
  assert.equal((await gantry.api('GET /keys')).status, 400);
  const unknown = await gantry.api(`GET /keys?fingerprint=${sample.md5.replaceAll('e', 'f')}`);
  assert.deepEqual([unknown.status, unknown.body], [404, { message: '404 Key Not Found' }]);
  assert.equal((await gantry.api(`DELETE /users/${id}/keys/${made.body.id}`)).status, 204);
  assert.equal((await gantry.api(`GET /keys/${made.body.id}`)).status, 404);
  assert.equal((await gantry.api('POST /users/999999/keys', { json: { key: freshKey('x') } })).status, 404);
});

test('a deleted user’s key may be added by another user', async () => {
  const [one, other] = [await seedUser(gantry), await seedUser(gantry)];
  const key = freshKey('moves');
  await add(one.token, { key });
  assert.equal((await gantry.api(`DELETE /users/${one.id}`)).status, 204);
  assert.equal((await add(other.token, { key })).status, 201);
});

test('a token with read_user reads keys and adds none', async () => {
  const { token } = await seedUser(gantry, { scopes: ['read_user'] });
  assert.equal((await gantry.api('GET /user/keys', { as: token })).status, 200);
  assert.equal((await add(token, { key: freshKey('x') })).status, 403);
});

const restricted = [
  ['rsa_key_restriction', 'rsa1024', 2048, 'length must be at least 2048 bits'],
  ['dsa_key_restriction', 'dsa', 2048, 'length must be at least 2048 bits'],
  ['ecdsa_key_restriction', 'ecdsa256', 384, 'length must be at least 384 bits'],
  ['ecdsa_key_restriction', 'skEcdsa', 521, 'length must be at least 521 bits'],
  ['rsa_key_restriction', 'rsa1024', -1, 'type is forbidden. Must be DSA, ECDSA, or ED25519'],
  ['dsa_key_restriction', 'dsa', -1, 'type is forbidden. Must be RSA, ECDSA, or ED25519'],
  ['ecdsa_key_restriction', 'ecdsa521', -1, 'type is forbidden. Must be RSA, DSA, or ED25519'],
  ['ed25519_key_restriction', 'ed25519', -1, 'type is forbidden. Must be RSA, DSA, or ECDSA'],
  ['ed25519_key_restriction', 'skEd25519', -1, 'type is forbidden. Must be RSA, DSA, or ECDSA'],
] as const;

for (const [name, sample, least, text] of restricted) {
  test(`with ${name} ${least} the instance refuses ${sample}`, async () => {
    const { token } = await seedUser(gantry);
    const { text: key } = sampleKeys[sample];
    await setting({ [name]: least });
    const { status, body } = await add(token, { key });
    await setting({ [name]: 0 });
    assert.deepEqual([status, body], [400, { message: { key: [text] } }]);
    assert.equal((await add(token, { key })).status, 201);
    const [{ id }] = (await gantry.api('GET /user/keys', { as: token })).body;
    await gantry.api(`DELETE /user/keys/${id}`, { as: token });
  });
}

test('any signed-in user reads a single key of a user', async () => {
  const [one, other] = [await seedUser(gantry), await seedUser(gantry)];
  const { body } = await add(one.token, { key: freshKey('secret@home') });
  const path = `GET /users/${one.id}/keys/${body.id}`;
  const read = await gantry.api(path, { as: other.token });
  assert.equal(read.status, 200);
  assert.deepEqual(Object.keys(read.body), ['id', 'title', 'key', 'created_at', 'expires_at', 'usage_type']);
  assert.ok(!read.body.key.includes('secret@home'));
  assert.equal((await gantry.api(path, { as: null })).status, 401);
  const ofOther = await gantry.api(`GET /users/${other.id}/keys/${body.id}`, { as: other.token });
  assert.deepEqual([ofOther.status, ofOther.body], [404, { message: '404 Key Not Found' }]);
});

test('a deploy key found by its fingerprint names its projects', async () => {
  const [one, other] = [await seedProject(gantry), await seedProject(gantry)];
  const json = { key: freshKey('deploys'), can_push: true };
  const { body } = await gantry.api(`POST /projects/${one.id}/deploy_keys`, { json });
  assert.equal((await gantry.api(`POST /projects/${other.id}/deploy_keys/${body.id}/enable`)).status, 201);
  const query = encodeURIComponent(body.fingerprint_sha256);
  for (const path of [`/keys?fingerprint=${query}`, `/keys/${body.id}`]) {
    const found = (await gantry.api(`GET ${path}`)).body;
    assert.equal(found.user, null);
    const projects = found.deploy_keys_projects.map((link: Record<string, unknown>) => [
      link['deploy_key_id'],
      link['project_id'],
      link['can_push'],
      typeof link['created_at'],
    ]);
    assert.deepEqual(projects, [
      [body.id, one.id, true, 'string'],
      [body.id, other.id, false, 'string'],
    ]);
  }
  const own = await add((await seedUser(gantry)).token, { key: freshKey('own') });
  assert.ok(!('deploy_keys_projects' in (await gantry.api(`GET /keys/${own.body.id}`)).body));
});
