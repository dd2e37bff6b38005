/** API document: the lists of merge requests and their filters; behaviour book 3.1, 3.2, 2.1, 1.6. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedGroup, seedMember, seedUser } from '../../support/seed.ts';
import { type CodeWorld, startCodeWorld } from '../code_world.ts';
import { type Team, answer, iidsOf, sortedIids } from '../world.ts';

let world: CodeWorld;
before(async () => {
  world = await startCodeWorld();
});
after(async () => await world.close());

const totalOf = (headers: Headers): number => Number(headers.get('x-total'));

describe('GET /projects/:id/merge_requests', () => {
  let team: Team;
  let label: number;
  let milestone: { id: number; title: string };
  /** By what is special of it. */
  const iid: Record<string, number> = {};
  const list = async (query: string, as?: string) =>
    await world.api(`GET /projects/${team.id}/merge_requests?${query}`, as === undefined ? {} : { as });

  before(async () => {
    team = await world.team();
    label = await world.label(team.id, 'bug');
    const second = await world.label(team.id, 'urgent');
    milestone = await world.milestone(team.id);
    const project = team.id;
    const make = async (name: string, fields: object) => {
      iid[name] = (await world.seeded({ project, ...fields })).iid;
    };
    const day = (month: number) => Date.UTC(2017, month, 1);
    await make('plain', { title: 'Plain', created_at: day(0), updated_at: day(9) });
    await make('closed', {
      state: 'closed',
      created_at: day(1),
      updated_at: day(8),
      author: team.developer.id,
    });
    await make('merged', { state: 'merged', created_at: day(2), updated_at: day(7), labels: [label] });
    await make('both', { labels: [label, second], created_at: day(3), updated_at: day(6) });
    await make('planned', { milestone: milestone.id, created_at: day(4), updated_at: day(5) });
    await make('assigned', { assignees: [team.reporter.id], created_at: day(5), updated_at: day(4) });
    await make('branches', {
      source_branch: 'from/here',
      target_branch: 'stable',
      created_at: day(6),
      updated_at: day(3),
      description: 'A needle in 100% hay_stack',
    });
    await make('wip', { title: 'WIP: not yet', created_at: day(7), updated_at: day(2) });
    await make('draft', { title: '[Draft] not yet', created_at: day(8), updated_at: day(1) });
    await make('deleted', { deleted: true });
  });

  const only = async (query: string, ...names: string[]) => {
    const reply = await list(`${query}&per_page=100`);
    assert.deepEqual(
      sortedIids(reply),
      names.map((name) => iid[name]!).toSorted((a, b) => a - b),
      query,
    );
    assert.equal(totalOf(reply.headers), names.length, query);
  };
  const all = ['plain', 'closed', 'merged', 'both', 'planned', 'assigned', 'branches', 'wip', 'draft'];
  const but = (...names: string[]) => all.filter((name) => !names.includes(name));

  it('all by default, without deleted ones', async () => await only('', ...all));
  it('state', async () => {
    await only('state=opened', ...but('closed', 'merged'));
    await only('state=closed', 'closed');
    await only('state=merged', 'merged');
    await only('state=all', ...all);
    await only('state=locked');
    await only('state=', ...all);
    assert.deepEqual(answer(await list('state=x')), [
      400,
      { message: { state: ['does not have a valid value'] } },
    ]);
  });
  it('order_by and sort', async () => {
    const created = all.map((name) => iid[name]!);
    const opened = await list('per_page=100');
    assert.deepEqual(iidsOf(opened), created.toReversed());
    assert.deepEqual(iidsOf(await list('sort=asc&per_page=100')), created);
    assert.deepEqual(iidsOf(await list('order_by=updated_at&per_page=100')), created);
    assert.deepEqual(iidsOf(await list('order_by=updated_at&sort=asc&per_page=100')), created.toReversed());
    for (const bad of ['order_by=due_date', 'sort=up']) assert.equal((await list(bad)).status, 400);
  });
  it('ties are in the order of ids, in the same direction', async () => {
    const own = await world.project();
    for (let index = 0; index < 5; index += 1) {
      await world.seeded({ project: own.id, created_at: 1_500_000_000_000 });
    }
    const path = `GET /projects/${own.id}/merge_requests?per_page=2`;
    const pages = async (query: string) =>
      (
        await Promise.all(
          [1, 2, 3].map(async (page) => iidsOf(await world.api(`${path}&page=${page}${query}`))),
        )
      ).flat();
    assert.deepEqual(await pages(''), [5, 4, 3, 2, 1]);
    assert.deepEqual(await pages('&sort=asc'), [1, 2, 3, 4, 5]);
  });
  it('milestone', async () => {
    await only(`milestone=${milestone.title}`, 'planned');
    await only('milestone=Any', 'planned');
    await only('milestone=None', ...but('planned'));
    await only('milestone=No+Milestone', ...but('planned'));
    await only('milestone=unknown');
  });
  it('labels: all of them; None, Any', async () => {
    await only('labels=bug', 'merged', 'both');
    await only('labels=bug,urgent', 'both');
    await only('labels=Bug');
    await only('labels=bug,unknown');
    await only('labels=', ...all);
    for (const none of ['None', 'No+Label', 'No%2BLabel'])
      await only(`labels=${none}`, ...but('merged', 'both'));
    await only('labels=Any', 'merged', 'both');
  });
  it('created and updated, both ends inclusive', async () => {
    await only('created_after=2017-09-01T00:00:00Z', 'draft');
    await only('created_before=2017-01-01T00:00:00Z', 'plain');
    await only('created_after=2017-02-01&created_before=2017-03-01', 'closed', 'merged');
    await only('updated_after=2017-10-01', 'plain');
    await only('updated_before=2017-02-01', 'draft');
    assert.deepEqual(answer(await list('created_after=x')), [
      400,
      { message: { created_after: ['is invalid'] } },
    ]);
  });
  it('scope, in both spellings; author and assignee', async () => {
    const own = async (query: string, as: string) => sortedIids(await list(query, as));
    for (const scope of ['created-by-me', 'created_by_me']) {
      assert.deepEqual(await own(`scope=${scope}`, team.developer.token), [iid['closed']]);
    }
    for (const scope of ['assigned-to-me', 'assigned_to_me']) {
      assert.deepEqual(await own(`scope=${scope}`, team.reporter.token), [iid['assigned']]);
    }
    await only('scope=all', ...all);
    await only(`author_id=${team.developer.id}`, 'closed');
    await only(`author_username=${team.developer.username.toUpperCase()}`, 'closed');
    await only(`assignee_id=${team.reporter.id}`, 'assigned');
    await only('assignee_id=Any', 'assigned');
    await only('assignee_id=None', ...but('assigned'));
    await only('assignee_id=0', ...but('assigned'));
    await only('author_id=999999');
    await only(`scope=created-by-me&author_id=${team.developer.id}`);
    assert.equal((await list('scope=mine')).status, 400);
  });
  it('my_reaction_emoji', async () => {
    await world.api(`POST /projects/${team.id}/merge_requests/${iid['both']}/award_emoji?name=tada`);
    await only('my_reaction_emoji=tada', 'both');
    await only('my_reaction_emoji=Any', 'both');
    await only('my_reaction_emoji=None', ...but('both'));
    await only('my_reaction_emoji=rocket');
    assert.deepEqual(iidsOf(await list('my_reaction_emoji=tada', team.reporter.token)), []);
  });
  it('iids, in every form', async () => {
    const [a, b] = [iid['plain'], iid['wip']];
    for (const query of [`iids[]=${a}&iids[]=${b}`, `iids=${a},${b}`, `iids[0]=${a}&iids[1]=${b}`]) {
      await only(query, 'plain', 'wip');
    }
    await only(`iids=${a}`, 'plain');
    await only('iids[]=99999');
  });
  it('search: title or description, characters as they are', async () => {
    await only('search=needle', 'branches');
    await only('search=NOT+yet', 'wip', 'draft');
    await only('search=100%25', 'branches');
    await only('search=hay_stack', 'branches');
    await only('search=hayxstack');
    await only('search=needle+not');
  });
  it('source_branch and target_branch', async () => {
    await only('source_branch=from/here', 'branches');
    await only('target_branch=stable', 'branches');
    await only('target_branch=main', ...but('branches'));
    await only('source_branch=from/here&target_branch=main');
    await only('source_branch=from/here&state=opened&order_by=updated_at', 'branches');
    await only('source_branch=', ...all);
  });
  it('wip, and draft', async () => {
    await only('wip=yes', 'wip', 'draft');
    await only('wip=no', ...but('wip', 'draft'));
    await only('draft=true', 'wip', 'draft');
    assert.equal((await list('wip=x')).status, 400);
  });
  it('several at once: all of them', async () => {
    await only('state=opened&labels=bug', 'both');
    await only('state=merged&labels=bug&search=seeded', 'merged');
  });
  it('view=simple: exactly these fields', async () => {
    const { body } = await list('view=simple');
    assert.deepEqual(Object.keys(body[0]), [
      'id',
      'iid',
      'project_id',
      'title',
      'description',
      'state',
      'created_at',
      'updated_at',
      'web_url',
    ]);
    assert.equal((await list('view=x')).status, 400);
  });
  it('pages, with the exact total', async () => {
    const { headers, body } = await list('per_page=2&page=2&state=opened');
    assert.equal(body.length, 2);
    assert.deepEqual(
      ['x-total', 'x-total-pages', 'x-per-page', 'x-page', 'x-next-page', 'x-prev-page'].map((name) =>
        headers.get(name),
      ),
      ['7', '4', '2', '2', '3', '1'],
    );
  });
  it('by path, too', async () => {
    const path = encodeURIComponent(team.full_path);
    assert.equal((await world.api(`GET /projects/${path}/merge_requests`)).body.length, 9);
  });
  it('labels, milestones and users that are renamed or deleted show at once', async () => {
    const own = await world.project();
    const bug = await world.label(own.id, 'bug');
    const planned = await world.milestone(own.id);
    await world.seeded({ project: own.id, labels: [bug], milestone: planned.id });
    const path = `GET /projects/${own.id}/merge_requests`;
    const shown = async () => {
      const { labels, milestone: one } = (await world.api(path)).body[0];
      return [labels, one?.title ?? null];
    };
    assert.deepEqual(await shown(), [['bug'], planned.title]);
    await world.api(`PUT /projects/${own.id}/labels/${bug}`, { json: { new_name: 'fault' } });
    await world.api(`PUT /projects/${own.id}/milestones/${planned.id}`, { json: { title: 'later' } });
    assert.deepEqual(await shown(), [['fault'], 'later']);
    assert.equal((await world.api(`${path}?labels=fault&milestone=later`)).body.length, 1);
    await world.api(`DELETE /projects/${own.id}/labels/${bug}`);
    await world.api(`DELETE /projects/${own.id}/milestones/${planned.id}`);
    assert.deepEqual(await shown(), [[], null]);
    assert.equal((await world.api(`${path}?labels=None&milestone=None`)).body.length, 1);
  });
  it('one that has just been made, changed or deleted is there at once', async () => {
    const own = await world.project();
    const path = `GET /projects/${own.id}/merge_requests`;
    assert.deepEqual(iidsOf(await world.api(path)), []);
    const made = await world.seeded({ project: own.id });
    assert.deepEqual(iidsOf(await world.api(path)), [1]);
    const fields = { json: { title: 'Other' } };
    await world.api(`PUT /projects/${own.id}/merge_requests/${made.iid}`, fields);
    assert.equal((await world.api(path)).body[0].title, 'Other');
    await world.api(`DELETE /projects/${own.id}/merge_requests/${made.iid}`);
    assert.deepEqual(answer(await world.api(path)), [200, []]);
  });
});

describe('who sees the list of a project', () => {
  it('401 without credentials, 404 where it is hidden, 403 for one who may not read code', async () => {
    const team = await world.team({ visibility: 'private' });
    const path = `GET /projects/${team.id}/merge_requests`;
    const reply = async (as: string | null) => answer(await world.api(path, { as }));
    assert.deepEqual(await reply(null), [401, { message: '401 Unauthorized' }]);
    assert.deepEqual(await reply(team.stranger.token), [404, { message: '404 Project Not Found' }]);
    assert.deepEqual(await reply(team.guest.token), [403, { message: '403 Forbidden' }]);
    assert.deepEqual(await reply(team.reporter.token), [200, []]);
  });
  it('403 where merge requests are off', async () => {
    const team = await world.team();
    await world.setProject(team.id, { merge_requests_access_level: 'disabled' });
    assert.equal((await world.api(`GET /projects/${team.id}/merge_requests`)).status, 403);
  });
});

describe('GET /merge_requests', () => {
  it('by default those that the caller created; scope=all: all that they see', async () => {
    const user = await seedUser(world.gantry);
    const open = await world.project();
    const hidden = await world.project({ visibility: 'private' });
    const off = await world.project();
    const own = await world.seeded({ project: open.id, author: user.id });
    const other = await world.seeded({ project: open.id, assignees: [user.id] });
    const secret = await world.seeded({ project: hidden.id, author: user.id });
    const gone = await world.seeded({ project: off.id, author: user.id });
    await world.setProject(off.id, { merge_requests_access_level: 'disabled' });
    const list = async (query: string) =>
      await world.api(`GET /merge_requests?per_page=100${query}`, { as: user.token });
    const ids = async (query: string): Promise<number[]> =>
      (await list(query)).body.map(({ id }: { id: number }) => id);
    assert.deepEqual(await ids(''), [own.id]);
    assert.deepEqual(await ids('&scope=assigned_to_me'), [other.id]);
    const all = await ids('&scope=all');
    assert.ok(all.includes(own.id) && all.includes(other.id));
    assert.ok(!all.includes(secret.id) && !all.includes(gone.id));
    assert.deepEqual(await ids(`&scope=all&author_id=${user.id}`), [own.id]);
    for (const state of ['all', 'opened', 'merged', 'closed']) {
      const { headers, body } = await list(`&scope=all&state=${state}`);
      assert.equal(totalOf(headers), body.length, state);
    }
  });
  it('a guest of a private project sees none of it, a reporter all', async () => {
    const team = await world.team({ visibility: 'private' });
    await world.seeded({ project: team.id, author: team.guest.id });
    const { full_path } = team;
    const count = async (as: string) => {
      const reply = await world.api('GET /merge_requests?scope=all&per_page=100', { as });
      assert.equal(totalOf(reply.headers), reply.body.length);
      return reply.body.filter(({ web_url }: { web_url: string }) => web_url.includes(full_path)).length;
    };
    assert.deepEqual([await count(team.guest.token), await count(team.reporter.token)], [0, 1]);
  });
  it('401 without credentials', async () => {
    assert.equal((await world.api('GET /merge_requests', { as: null })).status, 401);
  });
  it('source_branch looks everywhere', async () => {
    const project = await world.project();
    const made = await world.seeded({ project: project.id, source_branch: 'the-only-one' });
    const { body, headers } = await world.api('GET /merge_requests?scope=all&source_branch=the-only-one');
    assert.deepEqual([body[0].id, totalOf(headers)], [made.id, 1]);
  });
});

describe('GET /groups/:id/merge_requests', () => {
  it('lists merge requests of all authors, in the group and all groups below it', async () => {
    const group = await seedGroup(world.gantry);
    const below = await seedGroup(world.gantry, { parent: group.id });
    const [one, two] = [
      await world.project({ namespace: group.id }),
      await world.project({ namespace: below.id, visibility: 'private' }),
    ];
    const user = await seedUser(world.gantry);
    await world.seeded({ project: one.id });
    await world.seeded({ project: two.id, state: 'merged' });
    const total = async (query: string, as?: string) => {
      const reply = await world.api(`GET /groups/${group.id}/merge_requests?${query}`, as ? { as } : {});
      assert.equal(totalOf(reply.headers), reply.body.length);
      return reply.body.length;
    };
    assert.deepEqual([await total(''), await total('state=merged'), await total('search=seeded')], [2, 1, 2]);
    assert.equal(await total('', user.token), 1);
    await seedMember(world.gantry, { user: user.id, group: group.id, access_level: 20 });
    assert.equal(await total('', user.token), 2);
    assert.deepEqual(answer(await world.api('GET /groups/99999/merge_requests')), [
      404,
      { message: '404 Group Not Found' },
    ]);
  });
});
