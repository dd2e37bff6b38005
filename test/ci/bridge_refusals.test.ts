/** Reasons why a trigger job cannot start a pipeline, shown to users who can see the downstream project. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedUser } from '../support/seed.ts';
import { seedVisitor } from '../support/seed_visitor.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { type Upstream, makeUpstream } from './downstream.ts';

let gantry: TestService;
const made: Upstream[] = [];
before(async () => {
  gantry = await startTestService();
});
after(async () => {
  for (const { peer } of made) peer.close();
  await gantry.close();
});

const project = async (
  files: Record<string, string>,
  visibility: 'private' | 'public' = 'public',
): Promise<Upstream> => {
  const one = await makeUpstream(gantry, { visibility });
  made.push(one);
  await one.push(files);
  return one;
};

type BridgeFailure = [status: string, reason: string | null, errors: string[]];

const readBridgeFailure = async (app: Upstream): Promise<BridgeFailure> => {
  const { call } = await app.bridges();
  return [call.status, call.failure_reason, call.downstream_errors];
};

const creationFailed = 'downstream_pipeline_creation_failed';
const noJobs =
  'Pipeline will not run for the selected trigger. ' +
  'The rules configuration prevented any jobs from being added to the pipeline.';

const part = (child: string): Record<string, string> => ({
  '.gitlab-ci.yml': 'call: { trigger: { include: child.yml } }',
  'child.yml': child,
});

test('explains a child pipeline without jobs by its rules or workflow', async () => {
  const app = await project(part('work: { script: x, rules: [{ if: $NEVER }] }'));
  assert.deepEqual(await readBridgeFailure(app), ['failed', creationFailed, [noJobs]]);
  await app.push(part('workflow: { rules: [{ if: $NEVER }] }\nwork: { script: x }'));
  assert.deepEqual(await readBridgeFailure(app), [
    'failed',
    creationFailed,
    ['Pipeline filtered out by workflow rules.'],
  ]);
});

test('reports each fault of the child configuration', async () => {
  const app = await project(part('work: { script: x, image: [1], tags: 3 }'));
  assert.deepEqual(await readBridgeFailure(app), [
    'failed',
    creationFailed,
    [
      'child.yml: jobs:work:image config should be a hash or a string (line 1)',
      'child.yml: jobs:work:tags config should be an array of strings (line 1)',
    ],
  ]);
  await app.push({ '.gitlab-ci.yml': 'call: { trigger: { include: none.yml } }' });
  const [, , errors] = await readBridgeFailure(app);
  assert.match(errors.join(), /^Local file `none.yml` does not exist! \(line 1\)$/);
});

test('explains a project without the branch or without a configuration', async () => {
  const other = await project({ a: '1' });
  const app = await project({ '.gitlab-ci.yml': `call: { trigger: ${other.full_path} }` });
  assert.deepEqual(await readBridgeFailure(app), ['failed', creationFailed, ['Missing .gitlab-ci.yml file']]);
  await app.push(`call: { trigger: { project: ${other.full_path}, branch: gone } }`);
  assert.deepEqual(await readBridgeFailure(app), ['failed', creationFailed, ['Reference not found']]);
  const long = `"${'x'.repeat(70_000)}"`;
  await app.push(`call: { trigger: ${other.full_path}, variables: { BIG: ${long} } }`);
  const [, reason, errors] = await readBridgeFailure(app);
  assert.deepEqual(
    [reason, errors],
    [creationFailed, ['Variables BIG: is too long. The maximum is 65536 bytes.']],
  );
});

test('hides reasons about a project from users who cannot see it, and shows none where there is none', async () => {
  const other = await project(
    { '.gitlab-ci.yml': 'hidden: { script: x, rules: [{ if: $NEVER }] }' },
    'private',
  );
  const app = await project({ '.gitlab-ci.yml': `call: { trigger: ${other.full_path} }` });
  const path = `${app.path}/pipelines/${(await app.newest()).id}/bridges`;
  const seen = async (as: string) => (await gantry.api(`GET ${path}`, { as })).body[0].downstream_errors;
  const { token } = await seedUser(gantry);
  assert.deepEqual(await seen(other.developer.token), [noJobs]);
  assert.deepEqual(await seen(token), []);
  await other.push('hidden: { script: x, image: [1] }');
  await app.push({ more: '1' });
  const next = `${app.path}/pipelines/${(await app.newest()).id}/bridges`;
  const faults = async (as: string) => (await gantry.api(`GET ${next}`, { as })).body[0].downstream_errors;
  assert.match((await faults(other.developer.token)).join(), /jobs:hidden:image/);
  assert.deepEqual(await faults(token), []);
  await app.push(part('work: { script: x }'));
  assert.deepEqual(await readBridgeFailure(app), ['success', null, []]);
  await app.push('call: { trigger: none/there }');
  assert.deepEqual(await readBridgeFailure(app), ['failed', 'downstream_bridge_project_not_found', []]);
});

test('shows the reason on the page of the pipeline', async () => {
  const app = await project(part('work: { script: x, image: [1] }'));
  const { visitor } = await seedVisitor(gantry, { project: app.id, access_level: 20 });
  const { text } = await visitor.get(`/${app.full_path}/-/pipelines/${(await app.newest()).id}`);
  assert.match(
    text,
    /downstream pipeline creation failed\s+child\.yml: jobs:work:image config should be a hash/,
  );
});
