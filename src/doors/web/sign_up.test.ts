import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { unique } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { type Seen, type Visitor, openVisitor } from '../../../test/support/visitor.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService({ GANTRY_TRUSTED_PROXIES: '127.0.0.1' });
});
after(async () => await gantry.close());

const put = async (json: object) =>
  assert.equal((await gantry.api('PUT /application/settings', { json })).status, 200);

const filled = (overrides: Record<string, string> = {}): Record<string, string> => {
  const username = unique('new');
  return {
    name: 'New User',
    username,
    email: `${username}@example.com`,
    password: 'correct horse',
    ...overrides,
  };
};

const signUp = async (
  fields: Record<string, string>,
  visitor: Visitor = openVisitor(gantry),
): Promise<Seen> => {
  await visitor.get('/users/sign_up');
  return await visitor.post('/users/sign_up', fields);
};

test('creates an account and signs in', async () => {
  const visitor = openVisitor(gantry);
  const fields = filled();
  const { status, location } = await signUp(fields, visitor);
  assert.equal(status, 303);
  assert.equal(location, '/');
  assert.match((await visitor.get('/')).text, /Welcome to Gantry/);
  const [user] = (await gantry.api(`GET /users?username=${fields['username']}`)).body;
  assert.equal(user.email, fields['email']);
  assert.equal(user.is_admin, false);
  const again = openVisitor(gantry);
  await again.signIn(fields['email'] ?? '', fields['password'] ?? '');
});

test('returns to the page that the visitor came from, and to none elsewhere', async () => {
  const visitor = openVisitor(gantry);
  const back = '/explore?search=a b';
  const signIn = await visitor.get(`/users/sign_in?return_to=${encodeURIComponent(back)}`);
  const [, link = ''] = /href="(\/users\/sign_up[^"]*)"/.exec(signIn.text) ?? [];
  const form = await visitor.get(link);
  assert.match(form.text, /name="return_to" value="\/explore\?search=a%20b"/);
  assert.match(form.text, /href="\/users\/sign_in\?return_to=%2Fexplore/);
  const wrong = await visitor.post('/users/sign_up', { ...filled({ username: '-' }), return_to: back });
  assert.match(wrong.text, /name="return_to" value="\/explore/);
  const made = await visitor.post('/users/sign_up', { ...filled(), return_to: back });
  assert.equal(made.location, '/explore?search=a%20b');
  assert.equal((await visitor.get(link)).location, '/explore?search=a%20b');
  const { location } = await signUp({ ...filled(), return_to: 'https://other.example/' });
  assert.equal(location, '/');
});

test('shows problems at their fields, and keeps all input but the password', async () => {
  const { status, text } = await signUp(filled({ username: '-x-', email: 'nothing', password: 'short' }));
  assert.equal(status, 422);
  assert.match(text, /3 fields need other values/);
  assert.match(
    text,
    /id="username"[^>]* value="-x-"[^>]* aria-describedby="username_hint username_error" aria-invalid="true"/,
  );
  assert.match(text, /id="email_error">E-mail is invalid/);
  assert.match(text, /id="password_error">Password is too short/);
  assert.doesNotMatch(text, /value="short"/);
});

test('tells the rules of passwords before one is chosen, to people and password managers', async () => {
  const { text } = await openVisitor(gantry).get('/users/sign_up');
  const [field = ''] = /<input id="password"[^>]*>/.exec(text) ?? [];
  assert.match(field, /type="password"[^>]*autocomplete="new-password"/);
  assert.match(field, /aria-describedby="password_hint"/);
  assert.match(text, /id="password_hint">8 to 128 characters; common passwords are refused\./);
});

test('refuses a common password', async () => {
  assert.match((await signUp(filled({ password: 'password1' }))).text, /commonly used/);
});

test('a name and an address belong to one user, in any case', async () => {
  const first = filled();
  await signUp(first);
  const email = (first['email'] ?? '').toUpperCase();
  assert.match((await signUp(filled({ email }))).text, /id="email_error">E-mail has already been taken/);
  const username = (first['username'] ?? '').toUpperCase();
  assert.match(
    (await signUp(filled({ username }))).text,
    /id="username_error">User name has already been taken/,
  );
});

test('the page says so where sign-up is closed', async () => {
  const visitor = openVisitor(gantry);
  await visitor.get('/users/sign_up');
  await put({ signup_enabled: false });
  const page = await visitor.get('/users/sign_up');
  assert.match(page.text, /Sign-up is closed/);
  assert.doesNotMatch(page.text, /<form/);
  const fields = filled();
  assert.equal((await visitor.post('/users/sign_up', fields)).status, 403);
  assert.deepEqual((await gantry.api(`GET /users?username=${fields['username']}`)).body, []);
  assert.doesNotMatch((await visitor.get('/users/sign_in')).text, /sign_up/);
  const made = await gantry.api('POST /users', { json: filled() });
  assert.equal(made.status, 201);
  await put({ signup_enabled: true });
  assert.match((await visitor.get('/users/sign_in')).text, /sign_up/);
});

test('refuses sign-up where password sign-in is off', async () => {
  const visitor = openVisitor(gantry);
  await visitor.get('/users/sign_up');
  await put({ password_authentication_enabled: false });
  assert.doesNotMatch((await visitor.get('/users/sign_up')).text, /<form/);
  assert.equal((await visitor.post('/users/sign_up', filled())).status, 403);
  await put({ password_authentication_enabled: true });
});

test('applies the lists of allowed and denied domains', async () => {
  await put({ domain_whitelist: ['good.org', '*.good.org'] });
  const refused = await signUp(filled({ email: `${unique('a')}@bad.org` }));
  assert.match(refused.text, /id="email_error">E-mail domain is not authorized for sign-up</);
  assert.equal((await signUp(filled({ email: `${unique('a')}@mail.good.org` }))).status, 303);
  await put({ domain_whitelist: [], domain_blacklist_enabled: true, domain_blacklist: ['*.bad.org'] });
  assert.equal((await signUp(filled({ email: `${unique('a')}@x.bad.org` }))).status, 422);
  assert.equal((await signUp(filled({ email: `${unique('a')}@bad.org` }))).status, 303);
  await put({ domain_blacklist_enabled: false });
});

test('needs the CSRF token of its form', async () => {
  const visitor = openVisitor(gantry);
  await visitor.get('/users/sign_up');
  assert.equal((await visitor.post('/users/sign_up', { ...filled(), authenticity_token: 'x' })).status, 422);
});

test('limits sign-ups by network', async () => {
  const visitor = openVisitor(gantry);
  await visitor.get('/users/sign_up');
  const statusFrom = async (ip: string): Promise<number> => {
    const fields = { name: '', username: '', email: '', password: '' };
    return (await visitor.post('/users/sign_up', fields, { 'x-forwarded-for': ip })).status;
  };
  for (let n = 1; n <= 20; n += 1) assert.equal(await statusFrom(`2001:db8:5:6::${n}`), 422);
  assert.equal(await statusFrom('2001:db8:5:6:ffff::1'), 429);
  assert.equal(await statusFrom('2001:db8:5:7::1'), 422);
  // In the database, where every process of the service counts.
  const counted = await gantry.service.platform.store.db
    .selectFrom('sign_in_failures')
    .select('refused_until')
    .where('name', '=', 'sign-up 2001:db8:5:6::/64')
    .executeTakeFirst();
  assert.ok((counted?.refused_until ?? 0) > 0);
});
