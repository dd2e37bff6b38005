import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setJob, setPipeline } from '../../../test/support/ci/jobs.ts';
import { type Pushed, seedPushed } from '../../../test/support/ci/pipelines.ts';
import { openRequest, toPath } from '../../../test/support/seed_merge_requests.ts';
import { seedMember, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { zeroOid } from '../../platform/git/protocol_types.ts';

let gantry: TestService;
let project: Pushed;
let shas: string[];

const good = 'build: { stage: build, script: make }\ntest: { script: make check }\n';

before(async () => {
  gantry = await startTestService();
  project = await seedPushed(gantry);
  shas = [
    await project.push(good),
    await project.push({ a: '1' }, { branch: 'topic', from: 'main', by: project.developer.id }),
    await project.push({ '.gitlab-ci.yml': 'broken' }, { branch: 'topic' }),
    await project.push({ a: '2' }),
  ];
});

after(async () => await gantry.close());

const newProject = async (config = good): Promise<Pushed & { pipeline: number }> => {
  const made = await seedPushed(gantry);
  await made.push(config);
  const [pipeline] = await made.pipelines();
  return { ...made, pipeline: pipeline?.id ?? 0 };
};

test('lists pipelines, newest first', async () => {
  const { body, headers } = await gantry.api(`GET ${project.path}/pipelines?per_page=2`);
  assert.equal(headers.get('x-total'), '4');
  const [{ id, created_at, updated_at, ...first }] = body;
  assert.deepEqual(first, {
    iid: 4,
    project_id: project.id,
    sha: shas[3],
    ref: 'main',
    status: 'pending',
    source: 'push',
    name: null,
    web_url: `${gantry.url}/${project.full_path}/-/pipelines/${id}`,
  });
  assert.match(created_at, /^\d{4}-.*Z$/);
  assert.ok(updated_at >= created_at);
});

test('filters and sorts the list', async () => {
  const iids = async (query: string) => (await project.pipelines(query)).map(({ iid }) => iid);
  assert.deepEqual(await iids('ref=topic'), [3, 2]);
  assert.deepEqual(await iids(`sha=${shas[0]}`), [1]);
  assert.deepEqual(await iids('status=failed'), [3]);
  assert.deepEqual(await iids('yaml_errors=true'), [3]);
  assert.deepEqual(await iids('yaml_errors=false'), [4, 2, 1]);
  assert.deepEqual(await iids('scope=finished&ref=topic'), [3]);
  assert.deepEqual(await iids('scope=branches'), [4, 3]);
  assert.deepEqual(await iids('scope=tags'), []);
  assert.deepEqual(await iids(`username=${project.developer.username}`), [2]);
  assert.deepEqual(await iids('username=nobody-at-all'), []);
  assert.deepEqual(await iids('source=push&sort=asc'), [1, 2, 3, 4]);
  assert.deepEqual(await iids('source=web'), []);
  assert.deepEqual(await iids('status=preparing'), []); // a status that none ever has
  assert.deepEqual(await iids('order_by=ref&sort=asc'), [1, 4, 2, 3]);
  assert.deepEqual(await iids('order_by=user_id&sort=desc'), [2, 4, 3, 1]);
  assert.deepEqual(await iids('updated_after=2999-01-01T00:00:00Z'), []);
  assert.deepEqual(await iids('updated_before=2999-01-01T00:00:00Z&created_after=2001-01-01'), [4, 3, 2, 1]);
  for (const bad of ['scope=all', 'status=odd', 'order_by=sha', 'sort=up']) {
    assert.equal((await gantry.api(`GET ${project.path}/pipelines?${bad}`)).status, 400, bad);
  }
});

test('returns details of one pipeline; the latest belongs to the last commit', async () => {
  const { body: latest } = await gantry.api(`GET ${project.path}/pipelines/latest`);
  assert.deepEqual([latest.sha, latest.iid], [shas[3], 4]);
  const of = await gantry.api(`GET ${project.path}/pipelines/latest?ref=topic`);
  assert.equal(of.body.iid, 3);
  const { status, body } = await gantry.api(`GET ${project.path}/pipelines/${latest.id}`);
  assert.equal(status, 200);
  assert.deepEqual(body, latest);
  const { before_sha, tag, yaml_errors, started_at, finished_at, duration, coverage, user } = body;
  assert.deepEqual(
    { before_sha, tag, yaml_errors, started_at, finished_at, duration, coverage, user: user.username },
    {
      before_sha: shas[0],
      tag: false,
      yaml_errors: null,
      started_at: null,
      finished_at: null,
      duration: null,
      coverage: null,
      user: 'root',
    },
  );
  assert.equal(body.detailed_status.details_path, `/${project.full_path}/-/pipelines/${body.id}`);
  for (const path of ['latest?ref=none', '0', String(Number.MAX_SAFE_INTEGER)]) {
    const reply = await gantry.api(`GET ${project.path}/pipelines/${path}`);
    assert.deepEqual([reply.status, reply.body], [404, { message: '404 Not found' }], path);
  }
  const other = await seedPushed(gantry);
  assert.equal((await gantry.api(`GET ${other.path}/pipelines/${body.id}`)).status, 404);
});

test('creates a pipeline of a branch, with variables visible to its creator and maintainers', async () => {
  const { path, developer, push, ...rest } = await seedPushed(gantry);
  await push({ a: '1' });
  await push(`job: { script: x, rules: [{ if: '$GIVEN == "yes"' }] }\n`, { branch: 'topic' });
  const variables = [
    { key: 'GIVEN', value: 'yes' },
    { key: 'FILE', value: 'text', variable_type: 'file' },
  ];
  const as = developer.token;
  const { status, body } = await gantry.api(`POST ${path}/pipeline`, {
    json: { ref: 'topic', variables },
    as,
  });
  assert.equal(status, 201);
  assert.deepEqual([body.source, body.status, body.before_sha], ['api', 'pending', zeroOid]);
  assert.deepEqual(await rest.jobs(body.id), ['job']);
  const told = await gantry.api(`GET ${path}/pipelines/${body.id}/variables`, { as });
  assert.deepEqual(told.body, [
    { variable_type: 'file', key: 'FILE', value: 'text', raw: false },
    { variable_type: 'env_var', key: 'GIVEN', value: 'yes', raw: false },
  ]);
  const other = await seedUser(gantry);
  await seedMember(gantry, { user: other.id, project: rest.id, access_level: 30 });
  const hidden = await gantry.api(`GET ${path}/pipelines/${body.id}/variables`, { as: other.token });
  assert.equal(hidden.status, 403);
  const stored = await gantry.service.platform.store.db
    .selectFrom('pipeline_variables')
    .selectAll()
    .execute();
  assert.ok(stored.every(({ sealed_value }) => !sealed_value.includes('yes')));
});

test('explains why no pipeline was created', async () => {
  const { path, developer, push, pipelines } = await seedPushed(gantry);
  const create = async (json: object, as?: string) =>
    await gantry.api(`POST ${path}/pipeline`, { json, ...(as !== undefined && { as }) });
  const reason = async (json: object, as?: string) => (await create(json, as)).body.message.base?.[0];
  assert.equal((await create({})).status, 400);
  assert.equal(await reason({ ref: 'main' }), 'Reference not found');
  await push({ a: '1' });
  assert.equal(await reason({ ref: 'main' }), 'Missing .gitlab-ci.yml file');
  await push('job: { script: x, when: sometimes }');
  assert.match(await reason({ ref: 'main' }), /^jobs:job when should be one of/);
  await push('workflow: { rules: [{ when: never }] }\njob: { script: x }');
  assert.equal(await reason({ ref: 'main' }), 'Pipeline filtered out by workflow rules.');
  await push('job: { script: x, only: [tags] }');
  assert.match(await reason({ ref: 'main' }), /^Pipeline will not run for the selected trigger\./);
  assert.equal(
    await reason({ ref: 'main' }, developer.token),
    "Insufficient permissions for protected ref 'main'",
  );
  await push(good, { message: '[ci skip]' });
  assert.equal((await create({ ref: 'refs/heads/main' })).body.status, 'pending');
  for (const variables of [
    [{ value: 'x' }],
    [{ key: 'A B', value: 'x' }],
    'x',
    [{ key: 'A' }, { key: 'A' }],
  ]) {
    assert.equal((await create({ ref: 'main', variables })).status, 400, JSON.stringify(variables));
  }
  assert.deepEqual(
    (await pipelines()).map(({ source, status }) => [source, status]),
    [
      ['api', 'pending'],
      ['push', 'skipped'],
      ['push', 'failed'],
    ],
  );
});

test('cancel ends its jobs, retry starts them again', async () => {
  const { path, pipeline } = await newProject();
  const one = `${path}/pipelines/${pipeline}`;
  const cancelled = await gantry.api(`POST ${one}/cancel`);
  assert.deepEqual([cancelled.status, cancelled.body.status], [201, 'canceled']);
  assert.notEqual(cancelled.body.finished_at, null);
  const again = await gantry.api(`POST ${one}/retry`);
  assert.deepEqual([again.status, again.body.status, again.body.finished_at], [201, 'pending', null]);
  const jobs = await gantry.api(`GET ${one}/jobs?include_retried=false`);
  assert.deepEqual(
    jobs.body.map(({ name, status }: { name: string; status: string }) => [name, status]),
    [
      ['test', 'created'],
      ['build', 'pending'],
    ],
  );
});

test('protected refs require the right to push', async () => {
  const { path, pipeline, developer } = await newProject();
  const one = `${path}/pipelines/${pipeline}`;
  const as = developer.token;
  assert.equal((await gantry.api(`POST ${one}/cancel`, { as })).status, 403);
  assert.equal((await gantry.api(`POST ${one}/retry`, { as })).status, 403);
  assert.equal((await gantry.api(`PUT ${one}/metadata`, { json: { name: 'x' }, as })).status, 403);
});

test('a pipeline can be renamed, and deleted by owners', async () => {
  const { path, pipeline, developer, ...rest } = await newProject(
    `workflow: { name: 'Of $CI_COMMIT_BRANCH' }\n${good}`,
  );
  const one = `${path}/pipelines/${pipeline}`;
  assert.equal((await gantry.api(`GET ${one}`)).body.name, 'Of main');
  const named = await gantry.api(`PUT ${one}/metadata`, { json: { name: 'Nightly' } });
  assert.deepEqual([named.status, named.body.name], [200, 'Nightly']);
  assert.equal((await rest.pipelines('name=Nightly')).length, 1);
  assert.equal((await gantry.api(`DELETE ${one}`, { as: developer.token })).status, 403);
  assert.equal((await gantry.api(`DELETE ${one}`)).status, 204);
  assert.equal((await gantry.api(`GET ${one}`)).status, 404);
  assert.deepEqual(await rest.jobs(pipeline), []);
});

test('a commit and a merge request name their newest pipeline', async () => {
  const { path, pipeline, push, id } = await newProject();
  const head = await push({ a: '1' }, { branch: 'topic', from: 'main' });
  const commit = await gantry.api(`GET ${path}/repository/commits/${head}`);
  const { last_pipeline } = commit.body;
  assert.deepEqual([commit.body.status, last_pipeline.ref, last_pipeline.sha], ['pending', 'topic', head]);
  assert.ok(last_pipeline.id > pipeline);
  const request = await openRequest(gantry, { id }, 'topic');
  assert.equal(request.head_pipeline.id, last_pipeline.id);
  const { detailed_status, ...whole } = request.head_pipeline;
  assert.equal(detailed_status.text, 'Pending');
  for (const [name, value] of Object.entries(request.pipeline)) assert.deepEqual(whole[name], value, name);
  await gantry.api(`PUT ${path}`, { json: { public_jobs: false } });
  const stranger = await seedUser(gantry);
  const seen = await gantry.api(`GET ${toPath(request)}`, { as: stranger.token });
  assert.deepEqual([seen.status, seen.body.head_pipeline], [200, null]);
  const unsaid = await gantry.api(`GET ${path}/repository/commits/${head}`, { as: stranger.token });
  assert.deepEqual([unsaid.body.status, unsaid.body.last_pipeline], [null, null]);
});

test('marks a success with failed jobs as passed with warnings', async () => {
  const { path, pipeline } = await newProject('a: { script: x, allow_failure: true }\nb: { script: x }\n');
  const named = async () => {
    const { detailed_status: told } = (await gantry.api(`GET ${path}/pipelines/${pipeline}`)).body;
    return [told.icon, told.text, told.label, told.group, told.tooltip];
  };
  const passed = ['status_success', 'Passed', 'passed', 'success', 'passed'];
  const [b, a] = (await gantry.api(`GET ${path}/pipelines/${pipeline}/jobs`)).body;
  await setPipeline(gantry, pipeline, { status: 'success' });
  for (const { id } of [a, b]) await setJob(gantry, id, { status: 'success' });
  assert.deepEqual(await named(), passed);
  await setJob(gantry, a.id, { status: 'failed' });
  const label = 'passed with warnings';
  assert.deepEqual(await named(), ['status_warning', 'Warning', label, 'success-with-warnings', label]);
  await setJob(gantry, a.id, { retried: 1 });
  assert.deepEqual(await named(), passed);
  await setPipeline(gantry, pipeline, { status: 'failed' });
  assert.deepEqual((await named())[0], 'status_failed');
});

test('maps internal statuses to their public names', async () => {
  const { path, pipeline, pipelines } = await newProject();
  await setPipeline(gantry, pipeline, { status: 'canceling' });
  assert.equal((await gantry.api(`GET ${path}/pipelines/${pipeline}`)).body.status, 'canceled');
  assert.equal((await pipelines('status=canceled')).length, 1);
  assert.equal((await pipelines('scope=finished')).length, 1);
  await setPipeline(gantry, pipeline, { status: 'scheduled' });
  assert.deepEqual(
    (await pipelines('status=created')).map(({ status }) => status),
    ['created'],
  );
});
