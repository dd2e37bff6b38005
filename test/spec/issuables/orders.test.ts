/** `order_by` and `sort` of lists of issues and merge requests, in a project, a group and everywhere. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  seedGroup,
  seedIssue,
  seedMember,
  seedMergeRequest,
  seedProject,
  seedUser,
} from '../../support/seed.ts';
import { type TestService, startTestService } from '../../support/service.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let group: number;
let token: string;
let urgent: number;

const create = async (path: string, json: object): Promise<number> => {
  const { status, body, text } = await gantry.api(`POST ${path}`, { json });
  assert.equal(status, 201, text);
  return body.id;
};

const edit = async (path: string, json: object): Promise<void> => {
  const { status, text } = await gantry.api(`PUT ${path}`, { json });
  assert.equal(status, 200, text);
};

type Row = { upvotes: number; merged_at?: number | null };

/** Stores what only other users and git would bring about. */
const store = async (table: 'issues' | 'merge_requests', iid: number, row: Row): Promise<void> => {
  await gantry.service.platform.store.write(
    async ({ db }) =>
      await db
        .updateTable(table)
        .set(row)
        .where('project_id', '=', project.id)
        .where('iid', '=', iid)
        .execute(),
  );
};

before(async () => {
  gantry = await startTestService();
  ({ id: group } = await seedGroup(gantry));
  project = await seedProject(gantry, { namespace: group, visibility: 'private' });
  const user = await seedUser(gantry);
  token = user.token;
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 30 });
  const place = `/projects/${project.id}`;
  urgent = await create(`${place}/labels`, { name: 'urgent', color: '#cc3300', priority: 1 });
  await create(`${place}/labels`, { name: 'later', color: '#cc3300', priority: 5 });
  await create(`${place}/labels`, { name: 'plain', color: '#cc3300' });
  const sooner = await create(`${place}/milestones`, { title: 'Sooner', due_date: '2030-01-01' });
  const late = await create(`${place}/milestones`, { title: 'Late', due_date: '2031-01-01' });
  const someday = await create(`${place}/milestones`, { title: 'Some day' });
  const rows = [
    { title: 'beta', due_date: '2030-02-01', milestone_id: late, labels: 'later,plain', upvotes: 1 },
    { title: 'Alpha', due_date: null, milestone_id: null, labels: 'later,urgent', upvotes: 2 },
    { title: 'gamma', due_date: '2030-01-01', milestone_id: sooner, labels: '', upvotes: 0 },
    { title: 'delta', due_date: null, milestone_id: someday, labels: 'plain', upvotes: 0 },
  ];
  const mergedAt = [2_000, null, 3_000, null];
  for (const [at, { title, due_date, milestone_id, labels, upvotes }] of rows.entries()) {
    await seedIssue(gantry, { project: project.id, title });
    const merged_at = mergedAt[at] ?? null;
    const state = merged_at === null ? 'opened' : 'merged';
    await seedMergeRequest(gantry, { project: project.id, title, state });
    const iid = at + 1;
    await edit(`${place}/issues/${iid}`, { due_date, milestone_id, labels });
    await edit(`${place}/merge_requests/${iid}`, { milestone_id, labels });
    await store('issues', iid, { upvotes });
    await store('merge_requests', iid, { upvotes, merged_at });
  }
});
after(async () => await gantry.close());

const list = async (noun: string, place: string, query: string): Promise<number[]> => {
  const { status, body, text } = await gantry.api(`GET ${place}${noun}?scope=all&${query}`, { as: token });
  assert.equal(status, 200, text);
  return (body as { iid: number }[]).map(({ iid }) => iid);
};

const places = (): string[] => [`/projects/${project.id}/`, `/groups/${group}/`, '/'];

/** By order: ascending and descending. Records without a value stand last in both. */
const both: Record<string, [number[], number[]]> = {
  title: [
    [2, 1, 4, 3],
    [3, 4, 1, 2],
  ],
  popularity: [
    [3, 4, 1, 2],
    [2, 1, 4, 3],
  ],
  milestone_due: [
    [3, 1, 4, 2],
    [1, 3, 4, 2],
  ],
  label_priority: [
    [2, 1, 4, 3],
    [1, 2, 4, 3],
  ],
  priority: [
    [3, 1, 2, 4],
    [1, 3, 2, 4],
  ],
};

const orders: Record<string, typeof both> = {
  issues: {
    ...both,
    due_date: [
      [3, 1, 4, 2],
      [1, 3, 4, 2],
    ],
    weight: [
      [1, 2, 3, 4],
      [4, 3, 2, 1],
    ],
  },
  merge_requests: {
    ...both,
    merged_at: [
      [1, 3, 2, 4],
      [3, 1, 4, 2],
    ],
  },
};

for (const [noun, all] of Object.entries(orders))
  describe(`lists of ${noun}`, () => {
    for (const [order, [ascending, descending]] of Object.entries(all))
      it(`are ordered by ${order}`, async () => {
        for (const place of places()) {
          const read = async (more: string) => await list(noun, place, `order_by=${order}${more}`);
          assert.deepEqual(await read('&sort=asc'), ascending, place);
          assert.deepEqual(await read(''), descending, place);
          const pages = [await read('&per_page=3'), await read('&per_page=3&page=2')];
          assert.deepEqual(pages, [descending.slice(0, 3), descending.slice(3)], place);
          const labeled = descending.filter((iid) => iid <= 2);
          assert.deepEqual(await read('&labels=later'), labeled, place);
          assert.deepEqual(await read('&search=lph'), [2], place);
          assert.deepEqual(await read('&created_after=2001-01-01&state=closed'), [], place);
          assert.deepEqual(await read('&milestone=None&my_reaction_emoji=None'), [2], place);
        }
      });

    it('follow a changed priority of a label', async () => {
      const first = async () => (await list(noun, places()[0] ?? '', 'order_by=label_priority&sort=asc'))[0];
      assert.equal(await first(), 2);
      await edit(`/projects/${project.id}/labels/${urgent}`, { priority: null });
      await edit(`/projects/${project.id}/labels/plain`, { priority: 0 });
      assert.equal(await first(), 4);
      await edit(`/projects/${project.id}/labels/plain`, { priority: null });
      await edit(`/projects/${project.id}/labels/${urgent}`, { priority: 1 });
      assert.equal(await first(), 2);
    });
  });

it('orders of the other kind are refused', async () => {
  for (const path of ['issues?order_by=merged_at', 'merge_requests?order_by=due_date', 'issues?order_by=x']) {
    const { status, body } = await gantry.api(`GET /projects/${project.id}/${path}`, { as: token });
    assert.deepEqual([status, body.message], [400, { order_by: ['does not have a valid value'] }], path);
  }
});
