/** The index of code: interrupted and simultaneous runs leave what one whole run leaves. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { openRepository, seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import { seedProject } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import type { Platform } from '../../../core/platform.ts';
import { indexCode } from './index_code.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
  await gantry.service.worker.stop(); // nothing but the calls below indexes
});
after(async () => await gantry.close());

const files = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}`, `text ${at}`]));

const makeProject = async (): Promise<number> => {
  const { id } = await seedProject(gantry);
  await seedCommit(gantry, id, files);
  return id;
};

const indexedFiles = async (id: number) => {
  const { db } = gantry.service.platform.store;
  const rows = await db
    .selectFrom('code_files')
    .select(['path', 'content'])
    .where('project_id', '=', id)
    .execute();
  return Object.fromEntries(rows.map(({ path, content }) => [path, content]));
};

const isComplete = async (id: number): Promise<boolean> => {
  const { db } = gantry.service.platform.store;
  const row = await db
    .selectFrom('code_indexes')
    .select('commit_id')
    .where('project_id', '=', id)
    .executeTakeFirst();
  return row !== undefined;
};

it('goes on where an interrupted run was', async () => {
  const id = await makeProject();
  const { platform } = gantry.service;
  const repository = await openRepository(gantry, id);
  let reads = 0;
  const failing: typeof repository = {
    ...repository,
    read: async (method, params, options) => {
      reads += 1;
      if (reads > 40) throw new Error('the process ended');
      return await repository.read(method, params, options);
    },
  };
  const broken: Platform = { ...platform, git: { ...platform.git, repository: () => failing } };
  await assert.rejects(indexCode(broken, id), /the process ended/);
  assert.deepEqual([Object.keys(await indexedFiles(id)).length, await isComplete(id)], [32, false]);
  reads = 0;
  await indexCode(broken, id);
  assert.deepEqual([await indexedFiles(id), await isComplete(id), reads], [files, true, 28]);
  await indexCode(broken, id);
  assert.equal(reads, 28);
});

it('leaves the rest of a large repository to another run', async () => {
  const id = await makeProject();
  const { platform } = gantry.service;
  const { db } = platform.store;
  const waiting = async (): Promise<number> => {
    const key = `index code ${id}`;
    return (await db.selectFrom('work').select('id').where('unique_key', '=', key).execute()).length;
  };
  await indexCode(platform, id, 0);
  assert.deepEqual([Object.keys(await indexedFiles(id)).length, await waiting()], [16, 1]);
  for (let runs = 1; runs < 4; runs += 1) await indexCode(platform, id, 0);
  assert.deepEqual([await indexedFiles(id), await isComplete(id)], [files, true]);
});

it('two runs of the index at once leave one index', async () => {
  const id = await makeProject();
  const { platform } = gantry.service;
  await Promise.all([indexCode(platform, id), indexCode(platform, id)]);
  assert.deepEqual(await indexedFiles(id), files);
});
