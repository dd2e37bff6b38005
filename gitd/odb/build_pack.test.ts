import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useRepository } from '../../test/support/repositories/repository_storage.ts';
import { buildPack } from './build_pack.ts';
import { hashObject } from './loose_object_writer.ts';

const { repository } = useRepository();

test('git can read a written pack', async () => {
  const contents = ['', 'a', 'b'.repeat(15), 'c'.repeat(16), 'd'.repeat(100_000)].map((text) =>
    Buffer.from(text),
  );
  const pack = buildPack(contents.map((content) => ({ kind: 'blob', content })));
  await repository.read('pack.write', {}, pack);
  for (const content of contents)
    assert.equal(Number(await repository.git('cat-file', '-s', hashObject('blob', content))), content.length);
});
