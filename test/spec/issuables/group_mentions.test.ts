/** A mention of a group makes to-do items for its members who see the record, unless the group declines mentions. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type SeededUser, seedGroup, seedMember, unique } from '../../support/seed.ts';
import { type Team, type World, startWorld } from '../world.ts';

let world: World;
let team: Team;
before(async () => {
  world = await startWorld();
  team = await world.team();
});
after(async () => await world.close());

/** A group of a guest and a developer of the team. */
const squad = async (fields: { visibility?: 'private' | 'public'; parent?: number } = {}) => {
  const path = unique('squad');
  const group = await seedGroup(world.gantry, { path, visibility: 'public', ...fields });
  for (const { id } of [team.guest, team.developer])
    await seedMember(world.gantry, { user: id, group: group.id, access_level: 30 });
  return { ...group, path };
};

const byUser = (a: unknown[], b: unknown[]): number => Number(a[0]) - Number(b[0]);

const todosFor = async (description: string, author?: SeededUser, more: object = {}) => {
  const json = { title: 'Ask', description, ...more };
  const { body } = await world.api(`POST /projects/${team.id}/issues`, {
    json,
    ...(author && { as: author.token }),
  });
  const todos = await world.todos(body.id);
  return todos.map(({ user_id, action }) => [user_id, action]).toSorted(byUser);
};

const membersTo = (action: string) =>
  [
    [team.guest.id, action],
    [team.developer.id, action],
  ].toSorted(byUser);

it('the members of the group who see the record get one each, also of a subgroup', async () => {
  const group = await squad();
  const subgroup = await squad({ parent: group.id });
  assert.deepEqual(await todosFor(`cc @${group.path}`), membersTo('mentioned'));
  assert.deepEqual(await todosFor(`@${group.path.toUpperCase()} look`), membersTo('directly_addressed'));
  assert.deepEqual(await todosFor(`cc @${group.path}/${subgroup.path}`), membersTo('mentioned'));
  // The author gets none, and a guest does not see a confidential issue.
  assert.deepEqual(await todosFor(`cc @${group.path}`, team.developer), [[team.guest.id, 'mentioned']]);
  assert.deepEqual(await todosFor(`cc @${group.path}`, undefined, { confidential: true }), [
    [team.developer.id, 'mentioned'],
  ]);
});

it('comments mention groups, too', async () => {
  const group = await squad();
  const issue = await world.issue(team.id);
  const path = `/projects/${team.id}/issues/${issue.iid}/notes`;
  await world.api(`POST ${path}`, { json: { body: `what do you think, @${group.path}?` } });
  const todos = await world.todos(issue.id);
  assert.deepEqual(
    todos.map(({ user_id, action }) => [user_id, action]).toSorted(byUser),
    membersTo('mentioned'),
  );
});

it('nobody gets one for a group that declines mentions, or that the author does not see', async () => {
  const [declining, hidden] = [await squad(), await squad({ visibility: 'private' })];
  const put = async (mentions_disabled: boolean) =>
    (await world.api(`PUT /groups/${declining.id}`, { json: { mentions_disabled } })).status;
  assert.equal(await put(true), 200);
  assert.deepEqual(await todosFor(`cc @${declining.path}`), []);
  assert.equal(await put(false), 200);
  assert.deepEqual(await todosFor(`cc @${declining.path}`), membersTo('mentioned'));
  assert.deepEqual(await todosFor(`cc @${hidden.path}`, team.reporter), []);
  assert.deepEqual(await todosFor(`cc @${hidden.path}`, team.guest), [[team.developer.id, 'mentioned']]);
});
