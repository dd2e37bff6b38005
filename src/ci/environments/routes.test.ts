import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type SeededPipeline, seedPipeline } from '../../../test/support/ci/jobs.ts';
import { type Coded, seedCoded, settle } from '../../../test/support/seed_merge_requests.ts';
import { seedMember, seedUser, unique } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { cancelJob, finishJob, startJob } from '../pipelines/processing/job_transitions.ts';
import { sealValue } from '../variables/queries.ts';

const minute = 60_000;

let gantry: TestService;
let project: Coded;
let path: string;
before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry);
  path = `/projects/${project.id}/environments`;
});
after(async () => await gantry.close());

const create = async (json: object) => await gantry.api(`POST ${path}`, { json });

describe('an environment', () => {
  it('is created, listed, read, edited, stopped and deleted', async () => {
    const made = await create({ name: 'Review/One', external_url: 'https://one.example.com' });
    assert.equal(made.status, 201, made.text);
    const { id, created_at } = made.body;
    const shown = {
      id,
      name: 'Review/One',
      slug: made.body.slug,
      external_url: 'https://one.example.com',
      created_at,
      updated_at: created_at,
      state: 'available',
      tier: 'development',
      description: null,
      auto_stop_at: null,
    };
    assert.match(made.body.slug, /^review-one-[a-z0-9]{6}$/);
    assert.deepEqual(made.body, shown);
    const listed = await gantry.api(`GET ${path}?name=Review/One`);
    const alone = { ...made.body, last_deployment: null };
    assert.deepEqual([listed.headers.get('x-total'), listed.body], ['1', [alone]]);
    const read = await gantry.api(`GET ${path}/${id}`);
    assert.deepEqual(read.body, alone);
    const json = { external_url: 'http://two.example.com', tier: 'staging', description: 'words' };
    const edited = await gantry.api(`PUT ${path}/${id}`, { json });
    assert.deepEqual(
      [edited.status, { ...edited.body, updated_at: created_at }],
      [200, { ...made.body, ...json }],
    );
    assert.equal((await gantry.api(`DELETE ${path}/${id}`)).status, 403);
    const stopped = await gantry.api(`POST ${path}/${id}/stop`);
    assert.deepEqual([stopped.status, stopped.body.state], [201, 'stopped']);
    assert.deepEqual((await gantry.api(`GET ${path}?name=Review/One&states=available`)).body, []);
    assert.equal((await gantry.api(`DELETE ${path}/${id}`)).status, 204);
    const gone = await gantry.api(`GET ${path}/${id}`);
    assert.deepEqual([gone.status, gone.body], [404, { message: '404 Not found' }]);
  });

  it('environments are found by a part of their name', async () => {
    await create({ name: 'searched/alpha' });
    await create({ name: 'searched/beta' });
    const found = await gantry.api(`GET ${path}?search=ED/AL`);
    assert.deepEqual(
      found.body.map(({ name }: { name: string }) => name),
      ['searched/alpha'],
    );
  });

  it('keeps a name that is already a slug, and infers its tier', async () => {
    const { body } = await create({ name: 'production' });
    assert.deepEqual([body.slug, body.tier], ['production', 'production']);
    assert.equal((await create({ name: '9-lives' })).body.slug.startsWith('env-9-lives-'), true);
  });

  const refused: [string, object, object][] = [
    ['no name', { name: ' ' }, { name: ["can't be blank"] }],
    [
      'a name that ends with a slash',
      { name: 'review/' },
      {
        name: [
          "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'",
        ],
      },
    ],
    [
      'an address that runs in a page',
      { name: 'a', external_url: 'javascript:alert(1)' },
      { external_url: ['must be a valid URL'] },
    ],
    ['a name that is taken', { name: 'taken' }, { name: ['has already been taken'] }],
  ];
  for (const [what, json, message] of refused) {
    it(`with ${what} is refused`, async () => {
      if (what.includes('taken')) await create({ name: 'taken' });
      const { status, body } = await create(json);
      assert.deepEqual([status, body], [400, { message }]);
    });
  }
});

const start = async (id: number): Promise<void> => {
  const row = await gantry.service.platform.store.write(
    async (tx) =>
      await startJob(tx, id, { runner_id: 0, system_id: null, token_hash: unique('hash'), timeout: 60 }),
  );
  assert.equal(row?.status, 'running');
};

const finish = async (id: number, status: 'success' | 'failed' = 'success'): Promise<void> => {
  await gantry.service.platform.store.write(async (tx) => await finishJob(tx, id, { status }));
};

const jobId = ({ jobs }: SeededPipeline, name: string): number => jobs[name] ?? 0;

const named = async (name: string) => {
  const [{ id }] = (await gantry.api(`GET ${path}?name=${encodeURIComponent(name)}`)).body;
  return (await gantry.api(`GET ${path}/${id}`)).body;
};

const fileFor = (name: string, more = '') => `
deploy:
  stage: deploy
  script: x
  environment: { name: ${name}, url: "https://$CI_ENVIRONMENT_SLUG.example.com", on_stop: stop${more} }
stop:
  stage: deploy
  script: x
  when: manual
  environment: { name: ${name}, action: stop }
`;

const deploy = async (name: string, more?: string) => {
  const sha = project.first;
  const pipeline = await seedPipeline(gantry, { project: project.id, file: fileFor(name, more), sha });
  await start(jobId(pipeline, 'deploy'));
  return pipeline;
};

const statusOf = async (id: number): Promise<string> =>
  (await gantry.api(`GET /projects/${project.id}/jobs/${id}`)).body.status;

describe('a deployment job', () => {
  it('creates the environment and a deployment, which ends with it', async () => {
    const pipeline = await deploy('live');
    const job = jobId(pipeline, 'deploy');
    const deployments = async () =>
      (await gantry.api(`GET /projects/${project.id}/deployments?environment=live`)).body;
    const [running] = await deployments();
    assert.deepEqual(
      [running.status, running.sha, running.ref, running.deployable.id, running.user.username],
      ['running', project.first, 'main', job, 'root'],
    );
    assert.equal((await named('live')).last_deployment, null);
    await finish(job);
    const environment = await named('live');
    assert.deepEqual(
      [environment.state, environment.external_url, environment.tier],
      ['available', 'https://live.example.com', 'production'],
    );
    const last = environment.last_deployment;
    assert.deepEqual(
      [last.id, last.iid, last.status, last.environment.name, last.deployable.name],
      [running.id, running.iid, 'success', 'live', 'deploy'],
    );
  });

  it('that fails or is canceled keeps the previous deployment', async () => {
    const first = await deploy('steady');
    await finish(jobId(first, 'deploy'));
    const second = await deploy('steady');
    await finish(jobId(second, 'deploy'), 'failed');
    const third = await deploy('steady');
    await gantry.service.platform.store.write(async (tx) => {
      await cancelJob(tx, jobId(third, 'deploy'));
      await finishJob(tx, jobId(third, 'deploy'), { status: 'failed' });
    });
    const all = await gantry.api(`GET /projects/${project.id}/deployments?environment=steady&sort=desc`);
    assert.deepEqual(
      all.body.map(({ status }: { status: string }) => status),
      ['canceled', 'failed', 'success'],
    );
    const { last_deployment } = await named('steady');
    assert.equal(last_deployment.deployable.id, jobId(first, 'deploy'));
    const { body } = await gantry.api(`GET /projects/${project.id}/environments?name=steady`);
    assert.deepEqual(body[0].last_deployment, last_deployment);
  });

  it('has its environment stopped by its stop job', async () => {
    const pipeline = await deploy('stopped/one');
    await finish(jobId(pipeline, 'deploy'));
    const { id } = await named('stopped/one');
    const stopping = await gantry.api(`POST ${path}/${id}/stop`);
    assert.deepEqual([stopping.status, stopping.body.state], [201, 'stopping']);
    const stop = jobId(pipeline, 'stop');
    assert.equal(await statusOf(stop), 'pending');
    await start(stop);
    await finish(stop);
    assert.equal((await named('stopped/one')).state, 'stopped');
    const again = await deploy('stopped/one');
    await finish(jobId(again, 'deploy'));
    assert.equal((await named('stopped/one')).state, 'available');
  });

  it('restores the environment when the stop job fails, and stops without it by force', async () => {
    const pipeline = await deploy('stopped/two');
    await finish(jobId(pipeline, 'deploy'));
    const { id } = await named('stopped/two');
    await gantry.api(`POST ${path}/${id}/stop`);
    await start(jobId(pipeline, 'stop'));
    await finish(jobId(pipeline, 'stop'), 'failed');
    assert.equal((await named('stopped/two')).state, 'available');
    const other = await deploy('stopped/two');
    await finish(jobId(other, 'deploy'));
    const forced = await gantry.api(`POST ${path}/${id}/stop`, { json: { force: true } });
    assert.equal(forced.body.state, 'stopped');
    assert.equal(await statusOf(jobId(other, 'stop')), 'manual');
  });

  it('on a protected branch requires write access to stop it', async () => {
    const developer = await seedUser(gantry);
    await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
    const pipeline = await deploy('guarded');
    await finish(jobId(pipeline, 'deploy'));
    const { id } = await named('guarded');
    const refused = await gantry.api(`POST ${path}/${id}/stop`, { as: developer.token });
    assert.equal(refused.status, 403);
    assert.equal(await statusOf(jobId(pipeline, 'stop')), 'manual');
    assert.equal((await named('guarded')).state, 'available');
    const json = { force: true };
    const forced = await gantry.api(`POST ${path}/${id}/stop`, { as: developer.token, json });
    assert.equal(forced.body.state, 'stopped');
  });

  for (const action of ['prepare', 'verify', 'access'] as const) {
    it(`with action ${action} deploys nothing; its expiry and tier still apply`, async () => {
      const more = `action: ${action}, auto_stop_in: 10 minutes, deployment_tier: testing`;
      const file = `deploy: { script: x, environment: { name: only/${action}, ${more} } }`;
      const pipeline = await seedPipeline(gantry, { project: project.id, file, sha: project.first });
      await start(jobId(pipeline, 'deploy'));
      const before = Date.now();
      await finish(jobId(pipeline, 'deploy'));
      const { state, tier, last_deployment, auto_stop_at } = await named(`only/${action}`);
      assert.deepEqual([state, tier, last_deployment], ['available', 'testing', null]);
      assert.ok(Date.parse(auto_stop_at) >= before + 10 * minute - 1);
      const all = await gantry.api(`GET /projects/${project.id}/deployments?environment=only/${action}`);
      assert.deepEqual(all.body, []);
    });
  }

  it('sets the expiry of its environment by a variable, or to never', async () => {
    const endAfter = async (life: string): Promise<string | null> => {
      const file = `deploy: { script: x, environment: { name: timed, auto_stop_in: $LIFE }, variables: { LIFE: ${life} } }`;
      const pipeline = await seedPipeline(gantry, { project: project.id, file, sha: project.first });
      await start(jobId(pipeline, 'deploy'));
      await finish(jobId(pipeline, 'deploy'));
      return (await named('timed')).auto_stop_at;
    };
    const before = Date.now();
    assert.ok(Date.parse((await endAfter('10 minutes')) ?? '') >= before + 10 * minute - 1);
    assert.equal(await endAfter('never'), null);
  });

  it('has its environment stopped at its expiry', async () => {
    const pipeline = await deploy('brief', ', auto_stop_in: 10 minutes');
    const before = Date.now();
    await finish(jobId(pipeline, 'deploy'));
    const stopAt = Date.parse((await named('brief')).auto_stop_at);
    assert.ok(stopAt >= before + 10 * minute && stopAt <= Date.now() + 10 * minute);
    gantry.setTime(stopAt - 1);
    await settle(gantry);
    assert.equal((await named('brief')).state, 'available');
    gantry.setTime(stopAt);
    await settle(gantry);
    const environment = await named('brief');
    assert.deepEqual([environment.state, environment.auto_stop_at], ['stopping', null]);
    assert.equal(await statusOf(jobId(pipeline, 'stop')), 'pending');
    gantry.setTime(null);
  });

  it('is not rerun for a user who lost the right to run jobs', async () => {
    const passing = await seedUser(gantry);
    await seedMember(gantry, { user: passing.id, project: project.id, access_level: 40 });
    const file = fileFor('left', ', auto_stop_in: 1 minute');
    const pipeline = await seedPipeline(gantry, { project: project.id, file, user: passing.id });
    await start(jobId(pipeline, 'deploy'));
    await finish(jobId(pipeline, 'deploy'));
    await gantry.api(`DELETE /projects/${project.id}/members/${passing.id}`);
    gantry.setTime(Date.parse((await named('left')).auto_stop_at));
    await settle(gantry);
    const { state, auto_stop_at } = await named('left');
    assert.deepEqual([state, auto_stop_at], ['available', null]);
    assert.equal(await statusOf(jobId(pipeline, 'stop')), 'manual');
    gantry.setTime(null);
  });

  it('does not run on expiry for a user from whom the branch was protected since', async () => {
    const developer = await seedUser(gantry);
    await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
    const file = fileFor('shut', ', auto_stop_in: 1 minute');
    const made = { project: project.id, file, user: developer.id, ref: 'open' };
    const pipeline = await seedPipeline(gantry, made);
    await start(jobId(pipeline, 'deploy'));
    await finish(jobId(pipeline, 'deploy'));
    await gantry.api(`POST /projects/${project.id}/protected_branches`, { json: { name: 'open' } });
    gantry.setTime(Date.parse((await named('shut')).auto_stop_at));
    await settle(gantry);
    assert.equal((await named('shut')).state, 'available');
    assert.equal(await statusOf(jobId(pipeline, 'stop')), 'manual');
    gantry.setTime(null);
  });

  it('sets the address with a variable that it reports', async () => {
    const file = 'deploy: { script: x, environment: { name: told, url: "https://$WHERE.example.com" } }';
    const pipeline = await seedPipeline(gantry, { project: project.id, file, sha: project.first });
    const job = jobId(pipeline, 'deploy');
    const { platform } = gantry.service;
    const row = {
      job_id: job,
      key: 'WHERE',
      sealed_value: sealValue(platform, 'somewhere'),
      source: 'dotenv',
    };
    await platform.store.write(async ({ db }) => await db.insertInto('job_variables').values(row).execute());
    await start(job);
    await finish(job);
    await settle(gantry);
    assert.equal((await named('told')).external_url, 'https://somewhere.example.com');
  });
});
