import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type SeededUser, seedMember, seedProject, seedUser } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import type { Call } from '../../../core/access/call.ts';
import { type Viewer, loadViewer } from '../../../core/access/viewer.ts';
import type { Filters } from './filters.ts';
import { countIssues } from './statistics.ts';

let gantry: TestService;
let user: SeededUser;
let project: { id: number };
before(async () => {
  gantry = await startTestService();
  user = await seedUser(gantry);
  project = await seedProject(gantry, { visibility: 'private' });
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 20 });
});
after(async () => await gantry.close());

/** As the headers tell it, twice: what was kept is what was counted. */
const readTotal = async (path: string): Promise<number> => {
  const ask = async () => await gantry.api(`GET ${path}per_page=1`, { as: user.token });
  const totals = [await ask(), await ask()].map(({ headers }) => Number(headers.get('x-total')));
  assert.equal(totals[0], totals[1]);
  return totals[0] ?? NaN;
};

test('keeps the total over many projects exact after every change', async () => {
  const own = async () => await readTotal('/issues?');
  const opened = async () => await readTotal('/issues?state=opened&');
  const assigned = async () => await readTotal('/issues?scope=assigned-to-me&');
  const all = async () => [await own(), await opened(), await assigned()];
  const issues = `/projects/${project.id}/issues`;
  const must = async (line: string, json: object = {}, as = user.token): Promise<void> => {
    const { status } = await gantry.api(line, { json, as });
    assert.ok(status < 300, `${line}: ${status}`);
  };
  for (const title of ['one', 'two', 'three']) await must(`POST ${issues}`, { title });
  assert.deepEqual(await all(), [3, 3, 0]);
  await must(`PUT ${issues}/1`, { state_event: 'close' });
  assert.deepEqual(await all(), [3, 2, 0]);
  await must(`PUT ${issues}/2`, { assignee_ids: [user.id] });
  await must(`PUT ${issues}/3`, { assignee_ids: [user.id] });
  assert.deepEqual(await all(), [3, 2, 2]);
  const root = 'root-token-of-the-tests';
  await must(`DELETE ${issues}/3`, {}, root);
  assert.deepEqual(await all(), [2, 1, 1]);
  await must(`POST ${issues}`, { title: 'of another' }, root);
  assert.deepEqual(await all(), [2, 1, 1]);
  await must(`PUT /projects/${project.id}`, { issues_access_level: 'disabled' }, root);
  assert.deepEqual(await all(), [0, 0, 0]);
  await must(`PUT /projects/${project.id}`, { issues_access_level: 'enabled' }, root);
  assert.deepEqual(await all(), [2, 1, 1]);
  await must(`DELETE /projects/${project.id}/members/${user.id}`, {}, root);
  assert.deepEqual(await all(), [0, 0, 0]);
});

test('counts with the roles of each request, also where one began before a role ended', async () => {
  const author = await seedUser(gantry);
  const hidden = await seedProject(gantry, { visibility: 'private' });
  const open = await seedProject(gantry, { visibility: 'public' });
  await seedMember(gantry, { user: author.id, project: hidden.id, access_level: 20 });
  for (const { id } of [hidden, hidden, open])
    await gantry.api(`POST /projects/${id}/issues`, { json: { title: 'x' }, as: author.token });
  await gantry.service.worker.drain();
  const { platform } = gantry.service;
  const { db } = platform.store;
  const before = await loadViewer(db, { id: author.id, admin: 0, external: 0 }, Date.now());
  const count = async (viewer: Viewer): Promise<number> => {
    const call = { platform, db, viewer, actor: { user: { id: author.id } }, now: Date.now() };
    const filters = { scope: 'created-by-me', state: 'opened', order_by: 'created_at', sort: 'desc' };
    return await countIssues(call as unknown as Call, 'everywhere', filters as Filters);
  };
  assert.equal(await count(before), 3);
  assert.equal(await count({ ...before, projectLevels: new Map(), namespaceLevels: new Map() }), 1);
});
