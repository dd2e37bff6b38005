/** API document: the job record and what is done to jobs, of jobs that a runner took and ran. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { writeZip } from '../../../zip/write_zip.ts';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import { settle } from '../../support/seed_merge_requests.ts';
import { type Peer, type PeerJob, makePeer, seedRunner } from '../../support/ci/fake_runner.ts';
import { type CodeWorld, startCodeWorld } from '../code_world.ts';
import { type Team, answer } from '../world.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
type Job = any;

let world: CodeWorld;
const peers: Peer[] = [];

before(async () => {
  world = await startCodeWorld();
});
after(async () => {
  for (const peer of peers) peer.close();
  await world.close();
});

const file = `
stages: [build, test]
compile:
  stage: build
  script: make
  coverage: '/Covered: (\\d+\\.\\d+)%/'
  artifacts: { paths: [out] }
ask: { stage: build, script: make ask, when: manual }
check: { stage: test, script: make check }
`;

type Running = { team: Team; runner: number; peer: Peer; sha: string };

/** A project to which a file was pushed, and a runner of its own. */
const pushed = async (text = file): Promise<Running> => {
  const team = await world.codeTeam();
  const runner = await seedRunner(world.gantry, { runner_type: 'project_type', projects: [team.id] });
  const sha = await seedCommit(
    world.gantry,
    team.id,
    { '.gitlab-ci.yml': text },
    { branch: 'topic', from: 'main', by: team.developer.id },
  );
  await settle(world.gantry);
  const peer = makePeer(world.gantry, { token: runner.token });
  peers.push(peer);
  return { team, runner: runner.id, peer, sha };
};

const jobsOf = async ({ team }: Running): Promise<Job[]> => {
  const { status, body, text } = await world.api(`GET /projects/${team.id}/jobs`);
  assert.equal(status, 200, text);
  return body;
};

const get = async ({ team }: Running, id: number): Promise<Job> =>
  (await world.api(`GET /projects/${team.id}/jobs/${id}`)).body;

/** The newest job of this name. */
const named = async (running: Running, name: string): Promise<Job> => {
  const found = (await jobsOf(running)).find((one) => one.name === name);
  assert.ok(found, name);
  return found;
};

const act = async ({ team }: Running, word: string, id: number, as = team.developer.token): Promise<Job> => {
  const { status, body, text } = await world.api(`POST /projects/${team.id}/jobs/${id}/${word}`, { as });
  assert.equal(status, 201, text);
  return body;
};

const archive = async (): Promise<Buffer> => {
  const entry = { name: 'out', kind: 'file' as const, mode: 0o644, modified: new Date(0), content: 'made' };
  return Buffer.concat((await writeZip([entry]).toArray()) as Buffer[]);
};

const must = (job: PeerJob | undefined): PeerJob => {
  assert.ok(job);
  return job;
};

describe('a job that ran', () => {
  it('waits, runs and ends: each is told', async () => {
    const running = await pushed();
    const { team, peer, runner, sha } = running;
    const waiting = await named(running, 'compile');
    assert.deepEqual(
      [waiting.status, waiting.user.id, waiting.ref, waiting.commit.id, waiting.runner],
      ['pending', team.developer.id, 'topic', sha, null],
    );
    assert.deepEqual(
      [(await named(running, 'ask')).status, (await named(running, 'check')).status],
      ['manual', 'created'],
    );

    const taken = await peer.take();
    assert.equal(taken.id, waiting.id);
    const started = await get(running, taken.id);
    assert.deepEqual(
      [started.status, started.runner.id, started.finished_at, started.pipeline.status],
      ['running', runner, null, 'running'],
    );
    assert.ok(started.started_at >= started.created_at && started.duration >= 0);

    const bytes = await archive();
    await peer.run(taken, { log: 'Covered: 87.5%\n', archive: bytes });
    const done = await get(running, taken.id);
    assert.deepEqual(
      [done.status, done.coverage, done.artifacts_file, done.failure_reason],
      ['success', 87.5, { filename: 'artifacts.zip', size: bytes.length }, null],
    );
    assert.ok(done.finished_at >= done.started_at);
    assert.deepEqual(done.artifacts.map((one: { file_type: string }) => one.file_type).toSorted(), [
      'archive',
      'trace',
    ]);
    assert.equal((await named(running, 'check')).status, 'pending');
  });
  it('fails: why, and what comes after it is skipped', async () => {
    const running = await pushed();
    await running.peer.run(await running.peer.take(), { state: 'failed' });
    const failed = await named(running, 'compile');
    assert.deepEqual([failed.status, failed.failure_reason], ['failed', 'script_failure']);
    assert.equal((await named(running, 'check')).status, 'skipped');
  });
  it('its token is good for itself while it runs, and no longer', async () => {
    const running = await pushed();
    const taken = await running.peer.take();
    const own = async () => await world.api('GET /job', { as: null, headers: { 'job-token': taken.token } });
    const shown = await own();
    assert.deepEqual([shown.status, shown.body?.id], [200, taken.id]);
    await running.peer.run(taken);
    assert.equal((await own()).status, 401);
  });
});

describe('POST cancel of a job that runs', () => {
  it('is canceled at once for people; its runner is told, and what it says at the end changes nothing', async () => {
    const running = await pushed();
    const taken = await running.peer.take();
    const canceled = await act(running, 'cancel', taken.id);
    assert.equal(canceled.status, 'canceled');
    const reply = await running.peer.trace(taken, 'still here\n');
    assert.match(String(reply.headers['job-status']), /^cancel(?:ing|ed)$/);
    await running.peer.finish(taken, 'success');
    const ended = await get(running, taken.id);
    assert.deepEqual([ended.status, ended.finished_at], ['canceled', canceled.finished_at]);
    assert.equal((await act(running, 'cancel', taken.id)).status, 'canceled');
  });
});

describe('POST retry of a job that ran', () => {
  for (const state of ['success', 'failed'] as const) {
    it(`${state}: a new job, which a runner takes and runs`, async () => {
      const running = await pushed();
      const first = await running.peer.take();
      await running.peer.run(first, { state });
      const made = await act(running, 'retry', first.id);
      assert.notEqual(made.id, first.id);
      assert.deepEqual([made.status, made.started_at, made.finished_at], ['pending', null, null]);
      const ids = [await running.peer.take()];
      // After a success, what comes after it waits, too.
      if (state === 'success') ids.push(await running.peer.take());
      const again = must(ids.find(({ id }) => id === made.id));
      await running.peer.run(again);
      assert.equal((await get(running, made.id)).status, 'success');
      assert.equal((await get(running, first.id)).status, state);
      const { pipeline } = await get(running, made.id);
      const path = `/projects/${running.team.id}/pipelines/${pipeline.id}/jobs`;
      const kept = await world.api(`GET ${path}?include_retried=false`);
      assert.ok(!(kept.body as Job[]).some(({ id }) => id === first.id));
    });
  }
  it('403 while it runs', async () => {
    const running = await pushed();
    const taken = await running.peer.take();
    const path = `/projects/${running.team.id}/jobs/${taken.id}/retry`;
    assert.deepEqual(answer(await world.api(`POST ${path}`)), [
      403,
      { message: '403 Forbidden - Job is not retryable' },
    ]);
  });
});

describe('POST play of a job that then runs', () => {
  it('a runner takes it, with the variables that came with it', async () => {
    const running = await pushed('ask: { script: make, when: manual }');
    assert.equal(await running.peer.request(), null);
    const { id } = await named(running, 'ask');
    const json = { job_variables_attributes: [{ key: 'TARGET', value: 'here' }] };
    const reply = await world.api(`POST /projects/${running.team.id}/jobs/${id}/play`, { json });
    assert.deepEqual([reply.status, reply.body?.status, reply.body?.id], [201, 'started', id]);
    const taken = await running.peer.take();
    assert.equal(taken.id, id);
    const variables = taken.body.variables as { key: string; value: string }[];
    assert.equal(variables.findLast(({ key }) => key === 'TARGET')?.value, 'here');
    await running.peer.run(taken);
    assert.equal((await get(running, id)).status, 'success');
  });
  it('again, once it has ended: a new one runs', async () => {
    const running = await pushed('ask: { script: make, when: manual }');
    const { id } = await named(running, 'ask');
    await act(running, 'play', id);
    await running.peer.run(await running.peer.take());
    const again = await act(running, 'play', id);
    assert.notEqual(again.id, id);
    assert.equal((await running.peer.take()).id, again.id);
  });
});
