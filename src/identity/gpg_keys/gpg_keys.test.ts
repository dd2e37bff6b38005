/** GPG keys over the API: own keys, keys of other users, refusals. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { armor, makeGpgKey } from '../../../test/support/repositories/gpg_keys.ts';
import { seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { parseCertificate } from './openpgp/certificate.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const add = async (as: string, key: string) => await gantry.api('POST /user/gpg_keys', { as, json: { key } });

test('adds, lists, shows and deletes own keys', async () => {
  const { id, token, username } = await seedUser(gantry);
  const key = makeGpgKey(`${username}@example.com`);
  const added = await add(token, `\n${key.text}\n`);
  assert.equal(added.status, 201, added.text);
  assert.deepEqual(Object.keys(added.body), ['id', 'key', 'created_at']);
  assert.equal(added.body.key, key.text);
  const list = await gantry.api('GET /user/gpg_keys', { as: token });
  assert.deepEqual([list.body, list.headers.get('x-total')], [[added.body], '1']);
  const other = await seedUser(gantry);
  for (const [path, as] of [
    [`/user/gpg_keys/${added.body.id}`, token],
    [`/users/${id}/gpg_keys/${added.body.id}`, other.token],
  ] as const)
    assert.deepEqual((await gantry.api(`GET ${path}`, { as })).body, added.body);
  assert.deepEqual((await gantry.api(`GET /users/${id}/gpg_keys`, { as: other.token })).body, [added.body]);
  const taken = await add(other.token, key.text);
  assert.deepEqual(
    [taken.status, taken.body],
    [400, { message: { fingerprint: ['has already been taken'] } }],
  );
  const missing = await gantry.api(`DELETE /user/gpg_keys/${added.body.id}`, { as: other.token });
  assert.deepEqual([missing.status, missing.body], [404, { message: '404 GPG Key Not Found' }]);
  assert.equal((await gantry.api(`DELETE /user/gpg_keys/${added.body.id}`, { as: token })).status, 204);
  const again = await add(other.token, key.text);
  assert.equal(again.status, 201);
  const revoked = await gantry.api(`POST /user/gpg_keys/${again.body.id}/revoke`, { as: other.token });
  assert.equal(revoked.status, 202);
  assert.deepEqual((await gantry.api('GET /user/gpg_keys', { as: other.token })).body, []);
});

test('a key of somebody else gives way to the user whose address it has', async () => {
  const [owner, stranger, other] = [await seedUser(gantry), await seedUser(gantry), await seedUser(gantry)];
  const key = makeGpgKey(`${owner.username}@example.com`);
  assert.equal((await add(stranger.token, key.text)).status, 201);
  assert.equal((await add(other.token, key.text)).status, 400);
  assert.equal((await add(owner.token, key.text)).status, 201);
  assert.deepEqual((await gantry.api('GET /user/gpg_keys', { as: stranger.token })).body, []);
  assert.equal((await add(stranger.token, key.text)).status, 400);
});

test('administrators add, delete and revoke keys of users', async () => {
  const { id, username } = await seedUser(gantry);
  const path = `/users/${id}/gpg_keys`;
  for (const [method, end, status] of [
    ['DELETE', '', 204],
    ['POST', '/revoke', 202],
  ] as const) {
    const json = { key: makeGpgKey(`${username}@example.com`).text };
    const added = await gantry.api(`POST ${path}`, { json });
    assert.equal(added.status, 201);
    assert.equal((await gantry.api(`${method} ${path}/${added.body.id}${end}`)).status, status);
  }
  const { db } = gantry.service.platform.store;
  const kinds = await db
    .selectFrom('audit_events')
    .select('kind')
    .where('target_type', '=', 'GpgKey')
    .execute();
  assert.ok(
    ['gpg_key.created', 'gpg_key.deleted', 'gpg_key.revoked'].every((kind) =>
      kinds.some((row) => row.kind === kind),
    ),
  );
  assert.deepEqual(
    await db
      .selectFrom('gpg_signing_keys')
      .selectAll()
      .where('gpg_key_id', 'not in', db.selectFrom('gpg_keys').select('id'))
      .execute(),
    [],
  );
});

/** A revoked key with a hundred wrong, later revocations before the right one. */
const hideRevocation = (): string => {
  const { text } = makeGpgKey('me@example.com', { isRevoked: true });
  const bytes = Buffer.from(text.split('\n').slice(2, -1).join(''), 'base64');
  const lengthAt = (at: number): number => 6 + bytes.readUInt32BE(at + 2);
  const start = lengthAt(0);
  const wrong = Buffer.from(bytes.subarray(start, start + lengthAt(start)));
  // The time of the signature: behind two lengths, the version, three types and the head of the part.
  wrong.writeUInt32BE(wrong.readUInt32BE(14) + 1, 14);
  const flood = Array.from({ length: 100 }, () => wrong);
  return armor(
    'PUBLIC KEY BLOCK',
    Buffer.concat([bytes.subarray(0, start), ...flood, bytes.subarray(start)]),
  );
};

test('refuses what is no key that can sign', async () => {
  const { token } = await seedUser(gantry);
  const { text } = makeGpgKey('me@example.com');
  const bytes = Buffer.from(text.split('\n').slice(2, -1).join(''), 'base64');
  const cases: [string, string][] = [
    ['', "can't be blank"],
    ['x', 'is invalid'],
    ['ssh-ed25519 AAAA', 'is invalid'],
    [text.replace('BEGIN PGP PUBLIC', 'BEGIN PGP PRIVATE'), 'is invalid'],
    [armor('PUBLIC KEY BLOCK', Buffer.alloc(0)), 'is invalid'],
    [armor('PUBLIC KEY BLOCK', Buffer.concat([bytes, bytes])), 'is invalid'],
    [armor('PUBLIC KEY BLOCK', bytes.subarray(0, -1)), 'is invalid'],
    // Another name, which the key did not sign.
    [
      armor('PUBLIC KEY BLOCK', Buffer.from(bytes.toString('latin1').replace('me@', 'we@'), 'latin1')),
      'is invalid',
    ],
    [armor('PUBLIC KEY BLOCK', Buffer.alloc(60_000, 0xcd)), 'is invalid'],
    [makeGpgKey('me@example.com', { isRevoked: true }).text, 'has been revoked'],
    [makeGpgKey('me@example.com', { certified_for: 60 }).text, 'is invalid'],
    [hideRevocation(), 'is invalid'],
    ['x'.repeat(100_001), 'is too long'],
  ];
  for (const [key, problem] of cases) {
    const { status, text: answer } = await add(token, key);
    assert.equal(status, 400, key.slice(0, 200));
    assert.ok(answer.includes(problem), answer);
  }
  assert.deepEqual((await gantry.api('GET /user/gpg_keys', { as: token })).body, []);
});

test('parses hostile bytes in bounded time, and never fails', () => {
  const { text } = makeGpgKey('me@example.com');
  const bytes = Buffer.from(text.split('\n').slice(2, -1).join(''), 'base64');
  for (let at = 0; at < 300; at += 1) {
    const damaged = Buffer.from(bytes);
    const [where = 0, value = 0] = randomBytes(2);
    damaged[where % damaged.length] = value;
    const cut = damaged.subarray(0, damaged.length - (at % 20));
    parseCertificate(armor('PUBLIC KEY BLOCK', cut));
    parseCertificate(armor('PUBLIC KEY BLOCK', randomBytes(200)));
  }
  // Thousands of certifications of one name: only some are verified.
  const [key, ...rest] = [bytes.subarray(0, 57), bytes.subarray(57)];
  const flood = Buffer.concat([key, ...Array.from({ length: 300 }, () => Buffer.concat(rest))]);
  assert.equal(parseCertificate(armor('PUBLIC KEY BLOCK', flood))?.users.length, 50);
});
