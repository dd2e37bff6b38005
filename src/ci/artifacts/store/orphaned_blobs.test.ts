/** Tests the removal of blobs that no row references, and of their claims. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, beforeEach, test } from 'node:test';
import { seedPipeline } from '../../../../test/support/ci/jobs.ts';
import { seedProject } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import type { Platform } from '../../../core/platform.ts';
import { Failure } from '../../../platform/errors.ts';
import { removeOrphanedBlobs } from './orphaned_blobs.ts';
import { type UploadingJob, addArtifact } from './artifacts.ts';

const hour = 3_600_000;
const announced = { file_type: 'archive', file_format: 'raw', filename: 'a', expire_in: null } as const;

let gantry: TestService;
let platform: Platform;
let job: UploadingJob;
before(async () => {
  gantry = await startTestService();
  platform = gantry.service.platform;
});
after(async () => await gantry.close());
beforeEach(async () => {
  const { id: project_id } = await seedProject(gantry);
  const { jobs } = await seedPipeline(gantry, { project: project_id, file: 'a: { script: x }' });
  job = { id: jobs['a'] ?? 0, project_id };
});

const add = async (content: string, of = job, on = platform): Promise<string> =>
  (await addArtifact(on, of, announced, Readable.from([Buffer.from(content)]))).sha256;

const isThere = async (sha256: string): Promise<boolean> =>
  await platform.blobs.has(`projects/${job.project_id}/artifacts`, sha256);

const holds = async (): Promise<[string, string][]> => {
  const query = platform.store.db.selectFrom('byte_holds').select(['holder', 'kind']).orderBy('holder');
  const rows = await query.where('project_id', '=', job.project_id).execute();
  return rows.map(({ holder, kind }) => [holder, kind]);
};

/** Writes the claim of a process that died this long ago. */
const leave = async (holder: string, sha256: string, age: number, kind: 'name' | 'remove'): Promise<void> =>
  await platform.store.write(async ({ db, now }) => {
    const row = { project_id: job.project_id, sha256, holder, kind, created_at: now - age };
    await db.insertInto('byte_holds').values(row).execute();
  });

const forget = async (): Promise<void> =>
  await platform.store.write(async ({ db }) => {
    await db.deleteFrom('artifacts').where('job_id', '=', job.id).execute();
  });

const isForbidden = (error: unknown): boolean => error instanceof Failure && error.status === 403;
/** An upload whose token the job does not run with. */
const stranger = (): UploadingJob => ({ ...job, token_hash: 'another' });
const bytesOf = async (content: string): Promise<string> => {
  const sha256 = await add(content);
  await forget();
  return sha256;
};

test('a refused upload leaves neither bytes nor a row', async () => {
  const sha256 = await bytesOf('refused');
  await platform.blobs.remove(`projects/${job.project_id}/artifacts`, sha256);
  await assert.rejects(add('refused', stranger()), isForbidden);
  assert.deepEqual([await isThere(sha256), await holds()], [false, []]);
});

test('a refused upload keeps bytes that another artifact shares', async () => {
  const sha256 = await add('the same');
  await assert.rejects(add('the same', stranger()), isForbidden);
  assert.deepEqual([await isThere(sha256), await holds()], [true, []]);
});

test('a refused upload whose bytes cannot be deleted blocks no retry, and is cleaned up later', async () => {
  const sha256 = await bytesOf('away');
  const isAway = async (): Promise<void> => await Promise.reject(new Error('the store of bytes is away'));
  const away = { ...platform, blobs: { ...platform.blobs, remove: isAway } };
  await assert.rejects(add('away', stranger(), away), isForbidden);
  assert.deepEqual(
    (await holds()).map(([, kind]) => kind),
    ['name'],
  );
  assert.equal(await add('away'), sha256);
  await forget();
  await leave('dead', sha256, hour, 'name');
  await removeOrphanedBlobs(away);
  assert.equal((await holds()).length, 1);
  await removeOrphanedBlobs(platform);
  assert.deepEqual([await isThere(sha256), await holds()], [false, []]);
});

test('deletes unreferenced blobs with claims that are an hour old', async () => {
  const named = await bytesOf('about to be named');
  const removed = await bytesOf('about to be removed');
  await leave('dead', named, hour, 'name');
  await leave('dead', removed, hour, 'remove');
  await removeOrphanedBlobs(platform);
  assert.deepEqual([await isThere(named), await isThere(removed), await holds()], [false, false, []]);
});

test('keeps a blob that is referenced, and deletes its claim', async () => {
  const sha256 = await add('named');
  await leave('dead', sha256, hour, 'name');
  await removeOrphanedBlobs(platform);
  assert.deepEqual([await isThere(sha256), await holds()], [true, []]);
});

test('keeps a blob that another process may reference', async () => {
  const sha256 = await bytesOf('young');
  await leave('dead', sha256, hour - 60_000, 'name');
  await removeOrphanedBlobs(platform);
  assert.deepEqual([await isThere(sha256), await holds()], [true, [['dead', 'name']]]);
  // The dead process references nothing; a live one works on the bytes since.
  await leave('dead before', sha256, hour, 'name');
  await leave('lives', sha256, 0, 'name');
  await removeOrphanedBlobs(platform);
  assert.equal(await isThere(sha256), true);
  assert.deepEqual(
    (await holds()).map(([holder]) => holder),
    ['dead', 'lives'],
  );
});
