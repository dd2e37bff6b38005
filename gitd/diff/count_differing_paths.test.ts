import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { useRepository } from '../../test/support/repositories/repository_storage.ts';
import { makeTreeEditor } from '../odb/edit_tree.ts';
import { makeObjectWriter } from '../odb/loose_object_writer.ts';
import { buildTree } from '../odb/raw_tree.ts';
import { emptyTree, type Signature } from '../protocol_records.ts';
import { readFolder } from '../read/list_tree.ts';
import { countDifferingPaths } from './count_differing_paths.ts';
import { times } from '../../test/support/run/sample.ts';

const { repository } = useRepository();

const nobody: Signature = { name: 'A', email: 'a@example.com', time: 1, offset: '+0000' };
const by = { author: nobody, committer: nobody };

/** Builds eight levels of ten copies of one folder: a thousand million files with this content. */
const makeBomb = async (content: string, ...parents: string[]): Promise<string> => {
  const writer = makeObjectWriter(join(repository.dir, 'objects'), false);
  const id = writer.add('blob', Buffer.from(content));
  const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
  let top = writer.add('tree', buildTree(names.map((name) => ({ mode: 0o100644, name, id }))));
  for (let level = 0; level < 8; level += 1) {
    const below = top;
    top = writer.add('tree', buildTree(names.map((name) => ({ mode: 0o40000, name, id: below }))));
  }
  await writer.flush();
  return await repository.git('commit-tree', '-m', 'bomb', ...parents.flatMap((id) => ['-p', id]), top);
};

test('a thousand million differences are refused by every comparison and merge', async () => {
  const base = await makeBomb('base\n');
  const [ours, theirs] = [await makeBomb('ours\n', base), await makeBomb('theirs\n', base)];
  const tooLarge = { kind: 'too_large' };
  await assert.rejects(repository.ask('merge.check', { ours, theirs }), tooLarge);
  await assert.rejects(repository.ask('merge.commit', { ours, theirs, message: 'x', ...by }), tooLarge);
  const pick = { commit: theirs, onto: ours, message: 'x', ...by };
  await assert.rejects(repository.ask('commit.cherry_pick', pick), tooLarge);
  await assert.rejects(repository.ask('commit.revert', pick), tooLarge);
  await assert.rejects(
    repository.ask('merge.rebase', { onto: ours, head: theirs, committer: nobody }),
    tooLarge,
  );
  await assert.rejects(repository.ask('commits.stats', { id: ours }), tooLarge);
  const trees = [ours, theirs].map(async (id) => await repository.git('rev-parse', `${id}^{tree}`));
  const [from, to] = (await Promise.all(trees)) as [string, string];
  const limits = { maxPaths: 2 ** 50, maxPairs: 20 };
  assert.equal(await countDifferingPaths(repository.context, from, to, limits), 10 ** 9);
  assert.equal(await countDifferingPaths(repository.context, emptyTree, to, limits), 10 ** 9);
  await assert.rejects(
    countDifferingPaths(repository.context, from, to, { ...limits, maxPairs: 8 }),
    tooLarge,
  );
  assert.equal(await countDifferingPaths(repository.context, from, from), 0);
});

const path = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 4 });
const files = fc.array(fc.tuple(path, fc.constantFrom('1', '2'), fc.constantFrom(0o100644, 0o100755)), {
  maxLength: 12,
});

const makeTree = async (list: [string[], string, number][]): Promise<string> => {
  const editor = makeTreeEditor(null, async (id) => await readFolder(repository.context, id));
  const writer = makeObjectWriter(join(repository.dir, 'objects'), false);
  for (const [parts, content, mode] of list) {
    const found = await editor.find(parts.join('/'));
    if (found.kind === 'blocked' || (found.kind === 'found' && found.isFolder)) continue;
    await editor.put(parts.join('/'), mode, writer.add('blob', Buffer.from(content)));
  }
  const id = await editor.build(writer);
  await writer.flush();
  return id;
};

test('the number of changed paths equals that of git diff', async () => {
  const check = async (
    one: [string[], string, number][],
    other: [string[], string, number][],
  ): Promise<void> => {
    const [from, to] = [await makeTree(one), await makeTree(other)];
    const shown = await repository.git('diff-tree', '-r', '--no-renames', '--name-only', from, to);
    const names = new Set(shown.split('\n').filter(Boolean));
    assert.equal(await countDifferingPaths(repository.context, from, to), names.size);
  };
  await fc.assert(fc.asyncProperty(files, files, check), { numRuns: times(60, 20) });
});
