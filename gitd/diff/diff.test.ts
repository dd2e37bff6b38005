import { execFileSync } from 'node:child_process';
import { chmod, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import assert from 'node:assert/strict';
import { git, newWorkTree } from '../../test/support/repositories/git.ts';
import { type TestRepository, useStorage } from '../../test/support/repositories/repository_storage.ts';
import type { FileDiff } from '../protocol_records.ts';
import { makeDiffParser } from './parse_diff.ts';

const test = useStorage();

const limits = { files: 1000, lines: 100_000, bytes: 10_000_000, file_bytes: 100_000 };

/** Pushes two commits of a work tree to a new repository. */
const pushed = async (
  one: (path: string) => Promise<void>,
  two: (path: string) => Promise<void>,
): Promise<{ repository: TestRepository; from: string; to: string }> => {
  const repository = test.repository();
  await repository.ask('repository.create', {});
  const tree = await newWorkTree();
  await one(tree.path);
  const from = await tree.commit('one', {});
  await two(tree.path);
  const to = await tree.commit('two', {});
  await tree.git('push', '--quiet', repository.dir, 'HEAD:refs/heads/main');
  await tree.remove();
  return { repository, from, to };
};

const shown = (diff: FileDiff): string =>
  [
    diff.old_path === diff.new_path ? diff.new_path : `${diff.old_path} -> ${diff.new_path}`,
    `${diff.a_mode}..${diff.b_mode}`,
    ...(diff.new_file ? ['new'] : []),
    ...(diff.deleted_file ? ['deleted'] : []),
    ...(diff.renamed_file ? ['renamed'] : []),
    ...(diff.binary ? ['binary'] : []),
    `+${diff.additions}-${diff.deletions}`,
    diff.diff,
  ].join('|');

const lines = (...all: string[]): string => all.map((line) => `${line}\n`).join('');

it('returns each kind of change in the form of the API', async () => {
  const { repository, from, to } = await pushed(
    async (path) => {
      await writeFile(join(path, 'changed'), 'a\nb\n');
      await writeFile(join(path, 'gone'), 'x\n');
      await writeFile(join(path, 'old name'), lines('1', '2', '3', '4', '5', '6', '7', '8', '9'));
      await writeFile(join(path, 'moved'), lines('m1', 'm2', 'm3', 'm4', 'm5', 'm6'));
      await writeFile(join(path, 'script'), 'echo\n');
      await writeFile(join(path, 'picture'), 'P\0N\0G');
      await symlink('changed', join(path, 'link'));
    },
    async (path) => {
      await writeFile(join(path, 'changed'), 'a\nB');
      await rm(join(path, 'gone'));
      await rename(join(path, 'old name'), join(path, 'new name'));
      await rename(join(path, 'moved'), join(path, 'moved and changed'));
      await writeFile(join(path, 'moved and changed'), lines('m1', 'm2', 'm3', 'm4', 'm5', 'm6!'));
      await chmod(join(path, 'script'), 0o755);
      await writeFile(join(path, 'picture'), 'P\0N\0G!');
      await rm(join(path, 'link'));
      await writeFile(join(path, 'link'), 'text\n');
      await writeFile(join(path, 'empty'), '');
      await writeFile(join(path, 'ünïcode'), 'ä\n');
    },
  );
  const { diffs, files, overflow } = await repository.ask('diff.files', { from, to, limits });
  assert.equal(overflow, false);
  assert.equal(files, diffs.length);
  assert.deepEqual(diffs.map(shown), [
    'changed|100644..100644|+1-1|--- a/changed\n+++ b/changed\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n\\ No newline at end of file\n',
    'empty|0..100644|new|+0-0|',
    'gone|100644..0|deleted|+0-1|--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n',
    'link|120000..0|deleted|+0-1|--- a/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-changed\n\\ No newline at end of file\n',
    'link|0..100644|new|+1-0|--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+text\n',
    'moved -> moved and changed|100644..100644|renamed|+1-1|--- a/moved\n+++ b/moved and changed\t\n@@ -3,4 +3,4 @@ m2\n m3\n m4\n m5\n-m6\n+m6!\n',
    'old name -> new name|100644..100644|renamed|+0-0|',
    'picture|100644..100644|binary|+0-0|Binary files a/picture and b/picture differ\n',
    'script|100644..100755|+0-0|',
    'ünïcode|0..100644|new|+1-0|--- /dev/null\n+++ b/ünïcode\n@@ -0,0 +1 @@\n+ä\n',
  ]);
  const one = await repository.ask('diff.files', { from, to, limits, paths: ['gone'] });
  assert.deepEqual(
    one.diffs.map(({ new_path }) => new_path),
    ['gone'],
  );
  const globs = await repository.ask('diff.files', { from, to, limits, paths: ['*'] });
  assert.deepEqual(globs, { diffs: [], files: 0, overflow: false });
  const all = await repository.ask('diff.files', { from: null, to, limits });
  assert.equal(all.files, 8);
  assert.deepEqual(await repository.ask('diff.files', { from: to, to, limits }), {
    diffs: [],
    files: 0,
    overflow: false,
  });
});

it('writes a raw patch that git applies', async () => {
  const { repository, from, to } = await pushed(
    async (path) => await writeFile(join(path, 'a b'), 'a\nb\n'),
    async (path) => {
      await writeFile(join(path, 'a b'), 'a\nc\n');
      await writeFile(join(path, 'bin'), 'a\0b');
    },
  );
  const patch = await repository.askBody('diff.raw', { from, to, max: 100_000 });
  const tree = await newWorkTree();
  await tree.git('fetch', '--quiet', repository.dir, 'main');
  await tree.git('checkout', '--quiet', from);
  execFileSync('git', ['apply', '--index'], { cwd: tree.path, input: patch });
  assert.equal(await tree.git('write-tree'), await git(repository.dir, 'rev-parse', 'main^{tree}'));
  await tree.remove();
  assert.deepEqual(await repository.ask('diff.raw', { from, to, max: 10 }), { whole: false });
});

it('decodes text that is not UTF-8, and reports binary files as binary', async () => {
  const { repository, from, to } = await pushed(
    async (path) => await writeFile(join(path, 'x'), 'x'),
    async (path) => {
      await writeFile(join(path, 'latin'), Buffer.from('M\xfcller \x80\n', 'latin1'));
      await writeFile(join(path, 'noise'), Buffer.from('\x01\x02\xff\xfe\n', 'latin1'));
    },
  );
  const { diffs } = await repository.ask('diff.files', { from, to, limits });
  assert.equal(diffs[0]?.diff, '--- /dev/null\n+++ b/latin\n@@ -0,0 +1 @@\n+Müller €\n');
  assert.equal(diffs[1]?.diff, 'Binary files /dev/null and b/noise differ\n');
  assert.equal(diffs[1].binary, true);
});

it('is not confused by names and lines that look like diff headers', async () => {
  const evil = 'x\ndiff --git a|y b|y\n--- a|y';
  const text = lines(
    'diff --git a/q b/q',
    '--- a/q',
    '+++ b/q',
    '@@ -1 +1 @@',
    'Binary files a and b differ',
    'end-',
  );
  const { repository, from, to } = await pushed(
    async (path) => await writeFile(join(path, 'q'), ''),
    async (path) => {
      await writeFile(join(path, evil), text);
      await writeFile(join(path, 'q'), `-- x\n${text}`);
    },
  );
  const { diffs } = await repository.ask('diff.files', { from, to, limits });
  assert.deepEqual(
    diffs.map(({ new_path, additions }) => [new_path, additions]),
    [
      ['q', 7],
      [evil, 6],
    ],
  );
  assert.ok(diffs[1]?.diff.startsWith('--- /dev/null\n+++ "b/x\\ndiff --git a|y b|y\\n--- a|y"\t\n@@'));
});

it('cuts at its limits, and still lists and counts the files', async () => {
  const numbers = Array.from({ length: 30 }, (_none, index) => String(index).padStart(2, '0'));
  const { repository, from, to } = await pushed(
    async (path) => await writeFile(join(path, 'z'), ''),
    async (path) => {
      for (const number of numbers) await writeFile(join(path, `f${number}`), `${number}\n`.repeat(10));
    },
  );
  const diff = async (less: object) =>
    await repository.ask('diff.files', { from, to, limits: { ...limits, ...less } });
  const whole = await diff({});
  assert.deepEqual([whole.files, whole.diffs.length, whole.overflow], [30, 30, false]);
  const few = await diff({ files: 7 });
  assert.deepEqual([few.files, few.diffs.length, few.overflow], [30, 7, true]);
  assert.deepEqual(few.diffs, whole.diffs.slice(0, 7));
  for (const less of [{ lines: 50 }, { bytes: 200 }]) {
    const cut = await diff(less);
    assert.deepEqual([cut.files, cut.diffs.length, cut.overflow], [30, 30, true]);
    const texts = cut.diffs.filter((one) => one.diff !== '');
    assert.ok(texts.length > 0 && texts.length < 10);
    assert.ok(cut.diffs.every((one) => one.too_large === (one.diff === '')));
  }
  const small = await diff({ file_bytes: 50 });
  assert.ok(small.diffs.every((one) => one.too_large && one.diff === '' && one.additions === 10));
  assert.equal((await diff({})).diffs.length, 30, 'the pool is whole afterwards');
});

it('does not buffer a line without an end', async () => {
  const { repository, from, to } = await pushed(
    async (path) => await writeFile(join(path, 'a'), 'short\n'),
    async (path) => await writeFile(join(path, 'a'), 'x'.repeat(20_000_000)),
  );
  const { diffs } = await repository.ask('diff.files', { from, to, limits });
  assert.deepEqual([diffs[0]?.too_large, diffs[0]?.diff, diffs[0]?.additions], [true, '', 1]);
});

it('gives the same result however the output is split', async () => {
  const { repository, from, to } = await pushed(
    async (path) => await writeFile(join(path, 'a'), 'a\nb\n'),
    async (path) => {
      await writeFile(join(path, 'a'), 'a\nc\n');
      await writeFile(join(path, 'b'), 'ä\n');
    },
  );
  const output: Buffer[] = [];
  const trees = await Promise.all(
    [from, to].map(async (id) => await repository.git('rev-parse', `${id}^{tree}`)),
  );
  const { context, dir } = repository;
  const request = { dir, trees: trees as [string, string], signal: context.signal, seconds: 10 };
  await context.pools.diffTree.run(request, (chunk) => {
    output.push(Buffer.from(chunk));
    return false;
  });
  const whole = Buffer.concat(output);
  const read = (...chunks: Buffer[]) => {
    const parser = makeDiffParser(limits, true);
    for (const chunk of chunks) parser.push(chunk);
    return parser.finish();
  };
  const wanted = read(whole);
  assert.equal(wanted.diffs.length, 2);
  for (let cut = 1; cut < whole.length; cut += 1)
    assert.deepEqual(read(whole.subarray(0, cut), whole.subarray(cut)), wanted, String(cut));
});
