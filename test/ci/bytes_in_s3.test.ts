/** A service that stores its bytes in S3. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { buildZip } from '../support/ci/artifacts.ts';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { type Coded, seedCoded, settle } from '../support/seed_merge_requests.ts';
import { type Generation, type Peer, makePeer, seedRunner } from '../support/ci/fake_runner.ts';
import { type TestS3, startS3 } from '../support/servers/s3.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';

let s3: TestS3;
let gantry: TestService;
const peers: Peer[] = [];

before(async () => {
  s3 = await startS3();
  gantry = await startTestService(s3.environment);
});
after(async () => {
  for (const peer of peers) peer.close();
  await gantry.close();
  await s3.close();
});

const twoJobs = `
build: { stage: build, script: [make], artifacts: { paths: [out/] } }
test: { stage: test, script: [make test] }
`;

/** Incompressible, and larger than two parts of a multipart upload. */
const noise = Buffer.alloc(18 * 1024 * 1024);
for (let at = 0, seed = 1; at < noise.length; at += 4) {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  noise.writeUInt32LE(seed, at);
}

/** A project whose first job waits for this runner. */
const pushed = async (generation: Generation = 19): Promise<{ project: Coded; peer: Peer }> => {
  const project = await seedCoded(gantry);
  const runner = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id] });
  await seedCommit(gantry, project.id, { '.gitlab-ci.yml': twoJobs });
  await settle(gantry);
  const peer = makePeer(gantry, { token: runner.token, generation });
  peers.push(peer);
  return { project, peer };
};

const get = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(gantry.url + path, { headers: { 'private-token': rootToken, ...headers } });
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
};

const allKeysOf = (project: number): string[] =>
  s3.keys().filter((key) => key.startsWith(`projects/${project}/`));
/** Except logs, which are in S3, too, when services may share the database. */
const keysOf = (project: number): string[] => allKeysOf(project).filter((key) => !key.includes('/traces/'));

const attach = async (project: number, content: string): Promise<Response> => {
  const body = new FormData();
  body.append('file', new Blob([content]), 'a.txt');
  const url = `${gantry.url}/api/v4/projects/${project}/uploads`;
  return await fetch(url, { method: 'POST', body, headers: { 'private-token': rootToken } });
};

test('stores artifacts and serves them whole, in part and by file', async () => {
  const { project, peer } = await pushed();
  const archive = await buildZip({ 'out/noise': noise, 'out/small.txt': 'in it\n' });
  const job = await peer.take();
  await peer.run(job, { archive });
  const path = `/api/v4/projects/${project.id}/jobs/${job.id}/artifacts`;
  assert.deepEqual((await get(path)).bytes, archive);
  const part = await get(path, { range: 'bytes=100-199' });
  assert.deepEqual([part.status, part.bytes], [206, archive.subarray(100, 200)]);
  assert.equal((await get(`${path}/out/small.txt`)).bytes.toString(), 'in it\n');
  assert.deepEqual((await get(`${path}/out/noise`)).bytes, noise);
  assert.equal((await get(`${path}/out/none`)).status, 404);
  assert.equal(keysOf(project.id).length, 1);
  assert.ok(!s3.keys().some((key) => key.startsWith('unfinished/')));
  assert.ok(!existsSync(join(gantry.service.platform.config.data, 'blobs')));
});

test('redirects a runner to a presigned link, which needs no token', async () => {
  for (const generation of [10, 19] as const) {
    const { peer } = await pushed(generation);
    const archive = await buildZip({ 'out/a': `of ${generation}` });
    const job = await peer.take();
    await peer.run(job, { archive });
    const got = await peer.download((await peer.take()).token, job.id);
    if (generation === 10) {
      assert.deepEqual([got.status, got.bytes], [200, archive]);
      continue;
    }
    assert.equal(got.status, 302);
    assert.ok(got.headers.location?.startsWith(`${s3.place.endpoint}/`));
    const answer = await fetch(got.headers.location ?? '');
    assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="artifacts.zip"');
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), archive);
    assert.equal((await peer.download('glcbt-wrong', job.id)).status, 403);
  }
});

test('deletes erased artifacts, and the rest with the project', async () => {
  const { project, peer } = await pushed();
  const job = await peer.take();
  await peer.run(job, { archive: await buildZip({ a: 'b' }) });
  assert.equal((await attach(project.id, 'attached')).status, 201);
  assert.equal(keysOf(project.id).length, 2);
  assert.equal((await gantry.api(`POST /projects/${project.id}/jobs/${job.id}/erase`)).status, 201);
  await settle(gantry);
  assert.equal(keysOf(project.id).length, 1);
  await gantry.api(`DELETE /projects/${project.id}`);
  await settle(gantry);
  assert.deepEqual(allKeysOf(project.id), []);
});

test('answers requests that need S3 with 503 during an outage, and all others as usual', async () => {
  const { project, peer } = await pushed();
  const archive = await buildZip({ a: 'b' });
  const job = await peer.take();
  const { full_path } = (await (await attach(project.id, 'attached')).json()) as { full_path: string };
  await s3.stop();
  const refused = await peer.upload(job, archive);
  assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '2']);
  assert.equal((await attach(project.id, 'another')).status, 503);
  assert.equal((await get(full_path)).status, 503);
  assert.equal((await get(`/api/v4/projects/${project.id}/jobs`)).status, 200);
  assert.equal((await peer.trace(job, 'goes on\n')).status, 202);
  await s3.start();
  assert.equal((await peer.upload(job, archive)).status, 201);
  assert.equal((await get(full_path)).bytes.toString(), 'attached');
});
