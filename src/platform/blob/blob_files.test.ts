import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { blobCases, broken, bytes } from '../../../test/support/blob_cases.ts';
import { writeMarker } from '../git/instance_marker.ts';
import { type Blobs, openBlobs } from './blob_files.ts';

let folder: string;
let blobs: Blobs;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-blobs-'));
  await writeMarker(folder, randomUUID());
  blobs = await openBlobs(folder);
});
after(async () => await rm(folder, { recursive: true }));

blobCases(() => blobs);

test('files are readable by the owner of the process only', async () => {
  const { sha256 } = await blobs.put('modes', bytes('secret'));
  const file = join(folder, 'modes', sha256.slice(0, 2), sha256);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal((await stat(join(folder, 'modes'))).mode & 0o777, 0o700);
});

test('an interrupted upload leaves nothing', async () => {
  await assert.rejects(blobs.put('b', broken('half')), /broken/);
  assert.deepEqual(await readdir(join(folder, 'unfinished')), []);
  assert.deepEqual((await readdir(folder)).includes('b'), false);
});

test('the next start removes what a crashed process left', async () => {
  const { sha256 } = await blobs.put('kept', bytes('kept'));
  await writeFile(join(folder, 'unfinished', 'half'), 'half');
  const again = await openBlobs(folder);
  assert.deepEqual(await readdir(join(folder, 'unfinished')), []);
  assert.notEqual(await again.get('kept', sha256).then((found) => found?.destroy() ?? null), null);
});

test('reads and writes fail if the folder disappeared', async () => {
  const { sha256 } = await blobs.put('away', bytes('there'));
  await rename(folder, `${folder}.away`);
  const unavailable = { kind: 'unavailable' };
  await assert.rejects(blobs.put('away', bytes('new')), unavailable);
  await assert.rejects(blobs.get('away', sha256), unavailable);
  await assert.rejects(blobs.has('away', sha256), unavailable);
  await assert.rejects(blobs.removeArea('away'), unavailable);
  await rename(`${folder}.away`, folder);
  assert.equal(await blobs.has('away', sha256), true);
});
