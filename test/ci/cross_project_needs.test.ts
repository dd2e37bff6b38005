/** Jobs that need artifacts of other projects and pipelines: which ones, by whose rights, and if they are missing. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildZip } from '../support/ci/artifacts.ts';
import { setJob } from '../support/ci/jobs.ts';
import { settle } from '../support/seed_merge_requests.ts';
import { type Peer, type PeerJob, makePeer, seedRunner } from '../support/ci/fake_runner.ts';
import { type ProjectSeed, seedMember } from '../support/seed.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { type Upstream, makeUpstream, variableOf } from './downstream.ts';

let gantry: TestService;
const peers: Peer[] = [];
before(async () => {
  gantry = await startTestService();
});
after(async () => {
  for (const peer of peers) peer.close();
  await gantry.close();
});

const project = async (attributes: ProjectSeed = { visibility: 'private' }): Promise<Upstream> => {
  const made = await makeUpstream(gantry, attributes);
  peers.push(made.peer);
  return made;
};

const making = 'make: { script: x, artifacts: { paths: [a], reports: { dotenv: e } } }';

/** A job `make` that leaves an archive with the text and a variable. */
const make = async (lib: Upstream, text: string, expire_in?: string): Promise<number> => {
  const job = await lib.peer.take();
  await lib.peer.upload(job, await buildZip({ a: text }), expire_in === undefined ? {} : { expire_in });
  const said = Buffer.from(`MADE=${text}\n`);
  await lib.peer.upload(job, said, { type: 'dotenv', format: 'raw', filename: '.env' });
  await lib.peer.finish(job);
  await settle(gantry);
  return job.id;
};

/** A private library whose branch `main` has artifacts. */
const library = async (
  config = making,
  attributes?: ProjectSeed,
): Promise<{ lib: Upstream; made: number }> => {
  const lib = await project(attributes);
  await lib.push(config);
  return { lib, made: await make(lib, 'first') };
};

const letIn = async (lib: Upstream, { id }: Upstream): Promise<void> => {
  const { status } = await gantry.api(`POST ${lib.path}/job_token_scope/allowlist`, {
    json: { target_project_id: id },
  });
  assert.equal(status, 201);
};

const taking = (path: string, more = ''): string =>
  `take: { script: x, needs: [{ project: ${path}, job: make, ref: main ${more} }] }`;

const idsOf = ({ body }: PeerJob): [number, string][] =>
  body.dependencies.map(({ id, name }: { id: number; name: string }) => [id, name]);

/** Requests a job once, without waiting. */
const ask = async (app: Upstream) => await app.peer.poll({ last_update: 'none' }).reply;

const reasonOf = async (app: Upstream): Promise<string | null> => {
  assert.equal((await ask(app)).status, 204);
  const { body } = await gantry.api(`GET ${app.path}/jobs`);
  return body[0].failure_reason;
};

test("gives a job the newest artifacts and variables of another project's branch", async () => {
  const { lib, made } = await library();
  const app = await project();
  await letIn(lib, app);
  const variables = 'variables: { REF: main, JOB: make }\n';
  const config = `take: { script: x, needs: [{ project: $CI_PROJECT_NAMESPACE/$LIB, job: $JOB, ref: $REF }] }`;
  const [namespace = '', path = ''] = lib.full_path.split('/');
  await gantry.api(`POST ${app.path}/variables`, { json: { key: 'LIB', value: path } });
  await app.push(variables + config.replace('$CI_PROJECT_NAMESPACE', namespace));
  const job = await app.peer.take();
  assert.deepEqual(idsOf(job), [[made, 'make']]);
  assert.equal(variableOf(job, 'MADE'), 'first');
  const reply = await app.peer.download(job.body.dependencies[0].token, made);
  assert.deepEqual([reply.status, reply.bytes], [200, await buildZip({ a: 'first' })]);
  await app.peer.finish(job);
  const late = await app.peer.download(job.token, made);
  assert.equal(late.status, 403);
});

test('lets runners of release 10 download them, too', async () => {
  const { lib, made } = await library();
  const app = await project();
  await letIn(lib, app);
  const { token } = await seedRunner(gantry, {
    runner_type: 'project_type',
    projects: [app.id],
    tags: ['old'],
  });
  const old = makePeer(gantry, { token, generation: 10 });
  peers.push(old);
  await app.push(`default: { tags: [old] }\n${taking(lib.full_path)}`);
  const job = await old.take();
  assert.deepEqual(idsOf(job), [[made, 'make']]);
  const reply = await old.download(job.body.dependencies[0].token, made);
  assert.deepEqual([reply.status, reply.bytes], [200, await buildZip({ a: 'first' })]);
});

test('keeps the selected artifacts although newer ones appear; the next job gets the newest', async () => {
  const { lib, made } = await library();
  const app = await project();
  await letIn(lib, app);
  await app.push(taking(lib.full_path));
  const job = await app.peer.take();
  await lib.push({ more: '1' });
  const newer = await make(lib, 'second');
  const statuses = await Promise.all(
    [made, newer].map(async (id) => (await app.peer.download(job.token, id)).status),
  );
  assert.deepEqual(statuses, [200, 403]);
  await app.peer.finish(job);
  await app.push({ more: '1' });
  assert.deepEqual(idsOf(await app.peer.take()), [[newer, 'make']]);
});

test('ignores a failed job, another branch, or another name', async () => {
  const { lib, made } = await library();
  const app = await project();
  await letIn(lib, app);
  await lib.push({ side: '1' }, { branch: 'side', from: 'main' });
  await make(lib, 'side');
  await lib.push({ more: '1' }, { branch: 'main', from: 'main' });
  const failing = await lib.peer.take();
  await lib.peer.upload(failing, await buildZip({ a: 'failed' }));
  await lib.peer.finish(failing, 'failed', { failure_reason: 'script_failure' });
  await app.push(taking(lib.full_path));
  const job = await app.peer.take();
  assert.deepEqual(idsOf(job), [[made, 'make']]);
  await app.peer.finish(job);
  await app.push(taking(lib.full_path).replace('job: make', 'job: none'));
  assert.equal(await reasonOf(app), 'missing_dependency_failure');
  await app.push(taking(lib.full_path).replace('ref: main', 'ref: gone'));
  assert.equal(await reasonOf(app), 'missing_dependency_failure');
});

test('fails the job if the artifacts have expired or were erased, and hands out the next job', async () => {
  const { lib, made } = await library();
  const app = await project();
  await letIn(lib, app);
  await gantry.api(`PUT ${lib.path}`, { json: { keep_latest_artifact: false } });
  const { store } = gantry.service.platform;
  await store.write(async ({ db }) => {
    await db.updateTable('projects').set({ keep_latest_artifact: 0 }).where('id', '=', lib.id).execute();
    await db.updateTable('artifacts').set({ expire_at: 1 }).where('job_id', '=', made).execute();
    await db.updateTable('jobs').set({ artifacts_expire_at: 1 }).where('id', '=', made).execute();
  });
  await app.push(`${taking(lib.full_path)}\nwork: { script: x }`);
  const job = await app.peer.take();
  assert.equal(job.body.job_info.name, 'work');
  await settle(gantry);
  const { body } = await gantry.api(`GET ${app.path}/jobs`);
  const take = body.find(({ name }: { name: string }) => name === 'take');
  assert.deepEqual([take.status, take.failure_reason], ['failed', 'missing_dependency_failure']);
  await app.peer.finish(job);
  assert.equal((await app.newest()).status, 'failed');
  await setJob(gantry, made, { artifacts_expire_at: null, erased_at: 1 });
  await app.push(taking(lib.full_path));
  assert.equal(await reasonOf(app), 'missing_dependency_failure');
});

test('does not wait for artifacts with artifacts: false', async () => {
  const app = await project();
  await app.push(taking('none/there', ', artifacts: false'));
  assert.deepEqual(idsOf(await app.peer.take()), []);
});

test("requires the other project's allow list, unless that is public", async () => {
  const { lib, made } = await library();
  const app = await project();
  await app.push(taking(lib.full_path));
  assert.equal(await reasonOf(app), 'missing_dependency_failure');
  const open = await library(making, { visibility: 'public' });
  await app.push(taking(open.lib.full_path));
  const job = await app.peer.take();
  assert.deepEqual(idsOf(job), [[open.made, 'make']]);
  await app.peer.finish(job);
  await gantry.api(`PUT ${open.lib.path}`, { json: { public_builds: false } });
  await app.push({ more: '1' });
  assert.equal(await reasonOf(app), 'missing_dependency_failure');
  await letIn(open.lib, app);
  await app.push({ more: '2' });
  assert.deepEqual(idsOf(await app.peer.take()), [[open.made, 'make']]);
  assert.equal((await gantry.api(`GET ${lib.path}/jobs/${made}`)).status, 200);
});

test("requires that the job's user can read the other project; hidden and missing are alike", async () => {
  const { lib, made } = await library();
  await gantry.api(`PUT ${lib.path}`, { json: { public_builds: false } });
  const app = await project();
  await letIn(lib, app);
  await app.push({ a: '1' });
  const as = app.developer;
  const push = async (more: string) =>
    await app.push(
      { '.gitlab-ci.yml': taking(lib.full_path), more },
      { branch: 'topic', from: 'main', by: as.id },
    );
  await push('1');
  assert.equal(await reasonOf(app), 'missing_dependency_failure');
  await seedMember(gantry, { user: as.id, project: lib.id, access_level: 10 });
  await push('2');
  assert.equal(await reasonOf(app), 'missing_dependency_failure');
  await gantry.api(`PUT ${lib.path}/members/${as.id}`, { json: { access_level: 20 } });
  await push('3');
  assert.deepEqual(idsOf(await app.peer.take()), [[made, 'make']]);
});

test('does not serve restricted artifacts to jobs of other projects', async () => {
  const { lib } = await library(making.replace('paths: [a]', 'paths: [a], access: maintainer'));
  const app = await project();
  await letIn(lib, app);
  await app.push({ a: '1' });
  const as = app.developer;
  await seedMember(gantry, { user: as.id, project: lib.id, access_level: 30 });
  await app.push(taking(lib.full_path), { branch: 'topic', from: 'main', by: as.id });
  assert.equal(await reasonOf(app), 'missing_dependency_failure');
  await gantry.api(`PUT ${lib.path}/members/${as.id}`, { json: { access_level: 40 } });
  await app.push({ more: '1' }, { branch: 'topic', by: as.id });
  assert.equal(idsOf(await app.peer.take()).length, 1);
});

test('takes earlier artifacts of a ref of its own project', async () => {
  const app = await project();
  await app.push(making);
  const made = await make(app, 'own');
  await app.push(
    `take: { script: x, needs: [{ project: $CI_PROJECT_PATH, job: make, ref: $CI_COMMIT_BRANCH }] }`,
  );
  assert.deepEqual(idsOf(await app.peer.take()), [[made, 'make']]);
});

test('ignores failed jobs, whatever they left and whatever is allowed to fail', async () => {
  const app = await project();
  const files = child('{ pipeline: $PARENT, job: make }');
  const config = (files['.gitlab-ci.yml'] ?? '').replace('script: x', 'script: x, allow_failure: true');
  await app.push({ ...files, '.gitlab-ci.yml': config });
  const job = await app.peer.take();
  await app.peer.upload(job, await buildZip({ a: '1' }));
  await app.peer.finish(job, 'failed', { failure_reason: 'script_failure' });
  await settle(gantry);
  assert.equal(await reasonOf(app), 'missing_dependency_failure');
});

test('does not take its own pipeline for another one', async () => {
  const app = await project();
  await app.push(`make: { stage: build, script: x }
take: { stage: test, script: x, needs: [make, { pipeline: $CI_PIPELINE_ID, job: make }] }`);
  await app.run();
  assert.equal(await reasonOf(app), 'missing_dependency_failure');
});

const child = (need: string): Record<string, string> => ({
  '.gitlab-ci.yml': `make: { stage: build, script: x, artifacts: { paths: [a] } }
part: { stage: test, variables: { PARENT: $CI_PIPELINE_ID }, trigger: { include: child.yml } }`,
  'child.yml': `take: { script: x, needs: [${need}] }`,
});

test("fails a child's job if the parent's artifacts are missing", async () => {
  const app = await project();
  const stranger = await library();
  await letIn(stranger.lib, app);
  const [foreign] = await stranger.lib.pipelines();
  const run = async (need: string): Promise<string | null> => {
    await app.push(child(need));
    await app.run();
    const got = await ask(app);
    if (got.status === 201) {
      await app.peer.finish({ ...got.body, body: got.body, log: Buffer.alloc(0) });
      await settle(gantry);
      return null;
    }
    const [newest] = (await app.pipelines('source=parent_pipeline')) as { id: number }[];
    const { body } = await gantry.api(`GET ${app.path}/pipelines/${newest?.id}/jobs`);
    return body[0].failure_reason;
  };
  const missing = 'missing_dependency_failure';
  assert.equal(await run('{ pipeline: $PARENT, job: make }'), null);
  const [before] = await app.pipelines();
  assert.equal(await run(`{ pipeline: "${before.id}", job: make }`), missing);
  assert.equal(await run('{ pipeline: $PARENT, job: none }'), missing);
  assert.equal(await run('{ pipeline: $PARENT, job: none, optional: true }'), null);
  assert.equal(await run('{ pipeline: $CI_PIPELINE_ID, job: take }'), missing);
  assert.equal(await run(`{ pipeline: "${foreign.id}", job: make }`), missing);
  assert.equal(await run('{ pipeline: x1, job: make }'), missing);
  assert.equal(await run('{ pipeline: $NOTHING, job: make, artifacts: false }'), null);
});
