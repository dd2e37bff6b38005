/** The built-in runner, from a push to the artifacts, and recovery when the runner or the service is killed. */
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { newPlace } from '../cli/gantry.ts';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { listLeftoverProcesses, makeRunnerFolder } from '../support/ci/runner_process.ts';
import { freePort } from '../support/servers/free_port.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';
import { untilFound } from '../support/until.ts';

type Row = { id: number; name: string; status: string; failure_reason?: string };

/** Resolves to the first value that is not null, from a service that may be down meanwhile. */
const untilServed = async <T>(what: string, find: () => Promise<T | null>): Promise<T> =>
  await untilFound(what, async () => await find().catch(() => null));

type Ask = (line: string, json?: unknown) => Promise<{ status: number; text: string; body: unknown }>;

const jobOf = async (ask: Ask, project: number, name: string): Promise<Row | null> =>
  ((await ask(`GET /projects/${project}/jobs`)).body as Row[]).find((row) => row.name === name) ?? null;

const untilJob = async (ask: Ask, project: number, name: string, status: string): Promise<Row> =>
  await untilServed(`${name} is ${status}`, async () => {
    const row = await jobOf(ask, project, name);
    return row?.status === status ? row : null;
  });

const traceOf = async (ask: Ask, project: number, { id }: Row): Promise<string> =>
  (await ask(`GET /projects/${project}/jobs/${id}/trace`)).text;

const untilSaid = async (ask: Ask, project: number, name: string, text: string): Promise<Row> =>
  await untilServed(`${name} says ${text}`, async () => {
    const row = await jobOf(ask, project, name);
    return row !== null && (await traceOf(ask, project, row)).includes(text) ? row : null;
  });

describe('the built-in runner', () => {
  let gantry: TestService;
  let folder: string;
  let ask: Ask;
  before(async () => {
    folder = await makeRunnerFolder();
    gantry = await startTestService({
      GANTRY_RUNNER_EXECUTOR: 'shell',
      GANTRY_RUNNER_FOLDER: folder,
      GANTRY_RUNNER_CONCURRENCY: '2',
      GANTRY_RUNNER_PROCESSES: '777',
      GANTRY_LOG_LEVEL: 'info',
    });
    ask = async (line, json) => await gantry.api(line, json === undefined ? {} : { json });
  });
  after(async () => {
    await gantry.close();
    rmSync(folder, { recursive: true, force: true });
    assert.deepEqual(listLeftoverProcesses(folder), []);
  });
  const newProject = async (name: string): Promise<number> =>
    ((await ask('POST /projects', { name })).body as { id: number }).id;

  it('runs pushed jobs, passes on artifacts, and shows no secret', async () => {
    const project = await newProject('ran');
    await ask(`POST /projects/${project}/variables`, {
      key: 'SECRET',
      value: 'hunter2hunter2',
      masked: true,
    });
    await seedCommit(gantry, project, {
      '.gitlab-ci.yml': [
        'stages: [build, test]',
        'build:',
        '  stage: build',
        '  before_script: ["mkdir out; cd out"]',
        '  script: ["cat ../source >built", "echo said $SECRET, at most $(ulimit -u)"]',
        '  after_script: ["echo after $CI_JOB_STATUS"]',
        '  artifacts: {paths: [out/]}',
        'test:',
        '  stage: test',
        '  script: ["cat out/built", "git log -1 --format=%H", "exit 3"]',
      ].join('\n'),
      source: 'of the commit\n',
    });
    const build = await untilJob(ask, project, 'build', 'success');
    const log = await traceOf(ask, project, build);
    assert.match(log, /\nafter success\n/);
    assert.match(log, /said \[MASKED\], at most 777\n/);
    assert.doesNotMatch(log, /hunter2/);
    const file = await ask(`GET /projects/${project}/jobs/${build.id}/artifacts/out/built`);
    assert.deepEqual([file.status, file.text], [200, 'of the commit\n']);
    const test = await untilJob(ask, project, 'test', 'failed');
    assert.match(await traceOf(ask, project, test), /\nof the commit\n/);
  });
  it('kills everything that a cancelled job started', async () => {
    const project = await newProject('cancelled');
    const script = `["trap '' TERM", "setsid sleep 1000 &", "echo ready", "while :; do sleep 1; done"]`;
    await seedCommit(gantry, project, { '.gitlab-ci.yml': `long:\n  script: ${script}\n` });
    const { id } = await untilSaid(ask, project, 'long', '\nready\n');
    const { status } = await ask(`POST /projects/${project}/jobs/${id}/cancel`);
    assert.equal(status, 201);
    await untilServed('all is gone', async () => (listLeftoverProcesses(folder).length === 0 ? true : null));
    await untilJob(ask, project, 'long', 'canceled');
  });
  it('the built-in runner does not expose its token to jobs', () => {
    const { mode } = statSync(join(gantry.service.platform.config.data, 'runner_token'));
    assert.equal(mode & 0o777, 0o600);
  });
  it('is restarted when killed, and its job fails at once', async () => {
    const project = await newProject('killed');
    await seedCommit(gantry, project, {
      '.gitlab-ci.yml': 'long:\n  script: ["echo ready", "sleep 1000"]\n',
    });
    await untilSaid(ask, project, 'long', '\nready\n');
    const line = gantry.logged().findLast((one) => one.includes('the built-in runner is ready')) ?? '{}';
    process.kill((JSON.parse(line) as { pid: number }).pid, 'SIGKILL');
    const { failure_reason } = await untilJob(ask, project, 'long', 'failed');
    assert.ok(failure_reason === undefined || failure_reason === 'runner_system_failure');
    await seedCommit(gantry, project, { '.gitlab-ci.yml': 'next:\n  script: ["true"]\n' });
    await untilJob(ask, project, 'next', 'success');
  });
});

describe('a service that is killed', () => {
  const place = newPlace();
  let folder: string;
  before(async () => {
    folder = await makeRunnerFolder();
  });
  after(async () => {
    await place.remove();
    await untilServed('its runner has ended', async () =>
      listLeftoverProcesses(folder).length === 0 ? true : null,
    );
    rmSync(folder, { recursive: true, force: true });
  });
  it('finds the job that continued meanwhile, with every line of its log', async () => {
    const port = await freePort();
    const env = {
      GANTRY_LISTEN: `127.0.0.1:${port}`,
      GANTRY_ROOT_TOKEN: rootToken,
      GANTRY_RUNNER_EXECUTOR: 'shell',
      GANTRY_RUNNER_FOLDER: folder,
    };
    const ask: Ask = async (line, json) => {
      const [method = '', path = ''] = line.split(' ');
      const response = await fetch(`http://127.0.0.1:${port}/api/v4${path}`, {
        method,
        headers: { 'private-token': rootToken, 'content-type': 'application/json' },
        ...(json !== undefined && { body: JSON.stringify(json) }),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type') === 'application/json';
      return { status: response.status, text, body: isJson ? (JSON.parse(text) as unknown) : undefined };
    };
    const first = await place.serve('serve', { env });
    const { id: project } = (await ask('POST /projects', { name: 'survives' })).body as { id: number };
    const lines = 'for i in $(seq 150); do echo line $i; sleep 0.02; done';
    const content = `long:\n  script: ["${lines}", "echo done >out"]\n  artifacts: {paths: [out]}\n`;
    const file = { branch: 'main', content, commit_message: 'CI' };
    const made = await ask(`POST /projects/${project}/repository/files/.gitlab-ci.yml`, file);
    assert.equal(made.status, 201, made.text);
    await untilSaid(ask, project, 'long', 'line 5\n');
    await first.end('SIGKILL');
    await place.serve('serve', { env });
    const job = await untilJob(ask, project, 'long', 'success');
    const said = (await traceOf(ask, project, job)).split('\n').filter((line) => line.startsWith('line '));
    assert.deepEqual(
      said,
      Array.from({ length: 150 }, (_, index) => `line ${index + 1}`),
    );
    assert.equal((await ask(`GET /projects/${project}/jobs/${job.id}/artifacts/out`)).text, 'done\n');
    assert.match(readFileSync(join(place.data, 'runner_token'), 'utf8'), /^glrt-/);
  });
});
