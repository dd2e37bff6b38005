import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

const path = '/profile/preferences';
let gantry: TestService;
let visitor: Visitor;

before(async () => {
  gantry = await startTestService();
  ({ visitor } = await seedVisitor(gantry));
});
after(async () => await gantry.close());

test('by default, single keys are shortcuts and the scheme is that of the system', async () => {
  const { text } = await visitor.get(path);
  assert.match(text, /<html lang="en">/);
  assert.doesNotMatch(text, /data-no-keys/);
  assert.match(text, /<option value="system" selected>/);
  assert.match(text, /name="shortcuts" type="checkbox" value="1" checked/);
});

test('turns single-key shortcuts off, and chooses a color scheme', async () => {
  await visitor.get(path);
  const { status, location } = await visitor.post(path, { scheme: 'dark', shortcuts: '0' });
  assert.deepEqual([status, location], [303, path]);
  for (const shown of [path, '/']) {
    const { text } = await visitor.get(shown);
    assert.match(text, /<html lang="en" data-scheme="dark">/);
    assert.match(text, /<body[^>]* data-no-keys>/);
  }
  assert.match((await visitor.get(path)).text, /type="checkbox" value="1" aria-/);
  await visitor.post(path, { scheme: 'system', shortcuts: '1' });
  assert.doesNotMatch((await visitor.get(path)).text, /data-no-keys|data-scheme/);
});

test('chooses how changes are shown', async () => {
  await visitor.get(path);
  await visitor.post(path, { scheme: 'system', shortcuts: '1', diff_view: 'split', hide_whitespace: '1' });
  const { text } = await visitor.get(path);
  assert.match(text, /<option value="split" selected>/);
  assert.match(text, /name="hide_whitespace" type="checkbox" value="1" checked/);
  await visitor.post(path, { scheme: 'system', shortcuts: '1', diff_view: 'unified', hide_whitespace: '0' });
  assert.match((await visitor.get(path)).text, /<option value="unified" selected>/);
});

test('refuses other schemes, and ignores what a cookie says otherwise', async () => {
  await visitor.get(path);
  assert.equal((await visitor.post(path, { scheme: '"><script>', shortcuts: '1' })).status, 400);
  const anonymous = openVisitor(gantry);
  anonymous.cookies.set('_service_preferences', '"><b>.nokeys');
  const { text } = await anonymous.get('/users/sign_in');
  assert.match(text, /<html lang="en">/);
  assert.match(text, /data-no-keys/);
});

test('applies to the account in every browser, and to nobody else', async () => {
  const user = await seedVisitor(gantry);
  const { id } = user;
  await user.visitor.get(path);
  await user.visitor.post(path, { scheme: 'dark', shortcuts: '0', timeline_order: 'desc' });
  assert.equal(user.visitor.cookies.has('_service_preferences'), false);
  const session = user.visitor.cookies.get('_service_session') ?? '';
  const elsewhere = openVisitor(gantry, session);
  elsewhere.cookies.set('_service_preferences', 'light');
  const { text } = await elsewhere.get(path);
  assert.match(text, /<html lang="en" data-scheme="dark">/);
  assert.match(text, /<option value="desc" selected>/);
  assert.doesNotMatch((await visitor.get(path)).text, /data-scheme/);
  assert.equal((await gantry.api(`DELETE /users/${id}`)).status, 204);
});

test('keeps what a browser chose before, until something is stored', async () => {
  const user = await seedVisitor(gantry);
  user.visitor.cookies.set('_service_preferences', 'dark.split');
  assert.match((await user.visitor.get(path)).text, /data-scheme="dark"/);
  const { location } = await user.visitor.post('/-/preferences', { w: '1', return_to: '/help?w=0' });
  assert.equal(location, '/help');
  user.visitor.cookies.delete('_service_preferences');
  const { text } = await user.visitor.get(path);
  assert.match(text, /data-scheme="dark"/);
  assert.match(text, /name="hide_whitespace" type="checkbox" value="1" checked/);
});

test('an administrator who acts as another user leaves their preferences alone', async () => {
  const admin = await seedVisitor(gantry, { admin: 1 });
  const user = await seedVisitor(gantry);
  await admin.visitor.get('/');
  const { location } = await admin.visitor.post(`/admin/users/${user.id}/impersonate`);
  assert.equal(location, '/');
  await admin.visitor.get('/help');
  await admin.visitor.post('/-/preferences', { view: 'split', return_to: '/help' });
  assert.match(admin.visitor.cookies.get('_service_preferences') ?? '', /split/);
  assert.match((await user.visitor.get(path)).text, /<option value="unified" selected>/);
});

test('stores the choice of an anonymous visitor in the browser, and needs the token of the page', async () => {
  const anonymous = openVisitor(gantry);
  await anonymous.get('/users/sign_in');
  const refused = await anonymous.post('/-/preferences', { view: 'split', authenticity_token: null });
  assert.equal(refused.status, 422);
  const { location } = await anonymous.post('/-/preferences', {
    view: 'split',
    return_to: '//evil.example/x',
  });
  assert.equal(location, '/');
  assert.equal(anonymous.cookies.get('_service_preferences'), 'system.split');
});

test('the page of preferences is for signed-in users', async () => {
  const { location } = await openVisitor(gantry).get(path);
  assert.equal(location, '/users/sign_in?return_to=%2Fprofile%2Fpreferences');
});
