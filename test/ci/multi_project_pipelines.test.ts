/** Multi-project pipelines: by whose rights they start, and how deep. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startDownstream } from '../../src/ci/pipelines/downstream/start_downstream.ts';
import { sweepBridges } from '../../src/ci/pipelines/downstream/sweep_trigger_jobs.ts';
import { readArchiveTextFile } from '../../src/ci/artifacts/store/read_archive_text_file.ts';
import { setJob, setPipeline } from '../support/ci/jobs.ts';
import { settle } from '../support/seed_merge_requests.ts';
import { seedMember, seedUser } from '../support/seed.ts';
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

const project = async (config: string, visibility: 'private' | 'public' = 'public'): Promise<Upstream> => {
  const one = await makeUpstream(gantry, { visibility });
  made.push(one);
  await one.push(config);
  return one;
};

const worker = 'work: { script: x, rules: [{ if: "$FROM" }] }';
/** More of the job, of its `trigger`, of its variables. */
type More = { job?: string; trigger?: string; variables?: string };

const calling = (path: string, { job = '', trigger = '', variables = '' }: More = {}): string => `call:
  ${job}
  variables: { FROM: $CI_PROJECT_PATH, ${variables} }
  trigger: { project: ${path}, strategy: depend, ${trigger} }
`;

const reasonOf = async (upstream: Upstream): Promise<string> =>
  (await upstream.bridges())['call'].failure_reason;

test('starts the pipeline of another project and waits for it', async () => {
  const other = await project(worker);
  const upstream = await project(
    calling('$CI_PROJECT_NAMESPACE/$OTHER', { variables: `OTHER: ${other.full_path.split('/').pop()}` }),
  );
  const { call } = await upstream.bridges();
  assert.equal(call.status, 'running');
  const [downstream] = await other.pipelines();
  assert.deepEqual([downstream.source, downstream.ref], ['pipeline', 'main']);
  assert.deepEqual(call.downstream_pipeline, downstream);
  assert.match(downstream.web_url, new RegExp(`${other.full_path}/-/pipelines/${downstream.id}$`));
  const job = await other.run();
  assert.equal(variableOf(job, 'FROM'), upstream.full_path);
  assert.equal(variableOf(job, 'CI_PIPELINE_SOURCE'), 'pipeline');
  assert.equal((await upstream.newest()).status, 'success');
  assert.deepEqual(
    (await other.pipelines('source=pipeline')).map(({ id }) => id),
    [downstream.id],
  );
});

test('uses the named branch, and starts none if it is missing', async () => {
  const other = await project(worker);
  await other.push('side: { script: x, only: [pipelines] }', { branch: 'side' });
  const upstream = await project(
    calling(other.full_path, { trigger: 'branch: $WHERE', variables: 'WHERE: side' }),
  );
  assert.deepEqual(await other.jobs((await other.pipelines('ref=side&source=pipeline'))[0].id), ['side']);
  await upstream.push(calling(other.full_path, { trigger: 'branch: gone' }));
  assert.equal(await reasonOf(upstream), 'downstream_pipeline_creation_failed');
});

test('answers alike for hidden and missing projects, and refuses users who can only read', async () => {
  const hidden = await project(worker, 'private');
  const shown = await project(worker);
  const upstream = await project('x: { script: x }');
  const as = upstream.developer;
  const push = async (path: string) => {
    await upstream.push(calling(path), { branch: 'topic', by: as.id });
    return await reasonOf(upstream);
  };
  assert.equal(await push(hidden.full_path), 'downstream_bridge_project_not_found');
  assert.equal(await push('none/there'), 'downstream_bridge_project_not_found');
  assert.equal(await push(shown.full_path), 'insufficient_bridge_permissions');
  await seedMember(gantry, { user: as.id, project: hidden.id, access_level: 30 });
  // Its default branch is protected against developers.
  assert.equal(await push(hidden.full_path), 'insufficient_bridge_permissions');
  await seedMember(gantry, { user: as.id, project: shown.id, access_level: 40 });
  assert.equal(await push(shown.full_path), null);
  assert.deepEqual((await hidden.pipelines('source=pipeline')).length, 0);
  assert.equal((await shown.pipelines('source=pipeline'))[0].status, 'pending');
});

test('shows the started pipeline to users who see it, and protected variables to its jobs alone', async () => {
  const hidden = await project(worker, 'private');
  await gantry.api(`POST ${hidden.path}/variables`, {
    json: { key: 'GUARDED', value: 'guarded-value', protected: true },
  });
  const upstream = await project(calling(hidden.full_path));
  const path = `${upstream.path}/pipelines/${(await upstream.newest()).id}/bridges`;
  const seen = async (as: string) => (await gantry.api(`GET ${path}`, { as })).body[0].downstream_pipeline;
  const { token } = await seedUser(gantry);
  assert.equal(await seen(token), null);
  assert.equal((await seen(hidden.developer.token)).project_id, hidden.id);
  const job = await hidden.run();
  assert.equal(variableOf(job, 'GUARDED'), 'guarded-value');
  const main = await upstream.newest();
  const variables = await gantry.api(`GET ${upstream.path}/pipelines/${main.id}/variables`);
  assert.deepEqual(variables.body, []);
});

test('continues when the upstream is cancelled; a retry starts a new one', async () => {
  const other = await project(worker);
  const upstream = await project(calling(other.full_path));
  const { id } = await upstream.newest();
  await upstream.post(`pipelines/${id}/cancel`);
  assert.equal((await upstream.bridges())['call'].status, 'canceled');
  const [first] = await other.pipelines('source=pipeline');
  await other.run();
  assert.equal((await other.pipeline(first.id)).status, 'success');
  assert.equal((await upstream.bridges())['call'].status, 'canceled');
  await upstream.post(`pipelines/${id}/retry`);
  assert.equal((await other.pipelines('source=pipeline')).length, 2);
  await other.run('failed');
  assert.equal((await upstream.pipeline(id)).status, 'failed');
});

test('starts once, whichever process dies, and never for a cancelled job', async () => {
  const other = await project(worker);
  const upstream = await project(calling(other.full_path));
  const { platform } = gantry.service;
  const { call } = await upstream.bridges();
  // As if the process died after creating it, before reporting.
  await setJob(gantry, call.id, { status: 'pending', started_at: null });
  await Promise.all([1, 2].map(async () => await startDownstream(platform, call.id, readArchiveTextFile)));
  assert.equal((await other.pipelines('source=pipeline')).length, 1);
  assert.equal((await upstream.bridges())['call'].status, 'running');
  // As if it was cancelled while being created.
  await setJob(gantry, call.id, { status: 'canceled', started_at: null });
  await startDownstream(platform, call.id, readArchiveTextFile);
  await settle(gantry);
  assert.equal((await other.pipelines('source=pipeline'))[0].status, 'canceled');
  assert.equal((await upstream.bridges())['call'].status, 'canceled');
});

test('stops waiting for a deleted pipeline', async () => {
  const [other, gone] = [await project(worker), await project(worker)];
  const upstream = await project(calling(other.full_path));
  const [downstream] = await other.pipelines('source=pipeline');
  assert.equal((await gantry.api(`DELETE ${other.path}/pipelines/${downstream.id}`)).status, 204);
  await settle(gantry);
  assert.equal((await upstream.bridges())['call'].status, 'failed');
  await upstream.push(calling(gone.full_path));
  const { store } = gantry.service.platform;
  await store.write(async ({ db }) => await db.deleteFrom('projects').where('id', '=', gone.id).execute());
  await sweepBridges(gantry.service.platform);
  assert.equal((await upstream.bridges())['call'].status, 'failed');
});

test('starts nothing for a user who was blocked meanwhile', async () => {
  const other = await project(worker);
  const upstream = await project('x: { script: x }');
  const as = upstream.developer;
  await seedMember(gantry, { user: as.id, project: other.id, access_level: 40 });
  await upstream.push(calling(other.full_path, { job: 'when: manual' }), {
    branch: 'topic',
    by: as.id,
  });
  const { call } = await upstream.bridges();
  const played = await upstream.post(`jobs/${call.id}/play`, as.token);
  assert.equal(played.status, 201);
  assert.equal((await upstream.bridges())['call'].status, 'running');
  const { store } = gantry.service.platform;
  await setJob(gantry, call.id, { status: 'failed' });
  await store.write(
    async ({ db }) =>
      await db.updateTable('users').set({ state: 'blocked' }).where('id', '=', as.id).execute(),
  );
  const again = await upstream.post(`jobs/${call.id}/retry`);
  assert.equal(again.status, 201);
  assert.equal((await upstream.bridges())['call'].user.username, 'root');
  await setJob(gantry, again.body.id, { status: 'pending', started_at: null, user_id: as.id });
  await store.write(
    async ({ db }) =>
      await db
        .updateTable('pipelines')
        .set({ source_job_id: null })
        .where('source_job_id', '=', again.body.id)
        .execute(),
  );
  await startDownstream(gantry.service.platform, again.body.id, readArchiveTextFile);
  assert.equal(await reasonOf(upstream), 'insufficient_bridge_permissions');
});

test('ends a mutual start after a few rounds', async () => {
  const one = await project('x: { script: x }');
  const two = await project(`call: { trigger: ${one.full_path} }`);
  await one.push(`call: { trigger: ${two.full_path} }`);
  const reasons: string[] = [];
  for (const where of [one, two]) {
    for (const { id } of await where.pipelines('source=pipeline')) {
      const { call } = await where.bridges(id);
      if (call !== undefined) reasons.push(call.failure_reason);
    }
  }
  assert.ok(reasons.length >= 3 && reasons.length <= 6, reasons.join());
  assert.equal(reasons.filter((reason) => reason === 'pipeline_loop_detected').length, 1);
});

test('limits a tree of pipelines to a thousand', async () => {
  const other = await project(worker);
  const upstream = await project('x: { script: x }');
  const [root] = await upstream.pipelines();
  const { store } = gantry.service.platform;
  await store.write(async ({ db }) => {
    const row = await db
      .selectFrom('pipelines')
      .selectAll()
      .where('id', '=', root.id)
      .executeTakeFirstOrThrow();
    const { id: _id, ...rest } = row;
    const rows = Array.from({ length: 999 }, (_one, at) => ({ ...rest, iid: 1000 + at, root_id: root.id }));
    for (let at = 0; at < rows.length; at += 100) {
      await db
        .insertInto('pipelines')
        .values(rows.slice(at, at + 100))
        .execute();
    }
  });
  await upstream.push(calling(other.full_path));
  assert.equal((await upstream.bridges())['call'].status, 'running');
  const { call } = await upstream.bridges();
  await upstream.post(`pipelines/${call.pipeline.id}/cancel`);
  await setPipeline(gantry, call.pipeline.id, { root_id: root.id });
  await upstream.post(`jobs/${call.id}/retry`);
  assert.equal(await reasonOf(upstream), 'reached_max_pipeline_hierarchy_size');
});

test('passes the inputs that the other configuration declares', async () => {
  const other = await project(`spec: { inputs: { word: { default: usual } } }
---
work: { script: x, variables: { WORD: "$[[ inputs.word ]]" } }
`);
  await other.run();
  await project(calling(other.full_path, { trigger: 'inputs: { word: given }' }));
  assert.equal(variableOf(await other.run(), 'WORD'), 'given');
});

// The last: nothing is done by itself from here on.
test('starts once when several start it concurrently', async () => {
  const other = await project(worker);
  const upstream = await project('x: { script: x }');
  await upstream.push(calling(other.full_path, { job: 'when: manual' }));
  const { call } = await upstream.bridges();
  await gantry.service.worker.stop();
  await gantry.api(`POST ${upstream.path}/jobs/${call.id}/play`);
  const { platform } = gantry.service;
  const start = async () => await startDownstream(platform, call.id, readArchiveTextFile);
  await Promise.allSettled([1, 2, 3].map(start));
  await start();
  assert.equal((await other.pipelines('source=pipeline')).length, 1);
  assert.equal((await upstream.bridges())['call'].status, 'running');
});
