/**
 * Tests jobs of one pipeline that are claimed or end at the same moment: shared data is loaded once, and each job keeps
 * its own.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Pushed, seedPushed } from '../../../test/support/ci/pipelines.ts';
import {
  type Peer,
  type PeerJob,
  logChecksum,
  makePeer,
  seedRunner,
} from '../../../test/support/ci/fake_runner.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
const peers: Peer[] = [];
before(async () => {
  gantry = await startTestService();
});
after(async () => {
  for (const peer of peers) peer.close();
  await gantry.close();
});

/** Registers this many runners. */
const peersOf = async (project: Pushed, number: number): Promise<Peer[]> => {
  const made: Peer[] = [];
  for (let at = 0; at < number; at += 1) {
    const { token } = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id] });
    made.push(makePeer(gantry, { token }));
  }
  peers.push(...made);
  return made;
};

const takeAll = async (all: readonly Peer[]): Promise<PeerJob[]> =>
  await Promise.all(all.map(async (peer) => await peer.take()));

// oxlint-disable-next-line typescript/no-explicit-any -- records of the API, that tests assert on
type Seen = any;

const jobsOf = async ({ path }: Pushed): Promise<Seen[]> =>
  (await gantry.api(`GET ${path}/jobs?per_page=100`)).body;

const valueOf = ({ body }: PeerJob, name: string): string | undefined =>
  body.variables.find(({ key }: { key: string }) => key === name)?.value;

test('jobs claimed together share common data and keep their own', async () => {
  const project = await seedPushed(gantry);
  const json = { key: 'OF_PROJECT', value: 'for all' };
  assert.equal((await gantry.api(`POST ${project.path}/variables`, { json })).status, 201);
  const names = ['a', 'b', 'c'];
  await project.push(
    names.map((name) => `${name}: { script: x, when: manual, variables: { OF_FILE: "${name}" } }`).join('\n'),
  );
  await Promise.all(
    (await jobsOf(project)).map(async ({ id, name }) => {
      const played = { job_variables_attributes: [{ key: 'OF_PLAY', value: `played ${name}` }] };
      const { status } = await gantry.api(`POST ${project.path}/jobs/${id}/play`, { json: played });
      assert.equal(status, 201);
    }),
  );
  const jobs = (await takeAll(await peersOf(project, names.length))).toSorted((a, b) => a.id - b.id);
  const told = jobs.map((job) =>
    ['CI_JOB_NAME', 'CI_JOB_ID', 'OF_FILE', 'OF_PLAY', 'OF_PROJECT', 'CI_PIPELINE_ID', 'CI_JOB_TOKEN'].map(
      (name) => valueOf(job, name),
    ),
  );
  const pipeline = String(jobs[0]?.body.job_info.pipeline_id);
  assert.deepEqual(
    told,
    jobs.map(({ id, token, body: { job_info } }) => {
      const { name } = job_info;
      return [name, String(id), name, `played ${name}`, 'for all', pipeline, token];
    }),
  );
  assert.deepEqual(
    jobs.map(({ body }) => body.job_info.name),
    names,
  );
  assert.equal(new Set(jobs.map((job) => valueOf(job, 'CI_RUNNER_ID'))).size, names.length);
});

test('jobs that end together get their own status, and the next stage waits for the last', async () => {
  const project = await seedPushed(gantry);
  const first = ['a', 'b', 'c', 'd', 'e'];
  const of = (stage: string, name: string): string => `${name}: { stage: ${stage}, script: x }`;
  await project.push(
    ['stages: [one, two]', ...first.map((name) => of('one', name)), of('two', 'last')].join('\n'),
  );
  const all = await peersOf(project, first.length);
  const jobs = await takeAll(all);
  const end = async (at: number, more: object = {}): Promise<number> => {
    const [peer, job] = [all[at], jobs[at]];
    assert.ok(peer !== undefined && job !== undefined);
    const log = `${'x'.repeat(at)} of ${job.body.job_info.name}\n`;
    await peer.trace(job, log);
    const output = { checksum: logChecksum(Buffer.from(log)), bytesize: log.length };
    return (await peer.update(job, { state: 'success', exit_code: 0, output, ...more })).status;
  };
  assert.deepEqual(await Promise.all([0, 1, 2].map(async (at) => await end(at))), [200, 200, 200]);
  const stateOf = async (): Promise<Record<string, string>> =>
    Object.fromEntries((await jobsOf(project)).map(({ name, status }) => [name, status]));
  const names = jobs.map(({ body }) => body.job_info.name as string);
  const before = await stateOf();
  assert.deepEqual(
    names.map((name) => before[name]),
    ['success', 'success', 'success', 'running', 'running'],
  );
  assert.equal(before['last'], 'created');
  assert.deepEqual(await Promise.all([3, 4].map(async (at) => await end(at))), [200, 200]);
  const then = await stateOf();
  assert.equal(then['last'], 'pending');
  assert.deepEqual([...new Set(names.map((name) => then[name]))], ['success']);
  const rows = await gantry.service.platform.store.db
    .selectFrom('jobs')
    .select(['id', 'trace_size', 'trace_crc', 'exit_code', 'token_hash'])
    .where('project_id', '=', project.id)
    .where('name', '<>', 'last')
    .orderBy('id')
    .execute();
  for (const job of jobs) {
    const row = rows.find(({ id }) => id === job.id);
    const crc = Number.parseInt(logChecksum(job.log).replace('crc32:', ''), 16);
    const wanted = { id: job.id, trace_size: job.log.length, trace_crc: crc, exit_code: 0, token_hash: null };
    assert.deepEqual({ ...row }, wanted);
  }
});

test('a failed end fails alone', async () => {
  const project = await seedPushed(gantry);
  await project.push('a: { script: x }\nb: { script: x }\nc: { script: x }\nd: { script: x }');
  const all = await peersOf(project, 4);
  const jobs = await takeAll(all);
  const ends = await Promise.all(
    all.slice(0, 3).map(async (peer, at) => {
      const job = jobs[at];
      assert.ok(job !== undefined);
      const state = at === 1 ? 'failed' : 'success';
      return (await peer.update(job, { state, failure_reason: 'script_failure', exit_code: at })).headers;
    }),
  );
  assert.deepEqual(
    ends.map((headers) => headers['job-status']),
    ['success', 'failed', 'success'],
  );
  const [, failed] = jobs;
  const seen = await jobsOf(project);
  const one = seen.find(({ id }) => id === failed?.id);
  assert.deepEqual([one.status, one.failure_reason], ['failed', 'script_failure']);
  const states = seen.map(({ status }) => status as string).toSorted();
  assert.deepEqual(states, ['failed', 'running', 'success', 'success']);
});

test('a repeated end counts once', async () => {
  const project = await seedPushed(gantry);
  await project.push('a: { script: x }\nb: { script: x }');
  const [peer] = await peersOf(project, 1);
  assert.ok(peer !== undefined);
  const job = await peer.take();
  const ends = await Promise.all(
    [1, 2].map(async () => (await peer.update(job, { state: 'success' })).status),
  );
  assert.ok(ends.includes(200), String(ends));
  const states = (await jobsOf(project)).map(({ status }) => status as string).toSorted();
  assert.deepEqual(states, ['pending', 'success']);
});
