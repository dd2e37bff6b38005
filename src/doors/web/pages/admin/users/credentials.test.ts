/** Addresses, keys and tokens that administrators add for a user: by the operations of the API. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { makeGpgKey } from '../../../../../../test/support/repositories/gpg_keys.ts';
import { sampleKeys } from '../../../../../../test/support/repositories/ssh_keys.ts';
import { seedProject, seedUser, unique } from '../../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { type Visitor, contentIn } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let admin: Visitor;

before(async () => {
  gantry = await startTestService();
  ({ visitor: admin } = await seedVisitor(gantry, { admin: 1 }));
});
after(async () => await gantry.close());

const actionIn = (text: string, end: string): string =>
  new RegExp(`action="(/admin/users/\\d+/\\w+/\\d+/${end})"`).exec(text)?.[1] ?? '';

test('adds and deletes an SSH key, and shows a refused one again', async () => {
  const { id } = await seedUser(gantry);
  const path = `/admin/users/${id}/keys`;
  await admin.get(path);
  const wrong = await admin.post(path, { key: 'no <key>', title: 'laptop' });
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /no &lt;key&gt;<\/textarea>\s*<p class="error" id="key_error">Key is invalid/);
  const key = { key: sampleKeys.ed25519.text, title: 'laptop', expires_at: '2999-01-31' };
  assert.equal((await admin.post(path, key)).location, path);
  const [made] = (await gantry.api(`GET /users/${id}/keys`)).body;
  assert.equal(made.title, 'laptop');
  const shown = await admin.get(path);
  assert.match(shown.text, /laptop[\s\S]*<td>Never<\/td><td><time datetime="2999-01-31/);
  assert.equal((await admin.post(actionIn(shown.text, 'delete'))).location, path);
  assert.deepEqual((await gantry.api(`GET /users/${id}/keys`)).body, []);
});

test('adds and deletes a GPG key', async () => {
  const { id, email } = (await gantry.api(`GET /users/${(await seedUser(gantry)).id}`)).body;
  const path = `/admin/users/${id}/gpg_keys`;
  await admin.get(path);
  const wrong = await admin.post(path, { key: 'no key' });
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /id="key_error">Key is invalid/);
  assert.equal((await admin.post(path, { key: makeGpgKey(email).text })).location, path);
  const shown = await admin.get(path);
  assert.ok(shown.text.includes(email));
  assert.equal((await gantry.api(`GET /users/${id}/gpg_keys`)).body.length, 1);
  assert.equal((await admin.post(actionIn(shown.text, 'delete'))).location, path);
  assert.deepEqual((await gantry.api(`GET /users/${id}/gpg_keys`)).body, []);
});

test('adds a confirmed address and one that is not, and deletes it', async () => {
  const { id } = await seedUser(gantry);
  const path = `/admin/users/${id}/emails`;
  await admin.get(path);
  const wrong = await admin.post(path, { email: 'nothing', skip_confirmation: '1' });
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /value="nothing"[\s\S]*id="email_error"[\s\S]*type="checkbox" value="1" checked/);
  const [sure, open] = [`${unique('sure')}@example.com`, `${unique('open')}@example.com`];
  assert.equal((await admin.post(path, { email: sure, skip_confirmation: '1' })).location, path);
  assert.equal((await admin.post(path, { email: open, skip_confirmation: '0' })).location, path);
  const { body } = await gantry.api(`GET /users/${id}/emails`);
  assert.deepEqual(
    body.map((one: { email: string; confirmed_at: string | null }) => [one.email, one.confirmed_at !== null]),
    [
      [sure, true],
      [open, false],
    ],
  );
  const shown = await admin.get(path);
  assert.match(shown.text, /<td>Not confirmed<\/td>/);
  assert.equal((await admin.post(actionIn(shown.text, 'resend'))).location, path);
  assert.equal((await admin.post(actionIn(shown.text, 'delete'))).location, path);
  assert.equal((await gantry.api(`GET /users/${id}/emails`)).body.length, 1);
});

test('creates a token with which programs act as the user, and revokes it', async () => {
  const { id, username } = await seedUser(gantry);
  const path = `/admin/users/${id}/tokens`;
  const page = await admin.get(`${path}?kind=impersonation`);
  assert.doesNotMatch(page.text, /value="sudo"/);
  const wrong = await admin.post(path, { kind: 'impersonation', name: 'Night shift', 'scopes[]': 'sudo' });
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /value="Night shift"[\s\S]*Scopes can only contain available scopes/);
  const past = { kind: 'impersonation', name: 'Night shift', 'scopes[]': 'api', expires_at: '2020-01-01' };
  assert.match((await admin.post(path, past)).text, /must be in the future/);
  const made = await admin.post(path, {
    kind: 'impersonation',
    name: 'Night shift',
    'scopes[]': 'read_user',
    life: '7',
  });
  const token = /<code class="secret">([^<]+)</.exec(made.text)?.[1] ?? '';
  const { body } = await gantry.api('GET /user', { as: token });
  assert.equal(body.username, username);
  const [listed] = (await gantry.api(`GET /users/${id}/impersonation_tokens`)).body;
  assert.deepEqual([listed.name, listed.scopes, listed.impersonation], ['Night shift', ['read_user'], true]);
  assert.doesNotMatch((await admin.get(path)).text, /Night shift/);
  const shown = await admin.get(`${path}?kind=impersonation`);
  assert.equal((await admin.post(actionIn(shown.text, 'revoke'))).location, `${path}?kind=impersonation`);
  assert.equal((await gantry.api('GET /user', { as: token })).status, 401);
});

test('creates a personal token, which the user sees', async () => {
  const { id, visitor } = await seedVisitor(gantry);
  await admin.get(`/admin/users/${id}/tokens`);
  await admin.post(`/admin/users/${id}/tokens`, { name: 'For you', 'scopes[]': 'api', life: 'none' });
  assert.match((await visitor.get('/profile/personal_access_tokens')).text, /For you/);
});

test('offers a bot no credentials, and says why', async () => {
  const project = await seedProject(gantry);
  const json = { name: 'deploys', scopes: ['api'], access_level: 30, expires_at: '2999-01-31' };
  const made = await gantry.api(`POST /projects/${project.id}/access_tokens`, { json });
  assert.equal(made.status, 201);
  const user = await seedUser(gantry);
  for (const [tab, add] of [
    ['emails', 'Add address'],
    ['keys', 'Add key'],
    ['gpg_keys', 'Add key'],
    ['tokens', 'Create token'],
    ['tokens?kind=impersonation', 'Create token'],
  ] as const) {
    const bot = contentIn(await admin.get(`/admin/users/${made.body.user_id}/${tab}`));
    assert.ok(bot.includes('It has no credentials but that token'), tab);
    assert.ok(!bot.includes(`>${add}</button>`), tab);
    const person = contentIn(await admin.get(`/admin/users/${user.id}/${tab}`));
    assert.ok(person.includes(`>${add}</button>`) && !person.includes('It has no credentials'), tab);
  }
});
