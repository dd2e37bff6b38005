import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { test } from 'node:test';
import { type TestRepository, useRepository } from '../../test/support/repositories/repository_storage.ts';
import { makeObjectWriter, hashObject } from './loose_object_writer.ts';

const { repository } = useRepository();

const objectsOf = (repository: TestRepository): string => join(repository.dir, 'objects');
const fileOf = (id: string): string => join(objectsOf(repository), id.slice(0, 2), id.slice(2));

test('objects equal those of git, also large and empty ones', async () => {
  const contents = [Buffer.alloc(0), Buffer.from('hello\n'), Buffer.alloc(3 * 2 ** 20, 'abc')];
  const writer = makeObjectWriter(objectsOf(repository));
  const ids = contents.map((content) => writer.add('blob', content));
  await writer.flush();
  assert.equal(ids[1], 'ce013625030ba8dba906f756967f9e9ca394464a');
  for (const [index, id] of ids.entries()) {
    const size = await repository.git('cat-file', '-s', id);
    assert.equal(Number(size), contents[index]!.length);
  }
  assert.equal(await repository.git('cat-file', 'blob', ids[1]), 'hello');
  assert.equal((await stat(fileOf(ids[2]!))).mode & 0o777, 0o444);
  assert.equal(await repository.fsck(), '');
});

test('objects are written at the flush, and only once', async () => {
  const writer = makeObjectWriter(objectsOf(repository));
  const id = writer.add('blob', Buffer.from('later'));
  assert.equal(writer.add('blob', Buffer.from('later')), id);
  assert.deepEqual(writer.ids(), [id]);
  await assert.rejects(stat(fileOf(id)), { code: 'ENOENT' });
  await writer.flush();
  const first = await stat(fileOf(id));
  await utimes(fileOf(id), 1, 1);
  const again = makeObjectWriter(objectsOf(repository));
  again.add('blob', Buffer.from('later'));
  await again.flush();
  const second = await stat(fileOf(id));
  assert.equal(second.ino, first.ino, 'the file is the same');
  assert.ok(second.mtimeMs > 1_000_000, 'it counts as new, so that nobody prunes it');
});

test('concurrent writers of the same objects all succeed', async () => {
  const contents = Array.from({ length: 30 }, (_, index) => Buffer.from(`same ${index}`));
  const write = async (): Promise<void> => {
    const writer = makeObjectWriter(objectsOf(repository));
    for (const content of contents) writer.add('blob', content);
    await writer.flush();
  };
  await Promise.all(Array.from({ length: 10 }, write));
  for (const content of contents) assert.ok((await stat(fileOf(hashObject('blob', content)))).isFile());
  assert.equal(await repository.fsck(), '');
});

/** Starts a writer of many objects and kills it while it writes. */
const killWriter = async (): Promise<void> => {
  const script = `
    const { makeObjectWriter } = await import(${JSON.stringify(join(import.meta.dirname, 'loose_object_writer.ts'))});
    const writer = makeObjectWriter(${JSON.stringify(objectsOf(repository))});
    for (let n = 0; n < 20000; n += 1) writer.add('blob', Buffer.from('object ' + n + 'x'.repeat(5000)));
    console.log('begun');
    await writer.flush();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  await wait(150);
  child.kill('SIGKILL');
  await once(child, 'exit');
};

test('a killed writer leaves only whole objects and files that git prunes', async () => {
  await killWriter();
  assert.equal(await repository.fsck(), '');
  const names = async (): Promise<string[]> =>
    (await readdir(objectsOf(repository), { recursive: true })).filter((name) =>
      /^[0-9a-f]{2}\/./.test(name),
    );
  const odd = (await names()).filter((name) => !/^[0-9a-f]{2}\/[0-9a-f]{38}$/.test(name));
  for (const name of odd) {
    assert.match(name, /^[0-9a-f]{2}\/tmp_obj_/);
    await utimes(join(objectsOf(repository), name), 1, 1);
  }
  const left = join(objectsOf(repository), 'ab');
  await mkdir(left, { recursive: true });
  await writeFile(join(left, 'tmp_obj_AbCdEf123456'), 'half an obj', { mode: 0o444 });
  await utimes(join(left, 'tmp_obj_AbCdEf123456'), 1, 1);
  assert.equal(await repository.fsck(), '');
  await repository.git('prune', '--expire=1.day.ago');
  assert.deepEqual(
    (await names()).filter((name) => name.includes('tmp_')),
    [],
  );
});

test('a failed write is reported', async () => {
  const folderOf = (one: Buffer): string => join(objectsOf(repository), hashObject('blob', one).slice(0, 2));
  // A folder that no other object has created yet.
  let content = Buffer.from('refused');
  while (existsSync(folderOf(content))) content = Buffer.concat([content, Buffer.from('.')]);
  const folder = folderOf(content);
  await writeFile(folder, 'a file in the way');
  const writer = makeObjectWriter(objectsOf(repository));
  writer.add('blob', content);
  await assert.rejects(writer.flush());
  await rm(folder);
});
