/** Tests the burn-down and burn-up charts of a milestone, from recorded changes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type SeededProject, seedProject } from '../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';

let gantry: TestService;
let project: SeededProject;
let maintainer: SeededVisitor;
let guest: SeededVisitor;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  maintainer = await seedVisitor(gantry, { project: project.id, access_level: 40 });
  guest = await seedVisitor(gantry, { project: project.id, access_level: 10 });
});
after(async () => await gantry.close());

/** Changes an issue; what the change records gets the given day. */
const onDay = async (day: string, iid: number, json: object): Promise<void> => {
  const { status, text } = await gantry.api(`PUT /projects/${project.id}/issues/${iid}`, { json });
  assert.equal(status, 200, text);
  await backdate(day);
};

/** Moves all that was created just now to a day. */
const backdate = async (day: string): Promise<void> => {
  const at = Date.parse(`${day}T12:00:00Z`);
  const recent = Date.now() - 3_600_000;
  await gantry.service.platform.store.write(async ({ db }) => {
    await db
      .updateTable('resource_events')
      .set({ created_at: at })
      .where('created_at', '>', recent)
      .execute();
    await db.updateTable('issues').set({ created_at: at }).where('created_at', '>', recent).execute();
    await db.updateTable('issues').set({ closed_at: at }).where('closed_at', '>', recent).execute();
  });
};

const create = async (day: string, json: object): Promise<number> => {
  const { body } = await gantry.api(`POST /projects/${project.id}/issues`, { json });
  await backdate(day);
  return body.iid;
};

const rowsOn = async ({ visitor }: SeededVisitor, path: string): Promise<string[]> => {
  const { text } = await visitor.get(path);
  const [table = ''] = /aria-label="Issues by day">[\s\S]*?<\/table>/.exec(text) ?? [];
  return [
    ...table.matchAll(/<tr><th scope="row">([^<]*)<\/th><td>(\d+)<\/td><td>(\d+)<\/td><td>(\d+)</g),
  ].map(([, ...cells]) => cells.join(' '));
};

test('counts open, closed and all issues of each day, as they were then', async () => {
  const milestone = await gantry.api(`POST /projects/${project.id}/milestones`, {
    json: { title: 'Bridge', start_date: '2026-03-01', due_date: '2026-03-06' },
  });
  const { id: milestone_id, iid } = milestone.body;
  const first = await create('2026-02-20', { title: 'From the start', milestone_id });
  const later = await create('2026-02-21', { title: 'Added later' });
  const secret = await create('2026-03-01', { title: 'Hidden', milestone_id, confidential: true });
  await onDay('2026-03-02', later, { milestone_id });
  await onDay('2026-03-03', first, { state_event: 'close' });
  await onDay('2026-03-04', first, { state_event: 'reopen' });
  await onDay('2026-03-04', later, { milestone_id: 0 });
  await onDay('2026-03-05', first, { state_event: 'close' });
  await onDay('2026-03-05', secret, { state_event: 'close' });
  const path = `/${project.full_path}/-/milestones/${iid}`;
  assert.deepEqual(await rowsOn(maintainer, path), [
    '2026-03-01 2 0 2',
    '2026-03-02 3 0 3',
    '2026-03-03 2 1 3',
    '2026-03-04 2 0 2',
    '2026-03-05 0 2 2',
    '2026-03-06 0 2 2',
  ]);
  assert.deepEqual(await rowsOn(guest, path), [
    '2026-03-01 1 0 1',
    '2026-03-02 2 0 2',
    '2026-03-03 1 1 2',
    '2026-03-04 1 0 1',
    '2026-03-05 0 1 1',
    '2026-03-06 0 1 1',
  ]);
  const { text } = await maintainer.visitor.get(path);
  assert.match(text, /aria-label="Open issues by day: 2 at first, 0 on 2026-03-06"/);
  assert.match(text, /aria-label="Issues by day: 2 in all at first, 2 closed of 2 on 2026-03-06"/);
});

test('counts issues whose changes were not recorded by their own times', async () => {
  const milestone = await gantry.api(`POST /projects/${project.id}/milestones`, {
    json: { title: 'Old', start_date: '2026-04-01', due_date: '2026-04-03' },
  });
  const { id: milestone_id, iid } = milestone.body;
  const issue = await create('2026-04-01', { title: 'Imported', milestone_id });
  await onDay('2026-04-02', issue, { state_event: 'close' });
  await gantry.service.platform.store.write(
    async ({ db }) =>
      await db.deleteFrom('resource_events').where('created_at', '>=', Date.parse('2026-04-01')).execute(),
  );
  assert.deepEqual(await rowsOn(maintainer, `/${project.full_path}/-/milestones/${iid}`), [
    '2026-04-01 1 0 1',
    '2026-04-02 0 1 1',
    '2026-04-03 0 1 1',
  ]);
});
