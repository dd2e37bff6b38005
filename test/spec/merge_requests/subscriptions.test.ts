/** API document: subscribe, unsubscribe and the five time calls of merge requests; behaviour book 3.12-3.21, 1.12. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { SeededIssue } from '../../support/seed.ts';
import { type CodeWorld, pathOf, startCodeWorld } from '../code_world.ts';
import { type Team, answer } from '../world.ts';

let world: CodeWorld;
let team: Team;
before(async () => {
  world = await startCodeWorld();
  team = await world.team();
});
after(async () => await world.close());

const seeded = async (project = team.id) =>
  await world.seeded({ project, author: team.developer.id, assignees: [team.guest.id] });
const post = async (request: SeededIssue, path: string, as = team.stranger.token, json: object = {}) =>
  await world.api(`POST ${pathOf(request)}/${path}`, { as, json });

describe('subscribe and unsubscribe', () => {
  it('answer 201 with the record, and 304 where nothing changes', async () => {
    const request = await seeded();
    const on = await post(request, 'subscribe');
    assert.deepEqual([on.status, on.body.subscribed, on.body.id], [201, true, request.id]);
    const again = await post(request, 'subscribe');
    assert.deepEqual([again.status, again.text, again.headers.get('content-type')], [304, '', null]);
    const off = await post(request, 'unsubscribe');
    assert.deepEqual([off.status, off.body.subscribed], [201, false]);
    assert.equal((await post(request, 'unsubscribe')).status, 304);
  });
  it('a participant is subscribed, unless they unsubscribed', async () => {
    const request = await seeded();
    for (const { token } of [team.developer, team.guest]) {
      assert.equal((await post(request, 'subscribe', token)).status, 304);
      assert.equal((await post(request, 'unsubscribe', token)).status, 201);
      assert.equal((await world.get(request, '', token)).body.subscribed, false);
    }
  });
  it('requires only read access', async () => {
    const request = await seeded();
    const { updated_at } = (await world.get(request)).body;
    await post(request, 'subscribe');
    assert.equal((await world.get(request)).body.updated_at, updated_at);
  });
  for (const path of ['subscribe', 'unsubscribe']) {
    it(`${path}: 403 for one who may not read code, 404 for what is hidden or no number`, async () => {
      const hidden = await world.team({ visibility: 'private' });
      const request = await world.seeded({ project: hidden.id });
      assert.equal((await post(request, path, hidden.guest.token)).status, 403);
      assert.equal((await post(request, path, hidden.stranger.token)).status, 404);
      const reply = await world.api(`POST /projects/${team.id}/merge_requests/abc/${path}`);
      assert.deepEqual(answer(reply), [404, { message: '404 Not found' }]);
    });
  }
});

const none = {
  time_estimate: 0,
  total_time_spent: 0,
  human_time_estimate: null,
  human_total_time_spent: null,
};

describe('time', () => {
  it('is estimated, spent, shown and reset', async () => {
    const request = await seeded();
    const as = team.developer.token;
    const estimated = { ...none, time_estimate: 12_600, human_time_estimate: '3h 30m' };
    assert.deepEqual(answer(await post(request, 'time_estimate', as, { duration: '3h30m' })), [
      201,
      estimated,
    ]);
    const spent = { ...estimated, total_time_spent: 3600, human_total_time_spent: '1h' };
    assert.deepEqual(answer(await post(request, 'add_spent_time', as, { duration: '1h' })), [201, spent]);
    assert.deepEqual(answer(await world.get(request, '/time_stats')), [200, spent]);
    assert.deepEqual((await world.get(request)).body.time_stats, spent);
    const twice = { ...spent, total_time_spent: 5400, human_total_time_spent: '1h 30m' };
    assert.deepEqual((await post(request, 'add_spent_time', as, { duration: '30m' })).body, twice);
    assert.deepEqual(answer(await post(request, 'reset_spent_time', as)), [201, estimated]);
    assert.deepEqual(answer(await post(request, 'reset_time_estimate', as)), [201, none]);
    assert.deepEqual(await world.requestNotes(request), [
      'changed time estimate to 3h 30m',
      'added 1h of time spent',
      'added 30m of time spent',
      'removed time spent',
      'removed time estimate',
    ]);
  });
  it('concurrent additions are all counted', async () => {
    const request = await seeded();
    const as = team.developer.token;
    await Promise.all(
      Array.from({ length: 10 }, async () => await post(request, 'add_spent_time', as, { duration: '1m' })),
    );
    assert.equal((await world.get(request, '/time_stats')).body.total_time_spent, 600);
  });
  it('bad durations: 400', async () => {
    const request = await seeded();
    const bad = async (path: string, json: object) =>
      answer(await post(request, path, team.developer.token, json));
    const estimate = [400, { message: { time_estimate: ['has an invalid format'] } }];
    for (const duration of ['foo', '', '0', '-1h']) {
      assert.deepEqual(await bad('time_estimate', { duration }), estimate);
    }
    assert.deepEqual(await bad('add_spent_time', { duration: 'foo' }), [
      400,
      { message: { time_spent: ['has an invalid format'] } },
    ]);
    assert.deepEqual(await bad('add_spent_time', { duration: '-1h' }), [
      400,
      { message: { time_spent: ['Time to subtract exceeds the total time spent'] } },
    ]);
    for (const path of ['time_estimate', 'add_spent_time']) {
      assert.deepEqual(await bad(path, {}), [400, { message: '400 (Bad request) "duration" not given' }]);
    }
  });
  it('resetting nothing leaves no trace', async () => {
    const request = await seeded();
    const { updated_at } = (await world.get(request)).body;
    for (const path of ['reset_time_estimate', 'reset_spent_time']) {
      assert.deepEqual(answer(await post(request, path, team.developer.token)), [201, none]);
    }
    assert.equal((await world.get(request)).body.updated_at, updated_at);
    assert.deepEqual(await world.requestNotes(request), []);
  });
  const writes = ['time_estimate', 'add_spent_time', 'reset_time_estimate', 'reset_spent_time'];
  it('is tracked by developers, the author and assignees; others 403', async () => {
    const request = await seeded();
    for (const path of writes) {
      const status = async (as: string) => (await post(request, path, as, { duration: '1h' })).status;
      for (const { token } of [team.developer, team.guest, team.master])
        assert.equal(await status(token), 201, path);
      for (const { token } of [team.reporter, team.stranger]) assert.equal(await status(token), 403, path);
    }
    assert.equal((await world.get(request, '/time_stats', team.stranger.token)).status, 200);
  });
  it('what the caller may not read is missing: 404', async () => {
    const hidden = await world.team({ visibility: 'private' });
    const request = await world.seeded({ project: hidden.id });
    for (const { token } of [hidden.guest, hidden.stranger]) {
      for (const path of writes) {
        assert.equal((await post(request, path, token, { duration: '1h' })).status, 404, path);
      }
      assert.equal((await world.get(request, '/time_stats', token)).status, 404);
    }
  });
});
