import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import {
  type AnswerOptions,
  type Authenticator,
  openAuthenticator,
} from '../../../../../test/support/authenticator.ts';
import { startHookReceiver } from '../../../../../test/support/servers/hook_receiver.ts';
import { seedUser } from '../../../../../test/support/seed.ts';
import { type MailingService, startMailingService } from '../../../../../test/support/mail.ts';
import type { TestService } from '../../../../../test/support/service.ts';
import { type Seen, type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

const origin = 'https://git.example.com';
const rpId = 'git.example.com';
const password = 'correct horse';
const path = '/profile/passkeys';
const signInPath = '/users/sign_in/passkey';
const from = { origin };

let gantry: MailingService;
let bound: Pick<TestService, 'url'>;
before(async () => {
  gantry = await startMailingService({ GANTRY_EXTERNAL_URL: origin, GANTRY_TRUSTED_PROXIES: '127.0.0.1' });
  const { port } = gantry.service.app.server.address() as AddressInfo;
  bound = { url: `http://127.0.0.1:${port}` };
});
after(async () => await gantry.close());

const api = async (line: string, json?: object) => {
  const [method = '', rest = ''] = line.split(' ');
  const response = await fetch(`${bound.url}/api/v4${rest}`, {
    method,
    headers: { 'private-token': 'root-token-of-the-tests', 'content-type': 'application/json' },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  assert.ok(response.ok, `${line}: ${response.status}`);
};

const signedIn = async (): Promise<{ id: number; visitor: Visitor; username: string }> => {
  const { id, username } = await seedUser(gantry, { password });
  const visitor = openVisitor(bound);
  await visitor.get('/users/sign_in');
  assert.equal((await visitor.post('/users/sign_in', { login: username, password }, from)).status, 303);
  await visitor.get('/profile');
  return { id, visitor, username };
};

const optionsIn = ({ text }: Seen): { challenge: string } => {
  const json = /data-options="([^"]+)"/.exec(text)?.[1] ?? '{}';
  return JSON.parse(json.replaceAll('&quot;', '"')) as { challenge: string };
};

/** Opens a page and returns its challenge with what else is signed. */
const openPage = async (visitor: Visitor, address: string): Promise<AnswerOptions> => {
  const { challenge } = optionsIn(await visitor.get(address));
  return { challenge, origin, rpId };
};

const add = async (visitor: Visitor, passkey: string, overrides = {}): Promise<Seen> =>
  await visitor.post(path, { name: 'Phone', current_password: password, passkey, ...overrides }, from);

const withPasskey = async () => {
  const user = await signedIn();
  const device = openAuthenticator();
  const added = await add(user.visitor, device.create(await openPage(user.visitor, path)));
  assert.equal(added.status, 303, added.text);
  return { ...user, device };
};

const enter = async (device: Authenticator, change: Partial<AnswerOptions> = {}): Promise<Seen> => {
  const visitor = openVisitor(bound);
  const options = await openPage(visitor, '/users/sign_in');
  return await visitor.post(signInPath, { passkey: device.get({ ...options, ...change }) }, from);
};

const assertRefused = ({ status, text }: Seen): void =>
  assert.deepEqual([status, /This passkey is not known here/.test(text)], [422, true]);

test('a passkey is added, signs in without password and second factor, and is removed', async () => {
  const { id, visitor, device } = await withPasskey();
  const { store } = gantry.service.platform;
  await store.write(
    async ({ db }) =>
      await db.updateTable('users').set({ two_factor_enabled: 1 }).where('id', '=', id).execute(),
  );
  const browser = openVisitor(bound);
  const options = await openPage(browser, '/users/sign_in?return_to=/profile');
  const form = { passkey: device.get(options), return_to: '/profile' };
  assert.equal((await browser.post(signInPath, form, from)).location, '/profile');
  assert.equal((await browser.get('/profile')).status, 200);
  assert.doesNotMatch((await visitor.get(path)).text, /<td>Never<\/td>/);
  const [row] = await store.db.selectFrom('passkeys').selectAll().where('user_id', '=', id).execute();
  assert.deepEqual([row?.name, row?.sign_count], ['Phone', 2]);
  assert.equal((await visitor.post(`${path}/${row?.id}/delete`, {}, from)).status, 303);
  assertRefused(await enter(device));
  const kinds = await store.db
    .selectFrom('audit_events')
    .select('kind')
    .where('actor_id', '=', id)
    .where('target_type', '=', 'Passkey')
    .orderBy('id')
    .execute();
  assert.deepEqual(
    kinds.map(({ kind }) => kind),
    ['passkey.created', 'passkey.deleted'],
  );
});

test('the address of the account learns of a new passkey', async () => {
  const user = await withPasskey();
  const [mail, ...more] = await gantry.mailsTo(user);
  assert.deepEqual(more, []);
  assert.match(
    mail?.text ?? '',
    /A passkey was added to your account\..*also after you change your password/s,
  );
  assert.ok(mail?.text.includes(`${origin}/profile/passkeys`));
});

test('an answer counts once, in the browser that was asked, for ten minutes', async () => {
  const { id, device } = await withPasskey();
  const browser = openVisitor(bound);
  const options = await openPage(browser, '/users/sign_in');
  const passkey = device.get(options);
  const other = openVisitor(bound);
  await other.get('/users/sign_in');
  assertRefused(await other.post(signInPath, { passkey }, from));
  gantry.setTime(Date.now() + 601_000);
  assertRefused(await browser.post(signInPath, { passkey }, from));
  gantry.setTime(null);
  const { cookies } = browser;
  const kept = new Map(cookies);
  assert.equal((await browser.post(signInPath, { passkey }, from)).status, 303);
  // The authenticator's own count would refuse it, too.
  const { store } = gantry.service.platform;
  await store.write(
    async ({ db }) =>
      await db.updateTable('passkeys').set({ sign_count: 0 }).where('user_id', '=', id).execute(),
  );
  const again = openVisitor(bound);
  for (const [name, value] of kept) again.cookies.set(name, value);
  await again.get('/users/sign_in');
  assertRefused(await again.post(signInPath, { passkey }, from));
});

test('an answer for another place, for another purpose, or without a check of the person is refused', async () => {
  const { visitor, device } = await withPasskey();
  assertRefused(await enter(device, { origin: 'https://git.example.com.evil.example' }));
  assertRefused(await enter(device, { rpId: 'example.com' }));
  assertRefused(await enter(device, { isVerified: false }));
  assertRefused(await enter(device, { challenge: (await openPage(visitor, path)).challenge }));
  assertRefused(await enter(openAuthenticator()));
  const browser = openVisitor(bound);
  await browser.get('/users/sign_in');
  for (const passkey of [
    '',
    'null',
    '{}',
    '[]',
    '{"id":1}',
    `{"id":"${'x'.repeat(200)}"}`,
    '{"id":"\\u0000"}',
  ])
    assertRefused(await browser.post(signInPath, { passkey }, { ...from, 'x-forwarded-for': '203.0.113.9' }));
});

test('adding one needs the password, a name and an answer to our challenge', async () => {
  const { visitor, username } = await signedIn();
  const device = openAuthenticator();
  const problem = async (overrides: object, pattern: RegExp, change: Partial<AnswerOptions> = {}) => {
    const options = await openPage(visitor, path);
    const { status, text } = await add(visitor, device.create({ ...options, ...change }), overrides);
    assert.equal(status, 422);
    assert.match(text, pattern);
  };
  await problem({ current_password: 'wrong' }, /Current password is invalid/);
  await problem({ name: ' ' }, /Name can&#39;t be blank/);
  await problem({ passkey: 'x' }, /needs? a browser that supports passkeys/);
  await problem({}, /could not be verified/, { isVerified: false });
  await problem({}, /could not be verified/, { origin: 'https://evil.example' });
  const foreign = await openPage(openVisitor(bound), '/users/sign_in');
  await problem({}, /could not be verified/, { challenge: foreign.challenge });
  assert.match((await visitor.get(path)).text, /You have no passkey yet/);
  const passkey = device.create(await openPage(visitor, path));
  assert.equal((await add(visitor, passkey)).status, 303);
  const twice = await add(visitor, device.create(await openPage(visitor, path)));
  assert.match(twice.text, /The passkey has already been added/);
  assert.match((await visitor.get(path)).text, /<th scope="row">Phone<\/th>/);
  assert.ok(username);
});

test('the blocked, and those of a service without passwords, cannot sign in with one', async () => {
  const { id, username, device } = await withPasskey();
  await api('PUT /application/settings', { password_authentication_enabled: false });
  const closed = await enterAnyway(device);
  assert.match(closed.text, /turned off on this service/);
  assert.doesNotMatch(closed.text, /data-passkey/);
  await api('PUT /application/settings', { password_authentication_enabled: true });
  await api(`POST /users/${id}/block`);
  const receiver = await startHookReceiver();
  await api('PUT /application/settings', { allow_local_requests_from_hooks_and_services: true });
  await api('POST /hooks', { url: receiver.url, push_events: false });
  assert.match((await enter(device)).text, /This account has been blocked/);
  await gantry.service.worker.drain();
  await receiver.close();
  assert.deepEqual(
    receiver.received.map(({ body }) => [body.event_name, body.username]),
    [['user_failed_login', username]],
  );
});

/** As `enter`, with a challenge of before. */
const enterAnyway = async (device: Authenticator): Promise<Seen> => {
  await api('PUT /application/settings', { password_authentication_enabled: true });
  const visitor = openVisitor(bound);
  const passkey = device.get(await openPage(visitor, '/users/sign_in'));
  await api('PUT /application/settings', { password_authentication_enabled: false });
  return await visitor.post(signInPath, { passkey }, from);
};

test('wrong answers of one address are counted as wrong passwords are', async () => {
  const { device } = await withPasskey();
  const visitor = openVisitor(bound);
  const headers = { ...from, 'x-forwarded-for': '203.0.113.77' };
  const options = await openPage(visitor, '/users/sign_in');
  const passkey = device.get({ ...options, isVerified: false });
  for (let n = 0; n < 10; n += 1) assertRefused(await visitor.post(signInPath, { passkey }, headers));
  const refused = await visitor.post(signInPath, { passkey: device.get(options) }, headers);
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 50);
});

test('only the owner removes a passkey, and an administrator those of a lost device', async () => {
  const { id, visitor, device } = await withPasskey();
  const { store } = gantry.service.platform;
  const load = async () =>
    await store.db.selectFrom('passkeys').select('id').where('user_id', '=', id).executeTakeFirst();
  const passkey = await load();
  const other = await signedIn();
  assert.equal((await other.visitor.post(`${path}/${passkey?.id}/delete`, {}, from)).status, 404);
  assert.equal((await visitor.get(path)).status, 200);
  assert.notEqual(await load(), undefined);
  const { id: adminId, username } = await seedUser(gantry, { password, admin: 1 });
  const admin = openVisitor(bound);
  await admin.get('/users/sign_in');
  assert.equal((await admin.post('/users/sign_in', { login: username, password }, from)).status, 303);
  assert.match((await admin.get(`/admin/users/${id}`)).text, /Turn off two-factor sign-in and passkeys/);
  assert.doesNotMatch((await admin.get(`/admin/users/${adminId}`)).text, /and passkeys/);
  assert.equal((await admin.post(`/admin/users/${id}/disable_two_factor`, {}, from)).status, 303);
  assert.equal(await load(), undefined);
  assertRefused(await enter(device));
});
