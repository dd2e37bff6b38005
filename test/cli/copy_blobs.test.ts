/** `gantry storage copy-blobs` moves artifacts, uploads and pictures to a bucket. */
import assert from 'node:assert/strict';
import { existsSync, globSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { lockFolder } from '../../src/app/service/data_folder.ts';
import { copyToBucket } from '../../src/platform/blob/copy_to_bucket.ts';
import { openBucket } from '../../src/platform/blob/s3_client.ts';
import { readMarker } from '../../src/platform/git/instance_marker.ts';
import { type TestS3, startS3 } from '../support/servers/s3.ts';
import { type Place, type Running, newPlace } from './gantry.ts';

const token = 'glpat-copying-0123456789';
let place: Place;
let s3: TestS3;
beforeEach(async () => {
  place = newPlace();
  place.env['GANTRY_ROOT_TOKEN'] = token;
  s3 = await startS3();
});
afterEach(async () => {
  await place.remove();
  await s3.close();
});

const send = async ({ url }: Running, line: string, form?: FormData): Promise<Response> => {
  const [method = '', path = ''] = line.split(' ');
  const headers = { 'private-token': token };
  return await fetch(`${url}${path}`, { method, headers, ...(form !== undefined && { body: form }) });
};

/** @returns the path of the upload */
const upload = async (service: Running, words: string, project = 1): Promise<string> => {
  const form = new FormData();
  form.append('file', new Blob([words]), 'file.txt');
  const made = await send(service, `POST /api/v4/projects/${project}/uploads`, form);
  assert.equal(made.status, 201);
  return ((await made.json()) as { full_path: string }).full_path;
};

/** A GIF of one pixel. */
const picture = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

const addProject = async (service: Running): Promise<void> => {
  const form = new FormData();
  form.append('name', 'p');
  form.append('avatar', new Blob([picture], { type: 'image/gif' }), 'p.gif');
  assert.equal((await send(service, 'POST /api/v4/projects', form)).status, 201);
};

const avatar = async (service: Running): Promise<Buffer> => {
  const { avatar_url } = (await (await send(service, 'GET /api/v4/projects/1')).json()) as {
    avatar_url: string;
  };
  return Buffer.from(await (await send(service, `GET ${new URL(avatar_url).pathname}`)).arrayBuffer());
};

const copy = async () => {
  const { code, stdout, stderr } = await place.run('storage copy-blobs --json', { env: s3.environment });
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
};

test('copies beside the service, and completes the move after its end', async () => {
  const alone = await place.serve();
  await addProject(alone);
  const other = new FormData();
  other.append('name', 'other');
  assert.equal((await send(alone, 'POST /api/v4/projects', other)).status, 201);
  const kept = await upload(alone, 'kept');
  await upload(alone, 'removed', 2);
  const first = await copy();
  const none = { present: 0, removed: 0, damaged: [] };
  assert.deepEqual(first, { copied: 3, ...none, isComplete: false });
  assert.ok(!s3.keys().includes('gantry-instance'), 'no service accepts the bucket yet');

  // As the service does for a project that was deleted.
  rmSync(join(place.data, 'blobs/projects/2'), { recursive: true });
  assert.deepEqual(
    await copy(),
    { copied: 0, ...none, present: 2, isComplete: false },
    'removes nothing yet',
  );
  const added = await upload(alone, 'added');
  await alone.end('SIGTERM');

  const { code, stdout, stderr } = await place.run('storage copy-blobs', { env: s3.environment });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^1 file copied, 2 there already, 1 removed that .*\. The bucket takes the place/);
  assert.match(stderr, /files copied: 3 of 3/);
  assert.ok(existsSync(join(place.data, 'blobs.moved')) && !existsSync(join(place.data, 'blobs')));
  const service = await place.serve('serve', { env: s3.environment });
  assert.equal(await (await send(service, `GET ${kept}`)).text(), 'kept');
  assert.equal(await (await send(service, `GET ${added}`)).text(), 'added');
  assert.deepEqual(await avatar(service), picture);
  assert.deepEqual(await copy(), { copied: 0, ...none, isComplete: true }, 'it is done');
  await service.end('SIGTERM');
  assert.equal((await place.run('serve')).code, 1, 'the old folder is not used again');
});

test('continues after an interruption, and leaves damaged files out', async () => {
  const alone = await place.serve();
  await addProject(alone);
  for (const words of ['one', 'two', 'three']) await upload(alone, words);
  await alone.end('SIGTERM');
  const [file = ''] = globSync('blobs/projects/1/??/*', { cwd: place.data });
  writeFileSync(join(place.data, file), 'changed');
  await s3.stop();
  const away = await place.run('storage copy-blobs', { env: s3.environment });
  assert.equal(away.code, 1);
  assert.match(away.stderr, /refused a request for the bucket .*; run the command again to continue/);
  await s3.start();
  const incomplete = await place.run('storage copy-blobs --json', { env: s3.environment });
  assert.equal(incomplete.code, 1);
  assert.match(incomplete.stderr, /damaged files were not copied: restore them/);
  const { copied, damaged, isComplete } = JSON.parse(incomplete.stdout) as Record<string, unknown>;
  assert.deepEqual([copied, damaged, isComplete], [3, [file.replace('blobs/', '')], false]);
  mkdirSync(join(place.data, 'blobs.moved'));
  const left = await place.run('storage copy-blobs --skip-damaged', { env: s3.environment });
  assert.match(left.stderr, /blobs\.moved is left from an earlier move/);
  rmSync(join(place.data, 'blobs.moved'), { recursive: true });
  const skipped = await place.run('storage copy-blobs --skip-damaged', { env: s3.environment });
  assert.equal(skipped.code, 0, skipped.stderr);
  assert.match(skipped.stdout, /is damaged and was not copied\n.*\. The bucket takes the place/);
  await (await place.serve('serve', { env: s3.environment })).end('SIGTERM');
});

test('removes nothing where the folder was moved, and refuses to run twice', async () => {
  const alone = await place.serve();
  await addProject(alone);
  await upload(alone, 'kept');
  await copy();
  await alone.end('SIGTERM');
  const before = s3.keys();
  const root = join(place.data, 'blobs');
  const parts = {
    root,
    bucket: openBucket(s3.place, () => undefined),
    instance: (await readMarker(root)) ?? '',
    isLast: true,
    skipsDamaged: false,
    onTotal: () => renameSync(root, `${root}.away`),
    advance: () => undefined,
  };
  await assert.rejects(copyToBucket(parts), /is not the folder of artifacts and uploads/);
  assert.deepEqual(s3.keys(), before);
  renameSync(`${root}.away`, root);

  const { release } = lockFolder(join(place.data, 'copy_blobs'));
  const second = await place.run('storage copy-blobs', { env: s3.environment });
  release();
  assert.equal(second.code, 1);
  assert.match(second.stderr, /another "gantry storage copy-blobs" runs on/);
});

test('refuses a bucket that is in use, and settings without one', async () => {
  await (await place.serve()).end('SIGTERM');
  const other = newPlace();
  try {
    const running = await other.serve('serve', { env: { ...s3.environment, GANTRY_ROOT_TOKEN: token } });
    await addProject(running);
    await running.end('SIGTERM');
    const taken = await place.run('storage copy-blobs', { env: s3.environment });
    assert.equal(taken.code, 1);
    assert.match(taken.stderr, /the bucket \S+ belongs to the instance \S+: use another/);
  } finally {
    await other.remove();
  }
  await s3.deleteBucket(true);
  const early = await place.run('serve', { env: s3.environment });
  assert.equal(early.code, 1);
  assert.match(early.stderr, /is missing, although the database has used it: .*"gantry storage copy-blobs"/);
  const unset = await place.run('storage copy-blobs');
  assert.equal(unset.code, 2);
  assert.match(unset.stderr, /name the bucket in GANTRY_BLOB_S3_ENDPOINT/);
});
