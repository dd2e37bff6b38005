/** The figures of a job, the other jobs of its stage, delayed jobs, and the start of all manual jobs of a stage. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline, setJob } from '../../../../../test/support/ci/jobs.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { observeOperations } from '../../../../platform/db/statement_meter.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, contentIn } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let developer: Visitor;
let reporter: Visitor;
let maintainer: Visitor;
let base: string;
before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  const someone = async (access_level: number): Promise<Visitor> =>
    (await seedVisitor(gantry, { project: project.id, access_level })).visitor;
  [developer, reporter, maintainer] = [await someone(30), await someone(20), await someone(40)];
  base = `/${project.full_path}/-`;
});
after(async () => await gantry.close());

const file = `
stages: [build, ship]
build: { stage: build, script: make, timeout: 10 minutes, tags: [linux] }
lint: { stage: build, script: lint }
trigger: { stage: build, trigger: { project: a/b } }
later: { stage: build, script: x, when: delayed, start_in: 1 hour }
east: { stage: ship, script: x, when: manual, environment: { name: prod/east } }
west: { stage: ship, script: x, when: manual, manual_confirmation: "Ship <b> to the west?" }
`;
const seed = async () => await seedPipeline(gantry, { project: project.id, file });
const read = async (path: string, who: Visitor = developer): Promise<string> =>
  contentIn(await who.get(`${base}/${path}`));
const statusOf = async (id = 0): Promise<string> =>
  (await gantry.api(`GET /projects/${project.id}/jobs/${id}`)).body.status;

test('shows runner, timeout and tags; only who manages runners gets a link', async () => {
  const { jobs } = await seed();
  const { body: runner } = await gantry.api('POST /user/runners', {
    json: { runner_type: 'project_type', project_id: project.id, description: 'Big one' },
  });
  await setJob(gantry, jobs['build'] ?? 0, {
    status: 'success',
    runner_id: runner.id,
    timeout: 600,
    coverage: 8_750,
    queued_at: 1_000,
    started_at: 4_000,
    finished_at: 66_000,
  });
  const text = await read(`jobs/${jobs['build']}`);
  const facts: [string, string][] = [
    ['Timeout', '10 min 0 s'],
    ['Waited', '3 s'],
    ['Duration', '1 min 2 s'],
    ['Tags', 'linux'],
    ['Coverage', '87.5 %'],
    ['Runner', `#${runner.id} Big one`],
  ];
  for (const [name, value] of facts) assert.ok(text.includes(`<dt>${name}</dt><dd>${value}</dd>`), name);
  const link = `<a href="${base}/runners#runner_${runner.id}">#${runner.id} Big one</a>`;
  assert.ok((await read(`jobs/${jobs['build']}`, maintainer)).includes(link));
  assert.ok((await read('runners', maintainer)).includes(`id="runner_${runner.id}"`));
});

test('links the retry and the other jobs of the stage', async () => {
  const { jobs } = await seed();
  const { build = 0, lint = 0 } = jobs;
  await setJob(gantry, build, { status: 'failed' });
  await developer.get(`${base}/jobs/${build}`);
  const next = (await developer.post(`${base}/jobs/${build}/retry`)).location ?? '';
  const id = Number(next.split('/').at(-1));
  const before = await read(`jobs/${build}`);
  assert.match(before, new RegExp(`<dt>Retried by</dt><dd><a href="${base}/jobs/${id}">#${id}</a>`));
  const text = await read(`jobs/${id}`);
  assert.match(text, new RegExp(`<dt>Retry of</dt><dd><a href="${base}/jobs/${build}">#${build}</a>`));
  const [, others = ''] = /aria-labelledby="other-jobs"([^]+?)<\/nav>/.exec(text) ?? [];
  const links = [...others.matchAll(/href="[^"]+\/jobs\/(\d+)"/g)].map(([, one]) => Number(one));
  assert.deepEqual(links, [lint, jobs['later']]);
});

test('shows the environment, with a link for those who may read it', async () => {
  const { jobs } = await seed();
  const east = `jobs/${jobs['east']}`;
  assert.match(await read(east), /<dt>Environment<\/dt><dd>prod\/east<\/dd>/);
  const { body } = await gantry.api(`POST /projects/${project.id}/environments`, {
    json: { name: 'prod/east' },
  });
  const link = new RegExp(`<dt>Environment</dt><dd><a href="${base}/environments/${body.id}">prod/east</a>`);
  assert.match(await read(east), link);
  await gantry.api(`PUT /projects/${project.id}`, { json: { environments_access_level: 'disabled' } });
  assert.doesNotMatch(await read(east), /environments\//);
  await gantry.api(`PUT /projects/${project.id}`, { json: { environments_access_level: 'enabled' } });
});

test('shows when a delayed job starts, and starts it now', async () => {
  const { id, jobs } = await seed();
  const later = jobs['later'] ?? 0;
  for (const path of [`jobs/${later}`, `pipelines/${id}`, 'jobs']) {
    assert.match(await read(path), /Delayed<\/span> <span class="quiet small">starts <time datetime="/, path);
  }
  assert.match(await read(`jobs/${later}`), /Start now/);
  await developer.post(`${base}/jobs/${later}/play`);
  assert.equal(await statusOf(later), 'pending');
});

test('starts all manual jobs of a stage, after the questions of those that ask', async () => {
  const { id, jobs } = await seed();
  for (const name of ['build', 'lint', 'trigger', 'later'])
    await setJob(gantry, jobs[name] ?? 0, { status: 'success' });
  for (const name of ['east', 'west']) await setJob(gantry, jobs[name] ?? 0, { status: 'manual' });
  const path = `${base}/pipelines/${id}`;
  const text = await read(`pipelines/${id}`);
  const action = /action="([^"]+\/stages\/\d+\/play)"/.exec(text)?.[1] ?? '';
  assert.ok(action.startsWith(`${path}/`), action);
  assert.match(text, new RegExp(`action="${action}"[^]+?aria-label="Start all manual jobs of ship"`));
  // In the graph, each job has a button of its own.
  assert.match(text, new RegExp(`action="${base}/jobs/${jobs['east']}/play">[^]+?title="Run east"`));
  assert.doesNotMatch(await read(`pipelines/${id}`, reporter), /Start all|title="Run east"/);
  assert.equal((await reporter.post(action)).status, 403);
  const asked = await developer.post(action);
  assert.match(asked.text, /west: Ship &lt;b&gt; to the west\?[^]+Yes, start 2 jobs/);
  assert.equal(await statusOf(jobs['east']), 'manual');
  const done = await developer.post(action, { confirmed: '1' });
  assert.equal(done.location, path);
  assert.deepEqual([await statusOf(jobs['east']), await statusOf(jobs['west'])], ['pending', 'pending']);
  assert.match((await developer.get(path)).text, /2 jobs started\./);
  assert.equal((await developer.post(action, { confirmed: '1' })).status, 400);
});

test('starts many manual jobs with one evaluation of the pipeline', async () => {
  const names = Array.from({ length: 8 }, (_name, at) => `part-${at}`);
  const many = names.map((name) => `${name}: { script: x, when: manual }\n`).join('');
  const { id, jobs } = await seedPipeline(gantry, { project: project.id, file: many });
  await setJob(gantry, jobs['part-7'] ?? 0, { status: 'success' });
  const action = /action="([^"]+\/stages\/\d+\/play)"/.exec(await read(`pipelines/${id}`))?.[1] ?? '';
  let loaded = 0;
  const stop = observeOperations(({ name }) => {
    if (/select "id", "project_id", "pipeline_id", "stage_id".* order by "stage_position"/s.test(name))
      loaded += 1;
  });
  const { status, location } = await developer.post(action);
  stop();
  assert.equal(status, 303);
  assert.match((await developer.get(location ?? '')).text, /7 jobs started\./);
  for (const name of names)
    assert.equal(await statusOf(jobs[name]), name === 'part-7' ? 'success' : 'pending', name);
  assert.equal(loaded, 1);
});

test('does not let who may not push to a protected branch start its stages', async () => {
  const { id } = await seedPipeline(gantry, { project: project.id, file, ref: 'safe' });
  await gantry.api(`POST /projects/${project.id}/protected_branches`, {
    json: { name: 'safe', push_access_level: 40, merge_access_level: 40 },
  });
  await developer.get(`${base}/pipelines/${id}`);
  assert.equal((await developer.post(`${base}/pipelines/${id}/stages/1/play`)).status, 403);
});
