import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let withContact: TestService;

before(async () => {
  [gantry, withContact] = await Promise.all([
    startTestService(),
    startTestService({ GANTRY_SECURITY_CONTACT: 'mailto:security@example.com' }),
  ]);
});
after(async () => {
  await Promise.all([gantry.close(), withContact.close()]);
});

test('robots.txt keeps crawlers from costly pages', async () => {
  const { status, headers, text } = await openVisitor(gantry).get('/robots.txt');
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.equal(headers.get('cache-control'), 'public, max-age=3600');
  assert.match(text, /^User-agent: \*\nAllow: \/-\/assets\/\nDisallow: \/admin\n/);
  for (const path of ['/*/-/blame', '/*/-/compare', '/*/-/archive', '/*?']) {
    assert.ok(text.split('\n').includes(`Disallow: ${path}`), path);
  }
});

test('favicon.ico is the icon of the pages', async () => {
  const { status, headers, text } = await openVisitor(gantry).get('/favicon.ico');
  assert.deepEqual([status, headers.get('content-type')], [200, 'image/svg+xml']);
  assert.match(text, /^<svg/);
});

test('security.txt names the configured contact', async () => {
  const { status, headers, text } = await openVisitor(withContact).get('/.well-known/security.txt');
  assert.deepEqual([status, headers.get('content-type')], [200, 'text/plain; charset=utf-8']);
  const [contact, expires = '', canonical] = text.split('\n');
  assert.equal(contact, 'Contact: mailto:security@example.com');
  assert.equal(canonical, `Canonical: ${withContact.url}/.well-known/security.txt`);
  const days = (Date.parse(expires.replace('Expires: ', '')) - Date.now()) / 86_400_000;
  assert.ok(days > 179 && days <= 180, expires);
});

test('security.txt is missing without a contact', async () => {
  assert.equal((await openVisitor(gantry).get('/.well-known/security.txt')).status, 404);
});

test('change-password leads to the page where passwords are changed', async () => {
  const visitor = openVisitor(gantry);
  const { status, location } = await visitor.get('/.well-known/change-password');
  assert.deepEqual([status, location], [302, '/profile/password']);
  const next = await visitor.get('/profile/password');
  assert.equal(next.location, '/users/sign_in?return_to=%2Fprofile%2Fpassword');
});
