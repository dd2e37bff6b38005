/** Jobs that mean harm: what the runner does for them, outside of what they may reach, is done nowhere else. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import assert from 'node:assert/strict';
import {
  type Coordinator,
  type GivenJob,
  type Heard,
  startCoordinator,
  until,
} from '../test/support/coordinator.ts';
import { type TestRunner, makeRunnerFolder, startTestRunner } from '../test/support/runner.ts';
import { chooseExecutors } from './executors/choose.ts';
import { endUser, userOfSlot } from './executors/users.ts';

const folder = await makeRunnerFolder();
const { choice, notices } = await chooseExecutors({ wanted: 'sandbox', isLocal: true, folder, user: null });
const none = choice === null ? notices.join(' ') : false;

const isReachable = (path: string): boolean =>
  (statSync(path).mode & 0o001) !== 0 && (path === '/' || isReachable(dirname(path)));

/** Why jobs run as the one who runs these tests; false: they run as another. */
const sameUser = (): string | false => {
  if (process.getuid?.() !== 0) return 'only jobs of root run as another user';
  return isReachable(tmpdir()) ? false : 'no other user reaches the temporary folder';
};

/** Of this machine: no job may change or read it. */
const outside = mkdtempSync(join(tmpdir(), 'gantry-test-outside-'));
const secret = join(outside, 'secret');
after(() => {
  for (const one of [folder, outside]) rmSync(one, { recursive: true, force: true });
});

/** A repository with one commit. */
const makeSource = (): { repository: string; sha: string } => {
  const source = join(folder, 'source');
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', source, ...args])
      .toString()
      .trim();
  execFileSync('git', ['init', '-q', '-b', 'main', source]);
  git('-c', 'user.name=A', '-c', 'user.email=a@example.com', 'commit', '-q', '--allow-empty', '-m', 'one');
  return { repository: join(source, '.git'), sha: git('rev-parse', 'HEAD') };
};

const start = (executor: 'sandbox' | 'shell', limits: { processes?: number; disk?: number } = {}) => {
  const started: { coordinator: Coordinator; runner: TestRunner } = {} as never;
  before(async () => {
    writeFileSync(secret, 'secret of the machine', { mode: 0o600 });
    started.coordinator = await startCoordinator();
    const { url } = started.coordinator;
    started.runner = await startTestRunner({ url, executor, concurrency: 1, ...limits });
  });
  after(async () => {
    await started.runner.close();
    await started.coordinator.close();
    assert.deepEqual(readdirSync(outside), ['secret']);
  });
  const run = async (job: GivenJob): Promise<{ heard: Heard; log: string }> => {
    const heard = started.coordinator.add(job);
    await until(`job ${heard.id} has ended`, () => heard.ended !== null);
    assert.equal(readFileSync(secret, 'utf8'), 'secret of the machine');
    return { heard, log: heard.trace.toString() };
  };
  return { run, started };
};

const noSources = [{ key: 'GIT_STRATEGY', value: 'empty' }];

describe('a hostile job in a sandbox', { skip: none }, () => {
  const { run } = start('sandbox');

  it('does not have the next script written elsewhere', async () => {
    const { log } = await run({
      script: [`ln -s ${outside}/written /gantry/after_script.sh`],
      after: ['echo "after all"'],
    });
    assert.equal(existsSync(join(outside, 'written')), false);
    assert.match(log, /\nafter all\n/);
  });
  it('does not keep the next one out by folders without end', async () => {
    const name = 'n'.repeat(200);
    const deep = `for i in $(seq 60); do mkdir ${name}; cd ${name}; done`;
    const { heard } = await run({ script: ['cd ~', deep, 'cd /builds/g/p', deep] });
    assert.equal(heard.ended?.state, 'success');
    const next = await run({ variables: noSources, script: ['ls -A ~ .', 'echo fine'] });
    assert.match(next.log, /\nfine\n/);
    assert.doesNotMatch(next.log, /nnnn/);
  });
  it('does not keep the next one out by its rights', async () => {
    await run({ script: ['mkdir -p x/y', 'chmod 0 x/y x .'] });
    const next = await run({ variables: noSources, script: ['ls -A', 'echo fine'] });
    assert.match(next.log, /\nfine\n/);
  });
  it('does not stop the runner by patterns', async () => {
    const pattern = `${'*a'.repeat(30)}b`;
    const { log } = await run({
      script: [`touch ${'a'.repeat(200)}`],
      artifacts: [
        {
          artifact_type: 'archive',
          artifact_format: 'zip',
          paths: [pattern, `{${','.repeat(1000)}}`.repeat(5)],
        },
      ],
    });
    assert.match(log, /no matching files/);
  });
});

describe('a hostile job of a user of its own', { skip: sameUser() }, () => {
  const { run, started } = start('shell');

  it('does not have the next script written elsewhere', async () => {
    await run({ script: [`ln -s ${outside}/written ~/../files/after_script.sh`], after: ['true'] });
    assert.equal(existsSync(join(outside, 'written')), false);
    const { log } = await run({
      script: [`cd ~/..; mv files gone && ln -s ${outside} files || echo "no other files"`],
      after: ['true'],
    });
    assert.match(log, /\nno other files\n/);
  });
  it('does not have other folders emptied', async () => {
    await run({ script: ['cd /', `rm -rf "$CI_PROJECT_DIR"; ln -s ${outside} "$CI_PROJECT_DIR"`] });
    await run({ variables: noSources, script: ['true'] });
    await run({ script: [`cd ~/..; mv builds gone && ln -s ${outside} builds`] });
    await run({ variables: noSources, script: ['true'] });
    assert.deepEqual(readdirSync(outside), ['secret']);
  });
  it('does not have files read or removed by what it puts where the sources are kept', async () => {
    const { repository, sha } = makeSource();
    started.coordinator.serve(repository);
    const git = { sha, depth: 20, refspecs: ['+refs/heads/main:refs/remotes/origin/main'] };
    const fetched = async () => await run({ git, script: ['cat .git/shallow || echo "all is there"'] });
    assert.match((await fetched()).log, /\nall is there\n/);
    const put = (script: string) => run({ script: [`cd ~/../mirrors/1 && ${script} && echo put`] });
    assert.match((await put(`ln -sf ${secret} shallow`)).log, /\nput\n/);
    assert.doesNotMatch((await fetched()).log, /secret of the machine/);
    mkdirSync(join(outside, 'pipelines'));
    assert.match((await put(`rm -rf refs shallow && ln -s ${outside} refs`)).log, /\nput\n/);
    await fetched();
    assert.equal(existsSync(join(outside, 'pipelines')), true);
    rmSync(join(outside, 'pipelines'), { recursive: true });
  });
  it("does not have files read that are another user's, nor given to it", async () => {
    // As a link to it would be, where the kernel lets users make such: its very self.
    const theirs = join(started.runner.folder, 'slots/0/work/builds/1/theirs');
    const heard = started.coordinator.add({
      script: ['echo ready', 'while [ ! -e theirs ]; do sleep 0.05; done', 'echo mine >mine'],
      artifacts: [{ paths: ['theirs', 'mine'], artifact_type: 'archive', artifact_format: 'zip' }],
      cache: [{ key: 'k', paths: ['mine'], policy: 'pull-push' }],
    });
    await until('it runs', () => heard.trace.includes('\nready\n'));
    linkSync(secret, theirs);
    await until('it has ended', () => heard.ended !== null);
    assert.equal(heard.uploads.length, 1);
    assert.equal(heard.uploads[0]?.bytes.includes('theirs'), false);
    const kept = [{ key: 'k', paths: ['mine'], policy: 'pull' }];
    const none = [{ key: 'GIT_STRATEGY', value: 'none' }];
    const next = await run({ cache: kept, variables: none, script: ['ls -ln theirs', 'cat mine'] });
    assert.match(next.log, /\nmine\n/);
    assert.equal(statSync(secret).uid, 0);
  });
});

for (const executor of ['shell', 'sandbox'] as const) {
  const skip = sameUser() || (executor === 'sandbox' && none);
  describe(`a job that starts processes without end (${executor})`, { skip }, () => {
    const { run } = start(executor, { processes: 60 });

    it('is stopped at so many, and the next one begins with none of them', async () => {
      const { heard, log } = await run({
        // A shell that does not wait and try again.
        script: ['trap "" TERM', `sh -c 'for i in $(seq 300); do sleep 1000 & done; echo "all of them"'`],
      });
      assert.equal(heard.ended?.state, 'failed');
      assert.match(log, /fork/i);
      assert.doesNotMatch(log, /\nall of them/);
      const next = await run({ script: ['for i in $(seq 30); do sleep 0.1 & done; wait', 'echo fine'] });
      assert.match(next.log, /\nfine\n/);
    });
  });
}

for (const executor of ['shell', 'sandbox'] as const) {
  describe(`a job that fills the disk (${executor})`, { skip: executor === 'sandbox' && none }, () => {
    const { run } = start(executor, { disk: 8 * 2 ** 20 });

    it('is ended, whichever of its folders it fills, and the next one has its place', async () => {
      for (const folder of ['.', '"$HOME"', '"$TMPDIR"']) {
        const fill = `dd if=/dev/zero of=${folder}/large bs=1M count=16 2>/dev/null`;
        const { heard, log } = await run({ variables: noSources, script: [fill, 'sleep 1000'] });
        assert.equal(heard.ended?.failure_reason, 'script_failure', folder);
        assert.match(log, /ERROR: Job failed: its files take more than 8 MB of the disk/);
      }
      const next = await run({ variables: noSources, script: ['sleep 1.5; echo fine'] });
      assert.match(next.log, /\nfine\n/);
    });
  });
}

describe('all processes of a user', { skip: sameUser() }, () => {
  const start = (number: number) => {
    const user = userOfSlot(outside, number);
    // Nothing tells that they are of a job; one forks for as long as it lives, one asks for nothing.
    const script =
      'trap "" TERM; (setsid sh -c "while :; do sh -c : & done" &) ; echo ready; exec sleep 1000';
    const child = spawn('/bin/sh', ['-c', script], { ...user, cwd: '/', env: {}, detached: true });
    return { user, child, ready: once(child.stdout, 'data') };
  };
  const left = ({ uid }: { uid: number }): number =>
    execFileSync('ps', ['-A', '-o', 'uid=,stat='])
      .toString()
      .split('\n')
      .filter((line) => line.trim().startsWith(`${uid} `) && !line.includes('Z')).length;
  it('end at one stroke, and those of others go on', async () => {
    const [one, other] = [start(1), start(2)];
    await Promise.all([one.ready, other.ready]);
    await endUser(one.user);
    assert.equal(left(one.user), 0);
    assert.ok(left(other.user) > 0);
    await endUser(other.user);
    assert.equal(left(other.user), 0);
    assert.notEqual(one.user.uid, userOfSlot(folder, 1).uid);
  });
});
