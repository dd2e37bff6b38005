/** Boards of projects and groups over the API, and their lists. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedGroup, seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type World, startWorld } from '../../../test/spec/world.ts';

let world: World;
before(async () => {
  world = await startWorld();
});
after(async () => await world.close());

// oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
const must = async (line: string, json?: object, as?: string): Promise<any> => {
  const { status, body, text } = await world.api(line, {
    ...(json !== undefined && { json }),
    ...(as !== undefined && { as }),
  });
  assert.ok(status < 300, `${line}: ${status} ${text}`);
  return body;
};

const refusal = async (line: string, json?: object, as?: string): Promise<[number, unknown]> => {
  const { status, body } = await world.api(line, {
    ...(json !== undefined && { json }),
    ...(as !== undefined && { as }),
  });
  return [status, body?.message];
};

const plain = { max_issue_count: 0, max_issue_weight: 0, limit_metric: null };

describe('boards of a project', () => {
  it('are created, read, edited and deleted', async () => {
    const project = await world.project({});
    const path = `/projects/${project.id}/boards`;
    assert.deepEqual(await must(`GET ${path}`), []);
    const board = await must(`POST ${path}`, { name: ' Work ' });
    const { project: place, ...rest } = board;
    assert.deepEqual(rest, {
      id: board.id,
      name: 'Work',
      hide_backlog_list: false,
      hide_closed_list: false,
      group: null,
      lists: [],
      milestone: null,
      assignee: null,
      labels: [],
      weight: null,
    });
    assert.deepEqual(place, {
      id: project.id,
      name: place.name,
      name_with_namespace: `Administrator / ${place.name}`,
      path: project.path,
      path_with_namespace: project.full_path,
      http_url_to_repo: `${world.url}/${project.full_path}.git`,
      web_url: `${world.url}/${project.full_path}`,
    });
    const milestone = await world.milestone(project.id);
    await world.label(project.id, 'bug');
    const edit = {
      name: 'Bugs',
      hide_closed_list: true,
      milestone_id: milestone.id,
      assignee_id: 1,
      labels: 'bug',
    };
    const edited = await must(`PUT ${path}/${board.id}`, edit);
    assert.deepEqual(
      [edited.name, edited.hide_closed_list, edited.milestone.id, edited.assignee.id, edited.labels[0].name],
      ['Bugs', true, milestone.id, 1, 'bug'],
    );
    assert.deepEqual(await must(`GET ${path}/${board.id}`), edited);
    assert.deepEqual(await must(`GET ${path}`), [edited]);
    const cleared = await must(`PUT ${path}/${board.id}`, { milestone_id: 0, assignee_id: null, labels: '' });
    assert.deepEqual([cleared.milestone, cleared.assignee, cleared.labels], [null, null, []]);
    assert.equal((await world.api(`DELETE ${path}/${board.id}`)).status, 204);
    assert.equal((await world.api(`GET ${path}/${board.id}`)).status, 404);
  });

  it('refuse bad input, and change nothing', async () => {
    const project = await world.project({});
    const other = await world.project({});
    const path = `/projects/${project.id}/boards`;
    const board = await must(`POST ${path}`, { name: 'Work' });
    const far = await world.milestone(other.id);
    assert.deepEqual(await refusal(`POST ${path}`, {}), [400, '400 (Bad request) "name" not given']);
    assert.deepEqual(await refusal(`POST ${path}`, { name: ' ' }), [400, { name: ["can't be blank"] }]);
    const long = { name: 'x'.repeat(256) };
    assert.equal((await refusal(`POST ${path}`, long))[0], 400);
    const one = `PUT ${path}/${board.id}`;
    assert.equal((await refusal(one, {}))[0], 400);
    assert.deepEqual(await refusal(one, { name: 'New', milestone_id: far.id }), [
      400,
      'Milestone not found!',
    ]);
    assert.deepEqual(await refusal(one, { name: 'New', assignee_id: 2 ** 40 }), [400, 'User not found!']);
    assert.deepEqual(await refusal(one, { name: 'New', labels: 'none' }), [
      400,
      { labels: ['There is no label none'] },
    ]);
    assert.deepEqual(await must(`GET ${path}/${board.id}`), board);
    assert.equal((await world.api(`GET /projects/${other.id}/boards/${board.id}`)).status, 404);
  });
});

describe('lists of a board', () => {
  it('of labels, assignees and milestones keep their order', async () => {
    const project = await world.project({});
    const [todo, doing] = [await world.label(project.id, 'todo'), await world.label(project.id, 'doing')];
    const milestone = await world.milestone(project.id);
    const board = await must(`POST /projects/${project.id}/boards`, { name: 'Work' });
    const path = `/projects/${project.id}/boards/${board.id}/lists`;
    const first = await must(`POST ${path}`, { label_id: todo });
    assert.deepEqual(first, {
      id: first.id,
      label: { id: todo, name: 'todo', color: '#428BCA', text_color: '#FFFFFF', description: null },
      position: 0,
      ...plain,
    });
    const second = await must(`POST ${path}`, { label_id: doing, max_issue_count: 3 });
    assert.deepEqual([second.position, second.max_issue_count], [1, 3]);
    const third = await must(`POST ${path}`, { assignee_id: 1 });
    assert.deepEqual([third.label, third.assignee.username], [null, 'root']);
    const fourth = await must(`POST ${path}`, { milestone_id: milestone.id });
    assert.deepEqual([fourth.milestone.id, fourth.position], [milestone.id, 3]);
    const moved = await must(`PUT ${path}/${fourth.id}`, { position: 0, max_issue_count: 9 });
    assert.deepEqual([moved.position, moved.max_issue_count], [0, 9]);
    const order = async () => (await must(`GET ${path}`)).map(({ id }: { id: number }) => id);
    assert.deepEqual(
      await order(),
      [fourth, first, second, third].map(({ id }) => id),
    );
    assert.equal((await world.api(`DELETE ${path}/${first.id}`)).status, 204);
    assert.deepEqual(
      await order(),
      [fourth, second, third].map(({ id }) => id),
    );
    assert.equal((await must(`GET ${path}/${third.id}`)).position, 2);
    assert.equal((await must(`GET /projects/${project.id}/boards/${board.id}`)).lists.length, 3);
    const { headers } = await world.api(`GET ${path}?per_page=2`);
    assert.equal(headers.get('x-total'), '3');
  });

  it('refuse bad input, and change nothing', async () => {
    const [project, other] = [await world.project({}), await world.project({ visibility: 'private' })];
    const stranger = await seedUser(world.gantry);
    const label = await world.label(project.id, 'todo');
    const board = await must(`POST /projects/${project.id}/boards`, { name: 'Work' });
    const far = await must(`POST /projects/${other.id}/boards`, { name: 'Far' });
    const path = `/projects/${project.id}/boards/${board.id}/lists`;
    const list = await must(`POST ${path}`, { label_id: label });
    const foreign = await must(`POST /projects/${other.id}/boards/${far.id}/lists`, { assignee_id: 1 });
    const post = async (json: object) => await refusal(`POST ${path}`, json);
    assert.equal((await post({}))[0], 400);
    assert.equal((await post({ label_id: label, assignee_id: 1 }))[0], 400);
    assert.equal((await post({ iteration_id: 1 }))[0], 400);
    assert.deepEqual(await post({ label_id: label }), [400, { label_id: ['has already been taken'] }]);
    const hidden = await world.label(other.id, 'secret');
    assert.deepEqual(await post({ label_id: hidden }), [400, 'Label not found!']);
    assert.deepEqual(await post({ milestone_id: (await world.milestone(other.id)).id }), [
      400,
      'Milestone not found!',
    ]);
    assert.deepEqual(
      await refusal(`POST /projects/${other.id}/boards/${far.id}/lists`, { assignee_id: stranger.id }),
      [400, 'User not found!'],
    );
    assert.deepEqual(await refusal(`PUT ${path}/${list.id}`, { position: 1 }), [
      400,
      'List could not be moved!',
    ]);
    assert.equal((await refusal(`PUT ${path}/${list.id}`, {}))[0], 400);
    assert.equal((await refusal(`PUT ${path}/${foreign.id}`, { position: 0 }))[0], 404);
    assert.equal((await refusal(`DELETE ${path}/${foreign.id}`))[0], 404);
    assert.equal((await refusal(`GET ${path}/${foreign.id}`))[0], 404);
    assert.deepEqual(await must(`GET ${path}`), [list]);
  });

  it('go with their label, and move with one that is promoted', async () => {
    const group = await seedGroup(world.gantry);
    const [one, other] = [
      await seedProject(world.gantry, { namespace: group.id }),
      await seedProject(world.gantry, { namespace: group.id }),
    ];
    const label = await world.label(one.id, 'shared');
    const same = await world.label(other.id, 'shared');
    const gone = await world.label(other.id, 'gone');
    const board = await must(`POST /projects/${other.id}/boards`, { name: 'Work' });
    const path = `/projects/${other.id}/boards/${board.id}/lists`;
    await must(`POST ${path}`, { label_id: gone });
    const list = await must(`POST ${path}`, { label_id: same });
    await world.api(`DELETE /projects/${other.id}/labels/${gone}`);
    await must(`PUT /projects/${one.id}/labels/${label}/promote`, {});
    const [kept, ...others] = await must(`GET ${path}`);
    assert.deepEqual([kept.id, kept.label.id, kept.position, others], [list.id, label, 0, []]);
    await world.label(other.id, 'unused');
    const to = await seedGroup(world.gantry);
    await must(`PUT /projects/${other.id}/transfer`, { namespace: to.id });
    const [moved] = await must(`GET ${path}`);
    assert.deepEqual([moved.id, moved.label.name, moved.label.id === label], [list.id, 'shared', false]);
  });
});

describe('boards of a group', () => {
  it('have the labels and milestones of the group and those above', async () => {
    const above = await seedGroup(world.gantry);
    const group = await seedGroup(world.gantry, { parent: above.id });
    const project = await seedProject(world.gantry, { namespace: group.id });
    const path = `/groups/${group.id}/boards`;
    const board = await must(`POST ${path}`, { name: 'All' });
    assert.deepEqual(board.group, {
      id: group.id,
      name: board.group.name,
      web_url: `${world.url}/groups/${group.full_path}`,
    });
    assert.equal(board.project, null);
    const lists = `${path}/${board.id}/lists`;
    await must(`POST ${lists}`, { label_id: await world.label({ group: above.id }, 'above') });
    await must(`POST ${lists}`, { milestone_id: (await world.milestone({ group: group.id })).id });
    const ofProject = await world.label(project.id, 'project');
    assert.equal((await refusal(`POST ${lists}`, { label_id: ofProject }))[0], 400);
    const user = await seedUser(world.gantry);
    assert.equal((await must(`POST ${lists}`, { assignee_id: user.id })).assignee.id, user.id);
    assert.equal((await must(`GET ${path}/${board.id}`)).lists.length, 3);
    assert.equal((await must(`GET ${path}`)).length, 1);
    await must(`PUT ${path}/${board.id}`, { name: 'Everything' });
    assert.equal((await world.api(`DELETE ${path}/${board.id}`)).status, 204);
    assert.deepEqual(await must(`GET ${path}`), []);
  });

  it('take only assignees who see the group', async () => {
    const group = await seedGroup(world.gantry, { visibility: 'private' });
    const board = await must(`POST /groups/${group.id}/boards`, { name: 'All' });
    const lists = `/groups/${group.id}/boards/${board.id}/lists`;
    const [stranger, member] = [await seedUser(world.gantry), await seedUser(world.gantry)];
    const project = await seedProject(world.gantry, { namespace: group.id, visibility: 'private' });
    await seedMember(world.gantry, { user: member.id, project: project.id, access_level: 20 });
    assert.deepEqual(await refusal(`POST ${lists}`, { assignee_id: stranger.id }), [400, 'User not found!']);
    assert.equal((await must(`POST ${lists}`, { assignee_id: member.id })).position, 0);
    assert.equal((await refusal(`POST ${lists}`, { assignee_id: member.id }, member.token))[0], 403);
  });
});
