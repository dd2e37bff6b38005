/** Lists of merge requests by approval and by deployment. */
import assert from 'node:assert/strict';
import { finishJob, startJob } from '../../../src/ci/pipelines/processing/job_transitions.ts';
import { after, before, describe, it } from 'node:test';
import {
  type Coded,
  merge,
  openRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../support/seed_merge_requests.ts';
import { seedPipeline } from '../../support/ci/jobs.ts';
import { type SeededUser, seedMember, seedUser, unique } from '../../support/seed.ts';
import { type World, startWorld } from '../world.ts';

let world: World;
let project: Coded;
let reporter: SeededUser;
before(async () => {
  world = await startWorld();
  project = await seedCoded(world.gantry, { visibility: 'public' });
  reporter = await seedUser(world.gantry);
  await seedMember(world.gantry, { user: reporter.id, project: project.id, access_level: 20 });
});
after(async () => {
  world.gantry.setTime(null);
  await world.close();
});

/** Reads the source branches of a list and checks its total. */
const branches = async (query: string, as?: string, path?: string): Promise<string[]> => {
  const list = path ?? `/projects/${project.id}/merge_requests`;
  const line = `GET ${list}?scope=all&${query}`;
  const reply = await world.api(line, as === undefined ? {} : { as });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers.get('x-total'), String(reply.body.length), line);
  const first = await world.api(`${line}&per_page=1`, as === undefined ? {} : { as });
  assert.equal(first.headers.get('x-total'), String(reply.body.length), line);
  return reply.body.map((one: { source_branch: string }) => one.source_branch).toSorted();
};

const request = async (branch: string) => {
  await seedBranch(world.gantry, project, branch);
  return await openRequest(world.gantry, project, branch);
};

it('lists merge requests with any approval, or with none', async () => {
  const good = await request('good');
  await request('bad');
  assert.deepEqual(await branches('approved=yes'), []);
  const approved = await world.api(`POST /projects/${project.id}/merge_requests/${good.iid}/approve`);
  assert.equal(approved.status, 201);
  for (const path of [undefined, '/merge_requests']) {
    assert.deepEqual(await branches('approved=yes', undefined, path), ['good']);
    assert.deepEqual(await branches('approved=no', undefined, path), ['bad']);
  }
  const bad = await world.api(`GET /merge_requests?approved=maybe`);
  assert.deepEqual([bad.status, bad.body], [400, { message: { approved: ['does not have a valid value'] } }]);
});

describe('deployments', () => {
  const start = Date.UTC(2030, 0, 1);
  const day = 86_400_000;
  const at = (days: number): string => new Date(start + days * day).toISOString();

  const mergeNew = async (branch: string): Promise<string> => {
    const made = await request(branch);
    const merged = await merge(world.gantry, made);
    assert.equal(merged.status, 200, merged.text);
    await settle(world.gantry);
    return merged.body.merge_commit_sha;
  };

  const deploy = async (environment: string, sha: string, days: number, status = 'success') => {
    world.gantry.setTime(start + days * day);
    const json = { environment, sha, ref: 'main', tag: false, status };
    const reply = await world.api(`POST /projects/${project.id}/deployments`, { json });
    assert.equal(reply.status, 201, reply.text);
    await settle(world.gantry);
    return reply.body.id as number;
  };

  it('selects merge requests by environment and time', async () => {
    const one = await mergeNew('one');
    await deploy('staging', one, 0);
    await deploy('production', one, 1);
    await mergeNew('two');
    const three = await mergeNew('three');
    await deploy('staging', three, 2);
    await deploy('production', three, 3, 'failed');
    await deploy('review/three', three, 3);
    assert.deepEqual(await branches('environment=staging'), ['one', 'three', 'two']);
    assert.deepEqual(await branches('environment=production'), ['one']);
    assert.deepEqual(await branches('environment=nowhere'), []);
    assert.deepEqual(await branches('environment=review%2Fthree'), []);
    assert.deepEqual(await branches(`deployed_after=${at(1.5)}`), ['three', 'two']);
    assert.deepEqual(await branches(`deployed_before=${at(1.5)}`), ['one']);
    // One deployment must match all of them.
    assert.deepEqual(await branches(`environment=production&deployed_before=${at(0.5)}`), []);
    assert.deepEqual(await branches(`environment=staging&deployed_before=${at(0.5)}`), ['one']);
    assert.deepEqual(await branches('environment=production', undefined, '/merge_requests'), ['one']);
    assert.equal((await world.api('GET /merge_requests?deployed_after=soon')).status, 400);
  });

  it('counts deployments only while they are successful', async () => {
    const four = await mergeNew('four');
    const id = await deploy('production', four, 4);
    const change = async (status: string): Promise<void> => {
      const path = `/projects/${project.id}/deployments/${id}`;
      assert.equal((await world.api(`PUT ${path}`, { json: { status } })).status, 200);
      await settle(world.gantry);
    };
    const all = ['four', 'one', 'three', 'two'];
    assert.deepEqual(await branches('environment=production'), all);
    await change('failed');
    assert.deepEqual(await branches('environment=production'), ['one']);
    await change('success');
    assert.deepEqual(await branches('environment=production'), all);
  });

  it('counts deployments of jobs', async () => {
    const sha = await mergeNew('five');
    const file = 'deploy: { script: x, environment: { name: built } }\n';
    const pipeline = await seedPipeline(world.gantry, { project: project.id, file, sha });
    const id = pipeline.jobs['deploy'] ?? 0;
    const { store } = world.gantry.service.platform;
    const runner = { runner_id: 0, system_id: null, token_hash: unique('hash'), timeout: 60 };
    await store.write(async (tx) => await startJob(tx, id, runner));
    await settle(world.gantry);
    assert.deepEqual(await branches('environment=built'), []);
    await store.write(async (tx) => await finishJob(tx, id, { status: 'success' }));
    await settle(world.gantry);
    assert.deepEqual(await branches('environment=built'), ['five', 'four', 'one', 'three', 'two']);
  });

  it('hides deployments from users who cannot read environments', async () => {
    const stranger = await seedUser(world.gantry);
    assert.notDeepEqual(await branches('environment=production', reporter.token), []);
    for (const path of [undefined, '/merge_requests']) {
      assert.deepEqual(await branches('environment=production', stranger.token, path), []);
      assert.deepEqual(await branches('deployed_after=2000-01-01', stranger.token, path), []);
    }
  });

  it('lists the merge requests of a deployment', async () => {
    await deploy('testing', await mergeNew('six'), 6);
    const seven = await mergeNew('seven');
    const id = await deploy('testing', seven, 7);
    const failed = await deploy('testing', seven, 8, 'failed');
    const path = `/projects/${project.id}/deployments`;
    const read = async (of: number, query = '') => {
      const reply = await world.api(`GET ${path}/${of}/merge_requests?${query}`);
      assert.equal(reply.status, 200, reply.text);
      const names = reply.body.map((one: { source_branch: string }) => one.source_branch);
      return [names, reply.headers.get('x-total')];
    };
    assert.deepEqual(await read(id), [['seven'], '1']);
    assert.deepEqual(await read(id, 'state=opened'), [[], '0']);
    assert.deepEqual(await read(id, 'iids[]=1'), [[], '0']);
    assert.deepEqual(await read(failed), [[], '0']);
    assert.equal((await world.api(`GET ${path}/999999/merge_requests`)).status, 404);
    const other = await world.project();
    assert.equal((await world.api(`GET /projects/${other.id}/deployments/${id}/merge_requests`)).status, 404);
    await world.api(`PUT /projects/${project.id}`, { json: { merge_requests_access_level: 'disabled' } });
    assert.deepEqual(await read(id), [[], '0']);
    await world.api(`PUT /projects/${project.id}`, { json: { merge_requests_access_level: 'enabled' } });
  });
});
