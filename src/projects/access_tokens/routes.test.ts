import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { seedCommit } from '../../../test/support/repositories/seed_commits.ts';
import { seedGroup, seedMember, seedProject, seedUser, unique } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

type Place = { path: string; id: number; master: string; owner: string };

const newPlace = async (kind: 'projects' | 'groups'): Promise<Place> => {
  const group = await seedGroup(gantry, { visibility: 'private' });
  const place =
    kind === 'groups' ? group : await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  const [master, owner] = [await seedUser(gantry), await seedUser(gantry)];
  await seedMember(gantry, { user: master.id, group: group.id, access_level: 40 });
  await seedMember(gantry, { user: owner.id, group: group.id, access_level: 50 });
  return { path: `/${kind}/${place.id}`, id: place.id, master: master.token, owner: owner.token };
};

const add = async ({ path, owner }: Place, json: object = {}) => {
  const reply = await gantry.api(`POST ${path}/access_tokens`, {
    as: owner,
    json: { name: 'Deploys', scopes: ['api'], access_level: 30, ...json },
  });
  assert.equal(reply.status, 201, reply.text);
  return reply.body;
};

for (const kind of ['projects', 'groups'] as const) {
  describe(`access tokens of ${kind}`, () => {
    it('act as a bot with a role, in this place alone', async () => {
      const place = await newPlace(kind);
      const { token, ...made } = await add(place, { description: 'For deploys' });
      assert.deepEqual(made, {
        id: made.id,
        name: 'Deploys',
        description: 'For deploys',
        revoked: false,
        created_at: made.created_at,
        scopes: ['api'],
        user_id: made.user_id,
        last_used_at: null,
        active: true,
        expires_at: null,
        access_level: 30,
      });
      const self = await gantry.api('GET /user', { as: token });
      assert.equal(self.status, 200);
      assert.match(self.body.username, new RegExp(`^${kind.slice(0, -1)}_${place.id}_bot_[0-9a-f]{32}$`));
      assert.equal(self.body.name, 'Deploys');
      assert.equal((await gantry.api(`GET ${place.path}`, { as: token })).status, 200);
      const member = await gantry.api(`GET ${place.path}/members/${made.user_id}`, { as: place.owner });
      assert.equal(member.body.access_level, 30);
      const internal = await seedProject(gantry, { visibility: 'internal' });
      assert.equal((await gantry.api(`GET /projects/${internal.id}`, { as: token })).status, 404);
      assert.equal(
        (await gantry.api(`PUT ${place.path}`, { as: token, json: { description: 'x' } })).status,
        403,
      );
      const listed = await gantry.api(`GET ${place.path}/access_tokens`, { as: place.owner });
      assert.deepEqual(
        [listed.body.length, listed.body[0].id, listed.body[0].token],
        [1, made.id, undefined],
      );
      const one = await gantry.api(`GET ${place.path}/access_tokens/${made.id}`, { as: place.owner });
      assert.equal(one.body.access_level, 30);
      const other = await newPlace(kind);
      for (const method of ['GET', 'DELETE'])
        assert.equal(
          (await gantry.api(`${method} ${other.path}/access_tokens/${made.id}`, { as: other.owner })).status,
          404,
        );
    });

    it('end when they are revoked, with what their bot could do', async () => {
      const place = await newPlace(kind);
      const { token, id, user_id } = await add(place);
      assert.equal(
        (await gantry.api(`DELETE ${place.path}/access_tokens/${id}`, { as: place.owner })).status,
        204,
      );
      assert.equal((await gantry.api('GET /user', { as: token })).status, 401);
      assert.equal(
        (await gantry.api(`GET ${place.path}/members/${user_id}`, { as: place.owner })).status,
        404,
      );
      assert.equal((await gantry.api(`GET /users/${user_id}`)).body.state, 'blocked');
      const inactive = await gantry.api(`GET ${place.path}/access_tokens?state=inactive`, {
        as: place.owner,
      });
      assert.deepEqual([inactive.body.length, inactive.body[0].revoked], [1, true]);
      assert.deepEqual(
        (await gantry.api(`GET ${place.path}/access_tokens?revoked=false`, { as: place.owner })).body,
        [],
      );
    });

    it('are rotated by administrators of the place, and by themselves', async () => {
      const place = await newPlace(kind);
      const first = await add(place);
      const rotated = await gantry.api(`POST ${place.path}/access_tokens/${first.id}/rotate`, {
        as: place.owner,
      });
      assert.deepEqual([rotated.status, rotated.body.user_id], [201, first.user_id], rotated.text);
      assert.equal((await gantry.api('GET /user', { as: first.token })).status, 401);
      const self = await gantry.api(`POST ${place.path}/access_tokens/self/rotate`, {
        as: rotated.body.token,
        json: { expires_at: '2100-01-01' },
      });
      assert.deepEqual([self.status, self.body.expires_at, self.body.access_level], [201, '2100-01-01', 30]);
      assert.equal((await gantry.api('GET /user', { as: self.body.token })).status, 200);
      const wrong = await gantry.api(`POST ${place.path}/access_tokens/self/rotate`, { as: place.owner });
      assert.notEqual(wrong.status, 201);
    });

    it('access tokens end with their project or group', async () => {
      const place = await newPlace(kind);
      const { token } = await add(place);
      assert.equal((await gantry.api(`DELETE ${place.path}`, { as: place.owner })).status, 202);
      assert.equal((await gantry.api('GET /user', { as: token })).status, 401);
    });

    it('an access token with invalid values is refused', async () => {
      const place = await newPlace(kind);
      for (const wrong of [
        { name: ' ' },
        { scopes: [] },
        { scopes: ['sudo'] },
        { scopes: ['read_user'] },
        { access_level: 11 },
        { access_level: 60 },
        { expires_at: '2000-01-01' },
      ]) {
        const json = { name: 'x', scopes: ['api'], ...wrong };
        const reply = await gantry.api(`POST ${place.path}/access_tokens`, { as: place.owner, json });
        assert.equal(reply.status, 400, JSON.stringify(wrong));
      }
    });
  });
}

it('gives no role above that of its creator, nor by rotation', async () => {
  const place = await newPlace('projects');
  const json = { name: 'x', scopes: ['api'], access_level: 50 };
  const above = await gantry.api(`POST ${place.path}/access_tokens`, { as: place.master, json });
  assert.equal(above.status, 400);
  const group = await newPlace('groups');
  const refused = await gantry.api(`POST ${group.path}/access_tokens`, {
    as: group.master,
    json: { ...json, access_level: 10 },
  });
  assert.equal(refused.status, 403);
});

it('a bot makes no other credentials and joins no other place', async () => {
  const place = await newPlace('groups');
  const { token, user_id } = await add(place, { access_level: 50 });
  const json = { name: 'x', scopes: ['api'], access_level: 10 };
  assert.equal((await gantry.api(`POST ${place.path}/access_tokens`, { as: token, json })).status, 403);
  assert.equal((await gantry.api('POST /user/personal_access_tokens', { as: token, json })).status, 403);
  assert.equal(
    (await gantry.api('POST /projects', { as: token, json: { name: unique('own') } })).status,
    403,
  );
  const other = await seedProject(gantry);
  const member = { user_id, access_level: 30 };
  assert.equal((await gantry.api(`POST /projects/${other.id}/members`, { json: member })).status, 400);
  const people = (await gantry.api('GET /users?without_project_bots=true&per_page=100')).body;
  assert.equal(
    people.some(({ id }: { id: number }) => id === user_id),
    false,
  );
});

it('reads and writes code as its scopes and role say', async () => {
  const place = await newPlace('projects');
  const sha = await seedCommit(gantry, place.id, { a: '1' });
  const { token } = await add(place, { scopes: ['read_api'], access_level: 20 });
  const commit = await gantry.api(`GET ${place.path}/repository/commits/${sha}`, { as: token });
  assert.equal(commit.status, 200);
  const json = { branch: 'x', ref: 'main' };
  assert.equal((await gantry.api(`POST ${place.path}/repository/branches`, { as: token, json })).status, 403);
});

it('is not rotated to a day that is over, which would leave no token', async () => {
  const place = await newPlace('projects');
  const { token } = await add(place);
  const line = `POST ${place.path}/access_tokens/self/rotate`;
  const { status, body } = await gantry.api(line, { as: token, json: { expires_at: '2020-01-01' } });
  assert.deepEqual([status, body.message], [400, { expires_at: ['must be in the future'] }]);
  assert.equal((await gantry.api('GET /user', { as: token })).status, 200);
});

it('limits the tokens that work, not those that ended', async () => {
  const place = await newPlace('projects');
  const { user_id } = await add(place, { expires_at: '2100-01-01' });
  const write = async (text: ReturnType<typeof sql>) =>
    await gantry.service.platform.store.write(async ({ db }) => await text.execute(db));
  await write(sql`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 99)
    insert into tokens (user_id, kind, name, token_hash, scopes, expires_at, created_at)
    select user_id, kind, name, token_hash || cast(n as text), scopes, expires_at, created_at
    from tokens cross join numbers where user_id = ${user_id}`);
  const json = { name: 'More', scopes: ['api'], access_level: 30 };
  const refused = await gantry.api(`POST ${place.path}/access_tokens`, { as: place.owner, json });
  assert.deepEqual(
    [refused.status, refused.body.message],
    [400, { base: ['Maximum number of access tokens (100) exceeded'] }],
  );
  await write(sql`update tokens set expires_at = '2020-01-01' where user_id = ${user_id}`);
  await add(place);
});
