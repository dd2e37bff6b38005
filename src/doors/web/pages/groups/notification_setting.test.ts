/** Tests the notification level of a group, and that levels concern mails and not to-do items. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedGroup, seedIssue, seedProject } from '../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let group: { id: number; full_path: string };
let home: string;
let member: SeededVisitor;

before(async () => {
  gantry = await startTestService();
  group = await seedGroup(gantry, { visibility: 'private' });
  home = `/groups/${group.full_path}`;
  member = await seedVisitor(gantry, { group: group.id, access_level: 30 });
});
after(async () => await gantry.close());

test('sets the level of a group', async () => {
  const { visitor } = member;
  const { text } = await visitor.get(home);
  assert.match(text, /Notification level[\s\S]+value="global"><button aria-current="true"/);
  const changed = await visitor.post(`${home}/-/notification_setting`, { level: 'disabled' });
  assert.equal(changed.location, home);
  assert.match((await visitor.get(home)).text, /value="disabled"><button aria-current="true"/);
  assert.equal((await visitor.post(`${home}/-/notification_setting`, { level: 'loud' })).status, 400);
});

test('only users who see the group set its notification level', async () => {
  const { visitor } = await seedVisitor(gantry);
  const refused = await visitor.post(`${home}/-/notification_setting`, { level: 'watch' });
  assert.equal(refused.status, 404);
  const open = await seedGroup(gantry, { visibility: 'public' });
  assert.doesNotMatch(
    (await openVisitor(gantry).get(`/groups/${open.full_path}`)).text,
    /Notification level/,
  );
});

test('gives users to-do items at every level', async () => {
  const project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  const { iid } = await seedIssue(gantry, { project: project.id, title: 'Still yours' });
  const json = { assignee_ids: [member.id] };
  await gantry.api(`PUT /projects/${project.id}/issues/${iid}`, { json });
  assert.match((await member.visitor.get('/dashboard/todos')).text, /Still yours/);
});
