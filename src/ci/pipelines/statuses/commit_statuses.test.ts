import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setJob } from '../../../../test/support/ci/jobs.ts';
import { type Pushed, seedPushed } from '../../../../test/support/ci/pipelines.ts';
import { settle } from '../../../../test/support/seed_merge_requests.ts';
import { seedUser } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const good = 'build: { stage: build, script: make }\ntest: { script: make check, allow_failure: true }\n';

type Status = { name: string; status: string };

const ask = async ({ path }: Pushed, sha: string, query = '', token?: string) =>
  await gantry.api(
    `GET ${path}/repository/commits/${sha}/statuses?${query}`,
    token === undefined ? {} : { as: token },
  );

const told = async (project: Pushed, sha: string, query = '', token?: string): Promise<string[]> =>
  (await ask(project, sha, query, token)).body.map(({ name, status }: Status) => `${name} ${status}`);

const say = async ({ path }: Pushed, sha: string, json: object): Promise<void> => {
  const { status, text } = await gantry.api(`POST ${path}/statuses/${sha}`, { json });
  assert.equal(status, 201, text);
};

const idsOf = async ({ path }: Pushed): Promise<Record<string, number>> => {
  const { body } = await gantry.api(`GET ${path}/jobs`);
  return Object.fromEntries(body.map(({ id, name }: { id: number; name: string }) => [name, id]));
};

test('a commit has the statuses of its jobs, as clients poll them before a merge', async () => {
  const project = await seedPushed(gantry);
  const sha = await project.push(good);
  const [pipeline] = await project.pipelines();
  const { build = 0 } = await idsOf(project);
  const { body, headers } = await ask(project, 'main');
  assert.equal(headers.get('x-total'), '2');
  const [{ created_at, author, ...first }, second] = body;
  assert.deepEqual(first, {
    id: build,
    sha,
    ref: 'main',
    status: 'pending',
    name: 'build',
    target_url: `${gantry.url}/${project.full_path}/-/jobs/${build}`,
    description: null,
    started_at: null,
    finished_at: null,
    allow_failure: false,
    coverage: null,
    pipeline_id: pipeline.id,
  });
  assert.match(created_at, /^\d{4}-.*Z$/);
  assert.equal(author.username, 'root');
  assert.deepEqual([second.name, second.status, second.allow_failure], ['test', 'created', true]);
  const at = Date.now();
  await setJob(gantry, build, { status: 'canceling', coverage: 8750, cancelled_at: at, finished_at: null });
  const [ending] = (await ask(project, sha)).body;
  assert.deepEqual(
    [ending.status, ending.coverage, ending.finished_at],
    ['canceled', 87.5, new Date(at).toISOString()],
  );
});

test('lists external statuses together with jobs, and applies filters', async () => {
  const project = await seedPushed(gantry);
  const sha = await project.push(good);
  await say(project, sha, { state: 'failed', name: 'jenkins' });
  const [pipeline] = await project.pipelines();
  assert.deepEqual(await told(project, sha), ['build pending', 'test created', 'jenkins failed']);
  assert.deepEqual(await told(project, sha, 'stage=test'), ['test created']);
  assert.deepEqual(await told(project, sha, 'stage=external'), ['jenkins failed']);
  assert.deepEqual(await told(project, sha, 'name=jenkins'), ['jenkins failed']);
  assert.deepEqual(await told(project, sha, 'name=build'), ['build pending']);
  assert.deepEqual(await told(project, sha, `pipeline_id=${pipeline.id}`), [
    'build pending',
    'test created',
    'jenkins failed',
  ]);
  assert.deepEqual(await told(project, sha, 'ref=other'), []);
  const { body, headers } = await ask(project, sha, 'per_page=2&page=2');
  assert.deepEqual([headers.get('x-total'), body.length, body[0].name], ['3', 1, 'jenkins']);
});

test('lists retried jobs when all are requested', async () => {
  const project = await seedPushed(gantry);
  const sha = await project.push(good);
  const { build = 0 } = await idsOf(project);
  await gantry.api(`POST ${project.path}/jobs/${build}/cancel`);
  assert.equal((await gantry.api(`POST ${project.path}/jobs/${build}/retry`)).status, 201);
  assert.deepEqual((await told(project, sha)).toSorted(), ['build pending', 'test created']);
  assert.deepEqual((await told(project, sha, 'all=true')).toSorted(), [
    'build canceled',
    'build pending',
    'test created',
  ]);
});

test('shows a child pipeline as the status of its trigger job', async () => {
  const project = await seedPushed(gantry);
  const sha = await project.push({
    '.gitlab-ci.yml': 'part: { trigger: { include: child.yml } }',
    'child.yml': 'inner: { script: make }',
  });
  await settle(gantry);
  assert.deepEqual(await told(project, sha), ['part success']);
});

test('a user without access to pipelines sees external statuses and no jobs', async () => {
  const project = await seedPushed(gantry, { visibility: 'public' });
  const sha = await project.push(good);
  await say(project, sha, { state: 'success', name: 'jenkins' });
  const { token } = await seedUser(gantry);
  assert.deepEqual(await told(project, sha, '', token), ['build pending', 'test created', 'jenkins success']);
  await gantry.api(`PUT ${project.path}`, { json: { public_jobs: false } });
  const { body, headers } = await ask(project, sha, '', token);
  assert.deepEqual([headers.get('x-total'), body.map(({ name }: Status) => name)], ['1', ['jenkins']]);
  assert.deepEqual(await told(project, sha, 'stage=test', token), []);
});
