/** Backups in a bucket that speaks S3. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import type { StoredDatabase } from '../../src/app/backup/database_chunks.ts';
import type { Manifest } from '../../src/app/backup/manifest.ts';
import { openBucket } from '../../src/platform/blob/s3_client.ts';
import { type TestS3, startS3 } from '../support/servers/s3.ts';
import { newPlace, newUsedPlace, type Place } from './gantry.ts';

let s3: TestS3;
let place: Place;
let env: Record<string, string>;
before(async () => {
  s3 = await startS3();
  place = await newUsedPlace();
  env = {
    GANTRY_BACKUP_TO: `s3://${s3.place.bucket}/one/two`,
    GANTRY_BACKUP_KEEP: '2',
    GANTRY_BACKUP_S3_ENDPOINT: s3.place.endpoint,
    GANTRY_BACKUP_S3_REGION: s3.place.region,
    GANTRY_BACKUP_S3_ACCESS_KEY: s3.place.access_key,
    GANTRY_BACKUP_S3_SECRET_KEY: s3.place.secret_key,
  };
});
after(async () => {
  await place.remove();
  await s3.close();
});

const ok = async (line: string, run = place.run): Promise<string> => {
  const { code, stdout, stderr } = await run(line, { env });
  assert.equal(code, 0, `${line}: ${stderr}`);
  return stdout;
};

const manifests = (): string[] => s3.keys().filter((key) => key.startsWith('one/two/backups/'));

test('are made, verified, restored, and removed beyond those that are kept', async () => {
  for (let count = 1; count <= 3; count += 1) await ok('backup create');
  assert.ok(s3.keys().every((key) => key.startsWith('one/two/')));
  assert.equal(manifests().length, 2);
  const listed = JSON.parse(await ok('backup list --json')) as { name: string }[];
  assert.deepEqual(
    listed.map(({ name }) => `one/two/backups/${name}.json`),
    manifests().toSorted(),
  );
  await ok('backup verify');
  const copy = newPlace();
  try {
    await ok('backup restore', copy.run);
    assert.match(await ok('doctor', copy.run), /ok {4}secrets of the database/);
  } finally {
    await copy.remove();
  }
});

test('belong to one instance', async () => {
  const other = newPlace();
  try {
    await (await other.serve()).end('SIGTERM');
    const { code, stderr } = await other.run('backup create', { env });
    assert.equal(code, 1);
    assert.match(stderr, /has backups of another instance/);
  } finally {
    await other.remove();
  }
});

test('store a damaged object again', async () => {
  const bucket = openBucket(s3.place, () => undefined);
  await ok('backup create');
  const read = async (key: string): Promise<Buffer> =>
    Buffer.from((await (await bucket.find({ key }))?.arrayBuffer()) ?? new ArrayBuffer());
  const keyOf = (sha256: string): string => `one/two/objects/${sha256.slice(0, 2)}/${sha256}`;
  const { manifest } = JSON.parse((await read(manifests().at(-1) ?? '')).toString()) as { manifest: string };
  const { database } = JSON.parse(manifest) as Manifest;
  const { tables } = JSON.parse(
    zstdDecompressSync(await read(keyOf(database.sha256))).toString(),
  ) as StoredDatabase;
  // A part of the database that later backups share.
  const chunk = tables.find(({ name }) => name === 'users')?.chunks[0];
  assert.ok(chunk !== undefined);
  const key = keyOf(chunk.sha256);
  const damaged = `one/two/damaged/${chunk.sha256}`;
  await bucket.ask({ method: 'PUT', key, body: Buffer.alloc(chunk.size) });
  const { code, stderr } = await place.run('backup create --verify', { env });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /is damaged: use another backup \(a part of the database\); the next backup stores again/,
  );
  assert.ok(s3.keys().includes(damaged));
  await ok('backup create --verify');
  assert.ok(!s3.keys().includes(damaged));
  await bucket.ask({ method: 'PUT', key, body: Buffer.alloc(1) });
  await ok('backup create --verify');
});

test('are refused with wrong keys', async () => {
  const { code, stderr } = await place.run('backup create', {
    env: { ...env, GANTRY_BACKUP_S3_SECRET_KEY: 'wrong' },
  });
  assert.equal(code, 1);
  assert.match(stderr, /does not answer: .*403/);
});
