import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type SeededUser,
  seedGroup,
  seedMember,
  seedProject,
  seedUser,
  unique,
} from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
let stranger: SeededUser;
before(async () => {
  gantry = await startTestService();
  stranger = await seedUser(gantry);
});
after(async () => await gantry.close());

const as = (user: SeededUser, json?: unknown) => ({ as: user.token, ...(json !== undefined && { json }) });
const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

type Kind = 'projects' | 'groups';
type Place = { path: string; id: number; boss: SeededUser };

/** Creates a private project or group with a member who administers members. */
const place = async (kind: Kind): Promise<Place> => {
  const boss = await seedUser(gantry);
  if (kind === 'groups') {
    const { id } = await seedGroup(gantry, { visibility: 'private', owner: boss.id });
    return { path: `/groups/${id}/members`, id, boss };
  }
  const { id } = await seedProject(gantry, {
    visibility: 'private',
    namespace: (await seedGroup(gantry)).id,
  });
  await seedMember(gantry, { user: boss.id, project: id, access_level: 40 });
  return { path: `/projects/${id}/members`, id, boss };
};

const member = async (kind: Kind, { id }: Place, access_level: number): Promise<SeededUser> => {
  const user = await seedUser(gantry);
  const where = kind === 'groups' ? { group: id } : { project: id };
  await seedMember(gantry, { user: user.id, ...where, access_level });
  return user;
};

for (const kind of ['projects', 'groups'] as const) {
  describe(kind, () => {
    test('adds, shows, lists, changes and removes a member', async () => {
      const { path, boss } = await place(kind);
      const user = await seedUser(gantry);
      const ends = day(9);
      const added = await gantry.api(
        `POST ${path}`,
        as(boss, { user_id: user.id, access_level: 30, expires_at: ends }),
      );
      assert.equal(added.status, 201);
      const { avatar_url, created_at, created_by, ...rest } = added.body;
      assert.match(created_at, /^\d{4}-\d\d-\d\dT/);
      assert.equal(created_by.username, boss.username);
      assert.match(avatar_url, /^http:\/\/www\.gravatar\.com\/avatar\/[0-9a-f]{32}\?/);
      assert.deepEqual(rest, {
        id: user.id,
        name: `Name of ${user.username}`,
        username: user.username,
        state: 'active',
        locked: false,
        membership_state: 'active',
        web_url: `${gantry.url}/${user.username}`,
        access_level: 30,
        expires_at: ends,
      });
      assert.deepEqual((await gantry.api(`GET ${path}/${user.id}`, as(user))).body, added.body);
      const list = await gantry.api(`GET ${path}`, as(user));
      assert.deepEqual(
        list.body.map((one: { id: number }) => one.id),
        [boss.id, user.id],
      );
      assert.equal(list.headers.get('x-total'), '2');

      const raised = await gantry.api(`PUT ${path}/${user.id}`, as(boss, { access_level: 40 }));
      assert.deepEqual([raised.status, raised.body], [200, { ...added.body, access_level: 40 }]);
      const forever = await gantry.api(
        `PUT ${path}/${user.id}`,
        as(boss, { access_level: 40, expires_at: '' }),
      );
      assert.equal(forever.body.expires_at, null);
      const timed = await gantry.api(
        `PUT ${path}/${user.id}`,
        as(boss, { access_level: 40, expires_at: `${ends}T23:59:59Z` }),
      );
      assert.deepEqual([timed.status, timed.body.expires_at], [200, ends]);

      const removed = await gantry.api(`DELETE ${path}/${user.id}`, as(boss));
      assert.deepEqual([removed.status, removed.text], [204, '']);
      assert.deepEqual((await gantry.api(`GET ${path}/${user.id}`, as(boss))).body, {
        message: '404 Not found',
      });
      assert.equal((await gantry.api(`GET ${path}`, as(user))).status, 404);
    });

    test('searches by name and user name, never by address', async () => {
      const { path, boss } = await place(kind);
      const list = async (query: string) =>
        (await gantry.api(`GET ${path}?query=${query}`, as(boss))).body.length;
      assert.equal(await list(boss.username.slice(2, 12).toUpperCase()), 1);
      assert.equal(await list('Name%20of'), 1);
      assert.equal(await list('example.com'), 0);
      assert.equal(await list('%25'), 0);
    });

    test('names the errors of a role', async () => {
      const { path, boss } = await place(kind);
      const user_id = (await seedUser(gantry)).id;
      const refusals: [object, number, unknown][] = [
        [{ access_level: 10 }, 400, '400 (Bad request) "user_id" not given'],
        [{ user_id }, 400, '400 (Bad request) "access_level" not given'],
        [{ user_id, access_level: 'x' }, 400, { access_level: ['is invalid'] }],
        [{ user_id, access_level: 35 }, 400, { access_level: ['is not included in the list'] }],
        [{ user_id, access_level: 60 }, 400, { access_level: ['is not included in the list'] }],
        [{ user_id, access_level: 10, expires_at: 'soon' }, 400, { expires_at: ['is invalid'] }],
        [
          { user_id, access_level: 10, expires_at: day(0) },
          400,
          { expires_at: ['cannot be a date in the past'] },
        ],
        [{ user_id: 999_999_999, access_level: 10 }, 404, '404 User Not Found'],
        [{ user_id: boss.id, access_level: 10 }, 409, 'Member already exists'],
      ];
      for (const [input, status, message] of refusals) {
        const reply = await gantry.api(`POST ${path}`, as(boss, input));
        assert.deepEqual([reply.status, reply.body.message], [status, message], JSON.stringify(input));
      }
      const missing = await gantry.api(`PUT ${path}/${user_id}`, as(boss, { access_level: 10 }));
      assert.deepEqual([missing.status, missing.body], [404, { message: '404 Not found' }]);
      assert.equal((await gantry.api(`DELETE ${path}/${user_id}`, as(boss))).status, 404);
    });

    test('of concurrent additions of a member, one succeeds', async () => {
      const { path, boss } = await place(kind);
      const user_id = (await seedUser(gantry)).id;
      const replies = await Promise.all(
        [10, 20, 30].map((access_level) => gantry.api(`POST ${path}`, as(boss, { user_id, access_level }))),
      );
      assert.deepEqual(
        replies.map(({ status }) => status).toSorted((a, b) => a - b),
        [201, 409, 409],
      );
    });

    test('only administrators of members change them; every member may leave', async () => {
      const here = await place(kind);
      const plain = await member(kind, here, kind === 'groups' ? 40 : 30);
      const other = await member(kind, here, 10);
      const user_id = (await seedUser(gantry)).id;
      const attempts = [
        gantry.api(`POST ${here.path}`, as(plain, { user_id, access_level: 10 })),
        gantry.api(`PUT ${here.path}/${plain.id}`, as(plain, { access_level: 50 })),
        gantry.api(`PUT ${here.path}/${other.id}`, as(plain, { access_level: 20 })),
        gantry.api(`DELETE ${here.path}/${other.id}`, as(plain)),
        gantry.api(`DELETE ${here.path}/${user_id}`, as(plain)),
      ];
      for (const { status, body } of await Promise.all(attempts)) {
        assert.deepEqual([status, body], [403, { message: '403 Forbidden' }]);
      }
      assert.equal((await gantry.api(`DELETE ${here.path}/${plain.id}`, as(plain))).status, 204);
      assert.equal((await gantry.api(`GET ${here.path}`, { as: null })).status, 401);
    });

    test('ignores an expired membership, which may be added again', async () => {
      const { path, boss } = await place(kind);
      const user = await seedUser(gantry);
      const grant = { user_id: user.id, access_level: 20, expires_at: day(2) };
      await gantry.api(`POST ${path}`, as(boss, grant));
      assert.equal((await gantry.api(`GET ${path}`, as(user))).status, 200);
      gantry.setTime(Date.parse(`${day(2)}T00:00:00Z`));
      assert.equal((await gantry.api(`GET ${path}`, as(user))).status, 404);
      assert.equal((await gantry.api(`GET ${path}`, as(boss))).body.length, 1);
      assert.equal((await gantry.api(`GET ${path}/${user.id}`, as(boss))).status, 404);
      assert.equal((await gantry.api(`PUT ${path}/${user.id}`, as(boss, { access_level: 10 }))).status, 404);
      assert.equal((await gantry.api(`DELETE ${path}/${user.id}`, as(boss))).status, 404);
      const again = await gantry.api(`POST ${path}`, as(boss, { user_id: user.id, access_level: 30 }));
      assert.deepEqual([again.status, again.body.expires_at], [201, null]);
      gantry.setTime(null);
    });

    test('answers a hidden one like a missing one', async () => {
      const { path, boss } = await place(kind);
      const missing = `/${kind}/999999999/members`;
      const requests: [string, string, object?][] = [
        ['GET', ''],
        ['GET', '/all'],
        ['GET', `/${boss.id}`],
        ['GET', `/all/${boss.id}`],
        ['POST', '', { user_id: stranger.id, access_level: 50 }],
        ['PUT', `/${boss.id}`, { access_level: 10 }],
        ['DELETE', `/${boss.id}`],
        ['DELETE', `/${stranger.id}`],
      ];
      for (const [method, rest, json] of requests) {
        const one = await gantry.api(`${method} ${path}${rest}`, as(stranger, json));
        const other = await gantry.api(`${method} ${missing}${rest}`, as(stranger, json));
        assert.deepEqual([one.status, one.text], [404, other.text], `${method} ${rest}`);
      }
    });

    test('records an event for each change', async () => {
      const { path, boss, id } = await place(kind);
      const user = await seedUser(gantry);
      await gantry.api(`POST ${path}`, as(boss, { user_id: user.id, access_level: 10 }));
      await gantry.api(`PUT ${path}/${user.id}`, as(boss, { access_level: 20 }));
      await gantry.api(`PUT ${path}/${user.id}`, as(boss, { access_level: 20 }));
      await gantry.api(`DELETE ${path}/${user.id}`, as(boss));
      const events = await gantry.service.platform.store.db
        .selectFrom('events')
        .select(['kind', 'project_id', 'data'])
        .where('actor_id', '=', boss.id)
        .where('target_type', '=', 'Member')
        .orderBy('id')
        .execute();
      assert.deepEqual(
        events.map((event) => event.kind),
        ['member.added', 'member.updated', 'member.removed'],
      );
      assert.deepEqual(JSON.parse(events[1]!.data), { user_id: user.id, access_level: [10, 20] });
      assert.deepEqual(
        new Set(events.map(({ project_id }) => project_id)),
        new Set([kind === 'projects' ? id : null]),
      );
    });
  });
}

test('inherits members of the groups above with their highest roles', async () => {
  const top = await seedGroup(gantry, { visibility: 'private' });
  const below = await seedGroup(gantry, { visibility: 'private', parent: top.id });
  const project = await seedProject(gantry, { visibility: 'private', namespace: below.id });
  // Sequential, so that their ids are in this order.
  const one = await seedUser(gantry);
  const two = await seedUser(gantry);
  const three = await seedUser(gantry);
  await seedMember(gantry, { user: one.id, group: top.id, access_level: 50 });
  await seedMember(gantry, { user: two.id, group: top.id, access_level: 20 });
  await seedMember(gantry, { user: two.id, group: below.id, access_level: 30 });
  await seedMember(gantry, { user: two.id, project: project.id, access_level: 10 });
  await seedMember(gantry, { user: three.id, project: project.id, access_level: 40 });
  const list = async (path: string) =>
    (await gantry.api(`GET ${path}`, as(one))).body.map((row: { id: number; access_level: number }) => [
      row.id,
      row.access_level,
    ]);
  assert.deepEqual(await list(`/projects/${project.id}/members/all`), [
    [one.id, 50],
    [two.id, 30],
    [three.id, 40],
  ]);
  assert.deepEqual(await list(`/projects/${project.id}/members`), [
    [two.id, 10],
    [three.id, 40],
  ]);
  assert.deepEqual(await list(`/groups/${below.id}/members/all`), [
    [one.id, 50],
    [two.id, 30],
  ]);
  const inherited = await gantry.api(`GET /projects/${project.id}/members/all/${two.id}`, as(one));
  assert.equal(inherited.body.access_level, 30);
  assert.equal((await gantry.api(`GET /projects/${project.id}/members/${one.id}`, as(one))).status, 404);
});

test('hides members from users who see a group only through a project below', async () => {
  const group = await seedGroup(gantry, { visibility: 'private' });
  const project = await seedProject(gantry, { visibility: 'private', namespace: group.id });
  const user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 40 });
  assert.equal((await gantry.api(`GET /groups/${group.id}`, as(user))).status, 200);
  assert.equal((await gantry.api(`GET /groups/${group.id}/members`, as(user))).status, 403);
});

test('refuses the role of owner in a project', async () => {
  const { path, boss } = await place('projects');
  const user_id = (await seedUser(gantry)).id;
  const reply = await gantry.api(`POST ${path}`, as(boss, { user_id, access_level: 50 }));
  assert.deepEqual(reply.body, { message: { access_level: ['is not included in the list'] } });
});

test('the owner of a personal project keeps the role', async () => {
  const user = await seedUser(gantry);
  const project = await gantry.api('POST /projects', as(user, { name: unique('own') }));
  const path = `/projects/${project.body.id}/members/${user.id}`;
  assert.equal((await gantry.api(`PUT ${path}`, as(user, { access_level: 10 }))).status, 403);
  assert.equal((await gantry.api(`DELETE ${path}`, as(user))).status, 403);
  assert.equal((await gantry.api(`DELETE ${path}`)).status, 403);
});

test('refuses to remove the last owner of a group', async () => {
  const { path, boss } = await place('groups');
  for (const user of [boss, await seedUser(gantry, { admin: 1 })]) {
    assert.equal((await gantry.api(`DELETE ${path}/${boss.id}`, as(user))).status, 403);
    assert.equal((await gantry.api(`PUT ${path}/${boss.id}`, as(user, { access_level: 40 }))).status, 403);
    const ends = { access_level: 50, expires_at: day(1) };
    assert.equal((await gantry.api(`PUT ${path}/${boss.id}`, as(user, ends))).status, 403);
  }
  const unchanged = await gantry.api(`PUT ${path}/${boss.id}`, as(boss, { access_level: 50 }));
  assert.deepEqual([unchanged.status, unchanged.body.access_level], [200, 50]);
  const second = await seedUser(gantry);
  await gantry.api(`POST ${path}`, as(boss, { user_id: second.id, access_level: 50 }));
  assert.equal((await gantry.api(`DELETE ${path}/${boss.id}`, as(boss))).status, 204);
  assert.equal((await gantry.api(`DELETE ${path}/${second.id}`, as(second))).status, 403);
});

test('a subgroup may lose its owners if a group above has one', async () => {
  const { id, boss } = await place('groups');
  const below = await seedGroup(gantry, { visibility: 'private', parent: id });
  const user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, group: below.id, access_level: 50 });
  assert.equal((await gantry.api(`DELETE /groups/${below.id}/members/${user.id}`, as(boss))).status, 204);
});

test('concurrent removals leave a group one owner', async () => {
  for (let round = 0; round < 5; round += 1) {
    const here = await place('groups');
    const other = await member('groups', here, 50);
    const replies = await Promise.all([
      gantry.api(`DELETE ${here.path}/${other.id}`, as(here.boss)),
      gantry.api(`DELETE ${here.path}/${here.boss.id}`, as(other)),
    ]);
    assert.equal(replies.filter(({ status }) => status === 204).length, 1);
  }
});
