import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { seedUser, unique } from '../../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';
import { defaults, fields, settingNames } from '../../../../core/settings/fields.ts';
import { groups } from '../../../../core/settings/field_kinds.ts';

const password = 'correct horse';
const path = '/admin/application_settings';
let gantry: TestService;
let admin: Visitor;
let adminName: string;

const someone = async (attributes: object = {}): Promise<{ username: string; visitor: Visitor }> => {
  const username = unique('user');
  const json = { username, name: 'A User', email: `${username}@example.com`, password, ...attributes };
  assert.equal((await gantry.api('POST /users', { json })).status, 201);
  const visitor = openVisitor(gantry);
  await visitor.signIn(username, password);
  return { username, visitor };
};

before(async () => {
  gantry = await startTestService();
  const { username, visitor } = await someone({ admin: true });
  [admin, adminName] = [visitor, username];
});
after(async () => await gantry.close());

const settings = async () => (await gantry.api('GET /application/settings')).body;
const set = async (json: object): Promise<void> => {
  assert.equal((await gantry.api('PUT /application/settings', { json })).status, 200);
};
beforeEach(async () => await set({ ...defaults }));

/** Returns the markup from a field to the next one. */
const partOf = (text: string, name: string): string =>
  text
    .split('<div class="setting">')
    .find((part) => part.includes(`<p class="setting-values"><code>${name}</code>`)) ?? '';

const seenIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/name="(seen\[\w+\])" value="([^"]+)"/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  );

test('shows each setting with its meaning, default, value and last author', async () => {
  await admin.get(path);
  await admin.post(path, { max_attachment_size: '20' });
  const { status, text } = await admin.get(path);
  assert.equal(status, 200);
  for (const group of groups) {
    const [, id] = new RegExp(`<a href="#(\\w+)">${group}</a>`).exec(text) ?? [];
    assert.ok(text.includes(`<h2 id="${id}">${group}</h2>`), group);
  }
  for (const name of settingNames) {
    const part = partOf(text, name);
    assert.ok(part.includes(fields[name].label) && part.includes(`seen[${name}]`), name);
    assert.match(part, / · now .* · default .* · (?:never )?changed/, name);
  }
  const part = partOf(text, 'max_attachment_size');
  assert.match(part, /type="number" value="20" required min="1" step="1"/);
  assert.match(
    part,
    new RegExp(`now <strong>20</strong> · default 10 · changed <time[^>]+>[^<]+</time> by ${adminName}<`),
  );
  assert.match(partOf(text, 'home_page_url'), / · now empty · default empty · never changed/);
});

test('renders the control for each type of setting', async () => {
  await set({
    restricted_visibility_levels: ['public'],
    domain_whitelist: ['a.example', '*.b.example'],
    sign_in_text: 'One\nTwo',
    polling_interval_multiplier: 1.5,
    enabled_git_access_protocol: 'ssh',
    rsa_key_restriction: 2048,
  });
  const { text } = await admin.get(path);
  const cases: Record<string, RegExp> = {
    signup_enabled:
      /type="hidden" name="signup_enabled" value="0">\s*<input[^>]+type="checkbox" value="1" checked/,
    ide_enabled: /type="checkbox" value="1" aria-/,
    restricted_visibility_levels: /<fieldset[\s\S]+value="internal">[\s\S]+value="public" checked>/,
    repository_storages: /value="default" checked>/,
    disabled_oauth_sign_in_sources: /None is configured/,
    domain_whitelist: /<textarea[^>]+>\na\.example\n\*\.b\.example<\/textarea>/,
    sign_in_text: /<textarea[^>]+>\nOne\nTwo<\/textarea>/,
    polling_interval_multiplier: /value="1.5" required min="0" step="any"/,
    enabled_git_access_protocol: /<option value="">SSH and HTTP<\/option><option value="ssh" selected>/,
    rsa_key_restriction: /<option value="2048" selected>At least 2048 bits<\/option>/,
    default_project_visibility: /<option value="private" selected>Private<\/option>/,
    default_branch_protection: /<option value="2" selected>Only maintainers may push<\/option>/,
  };
  for (const [name, pattern] of Object.entries(cases)) assert.match(partOf(text, name), pattern, name);
});

test('a change takes effect at once, and is confirmed', async () => {
  const visitor = openVisitor(gantry);
  assert.match((await visitor.get('/users/sign_in')).text, /Sign up/);
  await admin.get(path);
  const form = { signup_enabled: '0', sign_in_text: 'Our\r\nservice', max_attachment_size: '20' };
  const { status, location } = await admin.post(path, form);
  assert.deepEqual([status, location], [303, path]);
  const { text } = await visitor.get('/users/sign_in');
  assert.doesNotMatch(text, /Sign up/);
  assert.match(text, /Our\nservice/);
  const body = await settings();
  assert.deepEqual(
    [body.signup_enabled, body.sign_in_text, body.max_attachment_size],
    [false, 'Our\nservice', 20],
  );
  const shown = (await admin.get(path)).text;
  assert.match(
    shown,
    /Saved: signup_enabled on -&gt; off, sign_in_text empty -&gt; Our\nservice, max_attachment_size 10 -&gt; 20</,
  );
  const [event] = (await gantry.api('GET /audit_events?kind=settings.changed')).body;
  assert.deepEqual(event.details.max_attachment_size, [10, 20]);
});

test('saves and clears values of all types', async () => {
  await admin.get(path);
  const attributes = {
    'restricted_visibility_levels[0]': '',
    'restricted_visibility_levels[1]': 'public',
    'restricted_visibility_levels[2]': 'internal',
    domain_whitelist: ` One.example\r\n\r\n${Array.from({ length: 30 }, (_, n) => `domain-${n}.example.com`).join('\r\n')}`,
    enabled_git_access_protocol: 'http',
    polling_interval_multiplier: '0.5',
    default_group_visibility: 'public',
    rsa_key_restriction: '-1',
    home_page_url: 'https://example.com/',
  };
  assert.equal((await admin.post(path, attributes)).status, 303);
  const body = await settings();
  assert.deepEqual(body.restricted_visibility_levels, ['public', 'internal']);
  assert.deepEqual([body.domain_whitelist.length, body.domain_whitelist[0]], [31, 'one.example']);
  assert.equal(body.enabled_git_access_protocol, 'http');
  assert.deepEqual([body.polling_interval_multiplier, body.rsa_key_restriction], [0.5, -1]);
  assert.deepEqual([body.default_group_visibility, body.home_page_url], ['public', 'https://example.com/']);
  const cleared = {
    'restricted_visibility_levels[]': '',
    domain_whitelist: '',
    enabled_git_access_protocol: '',
    home_page_url: ' ',
  };
  assert.equal((await admin.post(path, cleared)).status, 303);
  const after = await settings();
  assert.deepEqual([after.restricted_visibility_levels, after.domain_whitelist], [[], []]);
  assert.deepEqual([after.enabled_git_access_protocol, after.home_page_url], [null, null]);
});

test('shows disabled sign-in sources that are not configured, and removes them', async () => {
  await gantry.api('PUT /application/settings', { json: { disabled_oauth_sign_in_sources: ['github'] } });
  const name = 'disabled_oauth_sign_in_sources';
  const { text } = await admin.get(path);
  assert.match(partOf(text, name), /value="github" checked[\s\S]+Not configured\./);
  await admin.post(path, { ...seenIn(text), [`${name}[]`]: '' });
  assert.deepEqual((await settings()).disabled_oauth_sign_in_sources, []);
});

test('shows problems at their fields, and saves nothing', async () => {
  await admin.get(path);
  const form = {
    signup_enabled: '0',
    max_attachment_size: '0',
    session_expire_delay: 'soon',
    default_projects_limit: '',
    home_page_url: 'javascript:alert(1)',
    default_group_visibility: 'secret',
    sign_in_text: '<b>typed</b>',
  };
  const { status, text } = await admin.post(path, form);
  assert.equal(status, 422);
  const cases = {
    max_attachment_size: /Largest attachment \(MB\) must be greater than 0/,
    session_expire_delay: /Idle session \(minutes\) is invalid/,
    default_projects_limit: /Projects a new user may have can&#39;t be blank/,
    home_page_url: /Home page must be a valid URL/,
    default_group_visibility: /Visibility of new groups does not have a valid value/,
  };
  for (const [name, pattern] of Object.entries(cases)) {
    assert.match(partOf(text, name), pattern, name);
    assert.match(partOf(text, name), /aria-invalid="true"/, name);
    assert.ok(text.includes(`<li><a href="#${name}">`), name);
  }
  assert.match(text, /Nothing was saved: 5 settings have invalid values/);
  assert.match(partOf(text, 'session_expire_delay'), /value="soon"/);
  assert.match(partOf(text, 'sign_in_text'), /&lt;b&gt;typed&lt;\/b&gt;<\/textarea>[\s\S]+now empty/);
  assert.match(partOf(text, 'signup_enabled'), /value="1" aria-[\s\S]+now on /);
  const { created_at: _, updated_at: __, id: ___, ...kept } = await settings();
  assert.deepEqual(kept, { ...defaults });
});

test('saves nothing if one value is invalid', async () => {
  await admin.get(path);
  const { status, text } = await admin.post(path, {
    max_attachment_size: '20',
    session_expire_delay: 'soon',
  });
  assert.equal(status, 422);
  assert.match(partOf(text, 'max_attachment_size'), /value="20"[\s\S]+now 10 /);
  assert.equal((await settings()).max_attachment_size, 10);
});

test('requires the address or list of an enabled setting, at that field', async () => {
  await admin.get(path);
  const { status, text } = await admin.post(path, { ide_enabled: '1', ide_url: '' });
  assert.equal(status, 422);
  assert.match(partOf(text, 'ide_url'), /id="ide_url_error">Address of the IDE can&#39;t be blank/);
  const list = await admin.post(path, { domain_blacklist_enabled: '1', domain_blacklist: '' });
  assert.match(
    partOf(list.text, 'domain_blacklist'),
    /_error">Domain blacklist cannot be empty if Blacklist is enabled/,
  );
  const form = { ide_enabled: '1', ide_url: 'https://ide.example.com' };
  assert.equal((await admin.post(path, form)).status, 303);
  assert.equal((await settings()).ide_enabled, true);
});

test('refuses to forbid all types of keys', async () => {
  await admin.get(path);
  const names = ['rsa', 'dsa', 'ecdsa', 'ed25519'].map((type) => `${type}_key_restriction`);
  const { status, text } = await admin.post(path, Object.fromEntries(names.map((name) => [name, '-1'])));
  assert.equal(status, 422);
  assert.match(
    text,
    /<h2 id="group_keys">Keys<\/h2>\s*<p class="error">Allowed key types can&#39;t be blank/,
  );
  assert.equal((await settings()).rsa_key_restriction, 0);
});

test('keeps changes that others made since the page was loaded', async () => {
  const { text } = await admin.get(path);
  await set({ signup_enabled: false, max_attachment_size: 15, domain_whitelist: ['x.example'] });
  const shown = { signup_enabled: '1', max_attachment_size: '10', domain_whitelist: '' };
  const { status } = await admin.post(path, { ...seenIn(text), ...shown, session_expire_delay: '60' });
  assert.equal(status, 303);
  const body = await settings();
  assert.deepEqual(
    [body.signup_enabled, body.max_attachment_size, body.session_expire_delay],
    [false, 15, 60],
  );
  assert.deepEqual(body.domain_whitelist, ['x.example']);
  assert.match((await admin.get(path)).text, /Saved: session_expire_delay 10080 -&gt; 60</);
});

test('shows what saving would change, and saves what was shown', async () => {
  const { text } = await admin.get(path);
  const before = await settings();
  const sent = { ...seenIn(text), session_expire_delay: '61', sign_in_text: 'Hello <b>' };
  const shown = await admin.post(path, { ...sent, review: '1' });
  assert.equal(shown.status, 200);
  assert.match(
    shown.text,
    /Not saved yet[^]*href="#sign_in_text"[^]*<strong>Hello &lt;b&gt;<[^]*href="#session_expire_delay"[^]*<strong>61<\/strong>/,
  );
  assert.deepEqual(await settings(), before);
  const again = { session_expire_delay: '61', sign_in_text: 'Hello <b>' };
  assert.match(shown.text, /name="session_expire_delay"[^>]* value="61"/);
  assert.equal((await admin.post(path, { ...seenIn(shown.text), ...again })).status, 303);
  const after = await settings();
  assert.deepEqual([after.session_expire_delay, after.sign_in_text], [61, 'Hello <b>']);
  const none = await admin.post(path, { ...seenIn((await admin.get(path)).text), ...again, review: '1' });
  assert.match(none.text, /Saving would change nothing/);
  const wrong = await admin.post(path, { session_expire_delay: '-1', review: '1' });
  assert.deepEqual([wrong.status, /Not saved yet/.test(wrong.text)], [422, false]);
  await set({ session_expire_delay: before.session_expire_delay, sign_in_text: before.sign_in_text });
});

test('a form submitted unchanged changes nothing', async () => {
  const { text } = await admin.get(path);
  const updated = (await settings()).updated_at;
  await admin.post(path, {
    ...seenIn(text),
    signup_enabled: '1',
    max_attachment_size: '10',
    domain_whitelist: '',
  });
  assert.match((await admin.get(path)).text, /Nothing was changed/);
  assert.equal((await settings()).updated_at, updated);
});

test('a notice of long values fits into its cookie', async () => {
  await admin.get(path);
  const long = 'ä'.repeat(100_000);
  const urls = {
    home_page_url: `https://example.com/${long.slice(0, 1000)}`,
    after_sign_out_path: 'https://example.com',
  };
  assert.equal((await admin.post(path, { sign_in_text: long, ...urls })).status, 303);
  assert.ok((admin.cookies.get('_service_flash') ?? '').length < 3000);
  assert.match((await admin.get(path)).text, /sign_in_text empty -&gt; ä+…/);
  const names = settingNames.filter((name) => typeof defaults[name] === 'number');
  const all = Object.fromEntries(
    names.map((name) => [name, name === 'default_branch_protection' ? '1' : '256']),
  );
  const keys = { rsa_key_restriction: '2048', dsa_key_restriction: '2048' };
  await admin.post(path, {
    ...all,
    ...keys,
    home_page_url: '',
    after_sign_out_path: '',
    sign_in_text: 'x'.repeat(99),
  });
  assert.match((await admin.get(path)).text, /Saved \d\d settings: default_projects_limit, [\w, ]+</);
});

test('requires the CSRF token', async () => {
  await admin.get(path);
  const forms = [
    { authenticity_token: null, max_attachment_size: '20' },
    { authenticity_token: 'x'.repeat(43), max_attachment_size: '20' },
  ];
  for (const form of forms) assert.equal((await admin.post(path, form)).status, 422);
  const other = { origin: 'https://evil.example' };
  assert.equal((await admin.post(path, { max_attachment_size: '20' }, other)).status, 422);
  assert.equal((await settings()).max_attachment_size, 10);
});

test('answers 404 to everybody but administrators', async () => {
  const { visitor } = await someone();
  const nothing = await visitor.get('/admin/no_such_page');
  assert.equal(nothing.status, 404);
  for (const page of ['/admin', path, '/admin/audit_events']) {
    const { status, text } = await visitor.get(page);
    assert.deepEqual([status, text], [404, nothing.text], page);
    const signedOut = await openVisitor(gantry).get(page);
    assert.equal(signedOut.location, `/users/sign_in?return_to=${encodeURIComponent(page)}`);
  }
  await visitor.get('/profile');
  assert.equal((await visitor.post(path, { max_attachment_size: '20' })).status, 404);
  assert.equal((await settings()).max_attachment_size, 10);
});

test('answers parameters of any shape', async () => {
  await admin.get(path);
  const odd: Record<string, string>[] = [
    { 'max_attachment_size[]': '1', 'signup_enabled[a][b]': '1', seen: 'x' },
    { 'domain_whitelist[0]': 'x.example', 'restricted_visibility_levels[a]': 'public', 'seen[]': '1' },
    { restricted_visibility_levels: 'public', '__proto__[x]': '1' },
  ];
  for (const form of odd) assert.equal((await admin.post(path, form)).status, 303);
  const { restricted_visibility_levels: levels } = await settings();
  assert.deepEqual(levels, []);
});

test('the start page shows counts, and warns of open sign-up', async () => {
  const open = await admin.get('/admin');
  assert.match(open.text, /Sign-up is open/);
  assert.match(open.text, new RegExp(`<dt>Version</dt><dd>${gantry.service.platform.version} `));
  assert.match(open.text, /<a href="\/help\/changelog">What is new<\/a>/);
  assert.match(open.text, /<dt>Users<\/dt><dd>\d+/);
  await set({ signup_enabled: false });
  assert.doesNotMatch((await admin.get('/admin')).text, /Sign-up is open/);
});

test('lists the audit log newest first, by kind and page', async () => {
  for (const size of [21, 22]) await set({ max_attachment_size: size });
  const events = '/admin/audit_events';
  const { text } = await admin.get(events);
  assert.match(text, /<option value="session.created">session.created<\/option>/);
  assert.match(
    text,
    /<code>max_attachment_size<\/code> 21 -&gt; 22[\s\S]+<code>max_attachment_size<\/code> 10 -&gt; 21/,
  );
  const some = await admin.get(`${events}?kind=settings.changed&per_page=1`);
  assert.match(some.text, /<option value="settings.changed" selected>/);
  assert.equal([...some.text.matchAll(/<th scope="row">/g)].length, 1);
  const [, next = ''] = /<a href="([^"]+)">Next<\/a>/.exec(some.text) ?? [];
  assert.match(next, /\?kind=settings.changed&amp;page=2&amp;per_page=1$/);
  const none = await admin.get(`${events}?kind=no.such`);
  assert.match(none.text, /0 events/);
  assert.equal((await admin.get(`${events}?kind=`)).status, 200);
});

test('filters the audit log by user and day, and links users, projects and other targets', async () => {
  const events = '/admin/audit_events';
  const { id, username, token } = await seedUser(gantry, { scopes: ['api'] });
  const made = await gantry.api('POST /projects', { as: token, json: { name: 'audited' } });
  await gantry.api(`PUT /projects/${made.body.id}`, { as: token, json: { visibility: 'public' } });
  await gantry.api(`POST /users/${id}/block`);
  const own = (await admin.get(`${events}?user=${username.toUpperCase()}`)).text;
  assert.ok(own.includes(`<a href="/admin/users/${id}">${username}</a>`));
  assert.ok(
    own.includes(`Project <a href="/admin/projects/${made.body.id}">${made.body.path_with_namespace}</a>`),
  );
  assert.equal(own.includes('settings.changed</code></th>'), false);
  assert.match(own, /name="user" type="text" value="[^"]+"/);
  assert.match((await admin.get(`${events}?user=nobody-at-all`)).text, /0 events/);
  const about = (await admin.get(`${events}?kind=user.blocked`)).text;
  assert.ok(about.includes(`User <a href="/admin/users/${id}">${username}</a>`));
  const day = new Date(gantry.service.platform.clock.now()).toISOString().slice(0, 10);
  assert.doesNotMatch((await admin.get(`${events}?user=${username}&from=${day}&to=${day}`)).text, /0 events/);
  assert.match((await admin.get(`${events}?user=${username}&to=2001-01-01`)).text, /0 events/);
  assert.match((await admin.get(`${events}?user=${username}&from=2999-01-01&to=`)).text, /0 events/);
  const { text } = await admin.get(events);
  const [, other = ''] = /<a href="([^"]+)" aria-label="All events about /.exec(text) ?? [];
  assert.match((await admin.get(other.replaceAll('&amp;', '&'))).text, /Filtered by /);
});
