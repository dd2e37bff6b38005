/** Jobs that the built-in runner executes after a git push, from typical first configurations. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { chooseExecutors } from '../../runner/executors/choose_executor.ts';
import { listLeftoverProcesses, makeRunnerFolder } from '../support/ci/runner_process.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';
import { untilFound } from '../support/until.ts';
import { type CiProject, makeCiProject } from './project.ts';

const projects: CiProject[] = [];

const newProject = async (gantry: TestService): Promise<CiProject> => {
  const project = await makeCiProject(gantry);
  projects.push(project);
  return project;
};

const startWith = async (executor: string, folder: string): Promise<TestService> =>
  await startTestService({
    GANTRY_RUNNER_EXECUTOR: executor,
    GANTRY_RUNNER_FOLDER: folder,
    GANTRY_RUNNER_CONCURRENCY: '2',
  });

after(async () => await Promise.all(projects.map(async ({ remove }) => await remove())));

const colors = new RegExp(`${String.fromCodePoint(27)}\\[[0-9;]*[mK]`, 'g');

/** The log as text for people. */
const logOf = async (project: CiProject, name: string): Promise<string> =>
  (await project.trace(name)).replaceAll(colors, '');

describe('without a sandbox', () => {
  let gantry: TestService;
  let folder: string;
  let gates: string;
  before(async () => {
    folder = await makeRunnerFolder();
    gates = mkdtempSync(join(tmpdir(), 'gantry-test-gates-'));
    chmodSync(gates, 0o755);
    gantry = await startWith('shell', folder);
  });
  after(async () => {
    await gantry.close();
    assert.deepEqual(listLeftoverProcesses(folder), []);
    for (const one of [folder, gates]) rmSync(one, { recursive: true, force: true });
  });

  test('shows the log while a pushed job runs, and its artifacts when it has ended', async () => {
    const project = await newProject(gantry);
    const gate = join(gates, 'open');
    await project.push(`
variables: { GATE: "${gate}" }
streams:
  script:
    - echo "first of $CI_COMMIT_BRANCH"
    - until [ -e "$GATE" ]; do sleep 0.05; done
    - mkdir out && echo made >out/file && echo second
  artifacts: { paths: [out/], name: results }
`);
    const { id } = await project.untilJob('streams', 'running');
    const response = await fetch(`${gantry.url}/-/jobs/${id}/trace/stream`, {
      headers: { 'private-token': rootToken },
    });
    assert.equal(response.status, 200);
    let heard = '';
    for await (const bytes of response.body!) {
      heard += Buffer.from(bytes).toString();
      if (!heard.includes('first of main')) continue;
      assert.equal((await project.job('streams')).status, 'running');
      writeFileSync(gate, '');
      break;
    }
    const { artifacts, artifacts_file, runner } = await project.untilJob('streams', 'success');
    assert.equal(artifacts_file.filename, 'results.zip');
    const types = artifacts.map(({ file_type }: { file_type: string }) => file_type);
    assert.deepEqual(types.toSorted(), ['archive', 'trace']);
    assert.equal(runner.is_shared, true);
    assert.match(await logOf(project, 'streams'), /\nfirst of main\n[^]*\nsecond\n/);
    assert.equal((await gantry.api(`GET ${project.at}/jobs/${id}/artifacts/out/file`)).text, 'made\n');
  });

  test('runs a matrix of four as four jobs with their own variables', async () => {
    const project = await newProject(gantry);
    await project.push(`
build:
  script: echo "built $OS for $ARCH, $CI_NODE_INDEX of $CI_NODE_TOTAL"
  parallel: { matrix: [{ OS: [linux, bsd], ARCH: [arm, x86] }] }
`);
    await project.untilPipeline('success');
    const parts = ['linux, arm', 'linux, x86', 'bsd, arm', 'bsd, x86'];
    const names = parts.map((part) => `build: [${part}]`);
    assert.deepEqual(
      await project.states(),
      names.map((name) => `${name}: success`),
    );
    for (const [at, name] of names.entries()) {
      const [os, arch] = parts[at]!.split(', ');
      assert.match(await logOf(project, name), new RegExp(`\nbuilt ${os} for ${arch}, ${at + 1} of 4\n`));
    }
  });

  test('truncates a log of more than four megabytes and continues the job', async () => {
    const project = await newProject(gantry);
    await project.push(`
loud:
  script: [head -c 6000000 /dev/zero | tr "\\\\0" x, echo done >out]
  artifacts: { paths: [out] }
`);
    const { id } = await project.untilJob('loud', 'success');
    const log = await project.trace('loud');
    assert.match(log, /Job's log exceeded limit of 4194304 bytes\./);
    assert.ok(log.length > 4 * 1024 * 1024 && log.length < 4.1 * 1024 * 1024, String(log.length));
    assert.equal((await gantry.api(`GET ${project.at}/jobs/${id}/artifacts/out`)).text, 'done\n');
  });

  test('runs before_script and after_script around each job, and passes on artifacts', async () => {
    const project = await newProject(gantry);
    await project.push({
      '.gitlab-ci.yml': `
before_script: [echo "before $CI_JOB_NAME"]
after_script: ['echo "after $CI_JOB_NAME, $CI_JOB_STATUS"']
build1: { stage: build, script: ["sh tools/make.sh"], artifacts: { paths: [made.txt] } }
test1: { stage: test, script: [cat made.txt, grep -q "by build1" made.txt] }
test2: { stage: test, script: [test ! -e made.txt], dependencies: [] }
deploy1: { stage: deploy, script: [exit 3] }
`,
      'tools/make.sh': 'echo "made by $CI_JOB_NAME" >made.txt\n',
    });
    await project.untilPipeline('failed');
    assert.deepEqual(await project.states(), [
      'build1: success',
      'test1: success',
      'test2: success',
      'deploy1: failed',
    ]);
    assert.match(
      await logOf(project, 'test1'),
      /\nbefore test1\n[^]*\nmade by build1\n[^]*\nafter test1, success\n/,
    );
    const log = await logOf(project, 'deploy1');
    assert.match(log, /\nafter deploy1, failed\n/);
    assert.match(log, /ERROR: Job failed: exit code 3\n/);
  });

  test('browses the files of a site that a job built', async () => {
    const project = await newProject(gantry);
    await project.push({
      '.gitlab-ci.yml': `
pages:
  stage: deploy
  script: [mkdir .public, cp -r site/* .public, mv .public public]
  artifacts: { paths: [public] }
  only: [main]
`,
      'site/index.html': '<h1>Engines</h1>\n',
      'site/style/all.css': 'h1 { color: red }\n',
    });
    const { id } = await project.untilJob('pages', 'success');
    const fileOf = async (ref: string) => await gantry.api(`GET ${project.at}/jobs/${ref}`);
    const index = await fileOf(`${id}/artifacts/public/index.html`);
    assert.deepEqual([index.status, index.text], [200, '<h1>Engines</h1>\n']);
    assert.match(index.headers.get('content-disposition') ?? '', /^attachment/);
    const style = await fileOf('artifacts/main/raw/public/style/all.css?job=pages');
    assert.deepEqual([style.status, style.text], [200, 'h1 { color: red }\n']);
    await project.push({ more: 'x' }, { branch: 'topic' });
    assert.equal((await project.pipelines()).length, 1);
  });

  test('runs two jobs on a branch, one without sources, one with the cache of the last run', async () => {
    const project = await newProject(gantry);
    const file = `
stages: [ask, review]
ask for a review:
  stage: ask
  variables: { GIT_STRATEGY: none }
  script: ['echo "has $(ls -A | wc -l) files"']
  except: [main, tags]
review:
  stage: review
  only: [branches]
  cache: { key: { files: [deps.lock] }, paths: [deps/] }
  script: ['echo "kept $(cat deps/kept || echo nothing)"', mkdir -p deps, cp deps.lock deps/kept]
`;
    await project.push({ '.gitlab-ci.yml': file, 'deps.lock': 'one\n' }, { message: '[ci skip]' });
    const reviewed = async (files: Record<string, string>): Promise<string> => {
      await project.push(files, { branch: 'topic' });
      await project.untilPipeline('success');
      return /\nkept (.*)\n/.exec(await logOf(project, 'review'))?.[1] ?? 'not told';
    };
    assert.equal(await reviewed({ a: '1' }), 'nothing');
    assert.match(await logOf(project, 'ask for a review'), /\nhas 0 files\n/);
    assert.deepEqual(await project.states(), ['ask for a review: success', 'review: success']);
    assert.equal(await reviewed({ b: '1' }), 'one');
    assert.equal(await reviewed({ 'deps.lock': 'two\n' }), 'nothing');
  });

  test('runs the remaining jobs after others have failed', async () => {
    const project = await newProject(gantry);
    await project.push(`
fails: { stage: build, script: [exit 1] }
cleans: { stage: test, script: [echo cleaned], when: on_failure }
goes on: { stage: test, script: [echo never] }
always: { stage: deploy, script: [echo always], when: always }
`);
    await project.untilPipeline('failed');
    assert.deepEqual(await project.states(), [
      'fails: failed',
      'cleans: success',
      'goes on: skipped',
      'always: success',
    ]);
  });
});

const missing = (): string | false => {
  try {
    for (const program of ['cmake', 'cc', 'make']) execFileSync(program, ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'there is nothing here that compiles C';
  }
};

const folder = await makeRunnerFolder();
const { choice, notices } = await chooseExecutors({
  requested: 'sandbox',
  isLocal: true,
  folder,
  user: null,
});

describe('in a sandbox', { skip: choice === null ? notices.join(' ') : missing() }, () => {
  let gantry: TestService;
  before(async () => void (gantry = await startWith('sandbox', folder)));
  after(async () => await gantry.close());

  test('keeps the working folder between the commands of a script', async () => {
    const project = await newProject(gantry);
    await project.push({
      '.gitlab-ci.yml': `
default:
  before_script: [mkdir build, cd build, cmake .. >configured]
stages: [build, test]
build: { stage: build, script: [make, ./answer] }
test: { stage: test, script: [make, ctest --output-on-failure] }
`,
      'CMakeLists.txt': `
cmake_minimum_required(VERSION 3.10)
project(answer C)
enable_testing()
add_executable(answer answer.c)
add_test(NAME answers COMMAND answer)
`,
      'answer.c': '#include <stdio.h>\nint main(void) { return puts("it is 42") < 0; }\n',
    });
    const end = await untilFound('it has ended', async () => {
      const { status } = await project.newest();
      return ['success', 'failed'].includes(status) ? (status as string) : null;
    });
    assert.equal(end, 'success', await logOf(project, 'build'));
    assert.match(await logOf(project, 'build'), /Preparing the "sandbox" executor[^]*\nit is 42\n/);
    assert.match(await logOf(project, 'test'), /100% tests passed/);
  });
});

after(() => rmSync(folder, { recursive: true, force: true }));
