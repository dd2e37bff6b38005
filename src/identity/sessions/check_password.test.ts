import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { unique } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { openVisitor } from '../../../test/support/visitor.ts';
import { Failure } from '../../platform/errors.ts';
import { signInWithPassword } from './check_password.ts';

const password = 'correct horse';
let gantry: TestService;
before(async () => {
  gantry = await startTestService({ GANTRY_TRUSTED_PROXIES: '127.0.0.1' });
});
after(async () => await gantry.close());

const makeUser = async (): Promise<string> => {
  const username = unique('user');
  const json = { username, name: 'A User', email: `${username}@example.com`, password };
  assert.equal((await gantry.api('POST /users', { json })).status, 201);
  return username;
};

let hosts = 0;
const newAddress = (): string => `203.0.113.${(hosts += 1)}`;

/** Signs in and returns the failure; null: signed in. */
const attempt = async (attempted: {
  login: string;
  password?: string;
  ip: string;
}): Promise<Failure | null> => {
  try {
    await signInWithPassword(gantry.service.platform, { password, userAgent: 'a browser', ...attempted });
    return null;
  } catch (error) {
    assert.ok(error instanceof Failure);
    return error;
  }
};

const fail = async (times: number, login: string, ip: string): Promise<void> => {
  for (let n = 0; n < times; n += 1) {
    assert.equal((await attempt({ login, password: 'wrong', ip }))?.kind, 'unauthorized');
  }
};

test('refuses an address for a minute after ten failures, and no other address', async () => {
  const start = Date.now();
  gantry.setTime(start);
  const [login, ip] = [await makeUser(), newAddress()];
  await fail(10, login, ip);
  const refused = await attempt({ login, ip });
  assert.equal(refused?.status, 429);
  assert.equal(refused?.headers['retry-after'], '60');
  assert.equal((await attempt({ login: await makeUser(), ip }))?.status, 429);
  assert.equal(await attempt({ login, ip: newAddress() }), null);
  gantry.setTime(start + 60_000);
  assert.equal(await attempt({ login, ip }), null);
  await fail(10, 'nobody', ip);
  assert.equal((await attempt({ login, ip }))?.headers['retry-after'], '120');
  gantry.setTime(null);
});

test('counts failures for unknown names', async () => {
  const ip = newAddress();
  for (let n = 0; n < 10; n += 1) await fail(1, unique('nobody'), ip);
  assert.equal((await attempt({ login: unique('nobody'), ip }))?.status, 429);
});

test('does not count successful sign-ins', async () => {
  const [login, ip] = [await makeUser(), newAddress()];
  for (let n = 0; n < 12; n += 1) assert.equal(await attempt({ login, ip }), null);
});

test('counts concurrent guesses like sequential ones', async () => {
  const [login, ip] = [await makeUser(), newAddress()];
  const guesses = Array.from({ length: 30 }, async () => await attempt({ login, password: 'wrong', ip }));
  const kinds = (await Promise.all(guesses)).map((failure) => failure?.kind);
  assert.equal(kinds.filter((kind) => kind === 'unauthorized').length, 10);
  assert.equal(kinds.filter((kind) => kind === 'too_many_requests').length, 20);
});

test('refuses the right password for a blocked user and when passwords are off', async () => {
  const [login, ip] = [await makeUser(), newAddress()];
  const [{ id }] = (await gantry.api(`GET /users?username=${login}`)).body;
  await gantry.api(`POST /users/${id}/block`);
  assert.equal((await attempt({ login, ip }))?.kind, 'forbidden');
  assert.equal((await attempt({ login, password: 'wrong', ip }))?.kind, 'unauthorized');
  const other = await makeUser();
  await gantry.api('PUT /application/settings', { json: { password_authentication_enabled: false } });
  assert.equal((await attempt({ login: other, ip }))?.kind, 'forbidden');
  await gantry.api('PUT /application/settings', { json: { password_authentication_enabled: true } });
  assert.equal(await attempt({ login: other, ip }), null);
});

test('answers impossible names like unknown users', async () => {
  const ip = newAddress();
  for (const login of ['', 'a\0b', '@', "' or 1=1 --", 'ghost'])
    assert.equal((await attempt({ login, ip }))?.kind, 'unauthorized', JSON.stringify(login));
  assert.equal((await attempt({ login: 'root', password: 'x'.repeat(100_000), ip }))?.kind, 'unauthorized');
});

test('the page says when to try again, in a header and in text, per client address', async () => {
  const [login, ip] = [await makeUser(), newAddress()];
  const visitor = openVisitor(gantry);
  await visitor.get('/users/sign_in');
  const from = { 'x-forwarded-for': ip };
  for (let n = 0; n < 10; n += 1) {
    const { status } = await visitor.post('/users/sign_in', { login, password: 'wrong' }, from);
    assert.equal(status, 422);
  }
  const { status, headers, text } = await visitor.post('/users/sign_in', { login, password }, from);
  assert.equal(status, 429);
  assert.ok(Number(headers.get('retry-after')) > 50);
  assert.match(text, /Too many sign-ins failed. Try again in a minute/);
  const elsewhere = { 'x-forwarded-for': newAddress() };
  assert.equal((await visitor.post('/users/sign_in', { login, password }, elsewhere)).status, 303);
});

test('counts wrong current passwords on the settings pages', async () => {
  const [login, ip] = [await makeUser(), newAddress()];
  const visitor = openVisitor(gantry);
  await visitor.signIn(login, password);
  await visitor.get('/profile/password');
  const form = {
    current_password: 'wrong',
    password: 'another horse',
    password_confirmation: 'another horse',
  };
  const from = { 'x-forwarded-for': ip };
  for (let n = 0; n < 10; n += 1) {
    assert.equal((await visitor.post('/profile/password', form, from)).status, 422);
  }
  assert.equal((await visitor.post('/profile/password', form, from)).status, 429);
});
