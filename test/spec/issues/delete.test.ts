/** API document: `DELETE /projects/:id/issues/:issue_iid`; behaviour book 1.10 and 2.7. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedGroup, seedUser } from '../../support/seed.ts';
import { type Issue, type Team, type World, answer, startWorld } from '../world.ts';

let world: World;
let team: Team;
before(async () => {
  world = await startWorld();
  team = await world.team();
});
after(async () => await world.close());

const pathOf = ({ project_id, iid }: Issue): string => `/projects/${project_id}/issues/${iid}`;

describe('admins and project owners only', () => {
  for (const [who, status] of [
    ['root', 204],
    ['owner', 204],
    ['master', 403],
    ['developer', 403],
    ['reporter', 403],
    ['guest', 403],
    ['stranger', 403],
  ] as const) {
    it(`${who}: ${status}`, async () => {
      const issue = await world.issue(team.id);
      const reply = await world.api(`DELETE ${pathOf(issue)}`, who === 'root' ? {} : { as: team[who].token });
      assert.equal(reply.status, status);
      if (status === 403) assert.deepEqual(reply.body, { message: '403 Forbidden' });
      assert.equal((await world.api(`GET ${pathOf(issue)}`)).status, status === 204 ? 404 : 200);
    });
  }

  it('neither the author nor an assignee', async () => {
    const { guest } = team;
    const issue = await world.issue(team.id, {}, guest.token);
    await world.api(`PUT ${pathOf(issue)}`, { json: { assignee_ids: [guest.id] } });
    assert.equal((await world.api(`DELETE ${pathOf(issue)}`, { as: guest.token })).status, 403);
  });

  it('owners of the personal namespace and of the group are project owners', async () => {
    const user = await seedUser(world.gantry);
    const group = await seedGroup(world.gantry, { owner: user.id });
    for (const attributes of [{ owner: user.id }, { namespace: group.id }]) {
      const issue = await world.issue((await world.project(attributes)).id);
      assert.equal((await world.api(`DELETE ${pathOf(issue)}`, { as: user.token })).status, 204);
    }
  });
});

describe('204', () => {
  it('has no body and no content type', async () => {
    const reply = await world.api(`DELETE ${pathOf(await world.issue(team.id))}`);
    assert.deepEqual([reply.status, reply.text, reply.headers.get('content-type')], [204, '', null]);
  });

  it('soft delete: the row stays, every read is without it', async () => {
    const issue = await world.issue(team.id, { labels: 'gone', title: 'vanishing', assignee_ids: [1] });
    await world.api(`DELETE ${pathOf(issue)}`);
    const { db } = world.gantry.service.platform.store;
    const row = await db
      .selectFrom('issues')
      .selectAll()
      .where('id', '=', issue.id)
      .executeTakeFirstOrThrow();
    assert.equal(typeof row.deleted_at, 'number');
    for (const list of [
      '/issues?x',
      '/issues?scope=assigned-to-me',
      `/projects/${team.id}/issues?labels=gone`,
      `/projects/${team.id}/issues?search=vanishing`,
      `/projects/${team.id}/issues?iids[]=${issue.iid}`,
    ]) {
      const { body } = await world.api(`GET ${list}&per_page=100`);
      assert.ok(!body.some(({ id }: { id: number }) => id === issue.id), list);
    }
  });

  it('its iid is never reused', async () => {
    const project = await world.project();
    await world.api(`DELETE ${pathOf(await world.issue(project.id))}`);
    assert.equal((await world.issue(project.id)).iid, 2);
  });

  it('its todos are deleted', async () => {
    const issue = await world.issue(team.id, { assignee_ids: [team.guest.id] });
    await world.api(`DELETE ${pathOf(issue)}`);
    assert.deepEqual(await world.todos(issue.id), []);
  });

  it('a deletion writes one event', async () => {
    const issue = await world.issue(team.id);
    await world.api(`DELETE ${pathOf(issue)}`);
    const events = await world.events('Issue', issue.id);
    assert.deepEqual(events[1], { kind: 'issue.deleted', data: { iid: issue.iid }, actor_id: 1 });
  });
});

describe('404 `404 Issue Not Found`', () => {
  it('unknown, deleted before, and the global id', async () => {
    const issue = await world.issue(team.id);
    await world.api(`DELETE ${pathOf(issue)}`);
    for (const iid of [issue.iid, 999_999, 0]) {
      const reply = await world.api(`DELETE /projects/${team.id}/issues/${iid}`);
      assert.deepEqual(answer(reply), [404, { message: '404 Issue Not Found' }]);
    }
  });
  it('of an unknown project: 404 Project Not Found', async () => {
    assert.deepEqual(answer(await world.api('DELETE /projects/999999/issues/1')), [
      404,
      { message: '404 Project Not Found' },
    ]);
  });
});

describe('If-Unmodified-Since', () => {
  const when = Date.UTC(2026, 0, 1, 12, 0, 0, 700);
  const http = (ms: number): string => new Date(ms).toUTCString();
  const attempt = async (header: string, as?: string) => {
    world.gantry.setTime(when);
    const issue = await world.issue(team.id);
    world.gantry.setTime(null);
    const headers = { 'if-unmodified-since': header };
    return await world.api(`DELETE ${pathOf(issue)}`, { headers, ...(as !== undefined && { as }) });
  };

  it('a record modified meanwhile: 412', async () => {
    const reply = await attempt(http(when - 1000));
    assert.deepEqual(answer(reply), [412, { message: '412 Precondition Failed' }]);
  });
  it('compared at whole seconds: the echoed, truncated time is no change', async () =>
    assert.equal((await attempt(http(when))).status, 204));
  it('later: deleted', async () => assert.equal((await attempt(http(when + 60_000))).status, 204));
  for (const header of ['yesterday', '', 'Thu, 99 Jan 2026 00:00:00 GMT', '0']) {
    it(`unparsable is ignored: ${JSON.stringify(header)}`, async () =>
      assert.equal((await attempt(header)).status, 204));
  }
  for (const header of [
    '2020-01-01T00:00:00Z',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
  ]) {
    it(`parsed leniently: ${header}`, async () => assert.equal((await attempt(header)).status, 412));
  }
  it('is checked after 404 and 403', async () => {
    assert.equal((await attempt(http(0), team.guest.token)).status, 403);
    const headers = { 'if-unmodified-since': http(0) };
    assert.equal((await world.api(`DELETE /projects/${team.id}/issues/999999`, { headers })).status, 404);
  });
});
