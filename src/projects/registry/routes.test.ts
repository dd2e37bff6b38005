import assert from 'node:assert/strict';
import { createPublicKey, hash, verify } from 'node:crypto';
import { after, before, test } from 'node:test';
import { moreToken } from '../../../test/access/people.ts';
import { seedGroup, seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, rootToken, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService({ GANTRY_REGISTRY: 'registry.example.com' });
});
after(async () => await gantry.close());

const basic = (password: string, login = 'anybody'): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`,
});

const ask = async (scopes: string[], headers: Record<string, string> = {}, more = '') => {
  const query = new URLSearchParams([
    ['service', 'registry.example.com'],
    ...scopes.map((scope) => ['scope', scope]),
  ] as [string, string][]);
  const response = await fetch(`${gantry.url}/jwt/auth?${query}${more}`, { headers });
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
};

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

/** Lists the granted access as `name:actions`. */
const granted = async (scopes: string[], token: string | null): Promise<string[]> => {
  const { status, body } = await ask(scopes, token === null ? {} : basic(token));
  assert.equal(status, 200);
  const access: { type: string; name: string; actions: string[] }[] = claimsOf(body.token).access;
  assert.ok(access.every(({ type }) => type === 'repository'));
  return access.map(({ name, actions }) => `${name}:${actions.join()}`);
};

test('signs a token with libtrust’s key id, subject and lifetime', async () => {
  const { username, token } = await seedUser(gantry);
  gantry.setTime(Date.UTC(2030, 0, 2, 3, 4, 5));
  const { status, headers, body } = await ask([], basic(token, username));
  gantry.setTime(null);
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(body).toSorted(), ['access_token', 'expires_in', 'issued_at', 'token']);
  assert.equal(body.access_token, body.token);
  assert.deepEqual([body.expires_in, body.issued_at], [300, '2030-01-02T03:04:05.000Z']);
  assert.equal(headers.get('cache-control'), 'private, no-store');

  const [head = '', payload = '', signature = ''] = body.token.split('.');
  const key = createPublicKey(gantry.service.platform.secrets.registry_key);
  const digest = hash('sha256', key.export({ type: 'spki', format: 'der' }), 'buffer');
  const { kid, ...rest } = JSON.parse(Buffer.from(head, 'base64url').toString());
  assert.deepEqual(rest, { typ: 'JWT', alg: 'ES256' });
  assert.match(kid, /^(?:[A-Z2-7]{4}:){11}[A-Z2-7]{4}$/);
  const bits = [...kid.replaceAll(':', '')]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  assert.equal(BigInt(`0b${bits}`), BigInt(`0x${digest.subarray(0, 30).toString('hex')}`));
  const signed = Buffer.from(`${head}.${payload}`);
  const bytes = Buffer.from(signature, 'base64url');
  assert.ok(verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, bytes));

  const { jti, ...claims } = claimsOf(body.token);
  const issued = Date.UTC(2030, 0, 2, 3, 4, 5) / 1000;
  assert.match(jti, /^[0-9a-f]{32}$/);
  assert.deepEqual(claims, {
    iss: 'gantry-issuer',
    sub: username,
    aud: 'registry.example.com',
    exp: issued + 300,
    nbf: issued - 5,
    iat: issued,
    access: [],
  });
});

test('container_registry_token_expire_delay sets the lifetime in minutes', async () => {
  const json = { container_registry_token_expire_delay: 7 };
  assert.equal((await gantry.api('PUT /application/settings', { json })).status, 200);
  const { body } = await ask([], basic(rootToken));
  const { exp, iat } = claimsOf(body.token);
  assert.deepEqual([body.expires_in, exp - iat], [420, 420]);
  await gantry.api('PUT /application/settings', { json: { container_registry_token_expire_delay: 5 } });
});

test('grants what the role allows', async () => {
  const group = await seedGroup(gantry);
  const place = { namespace: group.id };
  const open = await seedProject(gantry, { ...place, visibility: 'public' });
  const internal = await seedProject(gantry, { ...place, visibility: 'internal' });
  const hidden = await seedProject(gantry, { ...place, visibility: 'private' });
  const all = [open, internal, hidden];
  const roles = { none: 0, guest: 10, reporter: 20, developer: 30, master: 40 };
  const tokens: Record<string, string | null> = { anonymous: null, admin: rootToken };
  for (const [role, access_level] of Object.entries(roles)) {
    const { id, token } = await seedUser(gantry);
    tokens[role] = token;
    if (access_level > 0) await seedMember(gantry, { user: id, group: group.id, access_level });
  }
  tokens['external'] = (await seedUser(gantry, { external: 1 })).token;
  const scopes = all.map(({ full_path }) => `repository:${full_path}:pull,push,delete,*`);
  const expected: Record<string, (string | null)[]> = {
    anonymous: ['pull', null, null],
    external: ['pull', null, null],
    none: ['pull', 'pull', null],
    guest: ['pull', 'pull', null],
    reporter: ['pull', 'pull', 'pull'],
    developer: ['pull,push', 'pull,push', 'pull,push'],
    master: ['pull,push,delete,*', 'pull,push,delete,*', 'pull,push,delete,*'],
    admin: ['pull,push,delete,*', 'pull,push,delete,*', 'pull,push,delete,*'],
  };
  for (const [name, actions] of Object.entries(expected)) {
    const expected = actions.flatMap((one, at) => (one === null ? [] : [`${all[at]?.full_path}:${one}`]));
    assert.deepEqual(await granted(scopes, tokens[name] ?? null), expected, name);
  }
});

test('an image belongs to the nearest project above it', async () => {
  const { token } = await seedUser(gantry);
  const group = await seedGroup(gantry);
  const inner = await seedGroup(gantry, { parent: group.id, path: 'app' });
  const open = await seedProject(gantry, { namespace: group.id, path: 'tools' });
  const hidden = await seedProject(gantry, { namespace: inner.id, path: 'web', visibility: 'private' });
  const pull = (path: string): string => `repository:${path}:pull`;
  assert.deepEqual(await granted([pull(`${open.full_path}/cli/alpine`)], token), [
    `${open.full_path}/cli/alpine:pull`,
  ]);
  assert.deepEqual(await granted([pull(`${hidden.full_path}/cli`)], token), []);
  assert.deepEqual(await granted([pull(`${hidden.full_path}/cli`)], rootToken), [
    `${hidden.full_path}/cli:pull`,
  ]);
  assert.deepEqual(await granted([pull(group.path), pull(`${group.path}/nothing`)], token), []);
});

test('limits archived projects and those without a registry', async () => {
  const [off, archived] = [await seedProject(gantry), await seedProject(gantry, { archived: 1 })];
  await gantry.api(`PUT /projects/${off.id}`, { json: { container_registry_enabled: false } });
  const scopes = [off, archived].map(({ full_path }) => `repository:${full_path}:pull,push`);
  assert.deepEqual(await granted(scopes, rootToken), [`${archived.full_path}:pull`]);
});

test('accepts repeated and space-separated scopes and ignores invalid ones', async () => {
  const [one, two] = [await seedProject(gantry), await seedProject(gantry)];
  const both = [`repository:${one.full_path}:pull`, `repository:${two.full_path}:push`];
  const answer = [`${one.full_path}:pull`, `${two.full_path}:push`];
  assert.deepEqual(await granted(both, rootToken), answer);
  assert.deepEqual(await granted([both.join(' ')], rootToken), answer);
  assert.deepEqual(
    await granted([`repository:${one.full_path}:pull`, `repository:${one.full_path}:push`], rootToken),
    [`${one.full_path}:pull,push`],
  );
  const none = [
    'registry:catalog:*',
    `repository:${one.full_path}`,
    `repository:${one.full_path}:constructor`,
    `repository:${one.full_path}:`,
    `repository:../${one.full_path}:pull`,
    `repository:${one.full_path.toUpperCase()}:pull`,
    `project:${one.full_path}:pull`,
    '',
  ];
  assert.deepEqual(await granted(none, rootToken), []);
  assert.equal((await ask(Array.from({ length: 21 }, () => both[0] ?? ''))).status, 400);
});

test('a read-only token pulls and does not push', async () => {
  const { id } = await seedUser(gantry, { admin: 1 });
  const project = await seedProject(gantry);
  const scope = [`repository:${project.full_path}:pull,push`];
  const reader = await moreToken(gantry, id, { scopes: ['read_api'] });
  assert.deepEqual(await granted(scope, reader), [`${project.full_path}:pull`]);
});

test('answers all wrong credentials alike in the registry’s format', async () => {
  const user = await seedUser(gantry);
  const blocked = await seedUser(gantry, { state: 'blocked' });
  const wrong = [
    basic('wrong', user.username),
    basic(blocked.token),
    basic(await moreToken(gantry, user.id, { revoked: true })),
    basic(await moreToken(gantry, user.id, { expires_at: '2017-01-01' })),
    basic(await moreToken(gantry, user.id, { scopes: ['read_user'] })),
    { authorization: 'Basic' },
    { authorization: 'Basic !!!' },
    { authorization: `Basic ${Buffer.from('no colon').toString('base64')}` },
    { authorization: `Bearer ${user.token}` },
  ];
  for (const headers of wrong) {
    const { status, body, headers: answer } = await ask([], headers);
    assert.equal(status, 401);
    assert.equal(answer.get('www-authenticate'), 'Basic realm="Gantry"');
    assert.deepEqual(body, { errors: [{ code: 'UNAUTHORIZED', message: 'HTTP Basic: Access denied' }] });
  }
});

test('accepts a password while password sign-in is on', async () => {
  const username = 'docker-user';
  const password = 'correct horse battery';
  const json = { username, password, name: 'Docker', email: 'docker@example.com' };
  assert.equal((await gantry.api('POST /users', { json })).status, 201);
  const right = basic(password, username);
  const { status, body } = await ask([], right);
  assert.deepEqual([status, claimsOf(body.token).sub], [200, username]);
  const set = async (password_authentication_enabled: boolean): Promise<void> =>
    void (await gantry.api('PUT /application/settings', { json: { password_authentication_enabled } }));
  await set(false);
  assert.equal((await ask([], right)).status, 401);
  await set(true);
  assert.equal((await ask([], right)).status, 200);
});

test('refuses a password if a second factor is required', async () => {
  const username = 'careful-user';
  const password = 'correct horse battery';
  const json = { username, password, name: 'Careful', email: 'careful@example.com' };
  const { body: user } = await gantry.api('POST /users', { json });
  await gantry.service.platform.store.write(async ({ db }) => {
    await db.updateTable('users').set({ two_factor_enabled: 1 }).where('id', '=', user.id).execute();
  });
  assert.equal((await ask([], basic(password, username))).status, 401);
  const token = await moreToken(gantry, user.id);
  assert.equal((await ask([], basic(token, username))).status, 200);
});

test('refuses tokens for other services', async () => {
  for (const query of ['service=other', '']) {
    const { status } = await fetch(`${gantry.url}/jwt/auth?${query}`);
    assert.equal(status, query === '' ? 400 : 404);
  }
});

test('ignores other parameters', async () => {
  const more = '&account=me&client_id=docker&offline_token=true&private_token=wrong';
  assert.equal((await ask([], {}, more)).status, 200);
});
