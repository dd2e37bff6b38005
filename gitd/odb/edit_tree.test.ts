import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { before, test } from 'node:test';
import fc from 'fast-check';
import { gitEnvironment } from '../../test/support/repositories/git.ts';
import { useRepository } from '../../test/support/repositories/repository_storage.ts';
import { emptyTree } from '../protocol_records.ts';
import { readFolder } from '../read/list_tree.ts';
import { makeTreeEditor, type TreeEditor } from './edit_tree.ts';
import { makeObjectWriter, hashObject } from './loose_object_writer.ts';
import { buildTree, toByteString, parseTree } from './raw_tree.ts';
import { times } from '../../test/support/run/sample.ts';

const { repository } = useRepository();

before(async () => {
  const writer = makeObjectWriter(join(repository.dir, 'objects'));
  for (const content of contents) writer.add('blob', Buffer.from(content));
  writer.add('tree', Buffer.alloc(0));
  await writer.flush();
});

const contents = ['one', 'two', 'three'];
const blobs = contents.map((content) => hashObject('blob', Buffer.from(content)));
const blob = blobs[0]!;

/** Builds the tree of these files with git, through an index. */
const treeByGit = (files: Map<string, { mode: number; id: string }>): string => {
  const env = gitEnvironment({ GIT_DIR: repository.dir, GIT_INDEX_FILE: join(repository.dir, 'test-index') });
  const run = (args: string[], input?: Buffer): string =>
    execFileSync('git', args, { env, cwd: repository.dir, ...(input && { input }) })
      .toString()
      .trim();
  run(['read-tree', '--empty']);
  const lines = [...files].map(([path, { mode, id }]) =>
    Buffer.concat([
      Buffer.from(`${mode.toString(8)} ${id} 0\t`),
      Buffer.from(path, 'latin1'),
      Buffer.from([0]),
    ]),
  );
  run(['update-index', '-z', '--index-info'], Buffer.concat(lines));
  return run(['write-tree']);
};

const editorOf = (root: string | null): TreeEditor =>
  makeTreeEditor(root, async (id) => await readFolder(repository.context, id));

const build = async (editor: TreeEditor): Promise<string> => {
  const writer = makeObjectWriter(join(repository.dir, 'objects'), false);
  const id = await editor.build(writer);
  await writer.flush();
  return id;
};

test('names sort as git sorts them, folders as if they ended in a slash', async () => {
  const editor = editorOf(null);
  const paths = ['a/x', 'a.b', 'a-b', 'a0', 'ab/y', 'a', 'Z', 'é', '\u{1f600}', '\uffee'].filter(
    (path) => path !== 'a',
  );
  for (const path of paths) await editor.put(toByteString(path), 0o100644, blob);
  const files = new Map(paths.map((path) => [toByteString(path), { mode: 0o100644, id: blob }]));
  assert.equal(await build(editor), treeByGit(files));
});

test('folders that become empty vanish, the last file leaves the empty tree', async () => {
  const editor = editorOf(null);
  await editor.put('a/b/c/d', 0o100644, blob);
  await editor.put('a/x', 0o100644, blob);
  const first = await build(editor);
  const second = editorOf(first);
  await second.remove('a/b/c/d');
  assert.deepEqual(await second.find('a/b'), { kind: 'free' });
  await second.put('a/b', 0o100644, blob);
  assert.equal((await second.find('a/b')).kind, 'found');
  assert.deepEqual(await second.find('a/b/c'), { kind: 'blocked', by: 'a/b' });
  await second.remove('a/b');
  await second.remove('a/x');
  await second.remove('not/there');
  assert.equal(await build(second), emptyTree);
});

test('a folder that was not touched keeps its id and is not read', async () => {
  const editor = editorOf(null);
  for (const path of ['big/one', 'big/two', 'small/file']) await editor.put(path, 0o100644, blob);
  const root = await build(editor);
  const read: string[] = [];
  const second = makeTreeEditor(root, async (id) => {
    read.push(id);
    return await readFolder(repository.context, id);
  });
  await second.put('small/file', 0o100755, blob);
  await build(second);
  assert.equal(read.length, 2);
  const unchanged = editorOf(root);
  await unchanged.find('big/one');
  assert.equal(await build(unchanged), root);
});

test('old trees with zero-padded modes are read, and written without padding', () => {
  const raw = Buffer.concat([Buffer.from('040000 a\0'), Buffer.from(blob, 'hex')]);
  assert.deepEqual(parseTree(raw), [{ mode: 0o40000, name: 'a', id: blob }]);
  assert.ok(buildTree(parseTree(raw)).toString('latin1').startsWith('40000 a\0'));
  assert.throws(() => parseTree(raw.subarray(0, -1)));
  assert.throws(() => parseTree(Buffer.from('100644 a')));
});

type Step = { path: string; mode: number; id: string } | { path: string };

const name = fc.constantFrom(
  'a',
  'b',
  'a.b',
  'a-',
  'a0',
  'A',
  toByteString('é'),
  '\xff\xfe',
  toByteString('漢'),
  ' ',
);
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ path, mode: fc.constantFrom(0o100644, 0o100755, 0o120000), id: fc.constantFrom(...blobs) }),
  fc.record({ path }),
);

test('any sequence of edits, in one or two batches, gives the same tree as git', async () => {
  const check = async (steps: Step[], cut: number): Promise<void> => {
    const files = new Map<string, { mode: number; id: string }>();
    let editor = editorOf(null);
    for (const [index, one] of steps.entries()) {
      if (index === cut) editor = editorOf(await build(editor));
      const found = await editor.find(one.path);
      const isFile = files.has(one.path);
      const isFolder = [...files.keys()].some((file) => file.startsWith(`${one.path}/`));
      const isBlocked = [...files.keys()].some((file) => one.path.startsWith(`${file}/`));
      assert.equal(found.kind === 'found' && !found.isFolder, isFile);
      assert.equal(found.kind === 'found' && found.isFolder, isFolder);
      assert.equal(found.kind === 'blocked', isBlocked);
      if (isFolder || isBlocked) continue;
      if ('id' in one) {
        await editor.put(one.path, one.mode, one.id);
        files.set(one.path, { mode: one.mode, id: one.id });
      } else {
        await editor.remove(one.path);
        files.delete(one.path);
      }
    }
    assert.equal(await build(editor), treeByGit(files));
  };
  const edits = fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.nat(25), check);
  await fc.assert(edits, { numRuns: times(150, 40) });
});
