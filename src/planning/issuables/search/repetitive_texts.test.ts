/** Searches for long texts that repeat themselves: what they find, and that they cost no more than short ones. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { floor, leastCost } from '../../../../test/fuzz/cpu.ts';
import {
  seedGroup,
  seedIssue,
  seedMergeRequest,
  seedProject,
  seedUser,
} from '../../../../test/support/seed.ts';
import { type TestService, engine, startTestService } from '../../../../test/support/service.ts';
import { fillSearchIndexes } from './fill_search_index.ts';

let gantry: TestService;
let group: string;
before(async () => {
  gantry = await startTestService();
  const { id, full_path } = await seedGroup(gantry);
  group = full_path;
  const { id: project } = await seedProject(gantry, { namespace: id });
  for (const description of descriptions) {
    await seedIssue(gantry, { project, title: 'Repeats', description });
    await seedMergeRequest(gantry, { project, title: 'Repeats', description });
  }
});
after(async () => await gantry.close());

const descriptions = [
  'İ'.repeat(2_000),
  `y${'İ'.repeat(600)}x`,
  `${'İ'.repeat(300)} ${'İ'.repeat(300)}`,
  `${'ab'.repeat(300)}c ${'ab'.repeat(50)}d`,
  'x%_'.repeat(200),
  '1 2 3',
];

const findAll = async (scope: string, text: string): Promise<number[]> => {
  const query = new URLSearchParams({ scope, search: text, sort: 'asc', per_page: '100' });
  const { status, body, headers } = await gantry.api(`GET /groups/${group}/search?${query.toString()}`);
  assert.equal(status, 200);
  assert.equal(Number(headers.get('x-total')), body.length);
  return body.map(({ iid }: { iid: number }) => iid);
};

const rows: [string, number[]][] = [
  ['İ'.repeat(30), [1, 2, 3]],
  ['İ'.repeat(300), [1, 2, 3]],
  ['i̇'.repeat(301), [1, 2]],
  ['İ'.repeat(1_000), [1]],
  [`${'İ'.repeat(600)}x`, [2]],
  [`y${'İ'.repeat(600)}`, [2]],
  [`${'İ'.repeat(601)}x`, []],
  [`"${'İ'.repeat(300)} ${'İ'.repeat(300)}"`, [3]],
  [`"${'İ'.repeat(301)} ${'İ'.repeat(300)}"`, []],
  ['AB'.repeat(300), [4]],
  ['ab'.repeat(301), []],
  [`${'ab'.repeat(50)}d ${'ba'.repeat(299)}`, [4]],
  [`${'ab'.repeat(51)}d`, []],
  ['x%_'.repeat(200), [5]],
  ['x%_'.repeat(201), []],
  [`${'x%_'.repeat(99)}_`, []],
];

describe('a search for a text that repeats itself', () => {
  for (const state of ['before it is indexed', 'once it is indexed']) {
    it(`finds exactly what has it ${state}`, async () => {
      if (state === 'once it is indexed') await fillSearchIndexes(gantry.service.platform.store);
      for (const [text, iids] of rows) {
        for (const scope of ['issues', 'merge_requests'])
          assert.deepEqual(await findAll(scope, text), iids, `${scope}: ${text}`);
      }
    });
  }
});

describe('the processor time of a search', { skip: engine !== 'sqlite' }, () => {
  it('does not grow with the product of the lengths of both texts', async () => {
    const { id: project } = await seedProject(gantry);
    for (let at = 0; at < 10; at += 1)
      await seedIssue(gantry, { project, title: 'Long', description: 'İ'.repeat(4_000) });
    const { token } = await seedUser(gantry);
    let length = 0;
    const ask = async (end: string): Promise<void> => {
      // Another text each time, since pages and totals are cached.
      length += 1;
      const text = encodeURIComponent('İ'.repeat(length) + end);
      const path = `/projects/${project}/search?scope=issues&per_page=1&search=${text}`;
      assert.equal((await gantry.api(`GET ${path}`, { as: token })).status, 200);
    };
    const costFrom = async (start: number, end: string): Promise<number> => {
      length = start;
      return await leastCost(async () => await ask(end));
    };
    for (const state of ['waiting', 'indexed']) {
      for (const end of ['', 'x']) {
        const short = await costFrom(state === 'waiting' ? 40 : 50, end);
        const long = await costFrom(state === 'waiting' ? 800 : 810, end);
        assert.ok(long < Math.max(floor, short * 2.5), `${state}: ${short} ms for 40, ${long} for 800`);
      }
      await fillSearchIndexes(gantry.service.platform.store);
    }
  });
});
