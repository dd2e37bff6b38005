/** Tests how jobs fetch their sources: strategies, flags, submodules. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import {
  type Coordinator,
  type OfferedJob,
  startCoordinator,
} from '../../test/support/servers/runner_coordinator.ts';
import { type TestRunner, startTestRunner } from '../../test/support/ci/runner_process.ts';
import { until } from '../../test/support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'gantry-test-sources-'));
let coordinator: Coordinator;
let runner: TestRunner;

const git = (at: string, ...args: string[]): string =>
  execFileSync('git', ['-C', join(folder, at), ...args], { stdio: 'pipe' })
    .toString()
    .trim();

/** Creates a repository with one commit per text. The last commit has the files that `prepare` creates. */
const makeSource = (name: string, texts: readonly string[], prepare?: (at: string) => void): string => {
  execFileSync('git', ['init', '-q', '-b', 'main', join(folder, name)]);
  git(name, 'config', 'user.email', 'a@example.com');
  git(name, 'config', 'user.name', 'A');
  for (const [index, text] of texts.entries()) {
    writeFileSync(join(folder, name, 'file'), text);
    git(name, 'add', '.');
    if (index === texts.length - 1) prepare?.(name);
    git(name, 'commit', '-q', '-m', text);
  }
  return git(name, 'rev-parse', 'HEAD');
};

/** Adds a submodule as `git submodule add` does, without fetching its URL. */
const addModule = (at: string, path: string, url: string, sha: string): void => {
  git(at, 'config', '-f', '.gitmodules', `submodule.${path}.path`, path);
  git(at, 'config', '-f', '.gitmodules', `submodule.${path}.url`, url);
  git(at, 'add', '.gitmodules');
  git(at, 'update-index', '--add', '--cacheinfo', `160000,${sha},${path}`);
};

let first = '';
let sha = '';
before(async () => {
  coordinator = await startCoordinator();
  runner = await startTestRunner({ url: coordinator.url, concurrency: 1 });
  const inner = makeSource('inner', ['inner']);
  const lib = makeSource('lib', ['lib one', 'lib two'], (at) => addModule(at, 'deep', '../inner.git', inner));
  const open = makeSource('open', ['open']);
  makeSource('p', ['one', 'two', 'three'], (at) => {
    addModule(at, 'lib', '../lib.git', lib);
    addModule(at, 'open', 'https://code.example.com/g/open.git', open);
    addModule(at, 'unwanted', 'ssh://git@elsewhere.example.com/x.git', open);
  });
  sha = git('p', 'rev-parse', 'HEAD');
  first = git('p', 'rev-parse', 'HEAD^');
  for (const name of ['p', 'lib', 'inner', 'open']) {
    coordinator.serve(join(folder, name, '.git'), `/g/${name}.git`);
    git(name, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  }
});
after(async () => {
  await runner.close();
  await coordinator.close();
  rmSync(folder, { recursive: true, force: true });
});

const refspecs = ['+refs/heads/main:refs/remotes/origin/main'];
const run = async (values: Record<string, string>, script: string[], more: OfferedJob = {}) => {
  const variables = Object.entries(values).map(([key, value]) => ({ key, value }));
  const heard = coordinator.add({ git: { sha, depth: 20, refspecs }, variables, script, ...more });
  await until(`job ${heard.id} has ended`, () => heard.ended !== null);
  return { heard, log: heard.trace.toString() };
};

describe('submodules', () => {
  const paths = { GIT_SUBMODULE_PATHS: 'lib open' };
  const host = { host: 'https://code.example.com' };
  const look = [
    'for f in lib/file lib/deep/file open/file; do cat $f 2>/dev/null || echo "no $f"; echo; done',
  ];

  it('submodules are not fetched by default', async () => {
    const { log } = await run({}, look);
    assert.match(log, /\nSkipping Git submodules setup\n/);
    assert.match(log, /\nno lib\/file\n/);
  });
  it('are fetched by a relative URL and by the public address', async () => {
    const { log, heard } = await run({ ...paths, GIT_SUBMODULE_STRATEGY: 'normal' }, look, host);
    assert.equal(heard.ended?.state, 'success', log);
    assert.match(log, /Updating\/initializing submodules with git depth set to 20\.\.\./);
    assert.match(log, /\nlib two\nno lib\/deep\/file\n\nopen\n/);
    assert.doesNotMatch(log, /gitlab-ci-token|glcbt/);
  });
  it('are fetched recursively, at the requested depth, in consecutive jobs', async () => {
    const values = { ...paths, GIT_SUBMODULE_STRATEGY: 'recursive', GIT_SUBMODULE_DEPTH: '1' };
    const script = [
      ...look,
      'echo "has $(git -C lib rev-list --count HEAD)"',
      'echo "changed: $(git status --porcelain | wc -l)"',
      'grep -r "ci-token\\|glcbt\\|Basic" .git/config .git/modules && exit 1; echo dirt >lib/dirt; echo changed >open/file',
    ];
    await run(values, script, host);
    const { log, heard } = await run(values, [...script, 'ls lib'], host);
    assert.equal(heard.ended?.state, 'success', log);
    assert.match(log, /submodules recursively with git depth set to 1\.\.\./);
    assert.match(log, /\nlib two\ninner\nopen\n[^]*\nhas 1\n[^]*\nchanged: 0\n/);
  });
  it('that refuse the token of the job are fetched without it', async () => {
    coordinator.intercept((request, response) => {
      if (request.url?.startsWith('/g/open.git') !== true) return false;
      const isRefused = request.headers.authorization !== undefined;
      if (isRefused) response.writeHead(404).end();
      else request.headers.authorization = 'Basic as-the-public'; // this coordinator requires credentials from everybody
      return isRefused;
    });
    const { log, heard } = await run({ ...paths, GIT_SUBMODULE_STRATEGY: 'normal' }, look, host);
    coordinator.intercept(null);
    assert.equal(heard.ended?.state, 'success', log);
    assert.match(log, /\nopen\n/);
  });
  it('are fetched over HTTP only, and SSH URLs of this host are rewritten on request', async () => {
    const { heard, log } = await run({ GIT_SUBMODULE_STRATEGY: 'normal' }, ['echo never'], host);
    assert.equal(heard.ended?.failure_reason, 'runner_system_failure');
    assert.match(log, /transport 'ssh' not allowed/);
    const elsewhere = { ...host, host: 'https://elsewhere.example.com' };
    coordinator.serve(join(folder, 'open/.git'), '/x.git');
    const values = { GIT_SUBMODULE_STRATEGY: 'normal', GIT_SUBMODULE_FORCE_HTTPS: 'true' };
    const one = { ...values, GIT_SUBMODULE_PATHS: 'unwanted' };
    assert.match((await run(one, ['cat unwanted/file'], elsewhere)).log, /open\n/);
    const flags = { ...one, GIT_SUBMODULE_UPDATE_FLAGS: '--jobs 2 --upload-pack=evil --reference=/x' };
    const { log: odd } = await run(flags, ['cat unwanted/file'], elsewhere);
    assert.match(odd, /WARNING: GIT_SUBMODULE_UPDATE_FLAGS: --upload-pack=evil --reference=\/x is left out/);
    assert.match(odd, /open\n/);
  });
});

describe('a strategy', () => {
  it('of none keeps the files, of empty removes them', async () => {
    await run({}, ['echo left >left']);
    const none = await run({ GIT_STRATEGY: 'none' }, ['ls -A', 'cat left file']);
    assert.match(
      none.log,
      /Skipping Git repository setup\nSkipping Git checkout\nSkipping Git submodules setup\n/,
    );
    assert.match(none.log, /\nleft\nthree/);
    const empty = await run({ GIT_STRATEGY: 'empty' }, ['echo "has $(ls -A | wc -l)"']);
    assert.match(empty.log, /\nhas 0\n/);
  });
  it('of clone starts over, with the default branch if checkout is disabled', async () => {
    const values = { GIT_STRATEGY: 'clone', GIT_CHECKOUT: 'false', CI_DEFAULT_BRANCH: 'main' };
    const at = { git: { sha: first, depth: 20, refspecs } };
    const { log } = await run(values, ['cat file; echo', 'git log -1 --format=%s'], at);
    assert.match(log, /\nSkipping Git checkout\n/);
    assert.match(log, /\nthree\n[^]*\nthree\n/);
  });
  it('of fetch keeps the files of the last job if checkout is disabled', async () => {
    await run({}, ['cat file'], { git: { sha: first, depth: 20, refspecs } });
    const look = [
      'cat file; echo',
      'git log -1 --format=%s',
      'git diff --name-only HEAD',
      'git checkout -q origin/main; cat file',
    ];
    const { log, heard } = await run({ GIT_CHECKOUT: 'false' }, look);
    assert.equal(heard.ended?.state, 'success', log);
    assert.match(log, /\ntwo\n[^]*\ntwo\n[^]*three/);
  });
});

it('a fetch accepts only harmless flags', async () => {
  git('p', 'tag', '-f', 'v1', first);
  const values = { GIT_FETCH_EXTRA_FLAGS: '--tags --prune --upload-pack=touch${IFS}x -o evil' };
  const { log, heard } = await run(values, ['git -C . log -1 --format=%s']);
  assert.equal(heard.ended?.state, 'success', log);
  assert.match(log, /WARNING: GIT_FETCH_EXTRA_FLAGS: --upload-pack=touch\S* -o evil is left out/);
});
