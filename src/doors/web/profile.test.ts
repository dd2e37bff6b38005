import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { unique } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../test/support/visitor.ts';

const password = 'correct horse';
let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

type Someone = { id: number; username: string; email: string; visitor: Visitor };

const someone = async (): Promise<Someone> => {
  const username = unique('user');
  const json = { username, name: 'A User', email: `${username}@example.com`, password };
  const { id, email } = (await gantry.api('POST /users', { json })).body;
  const visitor = openVisitor(gantry);
  await visitor.signIn(username, password);
  return { id, username, email, visitor };
};

const isSignedIn = async (visitor: Visitor): Promise<boolean> => (await visitor.get('/')).status === 200;

const profile = (email: string, overrides: object = {}) => ({
  name: 'Another Name',
  email,
  bio: 'About\nme',
  location: 'Here',
  organization: 'Us',
  website_url: 'https://example.com',
  ...overrides,
});

test('a user changes their profile', async () => {
  const { id, email, visitor } = await someone();
  await visitor.get('/profile');
  const { status, location } = await visitor.post('/profile', profile(email, { show_email: '1' }));
  assert.equal(status, 303);
  assert.equal(location, '/profile');
  const shown = (await visitor.get('/profile')).text;
  assert.match(shown, /Your profile was saved/);
  assert.match(shown, /rows="3">\nAbout\nme<\/textarea>/);
  const { body } = await gantry.api(`GET /users/${id}`);
  const kept = [body.name, body.bio, body.location, body.organization, body.website_url, body.public_email];
  assert.deepEqual(kept, ['Another Name', 'About\nme', 'Here', 'Us', 'https://example.com', email]);
  await visitor.post('/profile', profile(email, { show_email: '0', bio: '' }));
  const cleared = (await gantry.api(`GET /users/${id}`)).body;
  assert.deepEqual([cleared.public_email, cleared.bio], [null, '']);
});

test('a user does not show an address that they have not confirmed', async () => {
  const { id, email, visitor } = await someone();
  await visitor.get('/profile');
  const typed = `ceo-${email}`;
  const input = profile(typed, { show_email: '1', current_password: password });
  const refused = await visitor.post('/profile', input);
  assert.deepEqual([refused.status, refused.text.includes('that you have confirmed')], [422, true]);
  assert.equal((await visitor.post('/profile', { ...input, show_email: '0' })).status, 303);
  assert.equal((await visitor.post('/profile', input)).status, 422);
  const { body } = await gantry.api(`GET /users/${id}`);
  assert.deepEqual([body.email, body.public_email], [typed, null]);
});

test('a user names their accounts at other services', async () => {
  const { id, email, visitor } = await someone();
  await visitor.get('/profile');
  const accounts = { twitter: 'gantry', linkedin: 'a-user', skype: 'a.user' };
  assert.equal((await visitor.post('/profile', profile(email, accounts))).status, 303);
  const { body } = await gantry.api(`GET /users/${id}`);
  assert.deepEqual([body.twitter, body.linkedin, body.skype], ['gantry', 'a-user', 'a.user']);
  assert.match((await visitor.get('/profile')).text, /name="linkedin" type="text" value="a-user"/);
});

test('a user uploads and removes their picture', async () => {
  const { id, visitor } = await someone();
  await visitor.get('/profile');
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  );
  const upload = async (content: string | Uint8Array<ArrayBuffer>) =>
    await visitor.postFiles('/profile/avatar', {}, { avatar: { name: '<b>.png', content } });
  const avatarUrl = async () => (await gantry.api(`GET /users/${id}`)).body.avatar_url;
  const { status, location } = await upload(Uint8Array.from(png));
  assert.deepEqual([status, location], [303, '/profile']);
  const url = await avatarUrl();
  assert.match(url, /\/uploads\/-\/system\/user\/avatar\/\d+\//);
  assert.ok((await visitor.get('/profile')).text.includes(`<img class="avatar large" src="${url}"`));
  const odd = await upload('<svg onload="alert(1)"/>');
  assert.equal(odd.status, 422);
  assert.match(odd.text, /id="avatar_error">Picture file format is not supported/);
  assert.match((await visitor.postFiles('/profile/avatar', {}, {})).text, /Picture can&#39;t be blank/);
  assert.equal(await avatarUrl(), url);
  assert.equal((await visitor.post('/profile/avatar/delete')).status, 303);
  assert.doesNotMatch(await avatarUrl(), /uploads/);
});

test('shows an invalid value at its field, and saves nothing', async () => {
  const { id, email, visitor } = await someone();
  await visitor.get('/profile');
  const { status, text } = await visitor.post(
    '/profile',
    profile(email, { name: ' ', website_url: 'javascript:x' }),
  );
  assert.equal(status, 422);
  assert.match(text, /id="name_error">Name can&#39;t be blank/);
  assert.match(text, /id="website_url_error">Website is not a valid URL/);
  assert.equal((await gantry.api(`GET /users/${id}`)).body.name, 'A User');
});

test('a new address needs the password', async () => {
  const { id, visitor } = await someone();
  await visitor.get('/profile');
  const email = `${unique('other')}@example.com`;
  for (const current_password of ['', 'wrong']) {
    const { status, text } = await visitor.post('/profile', profile(email, { current_password }));
    assert.equal(status, 422);
    assert.match(text, /id="current_password_error">Current password is invalid/);
  }
  assert.equal((await visitor.post('/profile', profile(email, { current_password: password }))).status, 303);
  assert.equal((await gantry.api(`GET /users/${id}`)).body.email, email);
});

test('a form cannot make its user an administrator', async () => {
  const { id, email, visitor } = await someone();
  await visitor.get('/profile');
  const more = { admin: '1', is_admin: '1', external: '0', projects_limit: '9', id: '1', username: 'other' };
  assert.equal((await visitor.post('/profile', profile(email, more))).status, 303);
  const { body } = await gantry.api(`GET /users/${id}`);
  assert.equal(body.is_admin, false);
  assert.notEqual(body.projects_limit, 9);
  assert.notEqual(body.username, 'other');
});

test('a new password needs the old one, ends other sessions, and renews this one', async () => {
  const { username, visitor } = await someone();
  const other = openVisitor(gantry);
  await other.signIn(username, password);
  const cookie = visitor.cookies.get('_service_session') ?? '';
  await visitor.get('/profile/password');
  const change = async (current_password: string, word: string, again = word) =>
    await visitor.post('/profile/password', {
      current_password,
      password: word,
      password_confirmation: again,
    });
  assert.match((await change('wrong', 'another horse')).text, /Current password is invalid/);
  assert.match((await change(password, 'another horse', 'a third one')).text, /doesn&#39;t match/);
  assert.match((await change(password, 'short')).text, /too short/);
  assert.match((await change(password, username)).text, /commonly used/);
  assert.ok(await isSignedIn(other));

  assert.equal((await change(password, 'another horse')).status, 303);
  assert.match((await visitor.get('/profile/password')).text, /Your password was changed/);
  assert.ok(!(await isSignedIn(other)));
  const old = openVisitor(gantry);
  old.cookies.set('_service_session', cookie);
  assert.ok(!(await isSignedIn(old)));
  await assert.rejects(openVisitor(gantry).signIn(username, password));
  await openVisitor(gantry).signIn(username, 'another horse');
});

test("a user lists their sessions and ends them, and nobody else's", async () => {
  const { id, username, visitor } = await someone();
  const [other, stranger] = [openVisitor(gantry), await someone()];
  await other.get('/users/sign_in');
  await other.post('/users/sign_in', { login: username, password }, { 'user-agent': 'Old <i>Phone</i>' });
  const { text } = await visitor.get('/profile/sessions');
  assert.match(text, /Old &lt;i&gt;Phone/);
  assert.match(text, /This browser/);
  const actions = [...text.matchAll(/action="(\/profile\/sessions\/\d+\/revoke)"/g)].map(
    ([, action]) => action ?? '',
  );
  assert.equal(actions.length, 1);

  await stranger.visitor.get('/profile/sessions');
  assert.equal((await stranger.visitor.post(actions[0] ?? '')).status, 404);
  assert.ok(await isSignedIn(other));
  await visitor.get('/profile/sessions');
  assert.equal((await visitor.post(actions[0] ?? '')).status, 303);
  assert.ok(!(await isSignedIn(other)));
  assert.ok(await isSignedIn(visitor));
  const { db } = gantry.service.platform.store;
  const rows = await db.selectFrom('audit_events').select('kind').where('actor_id', '=', id).execute();
  assert.ok(rows.some(({ kind }) => kind === 'session.ended'));
});

test('requires sign-in for the pages of the account', async () => {
  for (const path of ['/profile', '/profile/password', '/profile/sessions']) {
    const visitor = openVisitor(gantry);
    assert.equal((await visitor.get(path)).location, `/users/sign_in?return_to=${encodeURIComponent(path)}`);
    assert.equal(
      (await visitor.post(path === '/profile/sessions' ? `${path}/1/revoke` : path)).location,
      '/users/sign_in',
    );
  }
});
