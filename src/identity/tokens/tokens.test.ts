import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { hashToken } from '../../core/access/credentials/token_text.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const token = (overrides: object = {}) => ({ name: 'robot', scopes: ['api'], ...overrides });
const impersonate = async (id: number, overrides: object = {}) =>
  await gantry.api(`POST /users/${id}/impersonation_tokens`, { json: token(overrides) });
const own = async (as: string, overrides: object = {}) =>
  await gantry.api('POST /user/personal_access_tokens', { as, json: token(overrides) });

const fields = [
  'active',
  'created_at',
  'description',
  'expires_at',
  'id',
  'last_used_at',
  'name',
  'revoked',
  'scopes',
  'user_id',
];

test('an impersonation token acts as its user', async () => {
  const { id, username } = await seedUser(gantry);
  const { status, body } = await impersonate(id, { scopes: ['api', 'read_user'], expires_at: '2999-01-31' });
  assert.equal(status, 201);
  assert.deepEqual(Object.keys(body).toSorted(), [...fields, 'impersonation', 'token'].toSorted());
  assert.deepEqual(body.scopes, ['api', 'read_user']);
  assert.deepEqual([body.active, body.revoked, body.impersonation], [true, false, true]);
  assert.deepEqual([body.user_id, body.expires_at, body.name], [id, '2999-01-31', 'robot']);
  assert.match(body.token, /^gntpat-[\w-]{34}$/);
  assert.equal((await gantry.api('GET /user', { as: body.token })).body.username, username);
});

test('stores and shows the description of a token', async () => {
  const { id, token: as } = await seedUser(gantry);
  const description = 'Deploys from the night build';
  for (const made of [
    await own(as, { description }),
    await impersonate(id, { description }),
    await gantry.api(`POST /users/${id}/personal_access_tokens`, { json: token({ description }) }),
  ]) {
    assert.deepEqual([made.status, made.body.description], [201, description]);
    assert.equal(made.headers.get('gantry-ignored-parameters'), null);
  }
  const { body } = await gantry.api('GET /personal_access_tokens', { as });
  const shown = body.map((one: { description: string | null }) => one.description);
  assert.equal(shown.filter((one: string | null) => one === description).length, 2);
  for (const none of [undefined, null]) {
    assert.equal((await own(as, { description: none })).body.description, null);
  }
  const long = await own(as, { description: 'x'.repeat(256) });
  assert.equal(long.status, 400);
});

test('accepts an expiry time as Go clients send it and refuses other formats', async () => {
  const { id } = await seedUser(gantry);
  for (const time of ['2999-01-31T10:11:12.123456789Z', '2999-01-31T23:30:00-11:00'])
    assert.equal((await impersonate(id, { expires_at: time })).body.expires_at, '2999-01-31');
  for (const none of ['', null])
    assert.equal((await impersonate(id, { expires_at: none })).body.expires_at, null);
  for (const bad of ['2999-02-30', '2999-02-30T10:00:00Z', '2999-01-31T25:00:00Z', 'soon', 29990131]) {
    const { status, body } = await impersonate(id, { expires_at: bad });
    assert.deepEqual([status, body], [400, { message: { expires_at: ['is invalid'] } }]);
  }
});

test('shows the text of a token once and stores only its hash', async () => {
  const { id } = await seedUser(gantry);
  const { body } = await impersonate(id);
  const path = `/users/${id}/impersonation_tokens`;
  for (const line of [`GET ${path}`, `GET ${path}/${body.id}`]) {
    const reply = await gantry.api(line);
    assert.equal(reply.status, 200);
    assert.ok(!reply.text.includes(body.token) && !reply.text.includes('"token"'));
  }
  const { db } = gantry.service.platform.store;
  const row = await db.selectFrom('tokens').selectAll().where('id', '=', body.id).executeTakeFirstOrThrow();
  assert.equal(row.token_hash, hashToken(body.token));
  assert.ok(!JSON.stringify(await db.selectFrom('events').selectAll().execute()).includes(body.token));
});

test('impersonation tokens are filtered by state', async () => {
  const { id } = await seedUser(gantry);
  const made = [
    await impersonate(id, { name: 'lives' }),
    await impersonate(id, { name: 'expired', expires_at: '2017-01-01' }),
    await impersonate(id, { name: 'revoked' }),
  ].map(({ body }) => body);
  await gantry.api(`DELETE /users/${id}/impersonation_tokens/${made[2].id}`);
  const list = async (query: string) =>
    (await gantry.api(`GET /users/${id}/impersonation_tokens${query}`)).body.map(
      ({ name }: { name: string }) => name,
    );
  assert.deepEqual(await list(''), ['lives', 'expired', 'revoked']);
  assert.deepEqual(await list('?state=all'), ['lives', 'expired', 'revoked']);
  assert.deepEqual(await list('?state=active'), ['lives']);
  assert.deepEqual(await list('?state=inactive'), ['expired', 'revoked']);
  assert.equal((await gantry.api(`GET /users/${id}/impersonation_tokens?state=x`)).status, 400);
  const paged = await gantry.api(`GET /users/${id}/impersonation_tokens?per_page=1&state=inactive`);
  assert.deepEqual([paged.body.length, paged.headers.get('x-total')], [1, '2']);
});

test('a token expires at 00:00 of its expiry date', async () => {
  const { id } = await seedUser(gantry);
  const { body } = await impersonate(id, { expires_at: '2030-05-05' });
  const path = `GET /users/${id}/impersonation_tokens/${body.id}`;
  const alive = async (): Promise<number> =>
    (await gantry.api(`GET /users/${id}/impersonation_tokens?state=active`)).body.length;
  try {
    gantry.setTime(Date.parse('2030-05-04T23:59:59.999Z'));
    assert.equal((await gantry.api(path)).body.active, true);
    assert.equal(await alive(), 1);
    assert.equal((await gantry.api('GET /user', { as: body.token })).status, 200);
    gantry.setTime(Date.parse('2030-05-05T00:00:00Z'));
    assert.equal((await gantry.api(path)).body.active, false);
    assert.equal(await alive(), 0);
    assert.equal((await gantry.api('GET /user', { as: body.token })).status, 401);
  } finally {
    gantry.setTime(null);
  }
});

test('a revoked token stops working at once and stays listed', async () => {
  const { id } = await seedUser(gantry);
  const { body } = await impersonate(id);
  const path = `/users/${id}/impersonation_tokens/${body.id}`;
  for (const _ of [1, 2]) {
    const reply = await gantry.api(`DELETE ${path}`);
    assert.deepEqual([reply.status, reply.text], [204, '']);
  }
  assert.equal((await gantry.api('GET /user', { as: body.token })).status, 401);
  const { body: shown } = await gantry.api(`GET ${path}`);
  assert.deepEqual([shown.revoked, shown.active], [true, false]);
});

test('finds impersonation tokens only below their user', async () => {
  const [one, other] = [await seedUser(gantry), await seedUser(gantry)];
  const { body } = await impersonate(one.id);
  const personal = (await own(one.token)).body;
  for (const path of [
    `/users/${other.id}/impersonation_tokens/${body.id}`,
    `/users/${one.id}/impersonation_tokens/${personal.id}`,
  ]) {
    for (const method of ['GET', 'DELETE']) {
      const reply = await gantry.api(`${method} ${path}`);
      assert.equal(reply.status, 404);
      assert.deepEqual(reply.body, { message: '404 Impersonation Token Not Found' });
    }
  }
  for (const line of ['GET', 'POST']) {
    const json = line === 'POST' ? token() : undefined;
    const reply = await gantry.api(`${line} /users/999999/impersonation_tokens`, { json });
    assert.deepEqual(reply.body, { message: '404 User Not Found' });
  }
});

test('only administrators manage tokens of others', async () => {
  const { id, token: as } = await seedUser(gantry);
  const { body } = await impersonate(id);
  const path = `/users/${id}/impersonation_tokens`;
  for (const line of [`GET ${path}`, `POST ${path}`, `GET ${path}/${body.id}`, `DELETE ${path}/${body.id}`]) {
    const json = line.startsWith('POST') ? token() : undefined;
    assert.equal((await gantry.api(line, { as, json })).status, 403, line);
  }
  assert.equal(
    (await gantry.api(`POST /users/${id}/personal_access_tokens`, { as, json: token() })).status,
    403,
  );
});

test('an administrator makes a personal token for another', async () => {
  const { id, username } = await seedUser(gantry);
  const { status, body } = await gantry.api(`POST /users/${id}/personal_access_tokens`, { json: token() });
  assert.equal(status, 201);
  assert.equal(body.impersonation, undefined);
  assert.equal((await gantry.api('GET /user', { as: body.token })).body.username, username);
});

test('requires a name and known scopes', async () => {
  const { id, token: as } = await seedUser(gantry);
  const unavailable = { scopes: ['can only contain available scopes'] };
  const cases: [object, object][] = [
    [{ scopes: ['api', 'root'] }, unavailable],
    [{ scopes: ['sudo'] }, unavailable],
    [{ scopes: [] }, { scopes: ["can't be blank"] }],
    [{ scopes: undefined }, { scopes: ["can't be blank"] }],
    [{ name: ' ' }, { name: ["can't be blank"] }],
    [{ name: 'x'.repeat(256) }, { name: ['is too long (maximum is 255 characters)'] }],
    [{ expires_at: '2017-02-30' }, { expires_at: ['is invalid'] }],
  ];
  for (const [input, message] of cases) {
    for (const reply of [await impersonate(id, input), await own(as, input)]) {
      assert.equal(reply.status, 400, JSON.stringify(input));
      assert.deepEqual(reply.body, { message });
    }
  }
  const missing = await own(as, { name: undefined });
  assert.deepEqual(missing.body, { message: '400 (Bad request) "name" not given' });
});

test('grants sudo to tokens of administrators only', async () => {
  const admin = await seedUser(gantry, { admin: 1 });
  assert.equal((await own(admin.token, { scopes: ['sudo', 'api'] })).status, 201);
  assert.equal((await impersonate(admin.id, { scopes: ['sudo'] })).status, 201);
});

test('a user creates tokens only for their own account', async () => {
  const { id, token: as } = await seedUser(gantry);
  const { status, body } = await own(as, {
    scopes: ['read_api', 'read_api'],
    user_id: 1,
    kind: 'impersonation',
    revoked: true,
  });
  assert.equal(status, 201);
  assert.deepEqual([body.user_id, body.revoked, body.impersonation], [id, false, undefined]);
  assert.deepEqual(body.scopes, ['read_api']);
  assert.equal((await gantry.api('GET /user', { as: body.token })).status, 200);
  assert.equal((await own(body.token)).status, 403);
});

test('a token cannot create one that outlives it', async () => {
  const { id, token: as } = await seedUser(gantry);
  const short = (await own(as, { expires_at: '2999-01-31' })).body.token;
  assert.equal((await own(short)).body.expires_at, '2999-01-31');
  assert.equal((await own(short, { expires_at: '2999-01-30' })).body.expires_at, '2999-01-30');
  const refused = await own(short, { expires_at: '2999-02-01' });
  assert.equal(refused.status, 400);
  assert.deepEqual(Object.keys(refused.body.message), ['expires_at']);
  const { body } = await impersonate(id);
  assert.equal((await own(body.token)).status, 403);
});

test('a user lists, reads and revokes only their own personal tokens', async () => {
  const [one, other] = [await seedUser(gantry), await seedUser(gantry)];
  const mine = (await own(one.token, { name: 'mine' })).body;
  const theirs = (await own(other.token)).body;
  await impersonate(one.id);
  const list = await gantry.api('GET /personal_access_tokens', { as: one.token });
  assert.deepEqual(
    list.body.map(({ name }: { name: string }) => name),
    ['test', 'mine'],
  );
  assert.deepEqual(Object.keys(list.body[0]).toSorted(), fields.toSorted());
  assert.equal(
    (await gantry.api(`GET /personal_access_tokens?user_id=${one.id}`, { as: one.token })).body.length,
    2,
  );
  assert.equal(
    (await gantry.api(`GET /personal_access_tokens?user_id=${other.id}`, { as: one.token })).status,
    401,
  );
  for (const method of ['GET', 'DELETE']) {
    for (const id of [theirs.id, 999_999]) {
      assert.equal(
        (await gantry.api(`${method} /personal_access_tokens/${id}`, { as: one.token })).status,
        401,
      );
    }
  }
  assert.equal(
    (await gantry.api(`GET /personal_access_tokens/${mine.id}`, { as: one.token })).body.name,
    'mine',
  );
  assert.equal(
    (await gantry.api(`DELETE /personal_access_tokens/${mine.id}`, { as: one.token })).status,
    204,
  );
  assert.equal((await gantry.api('GET /user', { as: mine.token })).status, 401);
  assert.equal((await gantry.api('GET /user', { as: theirs.token })).status, 200);
});

test('lists of personal tokens are filtered', async () => {
  const { token: as } = await seedUser(gantry);
  const revoked = (await own(as, { name: 'revoked' })).body;
  await own(as, { name: 'expired', expires_at: '2017-01-01' });
  await gantry.api(`DELETE /personal_access_tokens/${revoked.id}`, { as });
  const list = async (query: string) =>
    (await gantry.api(`GET /personal_access_tokens${query}`, { as })).body.map(
      ({ name }: { name: string }) => name,
    );
  assert.deepEqual(await list('?revoked=true'), ['revoked']);
  assert.deepEqual(await list('?revoked=false'), ['test', 'expired']);
  assert.deepEqual(await list('?state=active'), ['test']);
  assert.deepEqual(await list('?state=inactive'), ['revoked', 'expired']);
});

test('an administrator lists, reads and revokes the personal tokens of all', async () => {
  const { id, token: as } = await seedUser(gantry);
  const { body } = await own(as, { name: 'theirs' });
  const all = await gantry.api('GET /personal_access_tokens?per_page=100');
  assert.ok(new Set(all.body.map(({ user_id }: { user_id: number }) => user_id)).size > 1);
  const some = await gantry.api(`GET /personal_access_tokens?user_id=${id}`);
  assert.deepEqual(
    some.body.map(({ name }: { name: string }) => name),
    ['test', 'theirs'],
  );
  assert.equal((await gantry.api(`GET /personal_access_tokens/${body.id}`)).body.name, 'theirs');
  assert.equal((await gantry.api('GET /personal_access_tokens/999999')).status, 404);
  assert.equal((await gantry.api(`DELETE /personal_access_tokens/${body.id}`)).status, 204);
  assert.equal((await gantry.api('GET /user', { as: body.token })).status, 401);
});

test('a token reads and revokes itself', async () => {
  const { id, token: as } = await seedUser(gantry);
  const { body } = await impersonate(id, { name: 'self' });
  const self = await gantry.api('GET /personal_access_tokens/self', { as: body.token });
  assert.deepEqual([self.status, self.body.id, self.body.name], [200, body.id, 'self']);
  const reading = (await own(as, { scopes: ['read_user'] })).body.token;
  assert.equal((await gantry.api('GET /personal_access_tokens/self', { as: reading })).status, 200);
  assert.equal((await gantry.api('DELETE /personal_access_tokens/self', { as: reading })).status, 403);
  assert.equal((await gantry.api('DELETE /personal_access_tokens/self', { as: body.token })).status, 204);
  assert.equal((await gantry.api('GET /personal_access_tokens/self', { as: body.token })).status, 401);
});

test('refuses anonymous callers on all token endpoints', async () => {
  const paths = [
    '/personal_access_tokens',
    '/personal_access_tokens/1',
    '/personal_access_tokens/self',
    '/users/1/impersonation_tokens',
  ];
  for (const path of paths) assert.equal((await gantry.api(`GET ${path}`, { as: null })).status, 401);
});

test('audits creating and revoking a token without its text', async () => {
  const { id, token: as } = await seedUser(gantry);
  const { body } = await own(as, { name: 'audited', expires_at: '2999-01-31' });
  for (const _ of [1, 2]) await gantry.api(`DELETE /personal_access_tokens/${body.id}`, { as });
  const { body: events, text } = await gantry.api(`GET /audit_events?target_type=Token&target_id=${body.id}`);
  assert.deepEqual(
    events.map(({ kind, actor_id }: { kind: string; actor_id: number }) => [kind, actor_id]),
    [
      ['token.revoked', id],
      ['token.created', id],
    ],
  );
  assert.deepEqual(events[1].details, {
    user_id: id,
    kind: 'personal',
    name: 'audited',
    scopes: ['api'],
    expires_at: '2999-01-31',
  });
  assert.ok(!text.includes(body.token));
});

test('personal tokens are filtered by name and by their times', async () => {
  const { id } = await seedUser(gantry);
  const days = ['2031-01-01', '2031-01-02', '2031-01-03'];
  for (const [index, day] of days.entries()) {
    gantry.setTime(Date.parse(day));
    const json = {
      name: `Deploy_${index}`,
      scopes: ['api'],
      ...(index > 0 && { expires_at: `2040-01-0${index}` }),
    };
    assert.equal((await gantry.api(`POST /users/${id}/personal_access_tokens`, { json })).status, 201);
  }
  gantry.setTime(null);
  const named = async (query: string): Promise<string[]> => {
    const { status, body, headers } = await gantry.api(`GET /personal_access_tokens?user_id=${id}&${query}`);
    assert.deepEqual([status, headers.get('x-total')], [200, String(body.length)]);
    const names = body.map(({ name }: { name: string }) => name);
    return names.filter((name: string) => name !== 'test');
  };
  assert.deepEqual(await named('search=deploy_1'), ['Deploy_1']);
  assert.deepEqual(await named('search=y%25'), []);
  assert.deepEqual(await named('created_after=2031-01-02T00:00:00Z'), ['Deploy_1', 'Deploy_2']);
  assert.deepEqual(await named('created_before=2031-01-01T00:00:00Z'), ['Deploy_0']);
  assert.deepEqual(await named('expires_after=2040-01-02'), ['Deploy_2']);
  assert.deepEqual(await named('expires_before=2040-01-01'), ['Deploy_1']);
  assert.deepEqual(await named('last_used_after=2000-01-01T00:00:00Z'), []);
  const { token } = (
    await gantry.api(`POST /users/${id}/personal_access_tokens`, { json: { name: 'Used', scopes: ['api'] } })
  ).body;
  assert.equal((await gantry.api('GET /user', { as: token })).status, 200);
  assert.deepEqual(await named('last_used_after=2000-01-01T00:00:00Z'), ['Used']);
  assert.deepEqual(await named('last_used_before=2000-01-01T00:00:00Z'), []);
});
