/** The second factor that groups require of their members. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { TOTP } from 'otpauth';
import { sessionCookie } from '../../core/access/credentials/session_token.ts';
import { startSession } from '../sessions/start_session.ts';
import {
  type SeededUser,
  seedGroup,
  seedMember,
  seedProject,
  seedUser,
  unique,
} from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { type Seen, type Visitor, openVisitor } from '../../../test/support/visitor.ts';

let gantry: TestService;
before(async () => void (gantry = await startTestService()));
after(async () => await gantry.close());

const hour = 3_600_000;
const setUp = '/profile/two_factor';
const password = 'correct horse battery';

let now = Date.now();
beforeEach(() => gantry.setTime(now));
afterEach(() => gantry.setTime(null));
const passHours = (hours: number): void => {
  now += hours * hour;
  gantry.setTime(now);
};

/** Opens a browser in which the user is signed in. */
const openSignedInBrowser = async (user_id: number): Promise<Visitor> => {
  const browser = openVisitor(gantry);
  const source = { ip: '192.0.2.1', userAgent: 'test' };
  const session = { user_id, provider: null, source, replaced: null };
  browser.cookies.set(sessionCookie, await startSession(gantry.service.platform, session));
  return browser;
};

const change = async (group: { id: number }, json: object): Promise<void> =>
  assert.equal((await gantry.api(`PUT /groups/${group.id}`, { json })).status, 200);

const requireFactor = async (group: { id: number }, two_factor_grace_period: number): Promise<void> =>
  await change(group, { require_two_factor_authentication: true, two_factor_grace_period });

const addMember = async (group: number): Promise<SeededUser> => {
  const user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, group, access_level: 30 });
  return user;
};

const reminder = ({ text }: Seen): string | null =>
  /One of your groups requires two-factor sign-in\.\s<a href="\/profile\/two_factor">Set up<\/a> (?:by <time[^>]*>)?([^<.]+)/.exec(
    text,
  )?.[1] ?? null;

/** Returns what a user sees on opening a page: `free`, the end of the grace period, or `locked`. */
const readState = async (userId: number): Promise<string> => {
  const seen = await (await openSignedInBrowser(userId)).get('/profile');
  if (seen.status === 200) return reminder(seen) ?? 'free';
  assert.deepEqual([seen.status, seen.location], [302, setUp]);
  return 'locked';
};

const asShown = (time: number): string =>
  `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const ofApi = async (browser: Visitor): Promise<number> =>
  (await browser.get('/api/v4/user', { accept: '*/*' })).status;
const ofToken = async ({ token }: SeededUser): Promise<number> =>
  (await gantry.api('GET /user', { as: token })).status;

test('reminds a member until the grace period ends, then redirects to the setup', async () => {
  const group = await seedGroup(gantry);
  const user = await addMember(group.id);
  assert.equal(await readState(user.id), 'free');
  await requireFactor(group, 12);
  assert.equal(await readState(user.id), asShown(now + 12 * hour));
  const browser = await openSignedInBrowser(user.id);
  assert.deepEqual([await ofApi(browser), await ofToken(user)], [200, 200]);
  passHours(12);
  for (const path of ['/', '/profile/keys', '/-/projects/1/pipelines', '/oauth/authorize', '/admin']) {
    assert.deepEqual([(await browser.get(path)).location, path], [setUp, path]);
  }
  const page = await browser.get(setUp);
  assert.deepEqual([page.status, reminder(page)], [200, 'to continue']);
  const added = await browser.post('/profile/keys', { title: 'a', key: 'b' });
  assert.deepEqual([added.status, added.location], [303, setUp]);
  const refused = await browser.get('/api/v4/user', { accept: '*/*' });
  assert.deepEqual(JSON.parse(refused.text), {
    message:
      '403 Forbidden - A group of yours requires two-factor sign-in. Set it up at /profile/two_factor.',
  });
  assert.deepEqual([refused.status, await ofToken(user)], [403, 200]);
  assert.equal((await browser.post('/users/sign_out')).location, '/users/sign_in');
  assert.equal(await readState(user.id), 'locked');
  await change(group, { require_two_factor_authentication: false });
  assert.equal(await readState(user.id), 'free');
});

test('a member who sets it up continues', async () => {
  const username = unique('enrol');
  const json = { username, name: username, email: `${username}@example.com`, password };
  const { id } = (await gantry.api('POST /users', { json })).body;
  const group = await seedGroup(gantry);
  await seedMember(gantry, { user: id, group: group.id, access_level: 30 });
  await requireFactor(group, 0);
  const browser = openVisitor(gantry);
  await browser.signIn(username, password);
  assert.equal((await browser.get('/')).location, setUp);
  await browser.get(setUp);
  await browser.post(`${setUp}/begin`, { current_password: password });
  const shown = await browser.get(setUp);
  assert.equal(reminder(shown), 'to continue');
  const secret = /<code class="secret">([A-Z2-7 ]+)</.exec(shown.text)?.[1]?.replaceAll(' ', '') ?? '';
  const done = await browser.post(setUp, { code: new TOTP({ secret }).generate({ timestamp: now }) });
  assert.deepEqual([done.status, reminder(done)], [200, null]);
  assert.match(done.text, /Recovery codes/);
  const next = await browser.get('/');
  assert.deepEqual([next.status, reminder(next), await ofApi(browser)], [200, null, 200]);
  await browser.get(setUp);
  const off = await browser.post(`${setUp}/disable`, { current_password: password });
  assert.equal(off.location, setUp);
  assert.equal((await browser.get('/')).location, setUp);
});

test('refuses a member without the factor where only a password can be sent', async () => {
  const username = unique('programs');
  const json = { username, name: username, email: `${username}@example.com`, password };
  const { id } = (await gantry.api('POST /users', { json })).body;
  const project = await seedProject(gantry, { owner: id, visibility: 'private' });
  const group = await seedGroup(gantry);
  await seedMember(gantry, { user: id, group: group.id, access_level: 30 });
  const grant = async () => {
    const body = new URLSearchParams({ grant_type: 'password', username, password });
    return (await fetch(`${gantry.url}/oauth/token`, { method: 'POST', body })).status;
  };
  const clone = async () => {
    const authorization = `Basic ${btoa(`${username}:${password}`)}`;
    const path = `/${project.full_path}.git/info/refs?service=git-upload-pack`;
    return (await fetch(gantry.url + path, { headers: { authorization } })).status;
  };
  await requireFactor(group, 1);
  assert.deepEqual([await grant(), await clone()], [200, 200]);
  passHours(1);
  assert.deepEqual([await grant(), await clone()], [400, 401]);
});

test('requires it of members of groups below and above and of nobody else', async () => {
  const top = await seedGroup(gantry);
  const middle = await seedGroup(gantry, { parent: top.id });
  const bottom = await seedGroup(gantry, { parent: middle.id });
  const sibling = await seedGroup(gantry, { parent: top.id });
  const project = await seedProject(gantry, { namespace: middle.id });
  const members = await Promise.all(
    [top, middle, bottom, sibling].map(async ({ id }) => await addMember(id)),
  );
  const guest = await seedUser(gantry);
  await seedMember(gantry, { user: guest.id, project: project.id, access_level: 30 });
  const former = await addMember(middle.id);
  await gantry.service.platform.store.write(async ({ db }) => {
    await db
      .updateTable('members')
      .set({ expires_at: '2020-01-01' })
      .where('user_id', '=', former.id)
      .execute();
  });
  await requireFactor(middle, 0);
  const states = [];
  for (const { id } of [...members, guest, former]) {
    states.push(await readState(id));
  }
  assert.deepEqual(states, ['locked', 'locked', 'locked', 'free', 'free', 'free']);
});

test('the grace period starts with the membership, and the earliest end counts', async () => {
  const slow = await seedGroup(gantry);
  const quick = await seedGroup(gantry);
  await requireFactor(slow, 10);
  await requireFactor(quick, 4);
  passHours(20);
  const user = await addMember(slow.id);
  assert.equal(await readState(user.id), asShown(now + 10 * hour));
  await seedMember(gantry, { user: user.id, group: quick.id, access_level: 10 });
  assert.equal(await readState(user.id), asShown(now + 4 * hour));
  passHours(1);
  // Setting it again does not restart the period.
  await requireFactor(quick, 4);
  assert.equal(await readState(user.id), asShown(now + 3 * hour));
  passHours(3);
  assert.equal(await readState(user.id), 'locked');
  const created = { name: unique('new'), path: unique('new'), require_two_factor_authentication: true };
  const other = await seedUser(gantry);
  assert.equal((await gantry.api('POST /groups', { as: other.token, json: created })).status, 201);
  assert.equal(await readState(other.id), asShown(now + 48 * hour));
});

test('redirects a user without a password to set one first', async () => {
  const group = await seedGroup(gantry);
  const user = await addMember(group.id);
  await requireFactor(group, 0);
  const browser = await openSignedInBrowser(user.id);
  assert.match((await browser.get(setUp)).text, /<a href="\/profile\/password">Set password<\/a>/);
  await browser.get('/profile/password');
  const done = await browser.post('/profile/password', { password, password_confirmation: password });
  assert.equal(done.location, '/profile/password');
  assert.match((await browser.get(setUp)).text, /name="current_password"/);
});
