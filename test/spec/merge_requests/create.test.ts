/** API document: `POST /projects/:id/merge_requests` and its body; behaviour book 3.6, 1.7, 1.11. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openRepository, seedCommit } from '../../support/repositories/seed_commits.ts';
import { seedMember, seedUser } from '../../support/seed.ts';
import { type CodeWorld, type MergeRequest, startCodeWorld } from '../code_world.ts';
import { type Team, answer } from '../world.ts';

let world: CodeWorld;
let team: Team;
before(async () => {
  world = await startCodeWorld();
  team = await world.codeTeam();
});
after(async () => await world.close());

const missingParameter = (name: string) => [400, { message: `400 (Bad request) "${name}" not given` }];
const repository = async (id: number) => await openRepository(world.gantry, id);

/** A fork of a project: its row and, on the same storage, its code. */
const forkOf = async (parent: Team, columns: Record<string, unknown> = {}): Promise<Team> => {
  const fork = await world.codeTeam(
    {},
    { forked_from_project_id: parent.id, fork_network_id: parent.id, ...columns },
  );
  await seedCommit(world.gantry, fork.id, { 'fork.txt': 'fork\n' });
  return fork;
};

describe('required attributes', () => {
  it('are named in the order of the document, the first that is missing', async () => {
    assert.deepEqual(answer(await world.post(team.id, {})), missingParameter('source_branch'));
    assert.deepEqual(
      answer(await world.post(team.id, { source_branch: 'a' })),
      missingParameter('target_branch'),
    );
    const both = { source_branch: 'a', target_branch: 'main' };
    assert.deepEqual(answer(await world.post(team.id, both)), missingParameter('title'));
  });
  it('are asked for after 401 and before 404 and 403', async () => {
    assert.equal((await world.api(`POST /projects/${team.id}/merge_requests`, { as: null })).status, 401);
    assert.equal((await world.post(999_999, {})).status, 400);
    assert.equal((await world.post(team.id, {}, team.guest.token)).status, 400);
  });
  for (const title of ['', '  ']) {
    it(`title ${JSON.stringify(title)}: can't be blank`, async () => {
      const reply = await world.post(team.id, { source_branch: 'x', target_branch: 'main', title });
      assert.deepEqual(answer(reply), [400, { message: { title: ["can't be blank"] } }]);
    });
  }
  it('a title of 256 characters is too long, its ends are stripped', async () => {
    const source_branch = await world.branch(team.id);
    const fields = { source_branch, target_branch: 'main' };
    const reply = await world.post(team.id, { ...fields, title: 'x'.repeat(256) });
    assert.deepEqual(answer(reply), [
      400,
      { message: { title: ['is too long (maximum is 255 characters)'] } },
    ]);
    assert.equal((await world.open(team.id, { ...fields, title: '  Trimmed ' })).title, 'Trimmed');
  });
});

describe('who may', () => {
  const fields = { source_branch: 'none', target_branch: 'main', title: 'x' };
  for (const role of ['guest', 'reporter', 'stranger'] as const) {
    it(`a ${role} may not: 403`, async () => {
      const reply = await world.post(team.id, fields, team[role].token);
      assert.deepEqual(answer(reply), [403, { message: '403 Forbidden' }]);
    });
  }
  for (const role of ['developer', 'master', 'owner'] as const) {
    it(`a ${role} may, as its author`, async () => {
      const made = await world.open(team.id, {}, team[role].token);
      assert.equal(made.author.id, team[role].id);
      assert.equal(made.subscribed, true);
    });
  }
  it('a private project is hidden from strangers: 404', async () => {
    const hidden = await world.codeTeam({ visibility: 'private' });
    const reply = await world.post(hidden.id, fields, hidden.stranger.token);
    assert.deepEqual(answer(reply), [404, { message: '404 Project Not Found' }]);
  });
  it('nobody may in an archived project', async () => {
    const archived = await world.codeTeam({}, { archived: 1 });
    assert.equal((await world.post(archived.id, fields)).status, 403);
  });
});

describe('branches', () => {
  it('of the same name in one project: 422', async () => {
    const reply = await world.post(team.id, { source_branch: 'main', target_branch: 'main', title: 'x' });
    assert.deepEqual(answer(reply), [
      422,
      { message: ["You can't use same project/branch for source and target"] },
    ]);
  });
  it('that an open one brings together already: 409, which names it', async () => {
    const { iid, source_branch } = await world.open(team.id);
    const again = { source_branch, target_branch: 'main', title: 'Again' };
    const reply = await world.post(team.id, again);
    assert.deepEqual(answer(reply), [
      409,
      { message: [`Another open merge request already exists for this source branch: !${iid}`] },
    ]);
  });
  it('of a closed, merged or deleted one may be brought together again', async () => {
    const { source_branch, ...closed } = await world.open(team.id);
    await world.put(closed, { state_event: 'close' });
    const second = await world.open(team.id, { source_branch });
    assert.equal((await world.api(`DELETE /projects/${team.id}/merge_requests/${second.iid}`)).status, 204);
    await world.open(team.id, { source_branch });
  });
  it('into another target are another request', async () => {
    const target_branch = await world.branch(team.id);
    const { source_branch } = await world.open(team.id);
    assert.equal((await world.open(team.id, { source_branch, target_branch })).target_branch, target_branch);
  });
  it('of two that open the same at once, one is refused with 409', async () => {
    const source_branch = await world.branch(team.id);
    const fields = { source_branch, target_branch: 'main', title: 'Race' };
    const replies = await Promise.all([1, 2, 3, 4].map(async () => await world.post(team.id, fields)));
    assert.deepEqual(
      replies.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 409, 409, 409],
    );
    const made = replies.find(({ status }) => status === 201)!;
    for (const { status, body } of replies) {
      const message = [`Another open merge request already exists for this source branch: !${made.body.iid}`];
      if (status === 409) assert.deepEqual(body, { message });
    }
  });
  it('a source that does not exist: 400', async () => {
    const reply = await world.post(team.id, { source_branch: 'none', target_branch: 'main', title: 'x' });
    assert.deepEqual(answer(reply), [400, { message: { source_branch: ['does not exist'] } }]);
  });
  it('a target that does not exist: 400', async () => {
    const source_branch = await world.branch(team.id);
    const reply = await world.post(team.id, { source_branch, target_branch: 'none', title: 'x' });
    assert.deepEqual(answer(reply), [400, { message: { target_branch: ['does not exist'] } }]);
  });
  for (const source_branch of [
    '',
    '-x',
    '..',
    'a b',
    'refs/heads/main',
    '\u0000',
    'main:x',
    'x'.repeat(900),
  ]) {
    it(`${JSON.stringify(source_branch.slice(0, 20))} names none: 400`, async () => {
      const reply = await world.post(team.id, { source_branch, target_branch: 'main', title: 'x' });
      assert.equal(reply.status, 400, reply.text);
    });
  }
  it('without commits between them: 201, it cannot be merged', async () => {
    const same = await world.branch(team.id);
    const target_branch = await world.branch(team.id, { from: same });
    const made = await world.open(team.id, { source_branch: same, target_branch });
    assert.equal(made.merge_status, 'cannot_be_merged');
    assert.equal(made.changes_count, null);
    assert.deepEqual([made.has_conflicts, made.detailed_merge_status], [false, 'commits_status']);
  });
});

describe('another target project', () => {
  it('that does not exist or is hidden: 404, alike', async () => {
    const hidden = await world.codeTeam({ visibility: 'private' });
    const source_branch = await world.branch(team.id);
    for (const target_project_id of [999_999, hidden.id]) {
      const fields = { source_branch, target_branch: 'main', title: 'x', target_project_id };
      const reply = await world.post(team.id, fields, team.developer.token);
      assert.deepEqual(answer(reply), [404, { message: '404 Project Not Found' }]);
    }
  });
  it('that this one is no fork of: 422', async () => {
    const other = await world.codeTeam();
    const source_branch = await world.branch(team.id);
    const reply = await world.post(team.id, {
      source_branch,
      target_branch: 'main',
      title: 'x',
      target_project_id: other.id,
    });
    assert.deepEqual(answer(reply), [
      422,
      { message: ['Source project is not a fork of the target project'] },
    ]);
  });
  it('that has merge requests off: 422', async () => {
    const parent = await world.codeTeam({}, { merge_requests_access_level: 'disabled' });
    const fork = await forkOf(parent);
    const source_branch = await world.branch(fork.id);
    const reply = await world.post(fork.id, {
      source_branch,
      target_branch: 'main',
      title: 'x',
      target_project_id: parent.id,
    });
    assert.deepEqual(answer(reply), [422, { message: ['Target project has disabled merge requests'] }]);
  });
  it('its own merge requests are off: 422, too', async () => {
    const off = await world.codeTeam({}, { merge_requests_access_level: 'disabled' });
    const source_branch = await world.branch(off.id);
    const reply = await world.post(off.id, { source_branch, target_branch: 'main', title: 'x' });
    assert.deepEqual(answer(reply), [422, { message: ['Target project has disabled merge requests'] }]);
  });
  it('a visible project whose code the caller may not read: 403', async () => {
    const parent = await world.codeTeam({ visibility: 'private' });
    const fork = await forkOf(parent);
    await seedMember(world.gantry, { user: fork.developer.id, project: parent.id, access_level: 10 });
    const fields = { source_branch: 'main', target_branch: 'main', title: 'x', target_project_id: parent.id };
    assert.equal((await world.post(fork.id, fields, fork.developer.token)).status, 403);
  });
  for (const [name, columns] of [
    ['its parent', {}],
    ['another of its network', { forked_from_project_id: null }],
  ] as const) {
    it(`${name}: the request is of that project, its branch may have the same name`, async () => {
      const parent = await world.codeTeam();
      await world.open(parent.id);
      const fork = await forkOf(parent, columns);
      const fields = { source_branch: 'main', target_project_id: parent.id };
      const made = await world.open(fork.id, fields, fork.developer.token);
      assert.equal(made.project_id, parent.id);
      assert.equal(made.target_project_id, parent.id);
      assert.equal(made.source_project_id, fork.id);
      assert.equal(made.iid, 2);
      assert.ok(made.web_url.endsWith(`/${parent.full_path}/merge_requests/2`));
      const { body } = await world.get(made);
      assert.deepEqual(body, { ...made, subscribed: false, user: { can_merge: true } });
    });
  }
  it('labels, milestone and assignee need a developer of it, and are of it', async () => {
    const parent = await world.codeTeam();
    const fork = await forkOf(parent);
    const milestone = await world.milestone(parent.id);
    const fields = {
      source_branch: 'main',
      target_project_id: parent.id,
      labels: 'new',
      milestone_id: milestone.id,
      assignee_id: parent.reporter.id,
    };
    const dropped = await world.open(fork.id, fields, fork.developer.token);
    assert.deepEqual([dropped.labels, dropped.milestone, dropped.assignee], [[], null, null]);
    await world.put(dropped, { state_event: 'close' });
    await seedMember(world.gantry, { user: fork.developer.id, project: parent.id, access_level: 30 });
    const kept = await world.open(fork.id, fields, fork.developer.token);
    assert.deepEqual([kept.labels, kept.milestone.id], [['new'], milestone.id]);
    assert.equal(kept.assignee.id, parent.reporter.id);
    const { body } = await world.api(`GET /projects/${parent.id}/labels`);
    assert.deepEqual(
      body.map(({ name }: { name: string }) => name),
      ['new'],
    );
  });
});

describe('optional attributes', () => {
  const made = async (fields: object): Promise<MergeRequest> => await world.open(team.id, fields);

  it('description: empty when absent', async () => {
    assert.equal((await made({})).description, '');
    assert.equal((await made({ description: 'Why' })).description, 'Why');
  });
  it('assignee_id: 0 is nobody; one who does not exist or may not read it is ignored', async () => {
    const hidden = await world.codeTeam({ visibility: 'private' });
    const outsider = await seedUser(world.gantry);
    assert.equal((await made({ assignee_id: team.reporter.id })).assignee.id, team.reporter.id);
    assert.equal((await made({ assignee_id: 0 })).assignee, null);
    assert.equal((await made({ assignee_id: 999_999 })).assignee, null);
    const request = await world.open(hidden.id, { assignee_id: outsider.id });
    assert.equal(request.assignee, null);
    assert.equal((await world.open(hidden.id, { assignee_id: hidden.guest.id })).assignee, null);
  });
  it('milestone_id: one of another project is none', async () => {
    const milestone = await world.milestone(team.id);
    const other = await world.milestone((await world.project()).id);
    assert.equal((await made({ milestone_id: milestone.id })).milestone.id, milestone.id);
    assert.equal((await made({ milestone_id: other.id })).milestone, null);
    assert.equal((await made({ milestone_id: 0 })).milestone, null);
  });
  it('labels: comma-separated, trimmed, sorted, created where unknown', async () => {
    await world.label(team.id, 'known');
    assert.deepEqual((await made({ labels: 'zeta, known,,alpha' })).labels, ['alpha', 'known', 'zeta']);
    assert.deepEqual((await made({ labels: ['b', 'a'] })).labels, ['a', 'b']);
  });
  it('remove_source_branch is force_remove_source_branch', async () => {
    assert.equal((await made({ remove_source_branch: true })).force_remove_source_branch, true);
    assert.equal((await made({ remove_source_branch: false })).force_remove_source_branch, false);
    assert.equal((await made({})).force_remove_source_branch, false);
  });
  it('squash: as asked for, and as the project has it', async () => {
    assert.equal((await made({ squash: true })).squash, true);
    const [always, never, on] = await Promise.all(
      ['always', 'never', 'default_on'].map(
        async (squash_option) => await world.codeTeam({}, { squash_option }),
      ),
    );
    assert.equal((await world.open(always!.id, { squash: false })).squash, true);
    assert.equal((await world.open(never!.id, { squash: true })).squash, false);
    assert.equal((await world.open(on!.id)).squash, true);
    assert.equal((await world.open(on!.id, { squash: false })).squash, false);
  });
  it('quick actions in the description are carried out and are no part of it', async () => {
    await world.label(team.id, 'quick');
    const description = [
      'Text',
      '/label ~quick',
      `/assign @${team.reporter.username}`,
      '/estimate 1h',
      '/spend 30m',
      '/todo',
      '/title Another title',
    ].join('\n');
    const request = await made({ description });
    assert.equal(request.description, 'Text');
    assert.deepEqual(request.labels, ['quick']);
    assert.equal(request.assignee.id, team.reporter.id);
    assert.equal(request.title, 'Another title');
    assert.deepEqual(request.time_stats, {
      time_estimate: 3600,
      total_time_spent: 1800,
      human_time_estimate: '1h',
      human_total_time_spent: '30m',
    });
    const actions = (await world.requestTodos(request)).map(({ action }) => action);
    assert.deepEqual(actions.toSorted(), ['assigned', 'marked']);
  });
  for (const [name, fields, property] of [
    ['assignee_id', { assignee_id: 'x' }, 'assignee_id'],
    ['milestone_id', { milestone_id: 'x' }, 'milestone_id'],
    ['remove_source_branch', { remove_source_branch: 'maybe' }, 'remove_source_branch'],
    ['target_project_id', { target_project_id: 'x' }, 'target_project_id'],
  ] as const) {
    it(`a bad ${name}: 400`, async () => {
      const all = { source_branch: 'x', target_branch: 'main', title: 'x', ...fields };
      const reply = await world.post(team.id, all);
      assert.deepEqual(answer(reply), [400, { message: { [property]: ['is invalid'] } }]);
    });
  }
});

describe('what follows', () => {
  it('iids count in the target project alone, and are never given again', async () => {
    const own = await world.codeTeam();
    const iids = [];
    for (let index = 0; index < 3; index += 1) iids.push((await world.open(own.id)).iid);
    await world.api(`DELETE /projects/${own.id}/merge_requests/3`);
    iids.push((await world.open(own.id)).iid);
    assert.deepEqual(iids, [1, 2, 3, 4]);
  });
  it('its first version is there, and its head as a ref of the target', async () => {
    const request = await world.open(team.id);
    const versions = await world.get(request, '/versions');
    assert.equal(versions.body.length, 1);
    assert.equal(versions.body[0].head_commit_sha, request.sha);
    await world.gantry.service.worker.drain();
    const name = `refs/merge-requests/${request.iid}/head`;
    const { refs } = await (await repository(team.id)).ask('refs.get', { names: [name] });
    assert.equal(refs[0]?.commit, request.sha);
  });
  it('the commits of a fork are in the target, too', async () => {
    const fork = await forkOf(team);
    const request = await world.open(fork.id, { source_branch: 'main', target_project_id: team.id });
    const { commits } = await (await repository(team.id)).ask('commits.get', { ids: [request.sha] });
    assert.equal(commits[0]?.id, request.sha);
  });
  it('assignee and mentioned are told by todos, the author is not', async () => {
    const description = `@${team.reporter.username} @${team.master.username} look, @root`;
    const request = await world.open(team.id, { assignee_id: team.reporter.id, description });
    assert.deepEqual(
      (await world.requestTodos(request)).map(({ user_id, action }) => [user_id, action]),
      [
        [team.reporter.id, 'assigned'],
        [team.master.id, 'directly_addressed'],
      ],
    );
  });
  it('it is in the change log', async () => {
    const { id, iid, title } = await world.open(team.id);
    assert.deepEqual(await world.events('MergeRequest', id), [
      { kind: 'merge_request.created', data: { iid, title }, actor_id: 1 },
    ]);
  });
  it('the issues that it closes know it', async () => {
    const issue = await world.issue(team.id);
    const request = await world.open(team.id, { description: `Closes #${issue.iid}` });
    const { body } = await world.api(`GET /projects/${team.id}/issues/${issue.iid}/closed_by`);
    assert.deepEqual(
      body.map(({ id }: { id: number }) => id),
      [request.id],
    );
  });
});
