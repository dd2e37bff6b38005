/** Tests two processes on one store: one deletes a blob while the other references it. Each has its own queue. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { text } from 'node:stream/consumers';
import { seedPipeline } from '../../../../test/support/ci/jobs.ts';
import { settle } from '../../../../test/support/seed_merge_requests.ts';
import { seedProject } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import type { Platform } from '../../../core/platform.ts';
import { processName } from '../../../platform/db/process_name.ts';
import { Failure } from '../../../platform/errors.ts';
import { deleteUnreferencedBlobs } from './artifact_blobs.ts';
import { type UploadingJob, addArtifact, openArtifact } from './artifacts.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

type Blobs = Platform['blobs'];

/** A second process on the same store, with some blob functions replaced. */
const another = (blobs: (own: Blobs) => Partial<Blobs> = () => ({})): Platform => {
  const { platform } = gantry.service;
  return { ...platform, blobs: { ...platform.blobs, ...blobs(platform.blobs) } };
};

const twoJobs = async (): Promise<[UploadingJob, UploadingJob]> => {
  const { id: project_id } = await seedProject(gantry);
  const { jobs } = await seedPipeline(gantry, {
    project: project_id,
    file: 'a: { script: x }\nb: { script: x }',
  });
  return [
    { id: jobs['a'] ?? 0, project_id },
    { id: jobs['b'] ?? 0, project_id },
  ];
};

const announced = { file_type: 'archive', file_format: 'raw', filename: 'a', expire_in: null } as const;
const add = async (platform: Platform, job: UploadingJob) =>
  await addArtifact(platform, job, announced, Readable.from([Buffer.from('the same')]));

const forget = async ({ id }: UploadingJob): Promise<void> =>
  await gantry.service.platform.store.write(async ({ db }) => {
    await db.deleteFrom('artifacts').where('job_id', '=', id).execute();
  });

const isUnavailable = (error: unknown): boolean => error instanceof Failure && error.status === 503;
const holds = async (): Promise<number> =>
  (await gantry.service.platform.store.db.selectFrom('byte_holds').selectAll().execute()).length;

test('refuses to reference a blob that is being deleted, and accepts a retry', async () => {
  const [one, two] = await twoJobs();
  const { sha256 } = await add(another(), one);
  await forget(one);
  const { project_id } = one;
  const naming = another();
  let refused: unknown = null;
  // The other process comes between the check and the deletion, while the bytes still exist.
  const dropping = another((own) => ({
    remove: async (area, digest) => {
      refused = await add(naming, two).catch((error: unknown) => error);
      await own.remove(area, digest);
    },
  }));
  await deleteUnreferencedBlobs(dropping, project_id, [sha256]);
  assert.ok(isUnavailable(refused), String(refused));
  const artifact = await add(naming, two);
  assert.equal(await text((await openArtifact(naming, artifact))!), 'the same');
  assert.equal(await holds(), 0);
});

test('keeps a blob that is being referenced', async () => {
  const [one, two] = await twoJobs();
  const { sha256 } = await add(another(), one);
  await forget(one);
  // The other process comes after the existence check and before a row references the bytes.
  const naming = another((own) => ({
    put: async (area, content, placing) =>
      await own.put(area, content, async (stored, place) => {
        await placing?.(stored, async () => {
          await place();
          await deleteUnreferencedBlobs(another(), one.project_id, [sha256]);
        });
      }),
  }));
  const artifact = await add(naming, two);
  assert.equal(await text((await openArtifact(naming, artifact))!), 'the same');
  assert.equal(await holds(), 0);
});

test('deletes an unreferenced blob, and ignores the claims of a dead process soon', async () => {
  const [one, two] = await twoJobs();
  const bring = async (): Promise<string> => {
    const { sha256 } = await add(another(), one);
    await forget(one);
    return sha256;
  };
  const { project_id } = one;
  const sha256 = await bring();
  const { store, blobs } = gantry.service.platform;
  const area = `projects/${project_id}/artifacts`;
  const [second, minute, hour] = [1_000, 60_000, 3_600_000];
  /** @param age of the claim, in milliseconds */
  const leave = async (kind: 'name' | 'remove', holder: string, age: number): Promise<void> =>
    await store.write(async ({ db, now }) => {
      await db.deleteFrom('byte_holds').execute();
      const left = { project_id, sha256, holder, kind, created_at: now - age };
      await db.insertInto('byte_holds').values(left).execute();
    });
  for (const [holder, age] of [
    ['dead', second],
    [processName, 2 * minute],
  ] as const) {
    await leave('name', holder, age);
    await deleteUnreferencedBlobs(another(), project_id, [sha256]);
    assert.equal(await blobs.has(area, sha256), true, holder);
    await leave('remove', holder, age);
    await assert.rejects(add(another(), two), isUnavailable);
    await store.write(async ({ db }) => await db.deleteFrom('byte_holds').execute());
    await bring();
  }
  for (const [holder, age] of [
    ['dead', 2 * minute],
    [processName, hour + minute],
  ] as const) {
    await leave('remove', holder, age);
    await add(another(), two);
    await forget(two);
    await leave('name', holder, age);
    await deleteUnreferencedBlobs(another(), project_id, [sha256]);
    assert.equal(await blobs.has(area, sha256), false, holder);
  }
});

test('deletes all blobs of a deleted project', async () => {
  const [one] = await twoJobs();
  const { sha256, project_id } = await add(another(), one);
  await gantry.api(`DELETE /projects/${project_id}`);
  await settle(gantry);
  await deleteUnreferencedBlobs(another(), project_id, [sha256]);
  assert.equal(await gantry.service.platform.blobs.has(`projects/${project_id}/artifacts`, sha256), false);
});
