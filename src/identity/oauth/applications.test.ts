import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { callback, makeApplication } from '../../../test/support/oauth_client.ts';
import { seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const validInput = { name: 'Robot', redirect_uri: callback, scopes: 'api read_user' };

test('shows the secret of a new application once and stores only its hash', async () => {
  const made = await gantry.api('POST /applications', { json: validInput });
  assert.equal(made.status, 201);
  const { secret, ...rest } = made.body;
  assert.match(secret, /^gntoas-[\w-]{34}$/);
  assert.match(rest.application_id, /^[0-9a-f]{64}$/);
  const { id, application_id } = rest;
  const shown = { id, application_id, application_name: 'Robot', callback_url: callback, confidential: true };
  assert.deepEqual(rest, { ...shown, trusted: false, scopes: ['api', 'read_user'] });

  const list = await gantry.api('GET /applications');
  assert.deepEqual(list.body.at(-1), rest);
  assert.equal(list.headers.get('x-total'), String(list.body.length));
  const row = await gantry.service.platform.store.db
    .selectFrom('oauth_applications')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  assert.ok(!JSON.stringify(row).includes(secret));

  const { body } = await gantry.api(`GET /audit_events?target_type=Application&target_id=${id}`);
  assert.equal(body[0].kind, 'application.created');
  assert.ok(!JSON.stringify(body).includes(secret));
});

test('stores several redirect URIs one per line', async () => {
  const json = { ...validInput, redirect_uri: `${callback}\nmyapp:/done  http://127.0.0.1:9999/cb` };
  const { body } = await gantry.api('POST /applications', { json });
  assert.equal(body.callback_url, `${callback}\nmyapp:/done\nhttp://127.0.0.1:9999/cb`);
});

const refused: [what: string, input: object, problem: object][] = [
  ['no name', { name: ' ' }, { name: ["can't be blank"] }],
  ['a deceptive name', { name: 'a\u202Eb' }, { name: ['is invalid'] }],
  ['no redirect URI', { redirect_uri: ' ' }, { redirect_uri: ["can't be blank"] }],
  ['a relative redirect URI', { redirect_uri: '/callback' }, { redirect_uri: ['must be an absolute URI.'] }],
  ['one without a host', { redirect_uri: 'https:callback' }, { redirect_uri: ['must be an absolute URI.'] }],
  ['a fragment', { redirect_uri: `${callback}#x` }, { redirect_uri: ['cannot contain a fragment.'] }],
  ['a script', { redirect_uri: 'javascript:alert(1)' }, { redirect_uri: ['is forbidden by the server.'] }],
  [
    'a password',
    { redirect_uri: 'https://a:b@c.example' },
    { redirect_uri: ['is forbidden by the server.'] },
  ],
  [
    'a host that ends a rule of a policy',
    { redirect_uri: 'https://a.example;script-src/cb' },
    { redirect_uri: ['has a host that is not allowed.'] },
  ],
  [
    'a host that adds to a policy',
    { redirect_uri: 'myapp://a,b/cb' },
    { redirect_uri: ['has a host that is not allowed.'] },
  ],
  ['no scope', { scopes: '' }, { scopes: ["can't be blank"] }],
  ['openid', { scopes: 'api openid' }, { scopes: ["doesn't match configured on the server."] }],
];

for (const [what, input, problem] of refused) {
  test(`an application with ${what} is refused`, async () => {
    const reply = await gantry.api('POST /applications', { json: { ...validInput, ...input } });
    assert.equal(reply.status, 400);
    assert.deepEqual(reply.body, { message: problem });
  });
}

test('deletes an application once', async () => {
  const { id } = await makeApplication(gantry);
  assert.equal((await gantry.api(`DELETE /applications/${id}`)).status, 204);
  const again = await gantry.api(`DELETE /applications/${id}`);
  assert.equal(again.status, 404);
  assert.deepEqual(again.body, { message: '404 Application Not Found' });
  const { body } = await gantry.api(`GET /audit_events?kind=application.deleted&target_id=${id}`);
  assert.deepEqual(body[0].details, { name: 'Robot' });
});

test('refuses callers who are not administrators', async () => {
  const { token } = await seedUser(gantry);
  const { id } = await makeApplication(gantry);
  for (const line of ['GET /applications', 'POST /applications', `DELETE /applications/${id}`]) {
    const sent = line.startsWith('POST') ? { json: validInput } : {};
    assert.equal((await gantry.api(line, { as: token, ...sent })).status, 403);
    assert.equal((await gantry.api(line, { as: null, ...sent })).status, 401);
  }
});
