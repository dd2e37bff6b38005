/** Tests the limit on one artifact: of the process, and of a project. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline } from '../../../../test/support/ci/jobs.ts';
import { makePeer, seedRunner } from '../../../../test/support/ci/fake_runner.ts';
import { seedMember, seedProject, seedUser } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

const megabyte = 1024 * 1024;
let gantry: TestService;
before(async () => {
  gantry = await startTestService({ GANTRY_ARTIFACT_LIMIT: '1' });
});
after(async () => await gantry.close());

const uploading = async () => {
  const project = await seedProject(gantry);
  const { token } = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id] });
  const peer = makePeer(gantry, { token });
  const config = { project: project.id, file: 'a: { script: x, parallel: 3 }' };
  await seedPipeline(gantry, config);
  const upload = async (size: number): Promise<number> => {
    const job = await peer.take();
    const { status } = await peer.upload(job, Buffer.alloc(size), { type: 'archive', format: 'raw' });
    const { body } = await gantry.api(`GET /projects/${project.id}/jobs/${job.id}`);
    assert.equal(body.artifacts_file === null, status !== 201);
    return status;
  };
  const set = async (max_artifacts_size: unknown, as?: string) =>
    await gantry.api(`PUT /projects/${project.id}`, {
      json: { max_artifacts_size },
      ...(as !== undefined && { as }),
    });
  return { project, peer, upload, set };
};

test('answers 413 past the limit of the instance, and keeps nothing', async () => {
  const { upload, peer } = await uploading();
  assert.equal(await upload(megabyte + 1), 413);
  assert.equal(await upload(megabyte), 201);
  peer.close();
});

test('a project can have its own limit, set by administrators', async () => {
  const { upload, peer, set, project } = await uploading();
  const { status, body } = await set(2);
  assert.deepEqual([status, body.max_artifacts_size], [200, 2]);
  assert.equal(await upload(2 * megabyte), 201);
  assert.equal(await upload(2 * megabyte + 1), 413);
  for (const odd of [0, -1, 'x', 100_000]) assert.equal((await set(odd)).status, 400, String(odd));
  assert.equal((await set(null)).body.max_artifacts_size, null);
  assert.equal(await upload(megabyte + 1), 413);
  const owner = await seedUser(gantry);
  await seedMember(gantry, { user: owner.id, project: project.id, access_level: 50 });
  assert.equal((await set(50, owner.token)).status, 403);
  assert.equal((await set(null, owner.token)).status, 200);
  const made = { json: { name: 'one', max_artifacts_size: 50 }, as: owner.token };
  assert.equal((await gantry.api('POST /projects', made)).status, 403);
  peer.close();
});

test('the instance can have no limit', async () => {
  const { config } = gantry.service.platform;
  const { upload, peer } = await uploading();
  config.artifact_limit = 0;
  assert.equal(await upload(3 * megabyte), 201);
  config.artifact_limit = 1;
  peer.close();
});
