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
  visitor.cookies.set('_service_preferences', '"><b>.nokeys');
  const { text } = await visitor.get(path);
  assert.match(text, /<html lang="en">/);
  assert.match(text, /data-no-keys/);
  visitor.cookies.delete('_service_preferences');
});

test('is for the signed in', async () => {
  const { location } = await openVisitor(gantry).get(path);
  assert.equal(location, '/users/sign_in?return_to=%2Fprofile%2Fpreferences');
});
