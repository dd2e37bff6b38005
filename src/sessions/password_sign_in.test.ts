import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { unique } from '../../test/support/seed.ts';
import { type TestService, startTestService } from '../../test/support/service.ts';
import { openVisitor } from '../../test/support/visitor.ts';
import { Failure } from '../errors.ts';
import { passwordSignIn } from './password_sign_in.ts';

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

/** The kind of the refusal; null: signed in. */
const attempt = async (given: { login: string; password?: string; ip: string }): Promise<Failure | null> => {
  try {
    await passwordSignIn(gantry.service.platform, { password, userAgent: 'a browser', ...given });
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

test('after ten failures of one address nobody signs in from there for a minute, and all others do', async () => {
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

test('names that nobody has are counted as well', async () => {
  const ip = newAddress();
  for (let n = 0; n < 10; n += 1) await fail(1, unique('nobody'), ip);
  assert.equal((await attempt({ login: unique('nobody'), ip }))?.status, 429);
});

test('good sign-ins are not counted', async () => {
  const [login, ip] = [await makeUser(), newAddress()];
  for (let n = 0; n < 12; n += 1) assert.equal(await attempt({ login, ip }), null);
});

test('guesses sent at once are no more than guesses sent in turn', async () => {
  const [login, ip] = [await makeUser(), newAddress()];
  const guesses = Array.from({ length: 30 }, async () => await attempt({ login, password: 'wrong', ip }));
  const kinds = (await Promise.all(guesses)).map((failure) => failure?.kind);
  assert.equal(kinds.filter((kind) => kind === 'unauthorized').length, 10);
  assert.equal(kinds.filter((kind) => kind === 'too_many_requests').length, 20);
});

test('a right password opens nothing for a blocked user, and nothing where passwords are off', async () => {
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

test('what no user can have is no user', async () => {
  const ip = newAddress();
  for (const login of ['', 'a\0b', '@', "' or 1=1 --", 'ghost'])
    assert.equal((await attempt({ login, ip }))?.kind, 'unauthorized', JSON.stringify(login));
  assert.equal((await attempt({ login: 'root', password: 'x'.repeat(100_000), ip }))?.kind, 'unauthorized');
});

test('the page tells when to try again, by header and in words; the address is the client’s', async () => {
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

test('the current password of the own pages is counted, too', async () => {
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
