/** API document: `GET .../closed_by` and `GET .../user_agent_detail`; behaviour book 2.17, 2.18. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedIssue } from '../../support/seed.ts';
import { type Team, type World, answer, startWorld } from '../world.ts';

let world: World;
let team: Team;
before(async () => {
  world = await startWorld();
  team = await world.team();
  await world.issue(team.id);
});
after(async () => await world.close());

describe('closed_by', () => {
  it('200, a paginated list; empty if none closes it', async () => {
    const reply = await world.api(`GET /projects/${team.id}/issues/1/closed_by`, { as: team.stranger.token });
    assert.deepEqual(answer(reply), [200, []]);
    const names = ['x-total', 'x-total-pages', 'x-per-page', 'x-page', 'x-next-page', 'x-prev-page'];
    assert.deepEqual(
      names.map((name) => reply.headers.get(name)),
      ['0', '1', '20', '1', '', ''],
    );
  });

  it('id is an integer or a path; page and per_page are validated as everywhere', async () => {
    const path = encodeURIComponent(team.full_path);
    assert.equal((await world.api(`GET /projects/${path}/issues/1/closed_by?per_page=5&page=2`)).status, 200);
    const bad = await world.api(`GET /projects/${team.id}/issues/1/closed_by?per_page=abc`);
    assert.deepEqual(answer(bad), [400, { message: { per_page: ['is invalid'] } }]);
  });

  it('404 for an unknown issue, 400 for an iid that is no integer', async () => {
    const at = (iid: string) => world.api(`GET /projects/${team.id}/issues/${iid}/closed_by`);
    assert.deepEqual(answer(await at('999999')), [404, { message: '404 Not found' }]);
    assert.deepEqual(answer(await at('abc')), [400, { message: { issue_iid: ['is invalid'] } }]);
  });
});

describe('user_agent_detail', () => {
  const line = (iid: number | string = 1, project: number | string = team.id): string =>
    `GET /projects/${project}/issues/${iid}/user_agent_detail`;

  it('admins only: 200', async () => {
    const reply = await world.api(line());
    assert.equal(reply.status, 200);
    assert.deepEqual(Object.keys(reply.body).toSorted(), [
      'ip_address',
      'spam_check_submitted',
      'user_agent',
    ]);
    assert.equal(reply.body.spam_check_submitted, false);
  });

  for (const who of ['owner', 'master', 'guest', 'stranger'] as const) {
    it(`${who}: 403 before the issue is looked up`, async () => {
      for (const at of [line(), line(999_999), line(1, 999_999)]) {
        const reply = await world.api(at, { as: team[who].token });
        assert.deepEqual(answer(reply), [403, { message: '403 Forbidden' }]);
      }
    });
  }

  it('no record: 404 UserAgentDetail Not Found; no issue: 404 Not found', async () => {
    const { iid } = await seedIssue(world.gantry, { project: team.id });
    assert.deepEqual(answer(await world.api(line(iid))), [404, { message: '404 UserAgentDetail Not Found' }]);
    assert.deepEqual(answer(await world.api(line(999_999))), [404, { message: '404 Not found' }]);
    assert.deepEqual(answer(await world.api(line(1, 999_999))), [404, { message: '404 Project Not Found' }]);
  });

  it('an edit by another agent does not change it', async () => {
    await world.api(`PUT /projects/${team.id}/issues/1?title=x`, { headers: { 'user-agent': 'Other/2' } });
    assert.notEqual((await world.api(line())).body.user_agent, 'Other/2');
  });

  it('under sudo the target’s rights count', async () => {
    assert.equal((await world.api(`${line()}?sudo=${team.owner.username}`)).status, 403);
  });
});
