/** API document: accept a merge request, cancel a deferred merge, the errors of both; behaviour book 3.9, 3.10. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import { type CodeWorld, type MergeRequest, pathOf, startCodeWorld } from '../code_world.ts';
import { type Reply, type Team, answer } from '../world.ts';

let world: CodeWorld;
let team: Team;
before(async () => {
  world = await startCodeWorld();
  team = await world.codeTeam();
});
after(async () => await world.close());

const merge = async (request: MergeRequest, json: object = {}, as?: string): Promise<Reply> =>
  await world.api(`PUT ${pathOf(request)}/merge`, { json, ...(as !== undefined && { as }) });

const cancel = async (request: MergeRequest, as?: string, method = 'PUT'): Promise<Reply> =>
  await world.api(
    `${method} ${pathOf(request)}/cancel_merge_when_pipeline_succeeds`,
    as === undefined ? {} : { as },
  );

const noRight = [401, { message: '401 Unauthorized' }];
const notOpen = [406, { message: 'Method Not Allowed' }];
const conflicts = [405, { message: 'Branch cannot be merged' }];
const wrongHead = [409, { message: 'SHA does not match HEAD of source branch' }];
const notNow = [405, { message: '405 Method Not Allowed' }];
const missing = [404, { message: '404 Not found' }];

/** One whose branches both changed the same line. */
const conflicting = async (): Promise<MergeRequest> => {
  const target_branch = await world.branch(team.id);
  const source_branch = await world.branch(team.id);
  const request = await world.open(team.id, { source_branch, target_branch });
  await seedCommit(world.gantry, team.id, { 'README.md': 'Ours\n' }, { branch: target_branch });
  await seedCommit(world.gantry, team.id, { 'README.md': 'Theirs\n' }, { branch: source_branch });
  return request;
};

describe('merging', () => {
  it('answers 200 with the request, merged, and its merge commit', async () => {
    const request = await world.open(team.id);
    const { status, body } = await merge(request);
    assert.equal(status, 200);
    assert.partialDeepStrictEqual(body, {
      iid: request.iid,
      state: 'merged',
      sha: request.sha,
      subscribed: true,
      merge_when_pipeline_succeeds: false,
      should_remove_source_branch: null,
    });
    assert.match(body.merge_commit_sha, /^[0-9a-f]{40}$/);
    const main = await world.api(`GET /projects/${team.id}/repository/branches/main`);
    assert.equal(main.body.commit.id, body.merge_commit_sha);
    assert.equal(main.body.commit.author_name, 'Administrator');
  });

  for (const should_remove_source_branch of [true, false]) {
    it(`keeps should_remove_source_branch=${should_remove_source_branch} as it was sent`, async () => {
      const request = await world.open(team.id);
      const { status, body } = await merge(request, { should_remove_source_branch });
      assert.deepEqual(
        [status, body.state, body.should_remove_source_branch],
        [200, 'merged', should_remove_source_branch],
      );
      assert.equal((await world.get(request)).body.should_remove_source_branch, should_remove_source_branch);
    });
  }

  it('takes `sha` as the head that is meant', async () => {
    const request = await world.open(team.id);
    assert.deepEqual(answer(await merge(request, { sha: '0'.repeat(40) })), wrongHead);
    assert.equal((await merge(request, { sha: request.sha })).body.state, 'merged');
  });

  it('takes its parameters from the query and from a form, too', async () => {
    const [one, two] = [await world.open(team.id), await world.open(team.id)];
    const query = `merge_commit_message=${encodeURIComponent('By query')}`;
    assert.equal((await world.api(`PUT ${pathOf(one)}/merge?${query}`)).status, 200);
    const form = 'merge_commit_message=By+form&should_remove_source_branch=false';
    const { body } = await world.api(`PUT ${pathOf(two)}/merge`, { form });
    const commit = await world.api(`GET /projects/${team.id}/repository/commits/${body.merge_commit_sha}`);
    assert.equal(commit.body.message.trim(), 'By form');
  });

  const refusals: [string, () => Promise<Reply>, unknown][] = [
    ['no right to it', async () => await merge(await world.open(team.id), {}, team.reporter.token), noRight],
    ['conflicts', async () => await merge(await conflicting()), conflicts],
    [
      'it is closed',
      async () => {
        const request = await world.open(team.id);
        await world.put(request, { state_event: 'close' });
        return await merge(request);
      },
      notOpen,
    ],
    [
      'it is merged',
      async () => {
        const request = await world.open(team.id);
        await merge(request);
        return await merge(request);
      },
      notOpen,
    ],
    ['work in progress', async () => await merge(await world.open(team.id, { title: '[WIP] x' })), notNow],
    [
      'unknown iid',
      async () => await world.api(`PUT /projects/${team.id}/merge_requests/99999/merge`),
      missing,
    ],
    [
      'it is deleted',
      async () => {
        const request = await world.open(team.id);
        await world.api(`DELETE ${pathOf(request)}`);
        return await merge(request);
      },
      missing,
    ],
  ];
  for (const [reason, ask, expected] of refusals) {
    it(`is refused: ${reason}`, async () => assert.deepEqual(answer(await ask()), expected));
  }

  it('is refused while discussions are open, where the project wants them resolved', async () => {
    const strict = await world.codeTeam({}, { only_allow_merge_if_all_discussions_are_resolved: 1 });
    const request = await world.open(strict.id);
    const { body } = await world.api(`POST ${pathOf(request)}/discussions`, { json: { body: 'Why?' } });
    assert.deepEqual(answer(await merge(request)), notNow);
    await world.api(`PUT ${pathOf(request)}/discussions/${body.id}`, { json: { resolved: true } });
    assert.equal((await merge(request)).status, 200);
  });

  it('is refused to members who do not see merge requests, whether or not there is one', async () => {
    const hidden = await world.codeTeam({ visibility: 'private' });
    const off = await world.codeTeam({}, { merge_requests_access_level: 'private' });
    const cases: [MergeRequest, string][] = [
      [await world.open(hidden.id), hidden.guest.token],
      [await world.open(off.id), off.stranger.token],
    ];
    for (const [request, as] of cases) {
      for (const one of [request, { ...request, iid: 99_999 }]) {
        assert.deepEqual(answer(await merge(one, {}, as)), noRight);
        assert.deepEqual(answer(await cancel(one, as)), noRight);
      }
      assert.equal((await world.get(request, '', as)).status, 403);
    }
    const [request] = cases[0] ?? [];
    const stranger = await merge(request, {}, hidden.stranger.token);
    assert.deepEqual(answer(stranger), [404, { message: '404 Project Not Found' }]);
  });

  it('is for those who may push or merge there: masters on a protected branch', async () => {
    const request = await world.open(team.id);
    assert.deepEqual(answer(await merge(request, {}, team.developer.token)), noRight);
    const target_branch = await world.branch(team.id);
    const beside = await world.open(team.id, { target_branch });
    assert.equal((await merge(beside, {}, team.developer.token)).status, 200);
    const json = { name: target_branch, push_access_level: 0, merge_access_level: 30 };
    const again = await world.open(team.id, { target_branch });
    await world.api(`POST /projects/${team.id}/protected_branches`, { json });
    assert.equal((await merge(again, {}, team.developer.token)).status, 200);
  });
});

describe('merge_status', () => {
  it('is found when the request is read, and leaves `updated_at` as it is', async () => {
    const request = await conflicting();
    const { body } = await world.get(request);
    assert.deepEqual(
      [body.merge_status, body.has_conflicts, body.detailed_merge_status],
      ['cannot_be_merged', true, 'conflict'],
    );
    const again = (await world.get(request)).body;
    assert.equal(again.updated_at, body.updated_at);
  });
});

describe('a deferred merge', () => {
  const later = { merge_when_pipeline_succeeds: true };

  it('leaves the request open, and flagged', async () => {
    const { status, body } = await merge(await world.open(team.id), later);
    assert.deepEqual([status, body.state, body.merge_when_pipeline_succeeds], [200, 'opened', true]);
  });

  it('is cancelled by PUT with 200, by POST with 201', async () => {
    const request = await world.open(team.id);
    await merge(request, later);
    const put = await cancel(request);
    assert.deepEqual(
      [put.status, put.body.merge_when_pipeline_succeeds, put.body.state],
      [200, false, 'opened'],
    );
    await merge(request, later);
    const post = await cancel(request, undefined, 'POST');
    assert.deepEqual([post.status, post.body.merge_when_pipeline_succeeds], [201, false]);
  });

  it('is not cancelled: no right 401, merged 405, closed 405, not set 406', async () => {
    const request = await world.open(team.id);
    assert.deepEqual(answer(await cancel(request, team.reporter.token)), noRight);
    assert.deepEqual(answer(await cancel(request)), [406, { message: "Can't cancel the automatic merge" }]);
    const closed = await world.open(team.id);
    await world.put(closed, { state_event: 'close' });
    await merge(request);
    for (const one of [request, closed]) {
      assert.deepEqual(answer(await cancel(one)), [405, { message: 'Method Not Allowed' }]);
    }
  });
});
