import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline, setJob } from '../../../../../../test/support/ci/jobs.ts';
import { seedProject } from '../../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { type Visitor } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let admin: Visitor;

before(async () => {
  gantry = await startTestService();
  ({ visitor: admin } = await seedVisitor(gantry, { admin: 1 }));
});
after(async () => await gantry.close());

const makeJob = async (): Promise<{ id: number; path: string }> => {
  const project = await seedProject(gantry, { visibility: 'private' });
  const file = 'a: { script: x }';
  const { jobs } = await seedPipeline(gantry, { project: project.id, file, ref: 'topic' });
  return { id: jobs['a'] ?? 0, path: project.full_path };
};

const idsIn = (text: string): number[] =>
  [...text.matchAll(/<th scope="row"><a href="[^"]*\/-\/jobs\/(\d+)"/g)].map(([, id]) => Number(id));

const statusOf = async (id: number): Promise<string> => {
  const { db } = gantry.service.platform.store;
  return (await db.selectFrom('jobs').select('status').where('id', '=', id).executeTakeFirstOrThrow()).status;
};

test('lists the jobs of all projects that run, that wait, and the newest', async () => {
  const [waiting, running, done] = [await makeJob(), await makeJob(), await makeJob()];
  await setJob(gantry, running.id, { status: 'running', started_at: 1_000 });
  await setJob(gantry, done.id, { status: 'success', started_at: 1_000 });
  const listed = async (query: string) => (await admin.get(`/admin/jobs?${query}`)).text;
  assert.deepEqual(idsIn(await listed('')), [running.id]);
  const pending = await listed('scope=pending');
  assert.ok(idsIn(pending).includes(waiting.id));
  assert.match(pending, new RegExp(`action="/${waiting.path}/-/jobs/${waiting.id}/cancel"`));
  const all = await listed('scope=all');
  assert.deepEqual(idsIn(all), [done.id, running.id, waiting.id]);
  assert.doesNotMatch(all, new RegExp(`jobs/${done.id}/cancel`));
  const first = await listed('scope=all&per_page=2');
  assert.deepEqual(idsIn(first), [done.id, running.id]);
  assert.match(first, /scope=all&amp;page=2[^"]*">Next</);
  assert.deepEqual(idsIn(await listed('scope=all&per_page=2&page=2')), [waiting.id]);
  assert.equal((await admin.get('/admin/jobs?scope=x')).status, 400);
});

test('cancels all jobs that wait or run', async () => {
  const [waiting, running, done] = [await makeJob(), await makeJob(), await makeJob()];
  await setJob(gantry, running.id, { status: 'running', started_at: 1_000 });
  await setJob(gantry, done.id, { status: 'success', started_at: 1_000 });
  assert.match((await admin.get('/admin/jobs')).text, /action="\/admin\/jobs\/cancel"/);
  const { status, location } = await admin.post('/admin/jobs/cancel');
  assert.deepEqual([status, location], [303, '/admin/jobs']);
  assert.equal(await statusOf(waiting.id), 'canceled');
  assert.ok(['canceled', 'canceling'].includes(await statusOf(running.id)));
  assert.equal(await statusOf(done.id), 'success');
  const [event] = (await gantry.api('GET /audit_events?kind=jobs.canceled')).body;
  assert.ok(event.details.count >= 2);
});
