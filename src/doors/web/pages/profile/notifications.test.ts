import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedMember, seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import type { Visitor } from '../../../../../test/support/visitor.ts';

const path = '/profile/notifications';
let gantry: TestService;
let visitor: Visitor;
let id: number;
before(async () => {
  gantry = await startTestService();
  ({ visitor, id } = await seedVisitor(gantry));
});
after(async () => await gantry.close());

const stored = async () => {
  const { db } = gantry.service.platform.store;
  return await db
    .selectFrom('notification_settings')
    .select(['project_id', 'level', 'events'])
    .where('user_id', '=', id)
    .orderBy('id')
    .execute();
};

test('saves the general level and the events of the level custom', async () => {
  const { status, text } = await visitor.get(path);
  assert.equal(status, 200);
  assert.match(text, /value="participating" checked/);
  assert.match(text, /value="failed_pipeline" checked/);
  assert.doesNotMatch(text, /value="new_issue" checked/);
  assert.match(text, /Merge request merged[^]+Pipeline passed/);
  const saved = await visitor.post(path, { level: 'custom', 'events[]': 'new_issue' });
  assert.deepEqual([saved.status, saved.location], [303, path]);
  const shown = (await visitor.get(path)).text;
  assert.match(shown, /value="custom" checked/);
  assert.match(shown, /value="new_issue" checked/);
  assert.doesNotMatch(shown, /value="failed_pipeline" checked/);
  assert.equal((await visitor.post(path, { level: 'global' })).status, 400);
});

test('lists the projects of the user and saves their levels', async () => {
  const project = await seedProject(gantry, { visibility: 'private' });
  const hidden = await seedProject(gantry, { visibility: 'private' });
  await seedMember(gantry, { user: id, project: project.id, access_level: 10 });
  const { text } = await visitor.get(path);
  assert.ok(text.includes(`href="/${project.full_path}"`));
  assert.equal(text.includes(hidden.full_path), false);
  const saved = await visitor.post(`${path}/projects/${project.id}`, { level: 'watch' });
  assert.deepEqual([saved.status, saved.location], [303, path]);
  assert.ok((await stored()).some((row) => row.project_id === project.id && row.level === 'watch'));
  assert.match((await visitor.get(path)).text, /<option value="watch" selected>/);
  assert.equal((await visitor.post(`${path}/projects/${hidden.id}`, { level: 'watch' })).status, 404);
  assert.equal((await visitor.post(`${path}/projects/${project.id}`, { level: 'loud' })).status, 400);
});

test('lists the groups of the user and saves their levels', async () => {
  const [group, hidden] = [
    await seedGroup(gantry, { visibility: 'private' }),
    await seedGroup(gantry, { visibility: 'private' }),
  ];
  const below = await seedGroup(gantry, { visibility: 'private', parent: group.id });
  await seedMember(gantry, { user: id, group: group.id, access_level: 10 });
  const list = `${path}?of=groups`;
  const { text } = await visitor.get(list);
  assert.ok(text.includes(`href="/groups/${group.full_path}"`));
  assert.ok(text.includes(`href="/groups/${below.full_path}"`));
  assert.equal(text.includes(hidden.full_path), false);
  const saved = await visitor.post(`${path}/groups/${group.id}`, { level: 'watch' });
  assert.deepEqual([saved.status, saved.location], [303, list]);
  assert.match((await visitor.get(list)).text, /<option value="watch" selected>/);
  const { level } = (
    await gantry.api(`GET /groups/${group.id}/notification_settings`, { headers: { sudo: String(id) } })
  ).body;
  assert.equal(level, 'watch');
  assert.equal((await visitor.post(`${path}/groups/${hidden.id}`, { level: 'watch' })).status, 404);
  assert.equal((await visitor.post(`${path}/groups/${group.id}`, { level: 'loud' })).status, 400);
});
