import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { type Blobs, openBlobs } from './files.ts';

let folder: string;
let blobs: Blobs;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-blobs-'));
  blobs = await openBlobs(folder);
});
after(async () => await rm(folder, { recursive: true }));

const bytes = (...parts: string[]): Readable => Readable.from(parts.map((part) => Buffer.from(part)));
const textOf = async (area: string, sha256: string, range?: { start: number; end: number }) => {
  const found = await blobs.get(area, sha256, range);
  return found === null ? null : await text(found);
};

test('bytes are kept under their digest, and read in whole and in part', async () => {
  const stored = await blobs.put('a', bytes('Hello, ', 'world'));
  assert.deepEqual(stored, { size: 12, sha256: hash('sha256', 'Hello, world') });
  assert.equal(await textOf('a', stored.sha256), 'Hello, world');
  assert.equal(await textOf('a', stored.sha256, { start: 7, end: 9 }), 'wor');
  assert.deepEqual(await blobs.put('a', bytes('Hello, world')), stored);
});

test('no bytes are bytes, too', async () => {
  const { size, sha256 } = await blobs.put('a', bytes());
  assert.equal(size, 0);
  assert.equal(await textOf('a', sha256), '');
});

test('only the owner of the process reads them', async () => {
  const { sha256 } = await blobs.put('modes', bytes('secret'));
  const file = join(folder, 'modes', sha256.slice(0, 2), sha256);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal((await stat(join(folder, 'modes'))).mode & 0o777, 0o700);
});

test('areas share nothing, and go alone', async () => {
  const { sha256 } = await blobs.put('one/1', bytes('same'));
  assert.equal(await textOf('one/2', sha256), null);
  await blobs.put('one/2', bytes('same'));
  await blobs.removeArea('one/1');
  await blobs.removeArea('one/1');
  assert.equal(await textOf('one/1', sha256), null);
  assert.equal(await textOf('one/2', sha256), 'same');
  await blobs.remove('one/2', sha256);
  await blobs.remove('one/2', sha256);
  assert.equal(await textOf('one/2', sha256), null);
});

test('nothing is left of what breaks off', async () => {
  const broken = Readable.from(
    (async function* () {
      yield Buffer.from('half');
      throw new Error('broken');
    })(),
  );
  await assert.rejects(blobs.put('b', broken), /broken/);
  assert.deepEqual(await readdir(join(folder, 'unfinished')), []);
  assert.deepEqual((await readdir(folder)).includes('b'), false);
});

test('what a process left that died is gone with the next', async () => {
  const { sha256 } = await blobs.put('kept', bytes('kept'));
  await writeFile(join(folder, 'unfinished', 'half'), 'half');
  const again = await openBlobs(folder);
  assert.deepEqual(await readdir(join(folder, 'unfinished')), []);
  assert.notEqual(await again.get('kept', sha256).then((found) => found?.destroy() ?? null), null);
});
