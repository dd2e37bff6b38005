import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setJob } from '../../../../test/support/ci/jobs.ts';
import { type Pushed, seedPushed } from '../../../../test/support/ci/pipelines.ts';
import { openRequest, seedBranch, settle } from '../../../../test/support/seed_merge_requests.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { sealValue } from '../../variables/queries.ts';
import type { JobVariable } from './job_variable.ts';
import { loadVariablesOfJob } from './job_variables.ts';

let gantry: TestService;

before(async () => {
  gantry = await startTestService();
});

after(async () => await gantry.close());

const issue = { base_url: 'https://ci.example.com:8443/git', token: 'glcbt-secret' };

const jobId = async (project: Pushed, name: string): Promise<number> => {
  const row = await gantry.service.platform.store.db
    .selectFrom('jobs')
    .select('id')
    .where('project_id', '=', project.id)
    .where('name', '=', name)
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow();
  return row.id;
};

const variablesOf = async (project: Pushed, name: string): Promise<Map<string, JobVariable>> => {
  const all = await loadVariablesOfJob(gantry.service.platform, await jobId(project, name), issue);
  const byKey = new Map(all.map((variable) => [variable.key, variable]));
  assert.equal(byKey.size, all.length, 'each key once');
  return byKey;
};

const valuesOf = (variables: Map<string, JobVariable>, keys: string[]) =>
  Object.fromEntries(keys.map((key) => [key, variables.get(key)?.value]));

const setVariable = async (path: string, key: string, value: string, more: object = {}): Promise<void> => {
  const { status, text } = await gantry.api(`POST ${path}`, { json: { key, value, ...more } });
  assert.equal(status, 201, text);
};

test('describes the job, its pipeline and its project', async () => {
  const project = await seedPushed(gantry);
  const message = 'Say $HOME, please\n\nIn full.\n';
  const sha = await project.push('Build it: { stage: build, script: x, image: alpine, parallel: 2 }', {
    message,
  });
  const variables = await variablesOf(project, 'Build it 2/2');
  const id = await jobId(project, 'Build it 2/2');
  const [pipeline] = await project.pipelines();
  const url = `${issue.base_url}/${project.full_path}`;
  const expected = {
    CI: 'true',
    GITLAB_CI: 'true',
    CI_SERVER_URL: issue.base_url,
    CI_SERVER_HOST: 'ci.example.com',
    CI_SERVER_PORT: '8443',
    CI_SERVER_PROTOCOL: 'https',
    CI_SERVER_FQDN: 'ci.example.com:8443',
    CI_API_V4_URL: `${issue.base_url}/api/v4`,
    CI_PROJECT_ID: String(project.id),
    CI_PROJECT_PATH: project.full_path,
    CI_PROJECT_URL: url,
    CI_PIPELINE_ID: String(pipeline.id),
    CI_PIPELINE_IID: '1',
    CI_PIPELINE_SOURCE: 'push',
    CI_PIPELINE_URL: `${url}/-/pipelines/${pipeline.id}`,
    CI_JOB_ID: String(id),
    CI_JOB_NAME: 'Build it 2/2',
    CI_JOB_NAME_SLUG: 'build-it-2-2',
    CI_JOB_STAGE: 'build',
    CI_JOB_IMAGE: 'alpine',
    CI_JOB_URL: `${url}/-/jobs/${id}`,
    CI_JOB_TOKEN: issue.token,
    CI_NODE_INDEX: '2',
    CI_NODE_TOTAL: '2',
    CI_COMMIT_SHA: sha,
    CI_COMMIT_REF_NAME: 'main',
    CI_COMMIT_BRANCH: 'main',
    CI_COMMIT_REF_PROTECTED: 'true',
    CI_COMMIT_TITLE: 'Say $HOME, please',
    CI_COMMIT_DESCRIPTION: 'In full.',
    CI_DEFAULT_BRANCH: 'main',
    CI_REPOSITORY_URL: `https://gitlab-ci-token:${issue.token}@ci.example.com:8443/git/${project.full_path}.git`,
    GITLAB_USER_LOGIN: 'root',
    CI_BUILD_ID: String(id),
    CI_BUILD_REF: sha,
    CI_BUILD_NAME: 'Build it 2/2',
    CI_BUILD_STAGE: 'build',
    CI_BUILD_TOKEN: issue.token,
  };
  assert.deepEqual(valuesOf(variables, Object.keys(expected)), expected);
  assert.equal(variables.has('CI_COMMIT_TAG'), false);
  // Text written by other users is not expanded, and secrets are masked in logs.
  assert.equal(variables.get('CI_COMMIT_MESSAGE')?.raw, true);
  const { public: isPublic, masked } = variables.get('CI_JOB_TOKEN') ?? {};
  assert.deepEqual([isPublic, masked], [false, true]);
});

test('applies precedence: file, groups, project, pipeline, manual start', async () => {
  const project = await seedPushed(gantry);
  const all = ['A', 'B', 'C', 'D', 'CI_JOB_STAGE'];
  const file = `variables: { ${all.map((key) => `${key}: file`).join(', ')}, GLOBAL: all }
job: { script: x, variables: { GLOBAL: own } }`;
  await setVariable('/admin/ci/variables', 'B', 'instance');
  await setVariable('/admin/ci/variables', 'C', 'instance');
  for (const key of ['C', 'D']) await setVariable(`${project.path}/variables`, key, 'project');
  await project.push(file);
  const variables = [
    { key: 'D', value: 'pipeline' },
    { key: 'E', value: 'pipeline' },
  ];
  await gantry.api(`POST ${project.path}/pipeline`, { json: { ref: 'main', variables } });
  const played = { job_id: await jobId(project, 'job'), source: 'play' };
  await gantry.service.platform.store.write(
    async ({ db }) =>
      await db
        .insertInto('job_variables')
        .values({ ...played, key: 'E', sealed_value: sealValue(gantry.service.platform, 'player') })
        .execute(),
  );
  const received = await variablesOf(project, 'job');
  assert.deepEqual(valuesOf(received, [...all, 'E', 'GLOBAL']), {
    A: 'file',
    B: 'instance',
    C: 'project',
    D: 'pipeline',
    CI_JOB_STAGE: 'file',
    E: 'player',
    GLOBAL: 'own',
  });
});

test('marks masked, file and raw variables; leaves out protected ones and those of other environments', async () => {
  const project = await seedPushed(gantry);
  const path = `${project.path}/variables`;
  await setVariable(path, 'SECRET', 'correct-horse', { masked: true, protected: true });
  await setVariable(path, 'CONFIG', '$x', { variable_type: 'file', raw: true });
  await setVariable(path, 'WHERE', 'production', { environment_scope: 'prod*' });
  await setVariable(path, 'WHERE', 'staging', { environment_scope: 'staging' });
  const environment = `environment: { name: staging, url: 'https://$CI_ENVIRONMENT_SLUG.example.com' }`;
  await project.push(`job: { script: x, ${environment} }\nplain: { script: x }`);
  const job = await variablesOf(project, 'job');
  const flagsOf = (key: string) => {
    const { masked, file, raw, public: isPublic } = job.get(key) ?? {};
    return { masked, file, raw, isPublic };
  };
  assert.deepEqual(flagsOf('SECRET'), { masked: true, file: false, raw: false, isPublic: false });
  assert.deepEqual(flagsOf('CONFIG'), { masked: false, file: true, raw: true, isPublic: false });
  assert.deepEqual(
    valuesOf(job, ['WHERE', 'CI_ENVIRONMENT_NAME', 'CI_ENVIRONMENT_SLUG', 'CI_ENVIRONMENT_TIER']),
    {
      WHERE: 'staging',
      CI_ENVIRONMENT_NAME: 'staging',
      CI_ENVIRONMENT_SLUG: 'staging',
      CI_ENVIRONMENT_TIER: 'staging',
    },
  );
  assert.equal((await variablesOf(project, 'plain')).has('WHERE'), false);
  await project.push({ more: '1' }, { branch: 'topic', from: 'main' });
  assert.equal((await variablesOf(project, 'job')).has('SECRET'), false);
});

test('passes reported variables to dependent jobs', async () => {
  const project = await seedPushed(gantry);
  await project.push(
    'a: { stage: build, script: x }\nb: { script: x }\nc: { script: x, dependencies: [] }\nd: { script: x, needs: [{ job: a, artifacts: false }] }',
  );
  const { platform } = gantry.service;
  const a = await jobId(project, 'a');
  await setJob(gantry, a, { status: 'success' });
  const reported = { job_id: a, key: 'VERSION', sealed_value: sealValue(platform, '1.2'), source: 'dotenv' };
  await platform.store.write(
    async ({ db }) => await db.insertInto('job_variables').values(reported).execute(),
  );
  assert.equal((await variablesOf(project, 'b')).get('VERSION')?.value, '1.2');
  for (const name of ['c', 'd']) assert.equal((await variablesOf(project, name)).has('VERSION'), false, name);
});

test('describes the merge request', async () => {
  const project = await seedPushed(gantry);
  await project.push(`job: { script: x, rules: [{ if: $CI_MERGE_REQUEST_IID }] }`);
  const sha = await seedBranch(gantry, project, 'topic');
  const request = await openRequest(gantry, project, 'topic', { labels: 'one,two', title: 'Better' });
  await settle(gantry);
  const expected = {
    CI_PIPELINE_SOURCE: 'merge_request_event',
    CI_COMMIT_REF_NAME: 'topic',
    CI_COMMIT_BRANCH: undefined,
    CI_COMMIT_REF_PROTECTED: 'false',
    CI_MERGE_REQUEST_ID: String(request.id),
    CI_MERGE_REQUEST_IID: String(request.iid),
    CI_MERGE_REQUEST_TITLE: 'Better',
    CI_MERGE_REQUEST_LABELS: 'one,two',
    CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'topic',
    CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: sha,
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
    CI_MERGE_REQUEST_EVENT_TYPE: 'detached',
    CI_OPEN_MERGE_REQUESTS: `${project.full_path}!${request.iid}`,
  };
  assert.deepEqual(valuesOf(await variablesOf(project, 'job'), Object.keys(expected)), expected);
});

test('a deleted job has no variables', async () => {
  assert.deepEqual(await loadVariablesOfJob(gantry.service.platform, 1_000_000, issue), []);
});
