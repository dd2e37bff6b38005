import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Seen, openVisitor } from '../../../../../test/support/visitor.ts';

const path = '/profile/personal_access_tokens';
const day = 86_400_000;
let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const form = (overrides: Record<string, string> = {}) => ({
  name: 'robot',
  'scopes[]': 'api',
  life: '30',
  ...overrides,
});
const secretIn = ({ text }: Seen): string => /<code class="secret">([^<]+)<\/code>/.exec(text)?.[1] ?? '';
const revokePathIn = (text: string): string => /action="([^"]+\/revoke)"/.exec(text)?.[1] ?? '';
const inDays = (days: number): string => new Date(Date.now() + days * day).toISOString().slice(0, 10);
const whoIs = async (as: string) => await gantry.api('GET /user', { as });

test('creates a token, shows it once, and revokes it', async () => {
  const { username, visitor } = await seedVisitor(gantry);
  const made = await visitor.post(path, form());
  assert.equal(made.status, 200);
  const token = secretIn(made);
  assert.match(token, /^gntpat-/);
  assert.equal(made.headers.get('cache-control'), 'private, no-store');
  assert.match((await visitor.get(path)).text, /<td>Never<\/td>/);
  assert.equal((await whoIs(token)).body.username, username);

  const { text } = await visitor.get(path);
  assert.ok(!text.includes(token));
  assert.match(
    text,
    new RegExp(`<th scope="row">robot<br>.*Active[\\s\\S]+<td>api</td>[\\s\\S]+<td>${inDays(30)}</td>`),
  );
  const { status, location } = await visitor.post(revokePathIn(text));
  assert.deepEqual([status, location], [303, path]);
  assert.match((await visitor.get(path)).text, /The token robot was revoked[\s\S]+You have no active token/);
  assert.equal((await whoIs(token)).status, 401);
  const ended = (await visitor.get(`${path}?state=inactive`)).text;
  assert.match(ended, /<th scope="row">robot<br>.*Revoked/);
  assert.equal(revokePathIn(ended), '');
});

const rotatePathIn = (text: string): string => /action="([^"]+\/rotate)"/.exec(text)?.[1] ?? '';

test('rotates a token: a new one is shown once, and the old one ends', async () => {
  const { visitor, username } = await seedVisitor(gantry);
  const old = secretIn(await visitor.post(path, form()));
  const rotate = rotatePathIn((await visitor.get(path)).text);
  const made = await visitor.post(rotate);
  assert.match(made.text, new RegExp(`It expires on ${inDays(7)}\\.`));
  const fresh = secretIn(made);
  assert.equal((await whoIs(old)).status, 401);
  assert.equal((await whoIs(fresh)).body.username, username);
  const again = await visitor.post(rotate);
  assert.deepEqual([again.status, /The token was revoked or has expired/.test(again.text)], [422, true]);
  const other = await seedVisitor(gantry);
  const own = rotatePathIn((await visitor.get(path)).text);
  assert.equal((await other.visitor.post(own)).status, 404);
  assert.equal((await whoIs(fresh)).status, 200);
});

test('shows when and from where a token was last used', async () => {
  const { visitor } = await seedVisitor(gantry);
  const token = secretIn(await visitor.post(path, form({ life: 'none' })));
  await whoIs(token);
  const row = /<tbody>([\s\S]+)<\/tbody>/.exec((await visitor.get(path)).text)?.[1] ?? '';
  assert.match(
    row,
    /<td>Never<\/td>\s*<td><time[^>]+>[^<]+<\/time><br><span class="quiet">from 127\.0\.0\.1<\/span>/,
  );
});

test('a token expires after a preset time, on a day, or never', async () => {
  const { id, visitor } = await seedVisitor(gantry);
  const choices: [Record<string, string>, string | null][] = [
    [{ life: '7' }, inDays(7)],
    [{ life: '365' }, inDays(365)],
    [{ life: 'none' }, null],
    [{ life: '7', expires_at: '2999-01-31' }, '2999-01-31'],
    [{ life: '90', expires_at: '' }, inDays(90)],
  ];
  for (const [overrides] of choices) assert.equal((await visitor.post(path, form(overrides))).status, 200);
  const list = await gantry.api(`GET /personal_access_tokens?user_id=${id}`);
  const ends = list.body.map(({ expires_at }: { expires_at: string | null }) => expires_at);
  assert.deepEqual(
    ends,
    choices.map(([, end]) => end),
  );
});

test('shows problems at their fields, and keeps the input', async () => {
  const { id, visitor } = await seedVisitor(gantry);
  const cases: [Record<string, string>, RegExp][] = [
    [{ name: ' ' }, /id="name_error">Name can&#39;t be blank/],
    [{ 'scopes[]': '' }, /id="scopes_error">Scopes can&#39;t be blank/],
    [{ 'scopes[]': 'sudo' }, /id="scopes_error">Scopes can only contain available scopes/],
    [{ expires_at: inDays(0) }, /id="expires_at_error">Or on a day of your choice must be in the future/],
    [{ expires_at: '2026-02-31' }, /id="expires_at_error">Or on a day of your choice is invalid/],
    [{ life: '8' }, /id="life_error">Expires does not have a valid value/],
  ];
  for (const [overrides, pattern] of cases) {
    const { status, text } = await visitor.post(path, form({ name: 'typed', ...overrides }));
    assert.equal(status, 422, JSON.stringify(overrides));
    assert.match(text, pattern);
    if (overrides['name'] === undefined) assert.match(text, /value="typed"/);
    if (overrides['scopes[]'] === undefined) assert.match(text, /value="api" checked/);
  }
  assert.deepEqual((await gantry.api(`GET /personal_access_tokens?user_id=${id}`)).body, []);
});

test('offers the scope sudo to administrators only', async () => {
  const [user, admin] = [await seedVisitor(gantry), await seedVisitor(gantry, { admin: 1 })];
  assert.doesNotMatch((await user.visitor.get(path)).text, /value="sudo"/);
  assert.match((await admin.visitor.get(path)).text, /value="sudo"/);
  assert.equal((await admin.visitor.post(path, form({ 'scopes[]': 'sudo' }))).status, 200);
});

test('lists and revokes tokens of the user only', async () => {
  const [one, other] = [await seedVisitor(gantry), await seedVisitor(gantry, { admin: 1 })];
  const token = secretIn(await one.visitor.post(path, form({ name: '<i>mine</i>' })));
  const { text } = await one.visitor.get(path);
  assert.match(text, /&lt;i&gt;mine&lt;\/i&gt;/);
  const theirs = await other.visitor.get(path);
  assert.doesNotMatch(theirs.text, /mine/);
  assert.equal((await other.visitor.post(revokePathIn(text))).status, 404);
  assert.equal((await other.visitor.post(`${path}/999999/revoke`)).status, 404);
  assert.equal((await whoIs(token)).status, 200);
});

test('requires the CSRF token', async () => {
  const { id, visitor } = await seedVisitor(gantry);
  assert.equal((await visitor.post(path, { ...form(), authenticity_token: null })).status, 422);
  assert.deepEqual((await gantry.api(`GET /personal_access_tokens?user_id=${id}`)).body, []);
  const token = secretIn(await visitor.post(path, form()));
  const revoke = revokePathIn((await visitor.get(path)).text);
  assert.equal((await visitor.post(revoke, { authenticity_token: null })).status, 422);
  assert.equal((await whoIs(token)).status, 200);
  assert.equal((await openVisitor(gantry).get(path)).status, 302);
});

test('shows many tokens in pages', async () => {
  const { visitor } = await seedVisitor(gantry);
  for (const name of ['first', 'second', 'third']) await visitor.post(path, form({ name }));
  const { text } = await visitor.get(`${path}?page=2&per_page=2`);
  assert.match(text, /<th scope="row">third/);
  assert.doesNotMatch(text, /<th scope="row">(?:first|second)/);
  assert.match(text, new RegExp(`<a href="${path}\\?page=1&amp;per_page=2">Previous</a>`));
  assert.match(text, /Page 2 of 2/);
});
