import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { sampleKeys } from '../../../../../test/support/repositories/ssh_keys.ts';
import { openVisitor } from '../../../../../test/support/visitor.ts';

const path = '/profile/keys';
let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const keysOf = async (id: number) => (await gantry.api(`GET /users/${id}/keys`)).body;
const deletePathIn = (text: string): string => /action="([^"]+\/delete)"/.exec(text)?.[1] ?? '';

test('adds, shows and deletes a key', async () => {
  const { id, visitor } = await seedVisitor(gantry);
  const { text: key, sha256 } = sampleKeys.ecdsa384;
  const added = await visitor.post(path, {
    key: `${key}\r\n`,
    title: 'A <b>laptop</b>',
    expires_at: '2999-01-31',
  });
  assert.deepEqual([added.status, added.location], [303, path]);
  const { text } = await visitor.get(path);
  assert.match(text, /The key was added/);
  assert.match(text, /<th scope="row">A &lt;b&gt;laptop&lt;\/b&gt;/);
  assert.ok(text.includes(`SHA256:${sha256}`));
  assert.match(text, /ecdsa-sha2-nistp384<br><span class="quiet">384 bits/);
  assert.match(text, /<time datetime="2999-01-31T00:00:00.000Z">/);
  assert.deepEqual(
    (await keysOf(id)).map(({ title }: { title: string }) => title),
    ['A <b>laptop</b>'],
  );
  const deleted = await visitor.post(deletePathIn(text));
  assert.deepEqual([deleted.status, deleted.location], [303, path]);
  assert.match((await visitor.get(path)).text, /The key was deleted[\s\S]+You have no key yet/);
  assert.deepEqual(await keysOf(id), []);
});

test('names a key without a title by its comment', async () => {
  const { visitor } = await seedVisitor(gantry);
  await visitor.post(path, { key: sampleKeys.ecdsa521.text, title: '', expires_at: '' });
  const { text } = await visitor.get(path);
  assert.match(text, /<th scope="row">me@example.com/);
  assert.match(text, /<td>Never<\/td>/);
});

test('explains problems at the field, and keeps the input', async () => {
  const { id, visitor } = await seedVisitor(gantry);
  await gantry.api('PUT /application/settings', {
    json: { rsa_key_restriction: 2048, dsa_key_restriction: -1 },
  });
  const other = await seedVisitor(gantry);
  await other.visitor.post(path, { key: sampleKeys.ed25519.text });
  const cases: [Record<string, string>, RegExp][] = [
    [{ key: '-----BEGIN OPENSSH PRIVATE KEY-----' }, /id="key_error">Key is invalid: paste the whole line/],
    [{ key: '' }, /id="key_error">Key can&#39;t be blank/],
    [{ key: sampleKeys.rsa1024.text }, /id="key_error">Key length must be at least 2048 bits/],
    [{ key: sampleKeys.dsa.text }, /id="key_error">Key type is forbidden. Must be RSA, ECDSA, or ED25519/],
    [
      { key: sampleKeys.ed25519.text },
      /id="key_error">Key has already been added, by this user or by another/,
    ],
    [{ key: 'x'.repeat(6000) }, /id="key_error">Key is too long/],
    [
      { key: sampleKeys.rsa2048.text, expires_at: '2020-01-01' },
      /id="expires_at_error">Expires must be in the future/,
    ],
    [{ key: sampleKeys.rsa2048.text, expires_at: 'soon' }, /id="expires_at_error">Expires is invalid/],
  ];
  for (const [overrides, pattern] of cases) {
    const { status, text } = await visitor.post(path, { title: 'typed', ...overrides });
    assert.equal(status, 422, String(pattern));
    assert.match(text, pattern);
    assert.match(text, /value="typed"/);
    assert.ok(text.includes(`\n${overrides['key']}</textarea>`));
  }
  assert.deepEqual(await keysOf(id), []);
});

test('deletes keys of the user only', async () => {
  const [one, other] = [await seedVisitor(gantry), await seedVisitor(gantry)];
  await one.visitor.post(path, { key: sampleKeys.rsa2048.text });
  const remove = deletePathIn((await one.visitor.get(path)).text);
  assert.equal(deletePathIn((await other.visitor.get(path)).text), '');
  assert.equal((await other.visitor.post(remove)).status, 404);
  assert.equal((await keysOf(one.id)).length, 1);
  assert.equal((await one.visitor.post(remove, { authenticity_token: null })).status, 422);
  assert.equal((await keysOf(one.id)).length, 1);
});

test('requires the CSRF token', async () => {
  const { id, visitor } = await seedVisitor(gantry);
  const form = { key: sampleKeys.ecdsa256.text, authenticity_token: null };
  assert.equal((await visitor.post(path, form)).status, 422);
  assert.deepEqual(await keysOf(id), []);
  assert.equal((await openVisitor(gantry).post(path, form)).location, '/users/sign_in');
});
