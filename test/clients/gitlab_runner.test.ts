/**
 * gitlab-runner, unmodified, with its shell executor: registers, runs the jobs of pipelines, and unregisters. The
 * program is `GANTRY_TEST_GITLAB_RUNNER`, or `gitlab-runner` on the path; without it, the tests are skipped.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { type CiProject, makeCiProject } from '../ci/project.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { untilFound } from '../support/until.ts';

const program = process.env['GANTRY_TEST_GITLAB_RUNNER'] ?? 'gitlab-runner';
const skip =
  spawnSync(program, ['--version']).status === 0
    ? false
    : 'needs gitlab-runner on the path, or in GANTRY_TEST_GITLAB_RUNNER';

const home = mkdtempSync(join(tmpdir(), 'gantry-gitlab-runner-'));
const configFile = join(home, 'config.toml');
const env = { PATH: process.env['PATH'], HOME: home };

let gantry: TestService;
let project: CiProject;
let runner: { id: number; token: string };
let child: ChildProcess | undefined;
let output = '';

const run = async (...args: string[]): Promise<string> => {
  const { stdout, stderr } = await promisify(execFile)(program, args, { env, cwd: home });
  return stdout + stderr;
};

const register = async (): Promise<void> => {
  const words = ['--non-interactive', '--config', configFile, '--url', gantry.url, '--token', runner.token];
  const folders = ['--builds-dir', join(home, 'builds'), '--cache-dir', join(home, 'cache')];
  await run('register', ...words, ...folders, '--executor', 'shell', '--shell', 'bash', '--name', 'real');
  const config = readFileSync(configFile, 'utf8');
  writeFileSync(configFile, config.replace(/^check_interval = .*$/m, 'check_interval = 1'));
};

const start = (): void => {
  child = spawn(program, ['run', '--config', configFile, '--working-directory', home], { env });
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => void (output += text));
};

const stop = async (): Promise<void> => {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
};

before(async () => {
  if (skip !== false) return;
  gantry = await startTestService();
  project = await makeCiProject(gantry, { visibility: 'private' });
  const { status, body, text } = await gantry.api('POST /user/runners', {
    json: { runner_type: 'project_type', project_id: project.id, run_untagged: true },
  });
  assert.equal(status, 201, text);
  runner = body;
  await register();
  start();
});
after(async () => {
  await stop();
  if (skip === false) {
    await project.remove();
    await gantry.close();
  }
  rmSync(home, { recursive: true, force: true });
});

/** Waits for a job to end, and fails with its log if it ended another way. */
const untilEnded = async (name: string, wanted: string): Promise<{ id: number; name: string }> => {
  await untilFound(`${name} begins`, async () =>
    ['created', 'pending', 'skipped', undefined].includes((await project.job(name))?.status) ? null : true,
  );
  const ended = await untilFound(`${name} ends`, async () => {
    const job = await project.job(name);
    return ['success', 'failed', 'canceled'].includes(job?.status) ? job : null;
  });
  assert.equal(ended.status, wanted, `${await project.trace(name)}\n${output}`);
  return ended;
};

/** Without the pipeline of the tag that the release makes, which would make the next release. */
const config = `
workflow: { rules: [{ if: $CI_COMMIT_BRANCH }] }
stages: [build, check, publish]
variables: { COLOR: green }
build:
  stage: build
  script:
    - echo "the color is $COLOR and the secret $SECRET_WORD"
    - echo "made by $CI_JOB_ID" > made.txt
    - mkdir -p kept; echo "kept by $CI_JOB_ID" >> kept/note
  artifacts: { paths: [made.txt] }
  cache: { key: notes, paths: [kept/] }
check:
  stage: check
  script:
    - cat made.txt kept/note
    - test -f "$HOME/mended"
  cache: { key: notes, paths: [kept/], policy: pull }
publish:
  stage: publish
  script: [echo publishing]
  release: { tag_name: "v$CI_PIPELINE_IID", description: "Made by $GITLAB_USER_LOGIN" }
`;

test('runs a pipeline with variables, artifacts, a cache, a retry and a release', { skip }, async () => {
  const secret = { key: 'SECRET_WORD', value: 'of-eight-letters', masked: true };
  assert.equal((await gantry.api(`POST ${project.at}/variables`, { json: secret })).status, 201);
  await project.push(config);
  const { id } = await untilEnded('build', 'success');
  const built = await project.trace('build');
  assert.match(built, /the color is green and the secret \[MASKED\]/);
  assert.match(built, /Job succeeded/);
  const archive = await gantry.api(`GET ${project.at}/jobs/${id}/artifacts/made.txt`);
  assert.deepEqual([archive.status, archive.text], [200, `made by ${id}\n`]);

  const failed = await untilEnded('check', 'failed');
  const checked = await project.trace('check');
  // Each line begins with a timestamp.
  for (const line of [`made by ${id}`, `kept by ${id}`]) assert.match(checked, new RegExp(` ${line}$`, 'm'));
  assert.match(checked, /ERROR: Job failed: exit status 1/);
  writeFileSync(join(home, 'mended'), '');
  assert.equal((await gantry.api(`POST ${project.at}/jobs/${failed.id}/retry`)).status, 201);
  await untilFound('the retried job runs', async () =>
    (await project.job('check')).id === failed.id ? null : true,
  );
  await untilEnded('check', 'success');

  await untilEnded('publish', 'success');
  await project.untilPipeline('success');
  const [release] = (await gantry.api(`GET ${project.at}/releases`)).body;
  assert.deepEqual([release.tag_name, release.description], ['v1', 'Made by root']);
});

const hasEnded = (pid: number): boolean => !existsSync(`/proc/${pid}`);

test('ends the processes of a job that is canceled', { skip }, async () => {
  await project.push('long:\n  script: ["echo \\"shell $$\\"", "sleep 600"]\n');
  const [, shell] = await untilFound('the job runs', async () =>
    / shell (\d+)$/m.exec((await project.job('long')) === undefined ? '' : await project.trace('long')),
  );
  const pid = Number(shell);
  assert.equal(hasEnded(pid), false);
  const { id } = await project.job('long');
  assert.equal((await gantry.api(`POST ${project.at}/jobs/${id}/cancel`)).status, 201);
  await untilEnded('long', 'canceled');
  await untilFound('its shell ends', () => (hasEnded(pid) ? true : null));
});

test('unregisters', { skip }, async () => {
  const managers = async () => (await gantry.api(`GET /runners/${runner.id}/managers`)).body;
  const [manager, ...others] = await managers();
  assert.deepEqual([others, manager.status], [[], 'online']);
  await stop();
  assert.match(await run('unregister', '--config', configFile, '--name', 'real'), /succeeded/);
  assert.deepEqual(await managers(), []);
  assert.doesNotMatch(readFileSync(configFile, 'utf8'), /\[\[runners\]\]/);
});
