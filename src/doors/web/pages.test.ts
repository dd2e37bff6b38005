/** Tests what all pages have in common. */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { openVisitor } from '../../../test/support/visitor.ts';
import type { AnyPage } from './page.ts';
import { pagePaths } from './routes.ts';
import { assets } from './assets.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

test('lists every page, and every listed path has a page', async () => {
  const listed = new Map<readonly AnyPage[], string[]>();
  for (const { lines, load } of pagePaths) {
    const pages = await load();
    listed.set(pages, [...(listed.get(pages) ?? []), ...lines]);
  }
  for (const [pages, lines] of listed) {
    assert.deepEqual(lines.toSorted(), pages.map(({ method, path }) => `${method} ${path}`).toSorted());
  }
});

test('serves styles and scripts that browsers may cache forever', async () => {
  const { style, script, editor_tools: tools } = assets();
  const visitor = openVisitor(gantry);
  const { text } = await visitor.get('/users/sign_in');
  assert.ok(text.includes(`<link rel="stylesheet" href="${style}">`));
  assert.ok(text.includes(`<script type="module" src="${script}"></script>`));
  for (const [path, type] of [
    [style, 'text/css; charset=utf-8'],
    [script, 'text/javascript; charset=utf-8'],
    [tools, 'text/javascript; charset=utf-8'],
  ] as const) {
    const { headers } = await visitor.get(path, { 'accept-encoding': 'gzip' });
    assert.equal(headers.get('content-encoding'), 'gzip');
    assert.equal(headers.get('content-type'), type);
    assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable');
  }
  assert.equal((await visitor.get('/-/assets/style-0.css')).status, 404);
});

test('keeps all scripts and all styles within their budgets, compressed', async () => {
  const visitor = openVisitor(gantry);
  const paths = Object.values(assets());
  for (const [extension, maxBytes] of [
    ['.js', 30 * 1024],
    ['.css', 20 * 1024],
  ] as const) {
    let bytes = 0;
    for (const path of paths.filter((one) => one.endsWith(extension))) {
      const { headers } = await visitor.get(path, { 'accept-encoding': 'gzip' });
      assert.equal(headers.get('content-encoding'), 'gzip', path);
      bytes += Number(headers.get('content-length'));
    }
    assert.ok(bytes > 0 && bytes <= maxBytes, `${bytes} bytes of ${extension}, at most ${maxBytes}`);
  }
});

test('answers errors as a page to browsers, as JSON to programs', async () => {
  const person = await openVisitor(gantry).get('/-/no_such_page');
  assert.equal(person.status, 404);
  assert.match(person.text, /<h1>Not found<\/h1>/);
  assert.match(person.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  const program = await openVisitor(gantry).get('/-/no_such_page', { accept: '*/*' });
  assert.equal(program.text, '{"error":"404 Not Found"}');
  const api = await openVisitor(gantry).get('/api/v4/no/such');
  assert.equal(api.text, '{"error":"404 Not Found"}');
});

test('shows the request id for an unexpected error, and no details', async () => {
  const { platform } = gantry.service;
  const { db } = platform.store;
  platform.store.db = null as unknown as typeof db;
  try {
    const cookie = `_service_session=${'x'.repeat(43)}`;
    const { status, headers, text } = await openVisitor(gantry).get('/profile', { cookie });
    assert.equal(status, 500);
    assert.match(text, new RegExp(`<code>${headers.get('x-request-id')}</code>`));
    assert.doesNotMatch(text, /TypeError|null/);
  } finally {
    platform.store.db = db;
  }
});

test('validates parameters of pages as strictly as the API', async () => {
  const visitor = openVisitor(gantry);
  assert.equal((await visitor.get('/users/sign_in?return_to[]=x')).status, 400);
  assert.equal((await visitor.get('/users/sign_in?return_to=a&return_to=b')).status, 400);
  await visitor.get('/users/sign_in');
  assert.equal((await visitor.post('/users/sign_in', { login: 'a\0', password: 'b' })).status, 400);
  assert.equal((await visitor.post('/users/sign_in', { login: 'a' })).status, 400);
});

test('ignores a flash cookie that is not signed by us', async () => {
  const visitor = openVisitor(gantry);
  await visitor.get('/users/sign_in');
  const text = Buffer.from(JSON.stringify({ kind: 'notice', text: 'Call this number' })).toString(
    'base64url',
  );
  visitor.cookies.set('_service_flash', `${text}.${'a'.repeat(43)}`);
  assert.doesNotMatch((await visitor.get('/users/sign_in')).text, /Call this number/);
});

test('sets secure cookies and HSTS behind TLS', async () => {
  const service = await startTestService({ GANTRY_EXTERNAL_URL: 'https://git.example.com' });
  const { port } = service.service.app.server.address() as AddressInfo;
  const secure = { ...service, url: `http://127.0.0.1:${port}` };
  try {
    const { headers } = await openVisitor(secure).get('/users/sign_in');
    assert.equal(headers.get('strict-transport-security'), 'max-age=31536000');
    const cookies = headers.getSetCookie();
    assert.equal(cookies.length, 1);
    for (const cookie of cookies) assert.match(cookie, /; HttpOnly; SameSite=Lax; Secure$/);
    const visitor = openVisitor(secure);
    await visitor.get('/users/sign_in');
    const form = { login: 'root', password: 'wrong' };
    assert.match((await visitor.post('/users/sign_in', form)).text, /The form was not accepted/);
    const own = { origin: 'https://git.example.com' };
    assert.match((await visitor.post('/users/sign_in', form, own)).text, /Invalid user name or password/);
  } finally {
    await secure.close();
  }
});

test('keeps cookies, form tokens and input out of logs and audit rows', async () => {
  const service = await startTestService({ GANTRY_LOG_LEVEL: 'trace' });
  try {
    const visitor = openVisitor(service);
    const password = 'correct-horse-battery';
    const json = { username: 'someone', name: 'Someone', email: 'someone@example.com', password };
    assert.equal((await service.api('POST /users', { json })).status, 201);
    const { text } = await visitor.get('/users/sign_in');
    await visitor.post('/users/sign_in', { login: 'typed-a-password-here', password: 'wrong-password' });
    await visitor.signIn('someone', password);
    const page = await visitor.get('/profile');
    await visitor.post('/profile/password', {
      current_password: password,
      password: 'x',
      password_confirmation: 'y',
    });
    await visitor.get('/-/no_such_page');
    const tokens = [text, page.text].map((one) => /name="authenticity_token" value="([^"]+)"/.exec(one)?.[1]);
    const { db } = service.service.platform.store;
    const rows = await db.selectFrom('audit_events').selectAll().execute();
    const kept = service.logged().join('') + JSON.stringify(rows);
    assert.match(kept, /users\/sign_in/);
    for (const secret of [
      ...tokens,
      ...visitor.cookies.values(),
      password,
      'wrong-password',
      'typed-a-password',
    ])
      assert.ok(!kept.includes(secret ?? '?'), String(secret));
  } finally {
    await service.close();
  }
});
