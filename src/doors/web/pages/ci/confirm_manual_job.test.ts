/** Tests `manual_confirmation`: pages ask before a manual job starts; API calls do not. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline, setJob } from '../../../../../test/support/ci/jobs.ts';
import { makePeer, seedRunner } from '../../../../../test/support/ci/fake_runner.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor } from '../../../../../test/support/visitor.ts';
import { unsealValue } from '../../../../ci/variables/queries.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let developer: Visitor;
let reporter: Visitor;
let base: string;

const member = async (access_level: number): Promise<Visitor> =>
  (await seedVisitor(gantry, { project: project.id, access_level })).visitor;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  base = `/${project.full_path}/-`;
  developer = await member(30);
  reporter = await member(20);
});
after(async () => await gantry.close());

const file = `
ship: { script: x, when: manual, manual_confirmation: 'Ship <b>all</b> of it?' }
ruled: { script: x, rules: [{ when: manual }], manual_confirmation: Really? }
plain: { script: x, when: manual }
blank: { script: x, when: manual, manual_confirmation: ' ' }
later: { script: x, when: delayed, start_in: 1 day, manual_confirmation: Now already? }
child: { trigger: { include: child.yml }, when: manual, manual_confirmation: A whole pipeline? }
`;
const seeded = async () => {
  const { id, jobs } = await seedPipeline(gantry, { project: project.id, file, ref: 'topic' });
  const post = async (name: string, verb: string, form: Record<string, string> = {}, who = developer) => {
    await who.get(`${base}/pipelines/${id}`);
    return await who.post(`${base}/jobs/${jobs[name]}/${verb}`, form);
  };
  return { id, jobs, post };
};

const row = async (id: number | undefined) =>
  await gantry.service.platform.store.db
    .selectFrom('jobs')
    .select(['status', 'retried'])
    .where('id', '=', id ?? 0)
    .executeTakeFirstOrThrow();
const statusOf = async (id: number | undefined): Promise<string> => (await row(id)).status;

test('starts a manual job after its message was confirmed', async () => {
  const { jobs, post } = await seeded();
  const { status, text } = await post('ship', 'play');
  assert.equal(status, 200);
  assert.match(text, /<h1>Start job #\d+: ship\?<\/h1>/);
  assert.match(text, /Ship &lt;b&gt;all&lt;\/b&gt; of it\?/);
  assert.match(text, new RegExp(`action="${base}/jobs/${jobs['ship']}/play"[\\s\\S]+Yes, start ship`));
  assert.match(text, new RegExp(`<a href="${base}/jobs/${jobs['ship']}">Back`));
  assert.equal(await statusOf(jobs['ship']), 'manual');
  const confirmed = await post('ship', 'play', { confirmed: '1' });
  assert.deepEqual([confirmed.status, confirmed.location], [303, `${base}/jobs/${jobs['ship']}`]);
  assert.equal(await statusOf(jobs['ship']), 'pending');
});

test('asks where rules make the job manual, and nowhere else', async () => {
  const { jobs, post } = await seeded();
  assert.match((await post('ruled', 'play')).text, /Really\?/);
  for (const name of ['plain', 'blank', 'later']) {
    assert.equal((await post(name, 'play')).status, 303, name);
    assert.equal(await statusOf(jobs[name]), 'pending', name);
  }
});

test('keeps the submitted variables until the confirmation', async () => {
  const { jobs, post } = await seeded();
  const rows = {
    'job_variables_attributes[0][key]': 'WHERE',
    'job_variables_attributes[0][value]': 'a"<b>\r\nc',
  };
  const { text } = await post('ship', 'play', rows);
  assert.match(text, /name="job_variables_attributes\[0\]\[key\]" value="WHERE"/);
  assert.match(text, /name="job_variables_attributes\[0\]\[value\]" value="a&quot;&lt;b&gt;\nc"/);
  assert.equal((await post('ship', 'play', { ...rows, confirmed: '1' })).status, 303);
  const { platform } = gantry.service;
  const kept = await platform.store.db
    .selectFrom('job_variables')
    .select('sealed_value')
    .where('job_id', '=', jobs['ship'] ?? 0)
    .where('key', '=', 'WHERE')
    .executeTakeFirstOrThrow();
  assert.equal(unsealValue(platform, kept.sealed_value), 'a"<b>\nc');
  const bad = { 'job_variables_attributes[0][key]': 'a-b', 'job_variables_attributes[0][value]': 'x' };
  assert.equal((await post('ruled', 'play', bad)).status, 422);
});

test('asks again when the job is retried', async () => {
  const { jobs, post } = await seeded();
  await setJob(gantry, jobs['ship'] ?? 0, { status: 'failed', started_at: 1_000, finished_at: 2_000 });
  const { status, text } = await post('ship', 'retry');
  assert.deepEqual([status, /Ship &lt;b&gt;/.test(text)], [200, true]);
  assert.match(text, new RegExp(`action="${base}/jobs/${jobs['ship']}/retry"`));
  assert.equal((await row(jobs['ship'])).retried, 0);
  assert.equal((await post('ship', 'retry', { confirmed: '1' })).status, 303);
  assert.equal((await row(jobs['ship'])).retried, 1);
});

test('asks for a trigger job, too, and returns to its pipeline', async () => {
  const { id, jobs, post } = await seeded();
  const { text } = await post('child', 'play');
  assert.match(text, /A whole pipeline\?/);
  assert.match(text, new RegExp(`<a href="${base}/pipelines/${id}">Back`));
  assert.equal(await statusOf(jobs['child']), 'manual');
});

test('hides the message from users who may not start the job, and does not ask API calls', async () => {
  const { jobs, post } = await seeded();
  const refused = await post('ship', 'play', {}, reporter);
  assert.deepEqual([refused.status, /of it/.test(refused.text)], [403, false]);
  const { status } = await gantry.api(`POST /projects/${project.id}/jobs/${jobs['ship']}/play`);
  assert.deepEqual([status, await statusOf(jobs['ship'])], [201, 'pending']);
});

const review = `
deploy: { script: x, tags: [deploys], environment: { name: review, on_stop: stop } }
stop:
  { script: x, when: manual, manual_confirmation: Take it down?, environment: { name: review, action: stop } }
`;

test('asks before stopping an environment whose job has a message', async () => {
  const { jobs } = await seedPipeline(gantry, { project: project.id, file: review, ref: 'topic' });
  const peer = makePeer(gantry, {
    token: (await seedRunner(gantry, { tags: ['deploys'], run_untagged: 0 })).token,
  });
  await peer.run(await peer.take());
  peer.close();
  const [{ id }] = (await gantry.api(`GET /projects/${project.id}/environments`)).body;
  const path = `${base}/environments/${id}`;
  await developer.get(path);
  const { status, text } = await developer.post(`${path}/stop`);
  assert.equal(status, 200);
  assert.match(text, /<h1>Stop review\?<\/h1>[\s\S]+Take it down\?[\s\S]+Yes, stop review/);
  assert.equal(await statusOf(jobs['stop']), 'manual');
  assert.equal((await reporter.post(`${path}/stop`)).status, 403);
  assert.equal((await developer.post(`${path}/stop`, { confirmed: '1' })).status, 303);
  assert.equal(await statusOf(jobs['stop']), 'pending');
});
