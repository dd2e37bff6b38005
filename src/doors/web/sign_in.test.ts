import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { unique } from '../../../test/support/seed.ts';
import { type TestService, rootToken, startTestService } from '../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../test/support/visitor.ts';

const password = 'correct horse';
let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const makeUser = async (overrides: object = {}): Promise<{ id: number; username: string; email: string }> => {
  const username = unique('user');
  const json = { username, name: 'A User', email: `${username}@example.com`, password, ...overrides };
  const { status, body } = await gantry.api('POST /users', { json });
  assert.equal(status, 201);
  return body;
};

const put = async (json: object) =>
  assert.equal((await gantry.api('PUT /application/settings', { json })).status, 200);

const isSignedIn = async (visitor: Visitor): Promise<boolean> => (await visitor.get('/')).status === 200;

test('has a form for password managers, and no inline script or style', async () => {
  const { status, headers, text } = await openVisitor(gantry).get('/users/sign_in');
  assert.equal(status, 200);
  assert.match(text, /<label for="login">/);
  assert.match(text, /name="login"[^>]* autocomplete="username"/);
  assert.match(text, /name="password"[^>]* autocomplete="current-password"/);
  assert.doesNotMatch(text, /<script(?! type="module" src="\/-\/assets\/)|style=/);
  const policy = headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.equal(headers.get('x-frame-options'), 'DENY');
  assert.equal(headers.get('cache-control'), 'private, no-store');
});

test('signs in by name or address, in any case, and out again', async () => {
  const { username, email } = await makeUser();
  for (const login of [username, email, username.toUpperCase(), ` ${email.toUpperCase()} `]) {
    const visitor = openVisitor(gantry);
    assert.equal((await visitor.signIn(login, password)).location, '/');
    assert.ok(await isSignedIn(visitor));
    assert.equal((await visitor.get('/users/sign_in')).location, '/');
    await visitor.get('/');
    const out = await visitor.post('/users/sign_out');
    assert.equal(out.status, 303);
    assert.equal(out.location, '/users/sign_in');
    assert.match((await visitor.get('/users/sign_in')).text, /You are signed out/);
    assert.doesNotMatch((await visitor.get('/users/sign_in')).text, /You are signed out/);
    assert.ok(!(await isSignedIn(visitor)));
  }
});

test('sets an HttpOnly cookie, and a new one at each sign-in', async () => {
  const { username } = await makeUser();
  const visitor = openVisitor(gantry);
  const { headers } = await visitor.signIn(username, password);
  const line = headers.getSetCookie().find((one) => one.startsWith('_service_session='));
  assert.match(line ?? '', /^_service_session=[\w-]{43}; Path=\/; Max-Age=7776000; HttpOnly; SameSite=Lax$/);
  const first = visitor.cookies.get('_service_session') ?? '';
  await visitor.get('/');
  assert.equal((await visitor.post('/users/sign_in', { login: username, password })).status, 303);
  assert.notEqual(visitor.cookies.get('_service_session'), first);
  const old = openVisitor(gantry);
  old.cookies.set('_service_session', first);
  assert.ok(!(await isSignedIn(old)));
});

test('a sign-out invalidates the cookie', async () => {
  const { username } = await makeUser();
  const visitor = openVisitor(gantry);
  await visitor.signIn(username, password);
  const copy = openVisitor(gantry);
  for (const [name, value] of visitor.cookies) copy.cookies.set(name, value);
  assert.ok(await isSignedIn(copy));
  await visitor.get('/');
  await visitor.post('/users/sign_out');
  assert.ok(!(await isSignedIn(copy)));
});

test('answers a wrong password and an unknown user alike, and logs no input', async () => {
  const { id, username } = await makeUser();
  const visitor = openVisitor(gantry);
  await visitor.get('/users/sign_in');
  const wrong = await visitor.post('/users/sign_in', { login: username, password: 'wrong-password' });
  const unknown = await visitor.post('/users/sign_in', { login: 'nobody-here', password: 'wrong-password' });
  assert.equal(wrong.status, 422);
  assert.equal(unknown.status, 422);
  assert.match(wrong.text, /role="alert">Invalid user name or password/);
  assert.equal(wrong.text.replaceAll(username, ''), unknown.text.replaceAll('nobody-here', ''));
  assert.doesNotMatch(wrong.text, /wrong-password/);
  const { db } = gantry.service.platform.store;
  const rows = await db.selectFrom('audit_events').selectAll().where('kind', '=', 'session.failed').execute();
  assert.ok(rows.some((row) => row.target_type === 'User' && row.target_id === id));
  assert.doesNotMatch(JSON.stringify(rows), /wrong-password|nobody-here/);
});

test('tells a blocked user so after the right password', async () => {
  const { id, username } = await makeUser();
  await gantry.api(`POST /users/${id}/block`);
  const visitor = openVisitor(gantry);
  await visitor.get('/users/sign_in');
  const right = await visitor.post('/users/sign_in', { login: username, password });
  assert.equal(right.status, 422);
  assert.match(right.text, /has been blocked/);
  const wrong = await visitor.post('/users/sign_in', { login: username, password: 'wrong-password' });
  assert.doesNotMatch(wrong.text, /has been blocked/);
});

test('refuses a form without its token, with a foreign token, or from another origin', async () => {
  const { username } = await makeUser();
  const visitor = openVisitor(gantry);
  const form = { login: username, password };
  await visitor.get('/users/sign_in');
  const stranger = openVisitor(gantry);
  const theirs = /name="authenticity_token" value="([^"]+)"/.exec(
    (await stranger.get('/users/sign_in')).text,
  )?.[1];
  const refused = [
    await visitor.post('/users/sign_in', { ...form, authenticity_token: null }),
    await visitor.post('/users/sign_in', { ...form, authenticity_token: theirs ?? '' }),
    await visitor.post('/users/sign_in', form, { origin: 'https://evil.example' }),
    await visitor.post('/users/sign_in', form, { origin: 'null' }),
    await visitor.post('/users/sign_in', form, { 'sec-fetch-site': 'cross-site' }),
  ];
  for (const { status, text } of refused) {
    assert.equal(status, 422);
    assert.match(text, /The form was not accepted/);
  }
  assert.ok(!visitor.cookies.has('_service_session'));
});

test('returns to the requested page after sign-in', async () => {
  const { username } = await makeUser();
  const visitor = openVisitor(gantry);
  const { status, location } = await visitor.get('/profile?a=b');
  assert.equal(status, 302);
  assert.equal(location, '/users/sign_in?return_to=%2Fprofile%3Fa%3Db');
  assert.match((await visitor.get(location ?? '')).text, /name="return_to" value="\/profile\?a=b"/);
  const seen = await visitor.post('/users/sign_in', { login: username, password, return_to: '/profile?a=b' });
  assert.equal(seen.location, '/profile?a=b');
});

test('accepts a form opened before signing in elsewhere, on public pages only', async () => {
  const { username } = await makeUser();
  const visitor = openVisitor(gantry);
  const { text } = await visitor.get('/users/sign_in');
  const authenticity_token = /name="authenticity_token" value="([^"]+)"/.exec(text)?.[1] ?? '';
  const form = { login: username, password, authenticity_token };
  assert.equal((await visitor.post('/users/sign_in', form)).status, 303);
  assert.equal((await visitor.post('/users/sign_in', form)).status, 303);
  assert.equal((await visitor.post('/profile', { name: 'x', email: 'x', authenticity_token })).status, 422);
});

test('ignores tokens in the query of a page, and drops them from the return path', async () => {
  const visitor = openVisitor(gantry);
  const { status, location } = await visitor.get(`/profile?private_token=${rootToken}`);
  assert.deepEqual([status, location], [302, '/users/sign_in']);
  const headers = { 'private-token': rootToken, authorization: `Bearer ${rootToken}` };
  assert.equal((await visitor.get('/profile', headers)).status, 302);
});

test('never redirects to another site after sign-in', async () => {
  const { username } = await makeUser();
  const places = [
    '//e.x',
    '//e.x/profile',
    '/\\e.x',
    '\\/e.x',
    '/%5Ce.x',
    '/\t/e.x',
    'https:e.x',
    'https://e.x',
    'javascript:alert(1)',
    '/a\\b',
    '/%09/e.x',
    '/%2F/e.x',
    '/%2f%2fe.x',
    '/%zz',
    ' //e.x',
    '@e.x',
    '.e.x',
    '',
  ];
  for (const return_to of places) {
    const visitor = openVisitor(gantry);
    await visitor.get('/users/sign_in');
    const { location } = await visitor.post('/users/sign_in', { login: username, password, return_to });
    assert.equal(location, '/', JSON.stringify(return_to));
    const again = await visitor.get(`/users/sign_in?return_to=${encodeURIComponent(return_to)}`);
    assert.equal(again.location, '/', JSON.stringify(return_to));
  }
});

test('shows the sign-in text as plain text with its lines', async () => {
  await put({ sign_in_text: 'Welcome\n<b>to us</b>' });
  const { text } = await openVisitor(gantry).get('/users/sign_in');
  assert.match(text, /<p class="lines">Welcome\n&lt;b&gt;to us&lt;\/b&gt;<\/p>/);
  await put({ sign_in_text: null });
});

test('refuses passwords, and hides the form, where password sign-in is off', async () => {
  const { username } = await makeUser();
  const visitor = openVisitor(gantry);
  await visitor.get('/users/sign_in');
  await put({ password_authentication_enabled: false });
  assert.doesNotMatch((await visitor.get('/users/sign_in')).text, /name="password"/);
  assert.equal((await visitor.post('/users/sign_in', { login: username, password })).status, 422);
  assert.ok(!visitor.cookies.has('_service_session'));
  await put({ password_authentication_enabled: true });
  await visitor.get('/users/sign_in');
  assert.equal((await visitor.post('/users/sign_in', { login: username, password })).status, 303);
});

test('the start page leads to the home page, the sign-in page or the projects of the user', async () => {
  const visitor = openVisitor(gantry);
  assert.equal((await visitor.get('/')).location, '/users/sign_in');
  await put({ home_page_url: 'https://home.example/start' });
  assert.equal((await visitor.get('/')).location, 'https://home.example/start');
  await put({ home_page_url: 'https://例え.example/ü' });
  assert.equal((await visitor.get('/')).location, 'https://xn--r8jz45g.example/%C3%BC');
  const { username } = await makeUser();
  await visitor.signIn(username, password);
  const { status, text } = await visitor.get('/');
  assert.equal(status, 200);
  assert.match(text, /<h1>Your work<\/h1>/);
  await put({ home_page_url: null });
});

test('a sign-out redirects as configured, and the policy allows it', async () => {
  const { username } = await makeUser();
  const visitor = openVisitor(gantry);
  await visitor.signIn(username, password);
  await put({ after_sign_out_path: 'https://bye.example/später' });
  const { headers } = await visitor.get('/');
  assert.match(headers.get('content-security-policy') ?? '', /form-action 'self' https:\/\/bye\.example;/);
  assert.equal((await visitor.post('/users/sign_out')).location, 'https://bye.example/sp%C3%A4ter');
  await put({ after_sign_out_path: null });
});
