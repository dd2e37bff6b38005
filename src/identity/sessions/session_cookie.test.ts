/** What a session cookie permits in the API. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { seedProject, seedUser } from '../../../test/support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../../test/support/service.ts';
import { deriveCsrfToken } from '../../core/access/credentials/session_token.ts';
import { updateUser } from '../users/update.ts';
import { startSession } from './start_session.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const source = { ip: '10.0.0.1', userAgent: 'a browser' };

const signedIn = async (attributes: Parameters<typeof seedUser>[1] = {}) => {
  const user = await seedUser(gantry, attributes);
  const { platform } = gantry.service;
  const start = async () =>
    await startSession(platform, { user_id: user.id, provider: null, source, replaced: null });
  return { ...user, start, cookie: await start() };
};

const call = async (line: string, cookie: string, headers: Record<string, string> = {}): Promise<Reply> =>
  await gantry.api(line, {
    as: null,
    headers: { cookie: `a=b; _service_session=${cookie}; c=d`, ...headers },
  });

const csrf = (cookie: string) => ({ 'x-csrf-token': deriveCsrfToken(cookie) });

const put = async (json: object) =>
  assert.equal((await gantry.api('PUT /application/settings', { json })).status, 200);

test('a cookie permits reading', async () => {
  const { cookie, username } = await signedIn();
  const { status, body } = await call('GET /user', cookie);
  assert.equal(status, 200);
  assert.equal(body.username, username);
  assert.equal(body.last_sign_in_at, body.current_sign_in_at);
  assert.notEqual(body.last_sign_in_at, null);
  assert.equal((await call('HEAD /user', cookie)).status, 200);
  assert.equal((await call('GET /user', randomBytes(32).toString('base64url'))).status, 401);
  assert.equal((await call('GET /user', 'short')).status, 401);
});

test('a cookie writes only with the CSRF token of its own session', async () => {
  const [own, other] = [await signedIn(), await signedIn()];
  const { id } = await seedProject(gantry, { visibility: 'public' });
  const write = async (headers: object, form?: string): Promise<number> => {
    const cookie = { cookie: `_service_session=${own.cookie}` };
    const line = `POST /projects/${id}/issues?title=x`;
    const { status } = await gantry.api(line, {
      as: null,
      headers: { ...cookie, ...headers },
      ...(form !== undefined && { form }),
    });
    return status;
  };
  assert.equal(await write({}), 401);
  assert.equal(await write({ 'x-csrf-token': '' }), 401);
  assert.equal(await write({ 'x-csrf-token': own.cookie }), 401);
  assert.equal(await write(csrf(other.cookie)), 401);
  assert.equal(await write(csrf(own.cookie)), 201);
  assert.equal(await write({}, `authenticity_token=${deriveCsrfToken(own.cookie)}`), 201);
  assert.equal(await write({}, `authenticity_token=${deriveCsrfToken(other.cookie)}`), 401);
});

test('refuses a cookie from a page of another origin', async () => {
  const { cookie } = await signedIn();
  const { id } = await seedProject(gantry, { visibility: 'public' });
  const write = async (headers: Record<string, string>): Promise<number> =>
    (await call(`POST /projects/${id}/issues?title=x`, cookie, { ...csrf(cookie), ...headers })).status;
  assert.equal(await write({ origin: gantry.url }), 201);
  assert.equal(await write({ 'sec-fetch-site': 'same-origin' }), 201);
  for (const origin of ['https://evil.example', 'null', `${gantry.url}.evil.example`]) {
    assert.equal(await write({ origin }), 401, origin);
    assert.equal((await call('GET /user', cookie, { origin })).status, 401, origin);
  }
  for (const site of ['cross-site', 'same-site']) {
    assert.equal(await write({ 'sec-fetch-site': site }), 401, site);
    assert.equal((await call('GET /user', cookie, { 'sec-fetch-site': site })).status, 401, site);
  }
});

test('a token takes precedence over the cookie, also an invalid one', async () => {
  const [own, other] = [await signedIn(), await signedIn()];
  const reply = await call('GET /user', own.cookie, { 'private-token': other.token });
  assert.equal(reply.body.id, other.id);
  assert.equal((await call('GET /user', own.cookie, { 'private-token': 'wrong' })).status, 401);
  assert.equal((await call('GET /user', own.cookie, { authorization: 'Bearer wrong' })).status, 401);
  assert.equal((await call('GET /user?private_token=', own.cookie)).status, 401);
});

test('a session never acts as another user', async () => {
  const { cookie } = await signedIn({ admin: 1 });
  const { username } = await seedUser(gantry);
  assert.equal((await call(`GET /user?sudo=${username}`, cookie)).status, 403);
  assert.equal((await call('GET /application/settings', cookie)).status, 200);
});

test('an idle session ends after the configured time', async () => {
  const start = Date.now();
  const { cookie, id } = await signedIn();
  /** Waits until background notes are written. */
  const noted = async (minute: number): Promise<void> => {
    const { db } = gantry.service.platform.store;
    const query = db.selectFrom('sessions').select('last_seen_at').where('user_id', '=', id);
    while ((await query.executeTakeFirstOrThrow()).last_seen_at !== start + minute * 60_000)
      await setImmediate();
  };
  const minutes = async (count: number): Promise<number> => {
    gantry.setTime(start + count * 60_000);
    return (await call('GET /user', cookie)).status;
  };
  try {
    await put({ session_expire_delay: 60 });
    assert.equal(await minutes(59), 200);
    await noted(59);
    assert.equal(await minutes(118), 200);
    await noted(118);
    await put({ session_expire_delay: 10 });
    assert.equal(await minutes(129), 401);
    await put({ session_expire_delay: 12 });
    assert.equal(await minutes(129), 200);
    await noted(129);
    await put({ session_expire_delay: 0 });
    assert.equal(await minutes(100_000), 200);
    assert.equal(await minutes(90 * 24 * 60 - 1), 200);
    assert.equal(await minutes(90 * 24 * 60 + 1), 401);
  } finally {
    gantry.setTime(null);
    await put({ session_expire_delay: 10_080 });
  }
});

test('a block, a new password and a deletion end all sessions', async () => {
  const { cookie, id } = await signedIn();
  await gantry.api(`POST /users/${id}/block`);
  assert.equal((await call('GET /user', cookie)).status, 401);
  await gantry.api(`POST /users/${id}/unblock`);
  assert.equal((await call('GET /user', cookie)).status, 401);

  const other = await signedIn();
  await updateUser(gantry.service.platform, null, other.id, { password: 'another horse' });
  assert.equal((await call('GET /user', other.cookie)).status, 401);

  const third = await signedIn();
  assert.equal((await gantry.api(`DELETE /users/${third.id}`)).status, 204);
  assert.equal((await call('GET /user', third.cookie)).status, 401);
});

test('limits a user to a hundred sessions and ends the oldest', async () => {
  const { cookie, start } = await signedIn();
  const second = await start();
  for (let n = 0; n < 99; n += 1) await start();
  assert.equal((await call('GET /user', cookie)).status, 401);
  assert.equal((await call('GET /user', second)).status, 200);
});

test('the store contains neither the cookie nor its CSRF token', async () => {
  const { cookie } = await signedIn();
  const { db } = gantry.service.platform.store;
  const dump = JSON.stringify([
    await db.selectFrom('sessions').selectAll().execute(),
    await db.selectFrom('audit_events').selectAll().execute(),
  ]);
  assert.ok(!dump.includes(cookie));
  assert.ok(!dump.includes(deriveCsrfToken(cookie)));
});

test('the audit log records a sign-in', async () => {
  const { id } = await signedIn();
  const { db } = gantry.service.platform.store;
  const [event] = await db.selectFrom('audit_events').selectAll().where('actor_id', '=', id).execute();
  assert.equal(event?.kind, 'session.created');
  assert.equal(event?.ip, source.ip);
  assert.equal(event?.user_agent, source.userAgent);
});
