/** A service killed during a transfer to a bucket completes the work and leaves nothing behind. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { type Place, type Running, call, engine, newPlace, token } from '../crash/process.ts';
import { type Peer, type PeerJob, makePeer } from '../support/ci/fake_runner.ts';
import { type TestS3, startS3 } from '../support/servers/s3.ts';
import { until } from '../support/until.ts';

const day = 86_400_000;
let s3: TestS3;
let place: Place;
let service: Running;
let runner: string;

before(async () => {
  s3 = await startS3();
  place = newPlace();
  Object.assign(place.env, s3.environment);
  service = await place.start();
  runner = (await call(service.url, 'POST /user/runners', { runner_type: 'instance_type' })).body.token;
});
after(async () => {
  await place.remove();
  await s3.close();
});

const kill = async (): Promise<void> => {
  service.signal('SIGKILL');
  await service.exit;
};

const begin = async (): Promise<{ project: number; peer: Peer; job: PeerJob }> => {
  const name = `killed-${Math.random()}`.replace('.', '-');
  const { id } = (await call(service.url, 'POST /projects', { name })).body;
  const made = await call(service.url, `POST /projects/${id}/repository/files/.gitlab-ci.yml`, {
    branch: 'main',
    commit_message: 'Begin',
    content: 'job: { script: x }',
  });
  assert.equal(made.status, 201);
  const peer = makePeer(service, { token: runner });
  return { project: id, peer, job: await peer.take() };
};

/** More than two parts of a file, and then stops. */
const uploadHalf = (job: PeerJob): void => {
  const type = 'multipart/form-data; boundary=b';
  const headers = { 'job-token': job.token, 'content-type': type, 'content-length': 64 * 1024 * 1024 };
  const sending = request(`${service.url}/api/v4/jobs/${job.id}/artifacts`, { method: 'POST', headers });
  sending.on('error', () => undefined);
  sending.write(
    '--b\r\ncontent-disposition: form-data; name="file"; filename="a.zip"\r\n' +
      'content-type: application/octet-stream\r\n\r\n',
  );
  sending.write(Buffer.alloc(20 * 1024 * 1024, 'x'));
};

test('aborts the unfinished multipart uploads after a day', async () => {
  const { peer, job } = await begin();
  uploadHalf(job);
  await until('the upload begins', () => s3.openUploads() === 1);
  await kill();
  peer.close();
  assert.equal(s3.openUploads(), 1);
  s3.ageUploads(day + 60_000);
  service = await place.start();
  await until('the upload is aborted', () => s3.openUploads() === 0);
});

const skip = engine === 'sqlite' ? 'logs lie in its own folder' : false;

test('uploads a log after a restart that the bucket could not take', { skip }, async () => {
  const { project, peer, job } = await begin();
  await peer.trace(job, 'printed\n');
  await s3.stop();
  assert.equal((await peer.finish(job)).status, 200);
  const trace = async (): Promise<string> => {
    const path = `/api/v4/projects/${project}/jobs/${job.id}/trace`;
    const response = await fetch(service.url + path, { headers: { 'private-token': token } });
    return await response.text();
  };
  assert.equal(await trace(), 'printed\n');
  await kill();
  peer.close();
  await s3.start();
  assert.ok(!s3.keys().some((key) => key.includes('/traces/')));
  service = await place.start();
  await until('the log is stored', () =>
    s3.keys().some((key) => key.startsWith(`projects/${project}/traces/${job.id}/`)),
  );
  assert.equal(await trace(), 'printed\n');
});
