/** The token endpoint and related endpoints, as programs use them. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import {
  type Form,
  type TestApplication,
  basic,
  callback,
  makeApplication,
  makePkce,
  postForm,
} from '../../../test/support/oauth_client.ts';
import { type SeededUser, seedUser, unique } from '../../../test/support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../../test/support/service.ts';
import { grantRequest } from './authorize.ts';
import { findApplicationByUid } from './queries.ts';

const password = 'Correct-horse-9';

let gantry: TestService;
let user: SeededUser & { email: string };
let app: TestApplication;

const makeUser = async (attributes: object = {}): Promise<SeededUser & { email: string }> => {
  const username = unique('human');
  const email = `${username}@example.com`;
  const made = await gantry.api('POST /users', {
    json: { username, name: 'Human', email, password, ...attributes },
  });
  assert.equal(made.status, 201);
  return { id: made.body.id, username, token: '', email };
};

before(async () => {
  gantry = await startTestService();
  user = await makeUser();
  app = await makeApplication(gantry);
});
after(async () => await gantry.close());
afterEach(() => gantry.setTime(null));

/** Creates a code, as a user's consent does. */
const makeCode = async (
  application: TestApplication,
  options: { challenge?: string; scopes?: string[]; user_id?: number } = {},
): Promise<string> => {
  const { platform } = gantry.service;
  const found = await findApplicationByUid(platform.store.db, application.client_id);
  assert.ok(found);
  const url = await grantRequest(
    platform,
    options.user_id ?? user.id,
    {
      application: found,
      redirect_uri: callback,
      state: null,
      scopes: options.scopes ?? ['api'],
      code_challenge: options.challenge ?? null,
    },
    gantry.url,
  );
  return new URL(url).searchParams.get('code') ?? '';
};

const token = async (form: Form, headers: Record<string, string> = {}): Promise<Reply> =>
  await postForm(gantry, '/oauth/token', form, headers);

const exchange = async (code: string, more: Form = {}, by: TestApplication = app): Promise<Reply> =>
  await token({ grant_type: 'authorization_code', code, redirect_uri: callback, ...more }, basic(by));

const give = async (scopes?: string[]): Promise<{ access_token: string; refresh_token: string }> =>
  (await exchange(await makeCode(app, scopes === undefined ? {} : { scopes }))).body;

const refresh = async (refresh_token: string, more: Form = {}): Promise<Reply> =>
  await token({ grant_type: 'refresh_token', refresh_token, ...more }, basic(app));

const whoIs = async (access: string): Promise<Reply> =>
  await gantry.api('GET /user', { as: null, headers: { authorization: `Bearer ${access}` } });

const assertRefused = (reply: Reply, error: string, status = 400): void => {
  assert.equal(reply.body?.error, error, reply.text);
  assert.equal(reply.status, status);
  assert.equal(reply.headers.get('cache-control'), 'no-store');
  assert.equal(typeof reply.body.error_description, 'string');
};

test('a code gives tokens that open the API, in header and parameter', async () => {
  const reply = await exchange(await makeCode(app));
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('cache-control'), 'no-store');
  const { access_token, refresh_token, created_at, ...rest } = reply.body;
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 7200, scope: 'api' });
  assert.match(access_token, /^gntoat-[\w-]{34}$/);
  assert.match(refresh_token, /^gntort-[\w-]{34}$/);
  assert.ok(Math.abs(created_at - Date.now() / 1000) < 60);
  assert.equal((await whoIs(access_token)).body.id, user.id);
  const byParam = await gantry.api(`GET /user?access_token=${access_token}`, { as: null });
  assert.equal(byParam.body.id, user.id);
  const both = await gantry.api(`GET /user?access_token=${access_token}`, {
    as: null,
    headers: { authorization: `Bearer ${access_token}` },
  });
  assert.equal(both.status, 400);
  assert.equal(both.body.error, 'invalid_request');
  assert.equal((await gantry.api('GET /user', { as: access_token })).status, 401);
  assert.equal((await whoIs(refresh_token)).status, 401);
});

test('the store contains neither codes nor tokens', async () => {
  const code = await makeCode(app);
  const { body } = await exchange(code);
  const { db } = gantry.service.platform.store;
  const rows = JSON.stringify([
    await db.selectFrom('tokens').selectAll().execute(),
    await db.selectFrom('oauth_grants').selectAll().execute(),
    await db.selectFrom('events').selectAll().execute(),
    await db.selectFrom('audit_events').selectAll().execute(),
  ]);
  for (const secret of [code, body.access_token, body.refresh_token, app.client_secret]) {
    assert.ok(!rows.includes(secret));
  }
});

test('the audit log records the tokens that a code gave', async () => {
  await give();
  const { body } = await gantry.api('GET /audit_events?kind=token.created');
  assert.deepEqual(body[0].details, {
    user_id: user.id,
    kind: 'oauth',
    scopes: ['api'],
    application_id: app.id,
    grant_type: 'authorization_code',
  });
});

test('a second use of a code revokes its tokens', async () => {
  const code = await makeCode(app);
  const { body } = await exchange(code);
  assertRefused(await exchange(code), 'invalid_grant');
  assert.equal((await whoIs(body.access_token)).status, 401);
  assertRefused(await refresh(body.refresh_token), 'invalid_grant');
  const audit = await gantry.api('GET /audit_events?kind=token.revoked');
  assert.equal(audit.body[0].details.reason, 'its code was used twice');
});

test('of ten concurrent uses of a code, at most one gets tokens', async () => {
  const code = await makeCode(app);
  const replies = await Promise.all(Array.from({ length: 10 }, async () => await exchange(code)));
  assert.equal(replies.filter(({ status }) => status === 200).length, 1);
});

test('a code expires after ten minutes', async () => {
  const code = await makeCode(app);
  gantry.setTime(Date.now() + 10 * 60_000 + 1);
  assertRefused(await exchange(code), 'invalid_grant');
});

test('accepts a code only with its redirect URI and application', async () => {
  const other = await makeApplication(gantry);
  const code = await makeCode(app);
  assertRefused(await exchange(code, { redirect_uri: `${callback}/` }), 'invalid_grant');
  assertRefused(await exchange(code, {}, other), 'invalid_grant');
  assertRefused(await token({ grant_type: 'authorization_code', code }, basic(app)), 'invalid_request');
  assertRefused(await exchange('gntoac-nothing'), 'invalid_grant');
  assert.equal((await exchange(code)).status, 200);
});

test('requires the verifier of a challenge', async () => {
  const { verifier, challenge } = makePkce();
  const code = await makeCode(app, { challenge });
  assertRefused(await exchange(code), 'invalid_grant');
  assertRefused(await exchange(code, { code_verifier: makePkce().verifier }), 'invalid_grant');
  assertRefused(await exchange(code, { code_verifier: challenge }), 'invalid_grant');
  assert.equal((await exchange(code, { code_verifier: verifier })).status, 200);
});

test('refuses a verifier without a challenge', async () => {
  const code = await makeCode(app);
  assertRefused(await exchange(code, { code_verifier: makePkce().verifier }), 'invalid_grant');
});

test('a public application presents only its id', async () => {
  const open = await makeApplication(gantry, { confidential: false });
  const { verifier, challenge } = makePkce();
  const code = await makeCode(open, { challenge });
  const form = { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier };
  const { client_id } = open;
  assertRefused(await token({ ...form, client_id, client_secret: 'wrong' }), 'invalid_client', 401);
  const reply = await token({ ...form, client_id });
  assert.equal(reply.status, 200);
  const { refresh_token } = reply.body;
  const again = await token({ grant_type: 'refresh_token', refresh_token, client_id });
  assert.equal(again.status, 200);
});

test('authenticates a client by Basic or by the form, not both', async () => {
  const { client_id, client_secret } = app;
  const form = async () => ({
    grant_type: 'authorization_code',
    code: await makeCode(app),
    redirect_uri: callback,
  });
  assert.equal((await token({ ...(await form()), client_id, client_secret })).status, 200);
  assertRefused(await token({ ...(await form()), client_secret }), 'invalid_client', 401);
  assertRefused(await token({ ...(await form()), client_id }), 'invalid_client', 401);
  const wrong = await token({ ...(await form()), client_id, client_secret: `${client_secret}x` });
  assertRefused(wrong, 'invalid_client', 401);
  assert.match(wrong.headers.get('www-authenticate') ?? '', /^Basic /);
  assertRefused(await token({ ...(await form()), client_secret }, basic(app)), 'invalid_request');
  assertRefused(await token({ ...(await form()), client_id: 'other' }, basic(app)), 'invalid_request');
  const bad = { authorization: `Basic ${Buffer.from('%ZZ:%ZZ').toString('base64')}` };
  assertRefused(await token(await form(), bad), 'invalid_client', 401);
});

test('answers unreadable requests with invalid_request', async () => {
  assertRefused(await token({}), 'invalid_request');
  assertRefused(await token({ grant_type: 'client_credentials' }), 'unsupported_grant_type');
  const twice = 'grant_type=password&username=a&username=b&password=c';
  assertRefused(await postForm(gantry, '/oauth/token', twice), 'invalid_request');
  const nul = await postForm(gantry, '/oauth/token', 'grant_type=password&username=a%00b&password=c');
  assertRefused(nul, 'invalid_request');
  const json = { 'content-type': 'application/json' };
  assertRefused(await postForm(gantry, '/oauth/token', '{', json), 'invalid_request');
  const inQuery = `/oauth/token?grant_type=password&username=${user.username}&password=${password}`;
  assertRefused(await postForm(gantry, inQuery, ''), 'invalid_request');
});

test('answers junk with a client error on every endpoint', async () => {
  const junk = [
    '%00',
    '%ED%A0%80',
    '%FF',
    'a%0d%0ab',
    '[]',
    '{}',
    "'%22%5C",
    'x'.repeat(9_000),
    '%F0%9F%92%A9',
  ];
  const names = [
    'grant_type',
    'client_id',
    'client_secret',
    'code',
    'refresh_token',
    'token',
    'scope',
    'username',
  ];
  const bodies = [
    ...junk,
    ...names.flatMap((name) => junk.map((value) => `grant_type=password&password=x&${name}=${value}`)),
    ...names.map((name) => `grant_type=refresh_token&${name}[a][b]=c`),
    '{"grant_type":"password","username":"\\ud800","password":"x"}',
    '{"grant_type":{"a":1},"token":[1]}',
  ];
  const basics = ['', 'Og==', 'AAA6AAA=', '!!!', Buffer.from('a:\0').toString('base64')];
  let time = Date.now();
  for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/introspect']) {
    for (const [at, body] of bodies.entries()) {
      const basicText = basics[at % basics.length];
      // Counting failures is tested elsewhere.
      gantry.setTime((time += 120_000));
      const type = body.startsWith('{"') ? 'application/json' : 'application/x-www-form-urlencoded';
      const headers = { 'content-type': type, ...(at % 2 === 0 && { authorization: `Basic ${basicText}` }) };
      const { status, text } = await postForm(gantry, path, body, headers);
      const known = path === '/oauth/revoke' ? [200, 400, 401] : [400, 401];
      assert.ok(known.includes(status), `${path} ${body}: ${status} ${text}`);
      assert.equal(typeof JSON.parse(text), 'object');
    }
  }
  for (const value of junk) {
    const response = await fetch(`${gantry.url}/oauth/token/info?access_token=${value.slice(0, 4_000)}`);
    assert.equal(response.status, 401, value);
  }
});

test('a refresh token gives new tokens once and revokes the old ones', async () => {
  const first = await give(['api', 'read_user']);
  const second = await refresh(first.refresh_token);
  assert.equal(second.status, 200);
  assert.equal(second.body.scope, 'api read_user');
  assert.equal((await whoIs(first.access_token)).status, 401);
  assert.equal((await whoIs(second.body.access_token)).status, 200);

  assertRefused(await refresh(first.refresh_token), 'invalid_grant');
  assert.equal((await whoIs(second.body.access_token)).status, 401);
  assertRefused(await refresh(second.body.refresh_token), 'invalid_grant');
});

test('a refresh narrows scopes and never widens them', async () => {
  const first = await give(['api', 'read_user']);
  assertRefused(await refresh(first.refresh_token, { scope: 'api sudo' }), 'invalid_scope');
  const less = await refresh(first.refresh_token, { scope: 'read_user' });
  assert.equal(less.body.scope, 'read_user');
});

test('a refresh token works for its application only, until ninety days unused', async () => {
  const other = await makeApplication(gantry);
  const { refresh_token } = await give();
  const form = { grant_type: 'refresh_token', refresh_token };
  assertRefused(await token(form, basic(other)), 'invalid_grant');
  assertRefused(await token(form), 'invalid_grant');
  gantry.setTime(Date.now() + 89 * 86_400_000);
  const { body } = await refresh(refresh_token);
  gantry.setTime(Date.now() + (89 + 91) * 86_400_000);
  assertRefused(await refresh(body.refresh_token), 'invalid_grant');
});

test('an access token expires after two hours', async () => {
  const { access_token } = await give();
  gantry.setTime(Date.now() + 7_200_000 + 1_000);
  const reply = await whoIs(access_token);
  assert.equal(reply.status, 401);
  assert.deepEqual(reply.body, { message: '401 Unauthorized' });
  assert.match(reply.headers.get('www-authenticate') ?? '', /error="invalid_token".*Token is expired/);
});

test('a token permits what its scopes allow', async () => {
  const { access_token } = await give(['read_user']);
  assert.equal((await whoIs(access_token)).status, 200);
  const reply = await gantry.api('POST /projects', {
    as: null,
    headers: { authorization: `Bearer ${access_token}` },
    json: { name: 'x' },
  });
  assert.equal(reply.status, 403);
  assert.equal(reply.body.error, 'insufficient_scope');
});

test('revokes a token with its refresh token; an unknown token is no error', async () => {
  const { access_token, refresh_token } = await give();
  const revoke = async (form: Form, by?: TestApplication) =>
    await postForm(gantry, '/oauth/revoke', form, by && basic(by));
  const other = await makeApplication(gantry);
  assertRefused(await revoke({ token: access_token }, other), 'unauthorized_client', 403);
  assertRefused(await revoke({ token: access_token }), 'unauthorized_client', 403);
  assertRefused(await revoke({}, app), 'invalid_request');
  assert.equal((await whoIs(access_token)).status, 200);
  const done = await revoke({ token: access_token }, app);
  assert.deepEqual([done.status, done.body], [200, {}]);
  const dead = await whoIs(access_token);
  assert.equal(dead.status, 401);
  assert.match(dead.headers.get('www-authenticate') ?? '', /Token was revoked/);
  assertRefused(await refresh(refresh_token), 'invalid_grant');
  assert.equal((await revoke({ token: 'gntoat-unknown' }, app)).status, 200);
  const { body } = await gantry.api('GET /audit_events?kind=token.revoked');
  assert.deepEqual([body[0].actor_id, body[0].details.reason], [user.id, 'by the client']);

  const next = await give();
  assert.equal((await revoke({ token: next.refresh_token }, app)).status, 200);
  assert.equal((await whoIs(next.access_token)).status, 401);
});

test('introspection describes a client’s own tokens only', async () => {
  const { access_token, refresh_token } = await give(['api', 'read_user']);
  const look = async (text: string, by: TestApplication | null = app) =>
    await postForm(gantry, '/oauth/introspect', { token: text }, by === null ? {} : basic(by));
  const { body } = await look(access_token);
  const { exp, iat, ...rest } = body;
  assert.deepEqual(rest, {
    active: true,
    scope: 'api read_user',
    client_id: app.client_id,
    username: user.username,
    token_type: 'Bearer',
    sub: String(user.id),
  });
  assert.equal(exp - iat, 7200);
  assert.equal((await look(refresh_token)).body.active, true);
  const none = { active: false };
  assert.deepEqual((await look(access_token, await makeApplication(gantry))).body, none);
  assert.deepEqual((await look('gntoat-unknown')).body, none);
  assertRefused(await look(access_token, null), 'invalid_client', 401);
  const open = await makeApplication(gantry, { confidential: false });
  assertRefused(await look(access_token, open), 'unauthorized_client', 403);
  gantry.setTime(Date.now() + 7_200_000 + 1_000);
  assert.deepEqual((await look(access_token)).body, none);
});

test('a token describes itself', async () => {
  const { access_token } = await give();
  const info = async (headers: Record<string, string>, query = '') => {
    const response = await fetch(`${gantry.url}/oauth/token/info${query}`, { headers });
    // oxlint-disable-next-line typescript/no-explicit-any -- asserted on
    return { status: response.status, body: (await response.json()) as any, headers: response.headers };
  };
  const { status, body } = await info({ authorization: `Bearer ${access_token}` });
  assert.equal(status, 200);
  const { created_at: _at, expires_in, expires_in_seconds, ...rest } = body;
  assert.ok(expires_in > 7_190 && expires_in <= 7_200 && expires_in_seconds === expires_in);
  const { client_id: uid } = app;
  assert.deepEqual(rest, {
    resource_owner_id: user.id,
    scope: ['api'],
    application: { uid },
    scopes: ['api'],
  });
  assert.equal((await info({}, `?access_token=${access_token}`)).status, 200);
  const none = await info({});
  assert.deepEqual([none.status, none.body.error], [401, 'invalid_token']);
  assert.match(none.headers.get('www-authenticate') ?? '', /^Bearer .*invalid_token/);
});

const asPassword = async (form: Form = {}, headers: Record<string, string> = {}): Promise<Reply> =>
  await token({ grant_type: 'password', username: user.username, password, ...form }, headers);

test('grants tokens for a password, with and without a client', async () => {
  const reply = await asPassword();
  assert.equal(reply.status, 200);
  assert.equal(reply.body.scope, 'api');
  assert.equal((await whoIs(reply.body.access_token)).body.id, user.id);
  assert.equal((await asPassword({ username: user.email })).status, 200);
  assert.equal((await asPassword({}, basic(app))).status, 200);
  assertRefused(await asPassword({ client_id: app.client_id, client_secret: 'x' }), 'invalid_client', 401);
  assert.equal((await asPassword({ scope: 'read_user' })).body.scope, 'read_user');
  assertRefused(await asPassword({ scope: 'openid' }), 'invalid_scope');
  assertRefused(await asPassword({ scope: 'read_api' }, basic(app)), 'invalid_scope');
  assertRefused(await asPassword({ password: '' }), 'invalid_request');
  const { refresh_token, access_token } = reply.body;
  assert.equal((await token({ grant_type: 'refresh_token', refresh_token })).status, 200);
  const ended = (await asPassword()).body;
  assert.equal((await postForm(gantry, '/oauth/revoke', { token: ended.access_token })).status, 200);
  assert.equal((await whoIs(ended.access_token)).status, 401);
  assert.equal((await whoIs(access_token)).status, 401);
});

test('accepts the password grant as JSON', async () => {
  const json = JSON.stringify({ grant_type: 'password', username: user.username, password });
  const reply = await postForm(gantry, '/oauth/token', json, { 'content-type': 'application/json' });
  assert.equal(reply.status, 200);
});

test('grants sudo to administrators only', async () => {
  const plain = await asPassword({ scope: 'api sudo' });
  assert.equal(plain.body.scope, 'api');
  assertRefused(await asPassword({ scope: 'sudo' }), 'invalid_scope');
  const chief = await makeUser({ admin: true });
  const { body } = await asPassword({ username: chief.username, scope: 'api sudo' });
  assert.equal(body.scope, 'api sudo');
  const headers = { authorization: `Bearer ${body.access_token}`, sudo: user.username };
  assert.equal((await gantry.api('GET /user', { as: null, headers })).body.id, user.id);
});

test('answers a wrong password, an unknown user and a blocked user alike', async () => {
  const blocked = await makeUser();
  const before = (await asPassword({ username: blocked.username })).body;
  await gantry.api(`POST /users/${blocked.id}/block`);
  const replies = [
    await asPassword({ password: 'Wrong-horse-9' }),
    await asPassword({ username: 'nobody-of-this-name' }),
    await asPassword({ username: blocked.username }),
  ];
  for (const reply of replies) assertRefused(reply, 'invalid_grant');
  assert.equal(new Set(replies.map(({ text }) => text)).size, 1);

  await gantry.api(`POST /users/${blocked.id}/unblock`);
  assert.equal((await whoIs(before.access_token)).status, 401);
  const { refresh_token } = before;
  assertRefused(await token({ grant_type: 'refresh_token', refresh_token }), 'invalid_grant');
});

test('refuses the password grant for accounts with a second factor', async () => {
  const { id, username } = await makeUser();
  assert.equal((await asPassword({ username })).status, 200);
  await gantry.service.platform.store.write(
    async ({ db }) =>
      await db.updateTable('users').set({ two_factor_enabled: 1 }).where('id', '=', id).execute(),
  );
  const refused = await asPassword({ username });
  assertRefused(refused, 'invalid_grant');
  assert.equal(refused.text, (await asPassword({ username, password: 'Wrong-horse-9' })).text);
});

test('refuses the code of a user who was blocked meanwhile', async () => {
  const { id } = await seedUser(gantry);
  const code = await makeCode(app, { user_id: id });
  await gantry.api(`POST /users/${id}/block`);
  await gantry.api(`POST /users/${id}/unblock`);
  assertRefused(await exchange(code), 'invalid_grant');
});

test('deleting a user or an application deletes the tokens', async () => {
  const gone = await makeUser();
  const { access_token } = (await asPassword({ username: gone.username })).body;
  assert.equal((await gantry.api(`DELETE /users/${gone.id}`)).status, 204);
  assert.equal((await whoIs(access_token)).status, 401);
  const other = await makeApplication(gantry);
  const { body } = await exchange(await makeCode(other), {}, other);
  assert.equal((await whoIs(body.access_token)).status, 200);
  await gantry.api(`DELETE /applications/${other.id}`);
  assert.equal((await whoIs(body.access_token)).status, 401);
});

test('beyond a thousand tokens per application, a new one revokes the oldest', async () => {
  const { id: user_id } = await makeUser();
  const { store } = gantry.service.platform;
  const old = Array.from({ length: 999 }, (_, at) => ({
    user_id,
    kind: 'oauth' as const,
    name: 'old',
    token_hash: `${user_id} access ${at}`,
    refresh_hash: `${user_id} refresh ${at}`,
    scopes: '["api"]',
    created_at: Date.now(),
    dies_at: Date.now(),
    application_id: app.id,
    family: `${user_id} ${at}`,
  }));
  const first = (await exchange(await makeCode(app, { user_id }))).body;
  await store.write(async ({ db }) => {
    for (const row of old) await db.insertInto('tokens').values(row).execute();
  });
  const other = await makeApplication(gantry);
  const independent = (await exchange(await makeCode(other, { user_id }), {}, other)).body;
  assert.equal((await whoIs(first.access_token)).status, 200);
  const last = (await exchange(await makeCode(app, { user_id }))).body;
  assert.equal((await whoIs(first.access_token)).status, 401);
  for (const { access_token } of [independent, last]) assert.equal((await whoIs(access_token)).status, 200);
});

test('a new password revokes password grants and keeps those of applications', async () => {
  const { id: user_id, username } = await makeUser();
  const got = (await asPassword({ username })).body;
  const granted = (await exchange(await makeCode(app, { user_id }))).body;
  await gantry.api(`PUT /users/${user_id}`, { json: { password: 'Another-horse-9' } });
  assert.equal((await whoIs(got.access_token)).status, 401);
  const { refresh_token } = got;
  assertRefused(await token({ grant_type: 'refresh_token', refresh_token }), 'invalid_grant');
  assert.equal((await whoIs(granted.access_token)).status, 200);
});

test('refuses passwords when password sign-in is off, and says so in the metadata', async () => {
  const grants = async (): Promise<string[]> => {
    const response = await fetch(`${gantry.url}/.well-known/oauth-authorization-server`);
    assert.equal(response.headers.get('content-type'), 'application/json');
    // oxlint-disable-next-line typescript/no-explicit-any -- asserted on
    const body = (await response.json()) as any;
    assert.equal(body.issuer, gantry.url);
    assert.equal(body.token_endpoint, `${gantry.url}/oauth/token`);
    assert.deepEqual(body.code_challenge_methods_supported, ['S256']);
    return body.grant_types_supported;
  };
  assert.ok((await grants()).includes('password'));
  await gantry.api('PUT /application/settings', { json: { password_authentication_enabled: false } });
  assertRefused(await asPassword(), 'invalid_grant');
  assert.ok(!(await grants()).includes('password'));
  await gantry.api('PUT /application/settings', { json: { password_authentication_enabled: true } });
  assert.equal((await asPassword()).status, 200);
});

test('pages of other sites may request tokens without a cookie', async () => {
  const response = await fetch(`${gantry.url}/oauth/token`, {
    method: 'OPTIONS',
    headers: { origin: 'https://spa.example.com', 'access-control-request-method': 'POST' },
  });
  assert.equal(response.headers.get('access-control-allow-origin'), '*');
  assert.equal(response.headers.get('access-control-allow-credentials'), null);
});

test('refuses sign-ins after ten wrong passwords in a minute', async () => {
  const { username } = await makeUser();
  const replies: Reply[] = [];
  for (let time = 0; time < 12; time += 1)
    replies.push(await asPassword({ username, password: `no-${time}` }));
  const last = replies.at(-1);
  assert.equal(last?.status, 429);
  assert.ok(Number(last?.headers.get('retry-after')) > 0);
});
