import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type TestStorage, startTestStorage } from '../../test/support/repositories/repository_storage.ts';
import { until } from '../../test/support/until.ts';
import { GitError } from '../git_error.ts';
import { count, file, flag, oid, paths, ref, text, without } from './arguments.ts';
import { makeEnvironment } from './environment.ts';
import { makeExec } from './spawn.ts';

const skip = existsSync('/usr/bin/prlimit') ? false : 'prlimit is not installed';

let test: TestStorage;
before(async () => void (test = await startTestStorage()));
after(async () => await test.stop());

const isGroupAlive = (pid: number): boolean => {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
};

it('passes no variable of its own environment to git', async () => {
  process.env['GIT_DIR'] = '/tmp/elsewhere';
  process.env['GANTRY_TEST_OUTER'] = 'x';
  try {
    const { dir, commitAll, context } = test.repository();
    await commitAll({ a: '1' });
    const start = { command: 'cat-file', args: [flag('--batch')], dir, slot: null, seconds: 20 } as const;
    const git = await context.exec.start(start);
    const environment = (): string => readFileSync(`/proc/${git.pid}/environ`, 'latin1');
    // The kernel shows none for a moment while the child becomes git.
    await until('the environment is written', () => environment() !== '');
    const names = environment()
      .split('\0')
      .map((one) => one.split('=')[0] ?? '');
    git.kill();
    const own = Object.keys(makeEnvironment('/usr/bin/git')());
    assert.deepEqual(
      names.filter((name) => name !== '' && !own.includes(name)),
      [],
    );
    assert.ok(names.includes('GIT_NO_REPLACE_OBJECTS'));
  } finally {
    delete process.env['GIT_DIR'];
    delete process.env['GANTRY_TEST_OUTER'];
  }
});

it('configures git for durable writes and safe pushes', () => {
  const environment = makeEnvironment('/usr/bin/git')({}, [['a.b', 'c']]);
  const number = Number(environment['GIT_CONFIG_COUNT']);
  const pairs = Array.from({ length: number }, (_none, index) => [
    environment[`GIT_CONFIG_KEY_${index}`],
    environment[`GIT_CONFIG_VALUE_${index}`],
  ]).map((pair) => pair.join('='));
  for (const wanted of [
    'core.fsync=all',
    'core.fsyncMethod=fsync',
    'transfer.fsckObjects=true',
    'core.useReplaceRefs=false',
    'receive.hideRefs=refs/replace',
    'receive.hideRefs=refs/merge-requests',
    'uploadpack.hideRefs=refs/keep-around',
    'protocol.allow=never',
    'gc.auto=0',
    'a.b=c',
  ])
    assert.ok(pairs.includes(wanted), wanted);
});

it('refuses arguments that git could read as an option or an expression', () => {
  for (const id of ['HEAD', '-x', 'a'.repeat(39), `${'a'.repeat(40)}^`, 'A'.repeat(40), undefined])
    assert.throws(() => oid(id), GitError);
  assert.throws(() => without('main'), GitError);
  for (const name of ['--upload-pack=x', 'main', 'refs/heads/a..b', 'refs/heads/a b'])
    assert.throws(() => ref(name), GitError);
  for (const number of [-1, 1.5, Number.NaN, Infinity])
    assert.throws(() => count('--skip=', number), GitError);
  assert.throws(() => text('--author=', 'a\0b'), GitError);
  assert.equal(text('--author=', '--x'), '--author=--x');
  assert.throws(() => file('x'), GitError);
  assert.throws(() => paths(['']), GitError);
  assert.deepEqual(paths(['-x', ':(glob)*']), ['--', '-x', ':(glob)*']);
});

it('kills the whole process group, including grandchildren', async () => {
  const { dir, commitAll, context } = test.repository();
  await commitAll({ a: '1' });
  const other = test.repository();
  await other.commitAll({ b: '1' });
  await writeFile(join(dir, 'objects/info/alternates'), `${other.dir}/objects\n`);
  const git = await context.exec.start({
    command: 'receive-pack',
    args: [flag('--http-backend-info-refs'), file(dir)],
    dir: null,
    slot: 'interactive',
    seconds: 60,
    // For the objects of others git starts a shell, and that this.
    config: [['core.alternateRefsCommand', 'echo started >&2; sleep 300; true']],
  });
  git.stdout.resume();
  await until('git started', () => git.stderrTail().includes('started'));
  git.kill();
  await assert.rejects(git.ended, { kind: 'unavailable' });
  await until('the group ended', () => !isGroupAlive(git.pid));
});

it('kills a process at its time limit or when the caller aborts', async () => {
  const { dir, commitAll, context } = test.repository();
  await commitAll({ a: '1' });
  const run = { command: 'cat-file', args: [flag('--batch')], dir, slot: 'interactive' } as const;
  const late = await context.exec.start({ ...run, seconds: 0.05 });
  late.stdout.resume();
  await assert.rejects(late.ended, { kind: 'limit' });
  const control = new AbortController();
  const left = await context.exec.start({ ...run, seconds: 60, signal: control.signal });
  left.stdout.resume();
  control.abort(new GitError('unavailable', 'the caller has gone'));
  await assert.rejects(left.ended, { message: 'the caller has gone' });
  await assert.rejects(context.exec.start({ ...run, seconds: 60, signal: control.signal }));
});

it('stops at the size limit of the output', async () => {
  const { dir, commitAll, context } = test.repository();
  const [id] = await commitAll({ a: 'x'.repeat(100_000) });
  const run = {
    command: 'archive',
    args: [flag('--format=tar'), oid(id)],
    dir,
    slot: 'interactive',
  } as const;
  await assert.rejects(context.exec.run({ ...run, seconds: 20, maxOutput: 1000 }), { kind: 'too_large' });
  const whole = await context.exec.run({ ...run, seconds: 20 });
  assert.ok(whole.stdout.length > 100_000);
});

it('reports why git failed, and returns exit codes that are results', async () => {
  const { dir, ask, context } = test.repository();
  await ask('repository.create', {});
  const run = {
    command: 'rev-list',
    args: [oid('a'.repeat(40))],
    dir,
    slot: 'interactive',
    seconds: 20,
  } as const;
  await assert.rejects(context.exec.run(run), { kind: 'internal', message: /128.*bad object/s });
  assert.equal((await context.exec.run({ ...run, codes: [128] })).code, 128);
});

it('runs no program named in the configuration or attributes of a repository', async () => {
  const { dir, commitAll, ask, git } = test.repository();
  const [from, to] = await commitAll({ a: '1\n', '.gitattributes': 'a diff=evil\n' }, { a: '2\n' });
  const mark = join(dir, 'was-run');
  await git('config', 'diff.evil.textconv', `touch ${mark};`);
  await git('config', 'diff.evil.command', `touch ${mark};`);
  await mkdir(join(dir, 'info'), { recursive: true });
  await writeFile(join(dir, 'info/attributes'), 'a diff=evil\n');
  const limits = { files: 10, lines: 100, bytes: 10_000, file_bytes: 1000 };
  const { diffs } = await ask('diff.files', { from: from!, to: to!, limits });
  assert.equal(diffs[0]?.diff, '--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n');
  await ask('diff.files', { from: from!, to: to!, limits, paths: ['a'] });
  await ask('diff.raw', { from: from!, to: to!, max: 1000 });
  await assert.rejects(readFile(mark));
});

it('reports a process that something else killed as a passing problem', async () => {
  const program = join(test.root, 'killed');
  await writeFile(program, '#!/bin/sh\nkill -9 $$\n', { mode: 0o700 });
  const exec = makeExec(program);
  const run = exec.run({ command: 'version', args: [], dir: null, slot: 'interactive', seconds: 20 });
  await assert.rejects(run, { kind: 'unavailable' });
});

it('reports exhausted descriptors as a passing problem, and goes on', { skip }, async () => {
  const script = `
    import { closeSync, openSync } from 'node:fs';
    import { makeExec } from ${JSON.stringify(join(import.meta.dirname, 'spawn.ts'))};
    const exec = makeExec();
    const version = () => exec.run({ command: 'version', args: [], dir: null, slot: 'interactive', seconds: 20 });
    await version();
    const open = [];
    try { for (;;) open.push(openSync('/dev/null')); } catch {}
    const kinds = [];
    for (const left of [0, 1, 3, 5]) {
      for (let one = 0; one < left; one += 1) closeSync(open.pop());
      kinds.push(await version().then(() => 'done', (error) => error.kind ?? String(error)));
    }
    for (const one of open) closeSync(one);
    console.log(JSON.stringify([kinds, (await version()).code]));`;
  const { stdout } = await promisify(execFile)('prlimit', [
    '--nofile=60',
    process.execPath,
    '--input-type=module',
    '--eval',
    script,
  ]);
  const [kinds, code] = JSON.parse(stdout) as [string[], number];
  assert.deepEqual(
    [kinds.filter((kind) => !['unavailable', 'done'].includes(kind)), kinds[0], code],
    [[], 'unavailable', 0],
  );
});
