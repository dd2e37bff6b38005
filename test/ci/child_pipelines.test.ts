/** Child pipelines: what starts them, their variables, and how they end with their parent. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildZip } from '../support/ci/artifacts.ts';
import { settle } from '../support/seed_merge_requests.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { type Upstream, makeUpstream, variableOf } from './downstream.ts';

let gantry: TestService;
const made: Upstream[] = [];
before(async () => {
  gantry = await startTestService();
});
after(async () => {
  for (const { peer } of made) peer.close();
  await gantry.close();
});

const pushed = async (file: string, files: Record<string, string> = {}): Promise<Upstream> => {
  const project = await makeUpstream(gantry);
  made.push(project);
  await project.push({ '.gitlab-ci.yml': file, ...files });
  return project;
};

const child = 'inner: { script: make }\n';

test('creates a child pipeline of the same commit, and ends the job once it exists', async () => {
  const project = await pushed('part: { trigger: { include: ci/child.yml } }', { 'ci/child.yml': child });
  const parent = await project.newest();
  const { part } = await project.bridges();
  assert.equal(part.status, 'success');
  const [only, ...others] = await project.children();
  assert.deepEqual(others, []);
  assert.deepEqual(part.downstream_pipeline, only);
  assert.deepEqual([only.sha, only.ref, only.source], [parent.sha, 'main', 'parent_pipeline']);
  assert.deepEqual(
    (await project.pipelines()).map(({ id }) => id),
    [parent.id],
  );
  assert.equal((await project.newest()).status, 'success');
  const latest = await gantry.api(`GET ${project.path}/pipelines/latest`);
  assert.equal(latest.body.id, parent.id);
  const commit = await gantry.api(`GET ${project.path}/repository/commits/${parent.sha}`);
  assert.equal(commit.body.last_pipeline.id, parent.id);
  const { body } = await project.run();
  assert.equal(body.job_info.name, 'inner');
  assert.equal((await project.pipeline(only.id)).status, 'success');
});

test("mirrors the child's status with strategy: depend, also after a retry", async () => {
  const project = await pushed(
    `part: { trigger: { include: child.yml, strategy: depend } }
later: { stage: deploy, script: x }`,
    { 'child.yml': child },
  );
  assert.equal((await project.bridges()).part.status, 'running');
  assert.equal((await project.newest()).status, 'running');
  const job = await project.run('failed');
  assert.deepEqual(
    [(await project.bridges()).part.status, (await project.bridges()).part.failure_reason],
    ['failed', 'unknown_failure'],
  );
  assert.equal((await project.newest()).status, 'failed');
  await project.post(`jobs/${job.id}/retry`);
  assert.equal((await project.bridges()).part.status, 'running');
  assert.equal((await project.newest()).status, 'running');
  await project.run();
  assert.equal((await project.bridges()).part.status, 'success');
  const { body } = await project.run();
  assert.equal(body.job_info.name, 'later');
  assert.equal((await project.newest()).status, 'success');
});

test('shows a mirrored child that is blocked as blocked', async () => {
  const project = await pushed('part: { trigger: { include: child.yml, strategy: mirror } }', {
    'child.yml': 'ask: { script: x, when: manual, allow_failure: false }',
  });
  assert.equal((await project.bridges()).part.status, 'manual');
  assert.equal((await project.newest()).status, 'manual');
  const [one] = await project.children();
  const jobs = await gantry.api(`GET ${project.path}/pipelines/${one.id}/jobs`);
  await project.post(`jobs/${jobs.body[0].id}/play`);
  assert.equal((await project.bridges()).part.status, 'running');
  await project.run();
  assert.equal((await project.newest()).status, 'success');
});

test('passes variables on as configured', async () => {
  const project = await makeUpstream(gantry);
  made.push(project);
  await gantry.api(`POST ${project.path}/variables`, { json: { key: 'SECRET', value: 'kept-value-1' } });
  await project.push({
    '.gitlab-ci.yml': `
variables: { GLOBAL: g, OWN: file }
default: { tags: [nobody], retry: 2 }
usual: { trigger: { include: child.yml }, variables: { PARENT: $CI_PIPELINE_ID, HELD: $SECRET, RAW: { value: $GLOBAL, expand: false } } }
bare: { stage: deploy, inherit: { variables: [OWN] }, variables: { PARENT: none }, trigger: { include: child.yml, forward: { yaml_variables: false, pipeline_variables: true } } }
`,
    'child.yml': `inner: { tags: [], script: x, rules: [{ if: '$CI_PIPELINE_SOURCE == "parent_pipeline"' }] }`,
  });
  const { body: parent } = await gantry.api(`POST ${project.path}/pipeline`, {
    json: { ref: 'main', variables: [{ key: 'GIVEN', value: 'by hand' }] },
  });
  await settle(gantry);
  const bridges = await project.bridges(parent.id);
  const variablesOf = async (name: string) => {
    const { id } = bridges[name].downstream_pipeline;
    const { body } = await gantry.api(`GET ${project.path}/pipelines/${id}/variables`);
    return Object.fromEntries(body.map(({ key, value }: { key: string; value: string }) => [key, value]));
  };
  assert.deepEqual(await variablesOf('usual'), {
    GLOBAL: 'g',
    OWN: 'file',
    PARENT: String(parent.id),
    HELD: 'kept-value-1',
    RAW: '$GLOBAL',
  });
  assert.deepEqual(await variablesOf('bare'), { GIVEN: 'by hand' });
});

test('builds a child from several files, an artifact, and a file of a readable project', async () => {
  const other = await makeUpstream(gantry);
  made.push(other);
  await other.push({ 'share.yml': 'shared: { script: x }' });
  const project = await pushed(
    `
make: { stage: build, script: x, artifacts: { paths: [made.yml] } }
part:
  stage: test
  trigger:
    include:
      - local: child.yml
      - { artifact: made.yml, job: make }
      - { project: ${other.full_path}, file: share.yml }
none: { stage: test, trigger: { include: [{ artifact: none.yml, job: make }] } }
`,
    { 'child.yml': child },
  );
  const job = await project.peer.take();
  const left = await buildZip({ 'made.yml': 'generated: { script: x }' });
  await project.peer.upload(job, left);
  await project.peer.finish(job);
  await settle(gantry);
  const { part, none } = await project.bridges();
  assert.deepEqual((await project.jobs(part.downstream_pipeline.id)).toSorted(), [
    'generated',
    'inner',
    'shared',
  ]);
  assert.deepEqual([none.status, none.failure_reason], ['failed', 'downstream_pipeline_creation_failed']);
  const failed = await project.pipeline(none.downstream_pipeline.id);
  assert.match(failed.yaml_errors, /Artifact `none.yml` of job `make` does not exist!/);
});

test('allows children of children, two levels deep', async () => {
  const project = await pushed(
    'again: { trigger: { include: .gitlab-ci.yml, strategy: depend } }\nwork: { script: x }',
  );
  const children = await project.children();
  assert.equal(children.length, 2);
  const deepest = await project.bridges(children[1].id);
  assert.equal(deepest['again'].failure_reason, 'reached_max_descendant_pipelines_depth');
  for (const _each of [1, 2, 3]) await project.run();
  assert.equal((await project.newest()).status, 'failed');
});

test('cancels and retries children with their pipeline', async () => {
  const project = await pushed(
    'part: { trigger: { include: child.yml, strategy: depend } }\nloose: { trigger: { include: child.yml } }',
    {
      'child.yml': child,
    },
  );
  const parent = await project.newest();
  const cancelled = await project.post(`pipelines/${parent.id}/cancel`);
  assert.equal(cancelled.body.status, 'canceled');
  assert.deepEqual(
    (await project.children()).map(({ status }) => status),
    ['canceled', 'canceled'],
  );
  await project.post(`pipelines/${parent.id}/retry`);
  const { part } = await project.bridges(parent.id);
  assert.equal(part.status, 'running');
  assert.equal((await project.children()).length, 3);
  await project.run();
  assert.equal((await project.pipeline(parent.id)).status, 'success');
});

test('cancels, retries and plays a trigger job like other jobs, without sending it to a runner', async () => {
  const project = await pushed(
    `part: { stage: build, trigger: { include: child.yml, strategy: depend } }
ask: { stage: test, when: manual, trigger: { include: child.yml } }
plain: { stage: build, script: x }`,
    { 'child.yml': child },
  );
  const { part, ask } = await project.bridges();
  assert.equal(ask.status, 'created');
  const jobs = await gantry.api(`GET ${project.path}/jobs`);
  assert.deepEqual(
    jobs.body.map(({ name }: { name: string }) => name),
    ['inner', 'plain'],
  );
  assert.equal(jobs.headers.get('x-total'), '2');
  assert.equal((await gantry.api(`GET ${project.path}/jobs/${part.id}`)).status, 404);
  assert.equal((await project.post(`jobs/${part.id}/erase`)).status, 404);
  const cancelled = await project.post(`jobs/${part.id}/cancel`);
  assert.deepEqual([cancelled.status, cancelled.body.status], [201, 'canceled']);
  assert.equal((await project.children())[0].status, 'canceled');
  const again = await project.post(`jobs/${part.id}/retry`);
  assert.equal(again.status, 201);
  assert.notEqual(again.body.id, part.id);
  await project.run();
  await project.run();
  assert.equal((await project.bridges())['ask'].status, 'manual');
  assert.equal((await project.post(`jobs/${ask.id}/play`)).status, 201);
  assert.equal((await project.bridges())['ask'].status, 'success');
  assert.equal((await project.children()).length, 3);
  const scoped = await gantry.api(
    `GET ${project.path}/pipelines/${part.pipeline.id}/bridges?scope[]=canceled`,
  );
  assert.deepEqual(
    scoped.body.map(({ id }: { id: number }) => id),
    [part.id],
  );
});

test('cancels child pipelines of older commits on a newer push', async () => {
  const project = await pushed('part: { trigger: { include: child.yml }, interruptible: true }', {
    'child.yml': child,
  });
  await project.push({ more: '1' });
  assert.deepEqual(
    (await project.children()).map(({ status }) => status),
    ['canceled', 'pending'],
  );
});

test("gives a child's job the artifacts of a parent's job", async () => {
  const project = await pushed(
    `make: { stage: build, script: x, artifacts: { paths: [a] } }
part: { stage: test, variables: { PARENT_PIPELINE_ID: $CI_PIPELINE_ID }, trigger: { include: child.yml } }`,
    {
      'child.yml': 'take: { script: x, needs: [{ pipeline: $PARENT_PIPELINE_ID, job: make }] }',
    },
  );
  const job = await project.peer.take();
  await project.peer.upload(job, await buildZip({ a: '1' }));
  await project.peer.finish(job);
  await settle(gantry);
  const taking = await project.peer.take();
  assert.deepEqual(
    taking.body.dependencies.map(({ id, name }: { id: number; name: string }) => [id, name]),
    [[job.id, 'make']],
  );
  assert.equal(variableOf(taking, 'CI_PIPELINE_SOURCE'), 'parent_pipeline');
});

test('fails the parent when a child fails, as configured', async () => {
  const project = await pushed(
    `workflow: { auto_cancel: { on_job_failure: all } }
part: { trigger: { include: child.yml, strategy: depend } }
other: { trigger: { include: other.yml } }
beside: { tags: [nobody], script: x }`,
    { 'child.yml': child, 'other.yml': 'long: { tags: [nobody], script: x }' },
  );
  await project.run('failed');
  const parent = await project.newest();
  assert.equal(parent.status, 'failed');
  const statuses = (await project.children()).map(({ status }): string => status);
  assert.deepEqual(statuses, ['failed', 'canceled']);
});

test('holds the resource group until the child has ended', async () => {
  const project = await pushed(
    `part: { resource_group: one, trigger: { include: child.yml, strategy: depend } }
next: { resource_group: one, trigger: { include: child.yml } }`,
    { 'child.yml': child },
  );
  const statuses = async () => Object.values(await project.bridges()).map(({ status }) => status);
  assert.deepEqual(await statuses(), ['running', 'created']);
  await project.run();
  assert.deepEqual(await statuses(), ['success', 'success']);
});

test('creates a child of a merge request pipeline for the same merge request', async () => {
  const project = await makeUpstream(gantry);
  made.push(project);
  await project.push({ a: '1' });
  await project.push(
    {
      '.gitlab-ci.yml':
        'part: { only: [merge_requests], trigger: { include: [{ local: child.yml, inputs: { word: given } }], strategy: depend } }',
      'child.yml': `spec: { inputs: { word: {} } }
---
inner: { script: x, variables: { WORD: "$[[ inputs.word ]]" }, rules: [{ if: $CI_MERGE_REQUEST_IID }] }
`,
    },
    { branch: 'topic', from: 'main' },
  );
  const { iid } = (
    await gantry.api(`POST ${project.path}/merge_requests`, {
      json: { source_branch: 'topic', target_branch: 'main', title: 'Do it' },
    })
  ).body;
  await settle(gantry);
  const [one, ...others] = await project.children();
  assert.deepEqual([one.ref, others], [`refs/merge-requests/${iid}/head`, []]);
  const list = await gantry.api(`GET ${project.path}/merge_requests/${iid}/pipelines`);
  assert.equal(list.body.length, 1);
  const head = (await gantry.api(`GET ${project.path}/merge_requests/${iid}`)).body;
  assert.equal((head.head_pipeline ?? head.pipeline).id, list.body[0].id);
  const job = await project.run();
  assert.deepEqual(
    [variableOf(job, 'WORD'), variableOf(job, 'CI_MERGE_REQUEST_IID')],
    ['given', String(iid)],
  );
});
