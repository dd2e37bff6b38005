/** Two processes on one store: what one takes away while another names it. Each has a queue of its own. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { text } from 'node:stream/consumers';
import { seedPipeline } from '../../test/support/jobs.ts';
import { settle } from '../../test/support/requests.ts';
import { seedProject } from '../../test/support/seed.ts';
import { type TestService, startTestService } from '../../test/support/service.ts';
import type { Platform } from '../access/call.ts';
import { processName } from '../db/process.ts';
import { Failure } from '../errors.ts';
import { dropBytes } from './bytes.ts';
import { type JobOf, addArtifact, artifactBytes } from './store.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

type Blobs = Platform['blobs'];

/** A process of its own on the same store, some of whose dealings with bytes are another's. */
const another = (blobs: (own: Blobs) => Partial<Blobs> = () => ({})): Platform => {
  const { platform } = gantry.service;
  return { ...platform, blobs: { ...platform.blobs, ...blobs(platform.blobs) } };
};

const twoJobs = async (): Promise<[JobOf, JobOf]> => {
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
const add = async (platform: Platform, job: JobOf) =>
  await addArtifact(platform, job, announced, Readable.from([Buffer.from('the same')]));

const forget = async ({ id }: JobOf): Promise<void> =>
  await gantry.service.platform.store.write(async ({ db }) => {
    await db.deleteFrom('artifacts').where('job_id', '=', id).execute();
  });

const isUnavailable = (error: unknown): boolean => error instanceof Failure && error.status === 503;
const holds = async (): Promise<number> =>
  (await gantry.service.platform.store.db.selectFrom('byte_holds').selectAll().execute()).length;

test('what is being taken away is not named; it may come again', async () => {
  const [one, two] = await twoJobs();
  const { sha256 } = await add(another(), one);
  await forget(one);
  const { project_id } = one;
  const naming = another();
  let refused: unknown = null;
  // The other comes between the look and the removal, with bytes that are still there.
  const dropping = another((own) => ({
    remove: async (area, digest) => {
      refused = await add(naming, two).catch((error: unknown) => error);
      await own.remove(area, digest);
    },
  }));
  await dropBytes(dropping, project_id, [sha256]);
  assert.ok(isUnavailable(refused), String(refused));
  const artifact = await add(naming, two);
  assert.equal(await text((await artifactBytes(naming, artifact))!), 'the same');
  assert.equal(await holds(), 0);
});

test('what is being named is not taken away', async () => {
  const [one, two] = await twoJobs();
  const { sha256 } = await add(another(), one);
  await forget(one);
  // The other comes after the look whether they are there, and before there is a row that names them.
  const naming = another((own) => ({
    put: async (area, content, placing) =>
      await own.put(area, content, async (stored, place) => {
        await placing?.(stored, async () => {
          await place();
          await dropBytes(another(), one.project_id, [sha256]);
        });
      }),
  }));
  const artifact = await add(naming, two);
  assert.equal(await text((await artifactBytes(naming, artifact))!), 'the same');
  assert.equal(await holds(), 0);
});

test('what nobody names any more goes, and a process that died holds nothing for long', async () => {
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
  /** @param age of it, in milliseconds */
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
    await dropBytes(another(), project_id, [sha256]);
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
    await dropBytes(another(), project_id, [sha256]);
    assert.equal(await blobs.has(area, sha256), false, holder);
  }
});

test('of a project that is gone everything goes', async () => {
  const [one] = await twoJobs();
  const { sha256, project_id } = await add(another(), one);
  await gantry.api(`DELETE /projects/${project_id}`);
  await settle(gantry);
  await dropBytes(another(), project_id, [sha256]);
  assert.equal(await gantry.service.platform.blobs.has(`projects/${project_id}/artifacts`, sha256), false);
});
