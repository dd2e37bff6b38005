/** Tests hostile jobs: they cannot make the runner touch files outside their own folders. */
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
  type OfferedJob,
  type ReceivedJob,
  startCoordinator,
} from '../test/support/servers/runner_coordinator.ts';
import { type TestRunner, makeRunnerFolder, startTestRunner } from '../test/support/ci/runner_process.ts';
import { until } from '../test/support/until.ts';
import { chooseExecutors } from './executors/choose_executor.ts';
import { endUser, getSlotUser } from './executors/job_users.ts';

const folder = await makeRunnerFolder();
const { choice, notices } = await chooseExecutors({
  requested: 'sandbox',
  isLocal: true,
  folder,
  user: null,
});
const none = choice === null ? notices.join(' ') : false;

const isReachable = (path: string): boolean =>
  (statSync(path).mode & 0o001) !== 0 && (path === '/' || isReachable(dirname(path)));

/** Returns why jobs run as the user of the tests; false if they run as another user. */
const sameUser = (): string | false => {
  if (process.getuid?.() !== 0) return 'only jobs of root run as another user';
  return isReachable(tmpdir()) ? false : 'no other user reaches the temporary folder';
};

/** Folder of the host that no job may change or read. */
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
  const run = async (job: OfferedJob): Promise<{ heard: ReceivedJob; log: string }> => {
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

  it('cannot redirect the next script to another place', async () => {
    const { log } = await run({
      script: [`ln -s ${outside}/written /gantry/after_script.sh`],
      after: ['echo "after all"'],
    });
    assert.equal(existsSync(join(outside, 'written')), false);
    assert.match(log, /\nafter all\n/);
  });
  it('cannot block the next job with deeply nested folders', async () => {
    const name = 'n'.repeat(200);
    const deep = `for i in $(seq 60); do mkdir ${name}; cd ${name}; done`;
    const { heard } = await run({ script: ['cd ~', deep, 'cd /builds/g/p', deep] });
    assert.equal(heard.ended?.state, 'success');
    const next = await run({ variables: noSources, script: ['ls -A ~ .', 'echo fine'] });
    assert.match(next.log, /\nfine\n/);
    assert.doesNotMatch(next.log, /nnnn/);
  });
  it('cannot block the next job by removing permissions', async () => {
    await run({ script: ['mkdir -p x/y', 'chmod 0 x/y x .'] });
    const next = await run({ variables: noSources, script: ['ls -A', 'echo fine'] });
    assert.match(next.log, /\nfine\n/);
  });
  it('cannot stall the runner with artifact patterns', async () => {
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

describe('a hostile job with a separate user', { skip: sameUser() }, () => {
  const { run, started } = start('shell');

  it('cannot redirect the next script to another place', async () => {
    await run({ script: [`ln -s ${outside}/written ~/../files/after_script.sh`], after: ['true'] });
    assert.equal(existsSync(join(outside, 'written')), false);
    const { log } = await run({
      script: [`cd ~/..; mv files gone && ln -s ${outside} files || echo "no other files"`],
      after: ['true'],
    });
    assert.match(log, /\nno other files\n/);
  });
  it('cannot make the runner empty other folders', async () => {
    await run({ script: ['cd /', `rm -rf "$CI_PROJECT_DIR"; ln -s ${outside} "$CI_PROJECT_DIR"`] });
    await run({ variables: noSources, script: ['true'] });
    await run({ script: [`cd ~/..; mv builds gone && ln -s ${outside} builds`] });
    await run({ variables: noSources, script: ['true'] });
    assert.deepEqual(readdirSync(outside), ['secret']);
  });
  it('cannot make the runner read or remove files through links in the mirror', async () => {
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
  it("cannot make the runner read or hand over another user's files", async () => {
    // A hard link, as users can create it if the kernel allows hard links to files of others.
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

    it('is stopped at the process limit, and the next one starts without those processes', async () => {
      const { heard, log } = await run({
        // This shell does not retry a failed fork.
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

    it('is stopped whichever folder it fills, and the next one has free space again', async () => {
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
    const user = getSlotUser(outside, number);
    // None of these processes has a job's mark. One forks forever, the other ignores SIGTERM.
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
  it('are killed together, and those of other users continue', async () => {
    const [one, other] = [start(1), start(2)];
    await Promise.all([one.ready, other.ready]);
    await endUser(one.user);
    assert.equal(left(one.user), 0);
    assert.ok(left(other.user) > 0);
    await endUser(other.user);
    assert.equal(left(other.user), 0);
    assert.notEqual(one.user.uid, getSlotUser(folder, 1).uid);
  });
});
