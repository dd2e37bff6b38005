/** API document: `DELETE /projects/:id/merge_requests/:merge_request_iid`; behaviour book 3.8, 1.10. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type CodeWorld, pathOf, startCodeWorld } from '../code_world.ts';
import { type Team, answer } from '../world.ts';
import { openRepository } from '../../support/repositories/seed_commits.ts';

let world: CodeWorld;
let team: Team;
before(async () => {
  world = await startCodeWorld();
  team = await world.codeTeam();
});
after(async () => await world.close());

const remove = async (request: { project_id: number; iid: number }, options: object = {}) =>
  await world.api(`DELETE ${pathOf(request)}`, options);
const seeded = async () => await world.seeded({ project: team.id, author: team.developer.id });

describe('DELETE', () => {
  it('answers 204 without a body', async () => {
    const { status, text, headers } = await remove(await seeded());
    assert.deepEqual([status, text, headers.get('content-type')], [204, '', null]);
  });
  it('is for administrators and project owners; not for its author', async () => {
    const request = await seeded();
    for (const role of ['guest', 'reporter', 'developer', 'master', 'stranger'] as const) {
      const reply = await remove(request, { as: team[role].token });
      assert.deepEqual(answer(reply), [403, { message: '403 Forbidden' }], role);
    }
    assert.equal((await remove(request, { as: team.owner.token })).status, 204);
  });
  it('401 without credentials; 404 for a caller who cannot see it, and for a guest', async () => {
    const hidden = await world.team({ visibility: 'private' });
    const request = await world.seeded({ project: hidden.id });
    assert.equal((await remove(request, { as: null })).status, 401);
    assert.deepEqual(answer(await remove(request, { as: hidden.stranger.token })), [
      404,
      { message: '404 Project Not Found' },
    ]);
    const missing = [404, { message: '404 Not found' }];
    assert.deepEqual(answer(await remove(request, { as: hidden.guest.token })), missing);
    assert.deepEqual(answer(await remove({ project_id: team.id, iid: 99_999 })), missing);
  });
  it('the id in place of the iid: 404', async () => {
    const { id } = await world.seeded({ project: team.id });
    assert.equal((await remove({ project_id: team.id, iid: id + 100_000 })).status, 404);
  });
  it('it vanishes from every read, the second time it is missing', async () => {
    const request = await seeded();
    await world.api(`POST ${pathOf(request)}/todo`);
    await remove(request);
    for (const path of ['', '/commits', '/changes', '/versions', '/notes', '/closes_issues', '/time_stats']) {
      assert.equal((await world.get(request, path)).status, 404, path);
    }
    for (const path of ['subscribe', 'todo', 'reset_spent_time']) {
      assert.equal((await world.api(`POST ${pathOf(request)}/${path}`)).status, 404, path);
    }
    for (const path of ['', '/merge', '/cancel_merge_when_pipeline_succeeds']) {
      const json = { title: 'x' };
      assert.equal((await world.api(`PUT ${pathOf(request)}${path}`, { json })).status, 404, path);
    }
    const { body } = await world.api(`GET /projects/${team.id}/merge_requests?iids[]=${request.iid}`);
    assert.deepEqual(body, []);
    assert.ok(!(await world.api('GET /todos')).text.includes(`"iid":${request.iid},`));
    assert.equal((await remove(request)).status, 404);
  });
  it('its branches stay', async () => {
    const request = await world.open(team.id);
    await remove(request);
    const name = `refs/heads/${request.source_branch}`;
    const { refs } = await (await openRepository(world.gantry, team.id)).ask('refs.get', { names: [name] });
    assert.equal(refs[0]?.commit, request.sha);
  });
  it('its refs are removed from git', async () => {
    const request = await world.open(team.id);
    const { worker } = world.gantry.service;
    await worker.drain();
    assert.equal((await world.api(`GET ${pathOf(request)}/merge_ref`)).status, 200);
    const names = ['head', 'merge'].map((name) => `refs/merge-requests/${request.iid}/${name}`);
    const seen = async () => {
      const repository = await openRepository(world.gantry, team.id);
      const { refs } = await repository.ask('refs.get', { names });
      const commit = `GET /projects/${team.id}/repository/commits/${encodeURIComponent(names[0] ?? '')}`;
      return [...refs.map((ref) => ref !== null), (await world.api(commit)).status];
    };
    assert.deepEqual(await seen(), [true, true, 200]);
    await remove(request);
    await worker.drain();
    assert.deepEqual(await seen(), [false, false, 404]);
  });
  it('the totals of the lists go down', async () => {
    const own = await world.project();
    const request = await world.seeded({ project: own.id, state: 'merged' });
    await remove(request);
    const { headers } = await world.api(`GET /projects/${own.id}/merge_requests?state=merged&per_page=1`);
    assert.equal(headers.get('x-total'), '0');
  });
  it('it is in the change log', async () => {
    const request = await seeded();
    await remove(request);
    assert.deepEqual(await world.events('MergeRequest', request.id), [
      { kind: 'merge_request.deleted', data: { iid: request.iid }, actor_id: 1 },
    ]);
  });
});

describe('If-Unmodified-Since', () => {
  const since = (time: number) => ({ headers: { 'if-unmodified-since': new Date(time).toUTCString() } });

  it('before the last change: 412, nothing deleted', async () => {
    const request = await seeded();
    const reply = await remove(request, since(Date.now() - 60_000));
    assert.deepEqual(answer(reply), [412, { message: '412 Precondition Failed' }]);
    assert.equal((await world.get(request)).status, 200);
  });
  it('in the same second, later, or no date: deleted', async () => {
    const request = await seeded();
    const { body } = await world.get(request);
    assert.equal((await remove(request, since(Date.parse(body.updated_at)))).status, 204);
    assert.equal((await remove(await seeded(), since(Date.now() + 60_000))).status, 204);
    const headers = { 'if-unmodified-since': 'whenever' };
    assert.equal((await remove(await seeded(), { headers })).status, 204);
  });
  it('is checked after the permission', async () => {
    const reply = await remove(await seeded(), { as: team.master.token, ...since(0) });
    assert.equal(reply.status, 403);
  });
});
