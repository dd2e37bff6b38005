/**
 * Many pipelines while the service, the runner and jobs are killed at random: every job ends once, acknowledged log
 * bytes exist, and artifacts are intact.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { freePort } from '../support/servers/free_port.ts';
import { times } from '../support/run/sample.ts';
import { type Place, type Running, call, newPlace, token } from './process.ts';

const pipelines = times(100, 12);
const kills = times(15, 3);
const lines = 20;

const config = `
stages: [build, check]
build:
  stage: build
  script:
    - for n in $(seq ${lines}); do echo "line $n of $CI_JOB_ID"; sleep 0.01; done
    - echo "made by $CI_JOB_ID" > made.txt
    - echo "$CI_JOB_ID" >> "$LEDGER"
  artifacts: { paths: [made.txt] }
check:
  stage: check
  script:
    - grep "made by" made.txt
    - echo "checked by $CI_JOB_ID"
    - echo "$CI_JOB_ID" >> "$LEDGER"
`;

type Job = { id: number; name: string; status: string; failure_reason?: string; pipeline: { id: number } };

let place: Place;
let running: Running;
let ledger: string;
let env: Record<string, string>;

/** Retries until a service answers; there may be none for a moment. */
const ask = async (line: string, json?: object): ReturnType<typeof call> => {
  for (let tries = 0; ; tries += 1) {
    const answer = await call(running.url, line, json).catch(() => null);
    if (answer !== null && answer.status !== 503) return answer;
    assert.ok(tries < 300, `${line}: nobody answers`);
    await wait(100);
  }
};

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it has ended
  }
};

const childrenOf = (pid: number): number[] =>
  readText(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);

const descendantsOf = (pid: number): number[] =>
  childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);

const runnerOf = (): number | undefined =>
  childrenOf(running.pid).find((pid) => /runner/.test(readText(`/proc/${pid}/cmdline`)));

const kill = (pid: number | undefined): void => {
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  } catch {
    // It has exited by itself.
  }
};

const killService = async (): Promise<void> => {
  running.signal('SIGKILL');
  await running.exit;
  running = await place.start({ env });
};

/** Returns a process of a running job, if there is one. */
const killJob = (): void => {
  const runner = runnerOf();
  const all = runner === undefined ? [] : descendantsOf(runner);
  kill(all[Math.floor(Math.random() * all.length)]);
};

const killers = [killService, async () => kill(runnerOf()), async () => killJob()];

const storm = async (): Promise<void> => {
  for (let done = 0; done < kills; done += 1) {
    await wait(300 + Math.random() * 1000);
    await killers[done % killers.length]?.();
  }
};

const makePipelines = async (): Promise<number[]> => {
  const ids: number[] = [];
  const variables = [{ key: 'LEDGER', value: ledger }];
  while (ids.length < pipelines) {
    const { status, body } = await ask('POST /projects/1/pipeline', { ref: 'main', variables });
    assert.equal(status, 201, JSON.stringify(body));
    ids.push(body.id);
  }
  return ids;
};

const unfinished = `select id, name, status from jobs where status in
  ('created', 'pending', 'running', 'canceling', 'waiting_for_resource')`;

const untilAllEnded = async (): Promise<void> => {
  for (let tries = 0; tries < 400; tries += 1) {
    if ((await place.query(unfinished)).length === 0) return;
    await wait(500);
  }
  assert.fail(`jobs that do not end: ${JSON.stringify((await place.query(unfinished)).slice(0, 5))}`);
};

const get = async (path: string): Promise<{ status: number; bytes: Buffer }> => {
  const response = await fetch(`${running.url}/api/v4${path}`, { headers: { 'private-token': token } });
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
};

const checkSuccess = async ({ id, name }: Job): Promise<void> => {
  const log = (await get(`/projects/1/jobs/${id}/trace`)).bytes.toString();
  assert.match(log, /Job succeeded/, `the end of the log of ${id}`);
  if (name === 'check') {
    assert.match(log, new RegExp(`^checked by ${id}`, 'm'));
    return;
  }
  const told = [...log.matchAll(/^line (\d+) of (\d+)\r?$/gm)].map(([, line]) => Number(line));
  assert.deepEqual(
    told,
    Array.from({ length: lines }, (_none, at) => at + 1),
    `the log of ${id}`,
  );
  const { status, bytes } = await get(`/projects/1/jobs/${id}/artifacts/made.txt`);
  assert.deepEqual([status, bytes.toString()], [200, `made by ${id}\n`]);
};

const checkJobs = async (ids: number[]): Promise<void> => {
  const counts: Record<string, number> = {};
  const ran = readText(ledger).split('\n').filter(Boolean).map(Number);
  assert.equal(new Set(ran).size, ran.length, 'a job ran to its end twice');
  for (const id of ids) {
    const jobs = (await ask(`GET /projects/1/pipelines/${id}/jobs`)).body as Job[];
    assert.deepEqual(jobs.map(({ name }) => name).toSorted(), ['build', 'check']);
    for (const job of jobs) {
      counts[job.status] = (counts[job.status] ?? 0) + 1;
      if (job.status === 'success') await checkSuccess(job);
      if (job.status === 'success') assert.ok(ran.includes(job.id), `${job.id} says it ran`);
      if (job.status === 'failed') assert.ok(job.failure_reason, `why ${job.id} failed`);
    }
    const { status } = (await ask(`GET /projects/1/pipelines/${id}`)).body;
    assert.equal(status, jobs.every((job) => job.status === 'success') ? 'success' : 'failed');
  }
  assert.ok((counts['success'] ?? 0) > pipelines, `hardly any job succeeded: ${JSON.stringify(counts)}`);
};

before(async () => {
  place = newPlace();
  ledger = join(place.data, '..', 'ledger');
  writeFileSync(ledger, '', { mode: 0o666 });
  env = {
    GANTRY_LISTEN: `127.0.0.1:${await freePort()}`,
    GANTRY_RUNNER_EXECUTOR: 'shell',
    GANTRY_RUNNER_CONCURRENCY: '4',
    GANTRY_RUNNER_FOLDER: join(place.data, '../runner'),
  };
  running = await place.start({ env });
});
after(async () => {
  running.signal('SIGTERM');
  await running.exit;
  await place.remove();
});

test('ends every job once, whatever is killed', { timeout: 290_000 }, async () => {
  assert.equal((await ask('POST /projects', { name: 'killed' })).body.id, 1);
  const actions = [{ action: 'create', file_path: '.gitlab-ci.yml', content: config }];
  const commit = { branch: 'main', commit_message: 'First [ci skip]', actions };
  assert.equal((await ask('POST /projects/1/repository/commits', commit)).status, 201);
  const [ids] = await Promise.all([makePipelines(), storm()]);
  await untilAllEnded();
  await checkJobs(ids);
});
