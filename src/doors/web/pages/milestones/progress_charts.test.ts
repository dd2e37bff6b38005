/** Tests the burn-down and burn-up charts of a milestone, from recorded changes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Insertable } from 'kysely';
import type { ResourceEventsTable } from '../../../../platform/db/schema/planning.ts';
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

/** Numbers from 0 to 1, the same in each run. */
const drawFrom = (seed: number): (() => number) => {
  let last = seed;
  return () => {
    last = (last * 48_271) % 2_147_483_647;
    return last / 2_147_483_647;
  };
};

test('counts histories of many kinds as a replay of them does', async () => {
  const draw = drawFrom(7);
  const days = Array.from({ length: 10 }, (_none, at) => `2026-05-${String(at + 1).padStart(2, '0')}`);
  const milestone = await gantry.api(`POST /projects/${project.id}/milestones`, {
    json: { title: 'Replayed', start_date: days[0], due_date: days.at(-1) },
  });
  const { id: milestone_id, iid } = milestone.body;
  const counts = days.map(() => ({ open: 0, total: 0 }));
  for (let made = 0; made < 12; made += 1) {
    const { body } = await gantry.api(`POST /projects/${project.id}/issues`, { json: { title: 'Replayed' } });
    const created = Math.floor(draw() * 5);
    const timeOf = (day: number): number => Date.parse(`${days[day]}T09:00:00Z`);
    let [isIn, isOpen, closed_at] = [draw() < 0.5, true, null as number | null];
    const events: Insertable<ResourceEventsTable>[] = [];
    const shared = { target_type: 'Issue' as const, target_id: Number(body.id) };
    const note = (event: Pick<(typeof events)[number], 'kind' | 'action'>, day: number): void => {
      const of = event.kind === 'milestone' ? Number(milestone_id) : null;
      events.push({ ...shared, ...event, milestone_id: of, created_at: timeOf(day) });
    };
    // Half of those that begin in the milestone have no record of it.
    if (isIn && draw() < 0.5) note({ kind: 'milestone', action: 'add' }, created);
    for (let day = created; day < days.length; day += 1) {
      if (day > created && draw() < 0.3) {
        isIn = !isIn;
        note({ kind: 'milestone', action: isIn ? 'add' : 'remove' }, day);
      }
      if (day > created && draw() < 0.3) {
        isOpen = !isOpen;
        closed_at = isOpen ? null : timeOf(day);
        note({ kind: 'state', action: isOpen ? 'reopened' : 'closed' }, day);
      }
      const count = counts[day];
      if (count === undefined || !isIn) continue;
      count.total += 1;
      count.open += isOpen ? 1 : 0;
    }
    const state = isOpen ? ('opened' as const) : ('closed' as const);
    await gantry.service.platform.store.write(async ({ db }) => {
      await db
        .updateTable('issues')
        .set({ created_at: timeOf(created), milestone_id: isIn ? milestone_id : null, state, closed_at })
        .where('id', '=', body.id)
        .execute();
      await db.deleteFrom('resource_events').where('target_id', '=', body.id).execute();
      if (events.length > 0) await db.insertInto('resource_events').values(events).execute();
    });
  }
  assert.deepEqual(
    await rowsOn(maintainer, `/${project.full_path}/-/milestones/${iid}`),
    days.map((day, at) => {
      const { open = 0, total = 0 } = counts[at] ?? {};
      return `${day} ${open} ${total - open} ${total}`;
    }),
  );
});
