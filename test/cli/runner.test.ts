/** `gantry runner`: a runner for a service that it knows by URL alone. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { gantry } from './gantry.ts';
import { makeRunnerFolder } from '../support/ci/runner_process.ts';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { seedRunner } from '../support/ci/fake_runner.ts';
import { type TestService, startTestService } from '../support/service.ts';

let service: TestService;
let folder: string;
before(async () => {
  service = await startTestService();
  folder = await makeRunnerFolder();
});
after(async () => {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

it('runs the jobs of a service, and finishes them after SIGTERM', async () => {
  const { token } = await seedRunner(service);
  const words = ['runner', '--url', service.url, '--executor', 'shell', '--folder', folder, '--json'];
  const child = spawn(process.execPath, ['bin/gantry', ...words], {
    cwd: join(import.meta.dirname, '../..'),
    env: { PATH: process.env['PATH'], RUNNER_TOKEN: token, GANTRY_RUNNER_PROCESSES: '77' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exited = once(child, 'exit');
  const [banner] = (await once(child.stdout, 'data')) as [Buffer];
  assert.partialDeepStrictEqual(JSON.parse(banner.toString()), { executor: 'shell', url: service.url });
  const { body: project } = await service.api('POST /projects', { json: { name: 'elsewhere' } });
  const script = 'job:\n  script: ["echo ready", "echo at most $(ulimit -u)", "sleep 1", "echo done"]\n';
  await seedCommit(service, project.id, { '.gitlab-ci.yml': script });
  const job = async () => (await service.api(`GET /projects/${project.id}/jobs`)).body[0];
  const log = async () =>
    (await service.api(`GET /projects/${project.id}/jobs/${(await job()).id}/trace`)).text;
  for (let tries = 0; tries < 600; tries += 1) {
    if ((await job()) !== undefined && (await log()).includes('\nready\n')) break;
    await wait(50);
  }
  child.kill('SIGTERM');
  assert.deepEqual(await exited, [0, null]);
  assert.equal((await job()).status, 'success');
  assert.match(await log(), /\ndone\n/);
  assert.match(await log(), /\nat most 77\n/);
});

it('reports invalid use', async () => {
  const at = `runner --url ${service.url} --folder ${folder}`;
  const env = { PATH: process.env['PATH'] ?? '' };
  const unknown = await gantry(`${at} --executor shell --token glrt-unknown`, env);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /does not know this runner/);
  assert.match((await gantry(at, env)).stderr, /pass --token or set RUNNER_TOKEN/);
  assert.equal((await gantry(`${at} --token x --executor no`, env)).code, 2);
  assert.match((await gantry('runner --url ftp://x --token x', env)).stderr, /--url must be a URL/);
});
