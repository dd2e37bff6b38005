/** Two service processes on one database and one bucket. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Place, type Running, call, newPlace, startTogether, token } from '../crash/process.ts';
import { buildZip } from '../support/ci/artifacts.ts';
import { type Peer, type PeerJob, makePeer } from '../support/ci/fake_runner.ts';
import { type TestS3, startS3 } from '../support/servers/s3.ts';
import { engine } from '../support/service.ts';

const skip = engine === 'sqlite' ? 'a file serves one process' : false;

let s3: TestS3;
let place: Place;
let services: Running[];
let peers: Peer[];

before(async () => {
  if (skip !== false) return;
  s3 = await startS3();
  place = newPlace(s3);
  services = await startTogether(place, 2);
  const runner = await call(urlOf(0), 'POST /user/runners', { runner_type: 'instance_type' });
  peers = services.map((service) => makePeer(service, { token: runner.body.token }));
});
after(async () => {
  if (skip !== false) return;
  for (const peer of peers) peer.close();
  await place.remove();
});

const urlOf = (at: number): string => services[at % 2]?.url ?? '';
const peerAt = (at: number): Peer => {
  const peer = peers[at % 2];
  assert.ok(peer !== undefined);
  return peer;
};

const get = async (at: number, path: string): Promise<{ status: number; bytes: Buffer }> => {
  const response = await fetch(`${urlOf(at)}/api/v4${path}`, { headers: { 'private-token': token } });
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
};

/** Running jobs of a new project, handed out by either service. */
const begin = async (count: number): Promise<{ project: number; jobs: PeerJob[] }> => {
  const { body } = await call(urlOf(0), 'POST /projects', { name: `two-${Math.random()}`.replace('.', '-') });
  const content = `job: { script: x, parallel: ${count} }`;
  const made = await call(urlOf(0), `POST /projects/${body.id}/repository/files/.gitlab-ci.yml`, {
    branch: 'main',
    commit_message: 'Begin [ci skip]',
    content,
  });
  assert.equal(made.status, 201);
  const pipeline = await call(urlOf(0), `POST /projects/${body.id}/pipeline`, { ref: 'main' });
  assert.equal(pipeline.status, 201, JSON.stringify(pipeline.body));
  const jobs: PeerJob[] = [];
  while (jobs.length < count) jobs.push(await peerAt(jobs.length).take());
  return { project: body.id, jobs };
};

test('keeps bytes that the other service references', { skip, timeout: 120_000 }, async () => {
  const count = 12;
  const { project, jobs } = await begin(count);
  const archive = await buildZip({ 'a.txt': 'the same in all jobs' });
  const attributes = { type: 'archive', format: 'zip' };
  let refused = 0;
  /** 503: the same bytes are being deleted. */
  const upload = async (job: PeerJob, at: number): Promise<void> => {
    for (let tries = 0; ; tries += 1) {
      const { status } = await peerAt(at).upload(job, archive, attributes);
      if (status === 201) return;
      assert.ok(status === 503 && tries < 20, String(status));
      refused += 1;
    }
  };
  const path = (job: PeerJob): string => `/projects/${project}/jobs/${job.id}/artifacts`;
  for (let at = 0; at < count; at += 2) {
    const [one, two] = jobs.slice(at, at + 2) as [PeerJob, PeerJob];
    await upload(one, at);
    // The last reference is deleted through one service while the same bytes arrive through the other.
    const [deleted] = await Promise.all([
      call(urlOf(at), `DELETE ${path(one)}`),
      upload(two, at + 1),
      upload(two, at),
    ]);
    assert.equal(deleted.status, 204);
    for (const service of [0, 1]) {
      const { status, bytes } = await get(service, path(two));
      assert.deepEqual(
        [status, bytes.equals(archive)],
        [200, true],
        `job ${two.id}, after ${refused} refusals`,
      );
    }
    assert.equal((await call(urlOf(at), `DELETE ${path(two)}`)).status, 204);
  }
  for (const [at, job] of jobs.entries()) await peerAt(at).finish(job);
});

const traceOf = async (at: number, project: number, job: number): Promise<string> =>
  (await get(at, `/projects/${project}/jobs/${job}/trace`)).bytes.toString();

test(
  'reads a log through both services whichever received its pieces, while it grows and afterwards',
  { skip },
  async () => {
    const { project, jobs } = await begin(2);
    const [job] = jobs;
    assert.ok(job !== undefined);
    let log = '';
    const read = async (): Promise<string[]> =>
      await Promise.all([0, 1].map(async (one) => await traceOf(one, project, job.id)));
    for (let at = 0; at < 10; at += 1) {
      log += `line ${at}\n`;
      assert.equal((await peerAt(at).trace(job, `line ${at}\n`)).status, 202);
      assert.deepEqual(await read(), [log, log]);
    }
    assert.equal((await peerAt(1).trace(job, `secret ${job.token}\n`)).status, 202);
    log += `secret ${'x'.repeat(job.token.length)}\n`;
    assert.equal((await peerAt(0).finish(job)).status, 200);
    assert.deepEqual(await read(), [log, log]);
    assert.ok(s3.keys().some((key) => key.startsWith(`projects/${project}/traces/${job.id}/`)));
    const { body } = await call(urlOf(1), `GET /projects/${project}/jobs/${job.id}`);
    assert.equal(
      body.artifacts.find((one: { file_type: string }) => one.file_type === 'trace').size,
      log.length,
    );
    for (const other of jobs.slice(1)) await peerAt(0).finish(other);
    assert.equal((await call(urlOf(1), `POST /projects/${project}/jobs/${job.id}/erase`)).status, 201);
    for (const one of [0, 1])
      assert.equal((await get(one, `/projects/${project}/jobs/${job.id}/trace`)).status, 404);
  },
);

/** Reads a log by server-sent events until the job has ended. */
const follow = async (at: number, job: number): Promise<string> => {
  const response = await fetch(`${urlOf(at)}/-/jobs/${job}/trace/stream`, {
    headers: { 'private-token': token },
  });
  const events = (await response.text()).split('\n\n').filter((event) => event.includes('event: log'));
  return events.map((event) => JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? '{}').text as string).join('');
};

test('streams through one service what the other receives', { skip }, async () => {
  const { jobs } = await begin(2);
  const [job] = jobs;
  assert.ok(job !== undefined);
  const followed = follow(1, job.id);
  await peerAt(0).trace(job, 'one\n');
  await peerAt(1).trace(job, 'two\n');
  await peerAt(0).finish(job);
  assert.equal(await followed, 'one\ntwo\n');
  for (const other of jobs.slice(1)) await peerAt(0).finish(other);
});
