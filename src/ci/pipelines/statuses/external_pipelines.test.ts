/** Tests the effect of external commit statuses on pipelines and merge requests. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setJob } from '../../../../test/support/ci/jobs.ts';
import { type Pushed, seedPushed } from '../../../../test/support/ci/pipelines.ts';
import {
  type Request,
  merge,
  openRequest,
  readRequest,
  seedBranch,
  settle,
} from '../../../../test/support/seed_merge_requests.ts';
import { type ProjectSeed, seedUser } from '../../../../test/support/seed.ts';
import { type Reply, type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const say = async ({ path, developer }: Pushed, sha: string, json: object): Promise<Reply> =>
  await gantry.api(`POST ${path}/statuses/${sha}`, { json, as: developer.token });

const said = async (project: Pushed, sha: string, json: object) => {
  const { status, text, body } = await say(project, sha, json);
  assert.equal(status, 201, text);
  return body;
};

const read = async ({ path }: Pushed, id: number) => (await gantry.api(`GET ${path}/pipelines/${id}`)).body;

/** Creates a project without a configuration. Returns it with its first commit. */
const seedPlain = async (attributes: ProjectSeed = {}): Promise<{ project: Pushed; sha: string }> => {
  const project = await seedPushed(gantry, attributes);
  return { project, sha: await project.push({ 'README.md': 'Read me' }) };
};

test('a status creates a pipeline if none exists, and is its only entry', async () => {
  const { project, sha } = await seedPlain();
  assert.deepEqual(await project.pipelines(), []);
  const { pipeline_id, ref } = await said(project, sha, { state: 'pending', name: 'jenkins' });
  assert.equal(ref, 'main');
  const [pipeline, ...others] = await project.pipelines('source=external');
  assert.deepEqual(others, []);
  assert.partialDeepStrictEqual(pipeline, {
    id: pipeline_id,
    iid: 1,
    sha,
    ref: 'main',
    status: 'pending',
    source: 'external',
  });
  const { body: jobs } = await gantry.api(`GET ${project.path}/jobs`);
  const { body: own } = await gantry.api(`GET ${project.path}/pipelines/${pipeline_id}/jobs`);
  assert.deepEqual([jobs, own], [[], []]);
  const { user, tag, before_sha } = await read(project, pipeline_id);
  assert.deepEqual([user.id, tag, before_sha], [project.developer.id, false, '0'.repeat(40)]);
  const { body: commit } = await gantry.api(`GET ${project.path}/repository/commits/${sha}`);
  assert.deepEqual([commit.status, commit.last_pipeline.id], ['pending', pipeline_id]);
  const { body: told } = await gantry.api(`GET ${project.path}/repository/commits/${sha}/statuses`);
  assert.deepEqual([told[0].pipeline_id, told[0].target_url], [pipeline_id, null]);
});

test('the pipeline combines the newest status of each name', async () => {
  const { project, sha } = await seedPlain();
  const { pipeline_id } = await said(project, sha, { state: 'running', name: 'jenkins' });
  const now = async (): Promise<string> => (await read(project, pipeline_id)).status;
  assert.equal(await now(), 'running');
  assert.equal((await read(project, pipeline_id)).finished_at, null);
  await said(project, sha, { state: 'success', name: 'jenkins', coverage: 80 });
  const { status, finished_at, coverage } = await read(project, pipeline_id);
  assert.deepEqual([status, coverage], ['success', '80.00']);
  assert.notEqual(finished_at, null);
  const other = await said(project, sha, { state: 'failed', name: 'sonar' });
  assert.deepEqual([other.pipeline_id, await now()], [pipeline_id, 'failed']);
  await said(project, sha, { state: 'pending', name: 'sonar' });
  assert.equal(await now(), 'running');
  await said(project, sha, { state: 'success', name: 'sonar' });
  assert.equal(await now(), 'success');
  await said(project, sha, { state: 'failed', name: 'style', allow_failure: true });
  assert.equal(await now(), 'success');
  const { detailed_status } = await read(project, pipeline_id);
  assert.equal(detailed_status.text, 'Warning');
  assert.equal((await project.pipelines()).length, 1);
});

test('an invalid transition is refused and creates no pipeline', async () => {
  const { project, sha } = await seedPlain();
  await said(project, sha, { state: 'running' });
  const twice = await say(project, sha, { state: 'running' });
  assert.deepEqual(
    [twice.status, twice.body.message],
    [400, 'Cannot transition status via :run from :running'],
  );
  assert.equal((await say(project, sha, { state: 'success', ref: 'nothing' })).status, 404);
  assert.equal((await project.pipelines()).length, 1);
});

test('each branch of a commit has its own statuses; a tag is marked as one', async () => {
  const { project, sha } = await seedPlain();
  await gantry.api(`POST ${project.path}/repository/branches`, { json: { branch: 'topic', ref: 'main' } });
  await gantry.api(`POST ${project.path}/repository/tags`, { json: { tag_name: 'v1', ref: 'main' } });
  await said(project, sha, { state: 'success', ref: 'refs/heads/topic' });
  await said(project, sha, { state: 'failed', ref: 'v1' });
  // Defaults to the ref of the newest pipeline.
  await said(project, sha, { state: 'running' });
  const shown = (await project.pipelines('sort=asc')).map(({ ref, status }) => `${ref} ${status}`);
  assert.deepEqual(shown, ['topic success', 'v1 running']);
  const { body: tags } = await gantry.api(`GET ${project.path}/pipelines?scope=tags`);
  assert.deepEqual(
    tags.map(({ ref }: { ref: string }) => ref),
    ['v1'],
  );
});

const built = 'build: { script: make }';

test('external statuses of a commit count together with the jobs of its pipeline', async () => {
  const project = await seedPushed(gantry);
  const sha = await project.push(built);
  const [pipeline] = await project.pipelines();
  const { pipeline_id } = await said(project, sha, { state: 'failed', name: 'jenkins' });
  assert.equal(pipeline_id, pipeline.id);
  const { body: jobs } = await gantry.api(`GET ${project.path}/pipelines/${pipeline.id}/jobs`);
  assert.deepEqual(
    jobs.map(({ name }: { name: string }) => name),
    ['build'],
  );
  const now = async (): Promise<string> => (await read(project, pipeline.id)).status;
  assert.equal(await now(), 'running');
  await setJob(gantry, jobs[0].id, { status: 'success' });
  await said(project, sha, { state: 'running', name: 'jenkins' });
  assert.equal(await now(), 'running');
  await said(project, sha, { state: 'success', name: 'jenkins' });
  assert.equal(await now(), 'success');
});

test('a pipeline keeps running after its jobs while an external status is pending', async () => {
  const project = await seedPushed(gantry);
  const sha = await project.push(built);
  const [pipeline] = await project.pipelines();
  await said(project, sha, { state: 'failed', name: 'jenkins' });
  const { body: jobs } = await gantry.api(`GET ${project.path}/jobs`);
  assert.equal((await gantry.api(`POST ${project.path}/jobs/${jobs[0].id}/cancel`)).status, 201);
  assert.equal((await read(project, pipeline.id)).status, 'failed');
  await said(project, sha, { state: 'running', name: 'jenkins' });
  assert.equal((await gantry.api(`POST ${project.path}/pipelines/${pipeline.id}/retry`)).status, 201);
  const again = (await gantry.api(`GET ${project.path}/jobs`)).body[0];
  assert.equal((await gantry.api(`POST ${project.path}/jobs/${again.id}/cancel`)).status, 201);
  assert.equal((await read(project, pipeline.id)).status, 'running');
});

test('the pipeline may be named if it belongs to the commit', async () => {
  const project = await seedPushed(gantry);
  const sha = await project.push(built);
  const { body: newer } = await gantry.api(`POST ${project.path}/pipeline`, { json: { ref: 'main' } });
  const [older] = (await project.pipelines('sort=asc')) as { id: number }[];
  assert.equal((await said(project, sha, { state: 'running' })).pipeline_id, newer.id);
  assert.equal(
    (await said(project, sha, { state: 'running', pipeline_id: older?.id })).pipeline_id,
    older?.id,
  );
  const { body: told } = await gantry.api(
    `GET ${project.path}/repository/commits/${sha}/statuses?stage=external&pipeline_id=${older?.id}`,
  );
  assert.deepEqual(
    told.map(({ pipeline_id }: { pipeline_id: number }) => pipeline_id),
    [older?.id],
  );
  await gantry.api(`POST ${project.path}/repository/branches`, { json: { branch: 'topic', ref: 'main' } });
  const missing = { message: '404 Pipeline for pipeline_id, sha and ref Not Found' };
  for (const json of [{ pipeline_id: newer.id + 1000 }, { pipeline_id: newer.id, ref: 'topic' }]) {
    const { status, body } = await say(project, sha, { state: 'success', ...json });
    assert.deepEqual([status, body], [404, missing]);
  }
  const other = await seedPlain();
  const theirs = await said(other.project, other.sha, { state: 'success' });
  const { status, body } = await say(project, sha, { state: 'success', pipeline_id: theirs.pipeline_id });
  assert.deepEqual([status, body], [404, missing]);
});

test('a pipeline with an invalid file stays failed after any status or action', async () => {
  const project = await seedPushed(gantry);
  const sha = await project.push('build: { stage: nowhere, script: make }');
  const [pipeline] = await project.pipelines();
  assert.equal(pipeline.status, 'failed');
  await said(project, sha, { state: 'success' });
  assert.equal((await read(project, pipeline.id)).status, 'failed');
  const { body } = await gantry.api(`POST ${project.path}/pipelines/${pipeline.id}/cancel`);
  assert.equal(body.status, 'failed');
});

test('pending external statuses are canceled and deleted with their pipeline', async () => {
  const { project, sha } = await seedPlain();
  const { id, pipeline_id } = await said(project, sha, { state: 'running' });
  const { body } = await gantry.api(`POST ${project.path}/pipelines/${pipeline_id}/cancel`);
  assert.equal(body.status, 'canceled');
  const statuses = `GET ${project.path}/repository/commits/${sha}/statuses`;
  assert.equal((await gantry.api(statuses)).body[0].status, 'canceled');
  const renewed = await said(project, sha, { state: 'success' });
  assert.deepEqual([renewed.id === id, renewed.pipeline_id], [false, pipeline_id]);
  assert.equal((await read(project, pipeline_id)).status, 'success');
  assert.equal((await gantry.api(`DELETE ${project.path}/pipelines/${pipeline_id}`)).status, 204);
  assert.deepEqual((await gantry.api(statuses)).body, []);
});

test('a user without access to pipelines sees a status but no pipeline', async () => {
  const { project, sha } = await seedPlain({ visibility: 'public' });
  const { pipeline_id } = await said(project, sha, { state: 'success', name: 'jenkins' });
  const { token } = await seedUser(gantry);
  const statuses = `GET ${project.path}/repository/commits/${sha}/statuses`;
  const shown = async (query = '') => {
    const { body } = await gantry.api(`${statuses}?${query}`, { as: token });
    return body.map((one: { name: string; pipeline_id: number | null }) => [one.name, one.pipeline_id]);
  };
  assert.deepEqual(await shown(), [['jenkins', pipeline_id]]);
  await gantry.api(`PUT ${project.path}`, { json: { public_jobs: false } });
  assert.deepEqual(await shown(), [['jenkins', null]]);
  assert.deepEqual(await shown(`pipeline_id=${pipeline_id}`), []);
  const one = await gantry.api(`GET ${project.path}/pipelines/${pipeline_id}`, { as: token });
  assert.equal(one.status, 403);
  const hidden = await seedPlain({ visibility: 'private' });
  const theirs = await said(hidden.project, hidden.sha, { state: 'success' });
  const gone = await gantry.api(`GET ${hidden.project.path}/pipelines/${theirs.pipeline_id}`, { as: token });
  assert.equal(gone.status, 404);
});

test('a project with pipelines disabled stores statuses without a pipeline', async () => {
  const { project, sha } = await seedPlain();
  await gantry.api(`PUT ${project.path}`, { json: { builds_access_level: 'disabled' } });
  assert.equal((await said(project, sha, { state: 'running' })).pipeline_id, null);
  assert.equal((await said(project, sha, { state: 'success' })).status, 'success');
  assert.equal((await say(project, sha, { state: 'success', pipeline_id: 1 })).status, 404);
  await gantry.api(`PUT ${project.path}`, { json: { builds_access_level: 'enabled' } });
  assert.deepEqual(await project.pipelines(), []);
});

test('concurrent statuses create one pipeline', async () => {
  const { project, sha } = await seedPlain();
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const replies = await Promise.all(names.map((name) => say(project, sha, { state: 'success', name })));
  assert.deepEqual(
    replies.map(({ status }) => status),
    names.map(() => 201),
  );
  assert.deepEqual(
    (await project.pipelines()).map(({ status }) => status),
    ['success'],
  );
});

test('limits the names per pipeline; an existing name may still be updated', async () => {
  const { project, sha } = await seedPlain();
  const { pipeline_id } = await said(project, sha, { state: 'success', name: 'first' });
  const { id: author_id } = project.developer;
  const row = {
    project_id: project.id,
    sha,
    ref: 'main',
    pipeline_id,
    author_id,
    status: 'success' as const,
  };
  const nothing = { target_url: null, description: null, coverage: null, started_at: null };
  const rows = Array.from({ length: 999 }, (_, at) => ({
    ...row,
    ...nothing,
    name: `name ${at}`,
    created_at: 1,
    finished_at: 1,
  }));
  await gantry.service.platform.store.write(
    async ({ db }) => await db.insertInto('commit_statuses').values(rows).execute(),
  );
  const { status, body } = await say(project, sha, { state: 'failed', name: 'one more' });
  assert.deepEqual([status, body.message], [400, 'The pipeline has 1000 statuses of other names already']);
  await said(project, sha, { state: 'failed', name: 'first' });
  assert.equal((await read(project, pipeline_id)).status, 'failed');
});

/** Creates a merge request that requires a successful pipeline. */
const seedRequest = async (files: Record<string, string> = {}) => {
  const { project } = await seedPlain();
  if (Object.keys(files).length > 0) await project.push(files);
  const sha = await seedBranch(gantry, project, 'topic');
  const json = { only_allow_merge_if_pipeline_succeeds: true };
  assert.equal((await gantry.api(`PUT ${project.path}`, { json })).status, 200);
  const request = await openRequest(gantry, project, 'topic');
  await settle(gantry);
  return { project, sha, request };
};

const detail = async (request: Request): Promise<string> =>
  (await readRequest(gantry, request)).detailed_merge_status;

test('merges a merge request once the statuses of its head succeed', async () => {
  const { project, sha, request } = await seedRequest();
  const { pipeline_id } = await said(project, sha, { state: 'running', ref: 'topic' });
  const shown = await readRequest(gantry, request);
  assert.deepEqual([shown.head_pipeline.id, shown.head_pipeline.source], [pipeline_id, 'external']);
  assert.equal(shown.detailed_merge_status, 'ci_still_running');
  assert.equal((await merge(gantry, request)).status, 405);
  await said(project, sha, { state: 'failed', ref: 'topic' });
  assert.equal(await detail(request), 'ci_must_pass');
  assert.equal((await merge(gantry, request)).status, 405);
  await said(project, sha, { state: 'success', ref: 'topic' });
  assert.equal(await detail(request), 'mergeable');
  const merged = await merge(gantry, request);
  assert.deepEqual([merged.status, merged.body.state], [200, 'merged']);
});

test('completes a waiting merge when the last status succeeds', async () => {
  const { project, sha, request } = await seedRequest();
  await said(project, sha, { state: 'running', name: 'jenkins', ref: 'topic' });
  await said(project, sha, { state: 'pending', name: 'sonar', ref: 'topic' });
  const json = { merge_when_pipeline_succeeds: true };
  assert.equal((await merge(gantry, request, json)).body.state, 'opened');
  await said(project, sha, { state: 'success', name: 'jenkins', ref: 'topic' });
  await settle(gantry);
  assert.equal((await readRequest(gantry, request)).state, 'opened');
  await said(project, sha, { state: 'success', name: 'sonar', ref: 'topic' });
  await settle(gantry);
  assert.equal((await readRequest(gantry, request)).state, 'merged');
});

test('a status of a branch does not replace the pipeline of a merge request', async () => {
  const file = 'job: { script: make, rules: [{ if: $CI_MERGE_REQUEST_IID }] }';
  const { project, sha, request } = await seedRequest({ '.gitlab-ci.yml': file });
  const { head_pipeline } = await readRequest(gantry, request);
  assert.equal(head_pipeline.source, 'merge_request_event');
  const alone = await said(project, sha, { state: 'success', ref: 'topic' });
  assert.notEqual(alone.pipeline_id, head_pipeline.id);
  assert.equal((await readRequest(gantry, request)).head_pipeline.id, head_pipeline.id);
  assert.equal((await merge(gantry, request)).status, 405);
  // Names the pipeline by its id, as clients do that read it from the commit.
  const within = await said(project, sha, { state: 'success', pipeline_id: head_pipeline.id });
  assert.deepEqual([within.pipeline_id, within.ref], [head_pipeline.id, head_pipeline.ref]);
});
