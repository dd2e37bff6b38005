import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import {
  type Coded,
  type Request,
  openRequest,
  readRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../../../test/support/seed_merge_requests.ts';
import { git, repositoryUrl } from '../../../../test/support/repositories/git.ts';
import { type TestService, rootToken, startTestService } from '../../../../test/support/service.ts';
import type { Platform } from '../../../core/platform.ts';
import type { Repository, RepositoryLocation } from '../../../platform/git/repository.ts';
import { loadProject } from '../../../projects/projects/find.ts';
import { refreshSource } from '../refresh/refresh_source.ts';
import { mergeRequestById } from '../rows.ts';
import { checkMergeStatus } from './merge_status.ts';

let gantry: TestService;
let project: Coded;
let number = 0;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry);
});
after(async () => await gantry.close());

const openNew = async (): Promise<Request> => {
  const branch = `branch-${(number += 1)}`;
  await seedBranch(gantry, project, branch);
  const request = await openRequest(gantry, project, branch);
  await settle(gantry);
  return request;
};

const rowOf = async ({ id }: Request) =>
  await gantry.service.platform.store.db
    .selectFrom('merge_requests')
    .select(['merge_status', 'revision', 'checked_source_sha', 'checked_target_sha'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

const uncheck = async ({ id }: Request): Promise<void> => {
  await gantry.service.platform.store.write(
    async ({ db }) =>
      await db
        .updateTable('merge_requests')
        .set({ merge_status: 'unchecked' })
        .where('id', '=', id)
        .execute(),
  );
};

test('is checked once per pair of heads', async () => {
  const request = await openNew();
  await readRequest(gantry, request);
  const first = await rowOf(request);
  assert.equal(first.checked_source_sha, request.sha);
  await readRequest(gantry, request);
  assert.deepEqual(await rowOf(request), first);
  const target = await seedCommit(gantry, project.id, { other: String(number) });
  await readRequest(gantry, request);
  assert.equal((await rowOf(request)).checked_target_sha, target);
});

test(
  'asks the storage of a repository again only after a change',
  { skip: process.env['GANTRY_TEST_DATABASE_URL'] !== undefined },
  async () => {
    const request = await openNew();
    await readRequest(gantry, request);
    const { git } = gantry.service.platform;
    const { repository } = git;
    const asked: string[] = [];
    git.repository = (...args) => {
      const real = repository(...args);
      const ask: Repository['ask'] = async (method, ...rest) => {
        asked.push(method);
        return await real.ask(method, ...rest);
      };
      return { ...real, ask };
    };
    try {
      // A read that stores what it found changes the request; the next one keeps it.
      for (let read = 0; read < 3; read += 1) await readRequest(gantry, request);
      asked.length = 0;
      await readRequest(gantry, request);
      assert.equal(asked.join(), '');
      await seedCommit(gantry, project.id, { [`kept-${number}`]: 'x' });
      asked.length = 0;
      await readRequest(gantry, request);
      assert.ok(asked.includes('refs.get'));
    } finally {
      git.repository = repository;
    }
  },
);

test('shows a conflict immediately after a push, before its background work', async () => {
  const request = await openNew();
  assert.equal((await readRequest(gantry, request)).merge_status, 'can_be_merged');
  await seedCommit(gantry, project.id, { [`${request.source_branch}.txt`]: 'other\n' });
  assert.equal((await readRequest(gantry, request)).merge_status, 'cannot_be_merged');
});

test('of listed requests is checked in the background', async () => {
  const request = await openNew();
  await uncheck(request);
  const list = async () =>
    (await gantry.api(`GET /projects/${project.id}/merge_requests?iids[]=${request.iid}`)).body[0]
      .merge_status;
  assert.equal(await list(), 'unchecked');
  for (let tried = 0; tried < 100 && (await list()) === 'unchecked'; tried += 1) await wait(20);
  assert.equal(await list(), 'can_be_merged');
});

test('is the stored one if the repository storage does not answer', async () => {
  const request = await openNew();
  await readRequest(gantry, request);
  const { platform } = gantry.service;
  const setStorage = async (repository_storage: string): Promise<void> => {
    await platform.store.write(
      async ({ db }) =>
        await db.updateTable('projects').set({ repository_storage }).where('id', '=', project.id).execute(),
    );
  };
  await setStorage('nowhere');
  try {
    assert.equal((await readRequest(gantry, request)).merge_status, 'can_be_merged');
  } finally {
    await setStorage('default');
  }
});

test('the merge ref is a trial merge, and no branch moves', async () => {
  const request = await openNew();
  const path = `/projects/${project.id}/merge_requests/${request.iid}`;
  const readMergeRef = async () => (await gantry.api(`GET ${path}/merge_ref`)).body;
  const { commit_id } = await readMergeRef();
  const commit = await gantry.api(`GET /projects/${project.id}/repository/commits/${commit_id}`);
  const main = await gantry.api(`GET /projects/${project.id}/repository/branches/main`);
  assert.deepEqual(commit.body.parent_ids, [main.body.commit.id, request.sha]);
  const url = repositoryUrl(gantry.url, project.full_path, rootToken);
  const listed = await git('/', 'ls-remote', url, `refs/merge-requests/${request.iid}/merge`);
  assert.match(listed, new RegExp(`^${commit_id}\t`));
  assert.deepEqual(await readMergeRef(), { commit_id }, 'the same for the same branches');
  await seedCommit(gantry, project.id, { [`other-${number}`]: 'x' });
  assert.notEqual((await readMergeRef()).commit_id, commit_id);
  await seedCommit(gantry, project.id, { [`${request.source_branch}.txt`]: 'other\n' });
  assert.deepEqual(await readMergeRef(), { message: 'Merge request is not mergeable' });
  await gantry.api(`PUT ${path}`, { json: { state_event: 'close' } });
  assert.equal((await gantry.api(`GET ${path}/merge_ref`)).status, 400);
});

test('reads do not wait long for a busy storage, and the check continues in the background', async () => {
  const request = await openNew();
  await uncheck(request);
  const { pid } = await gantry.service.platform.git.status('default');
  process.kill(pid, 'SIGSTOP');
  try {
    assert.equal((await readRequest(gantry, request)).merge_status, 'unchecked');
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  while ((await rowOf(request)).merge_status === 'unchecked') await wait(20);
  assert.equal((await rowOf(request)).merge_status, 'can_be_merged');
});

test('repeated work after a push keeps newer check results', async () => {
  const { service } = gantry;
  const request = await openNew();
  const { source_branch: branch } = request;
  await gantry.api(`DELETE /projects/${project.id}/repository/branches/${branch}`);
  await settle(gantry);
  assert.equal((await readRequest(gantry, request)).merge_status, 'cannot_be_merged');
  const first = await rowOf(request);
  // Repeat the work late, as if its note had not been written yet.
  await service.platform.store.write(
    async ({ db }) => await db.deleteFrom('notes').where('target_id', '=', request.id).execute(),
  );
  const moved = {
    project_id: project.id,
    user_id: 1,
    branch,
    isNew: false,
    isGone: true,
    moved_at: Date.now(),
  };
  await refreshSource(service.platform, moved);
  assert.deepEqual(await rowOf(request), first);
});

/** Returns the platform with checks of merges that wait for `release`, and the start of the first. */
const withSlowChecks = (platform: Platform) => {
  const [started, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = (repository: Repository): Repository => ({
    ...repository,
    ask: async (method, params, ...rest) => {
      if (method === 'merge.check') {
        started.resolve();
        await released.promise;
      }
      return await repository.ask(method, params, ...rest);
    },
  });
  const git = {
    ...platform.git,
    repository: (place: RepositoryLocation) => slow(platform.git.repository(place)),
  };
  return { platform: { ...platform, git }, started: started.promise, release: released.resolve };
};

test('a check of an earlier head that ends late does not replace the reset by a push to the target', async () => {
  const request = await openNew();
  await uncheck(request);
  const { platform } = gantry.service;
  const [row, target] = [
    await mergeRequestById(platform.store.db, request.id),
    await loadProject(platform.store.db, project.id),
  ];
  assert.ok(row && target);
  const checks = withSlowChecks(platform);
  const status = checkMergeStatus(checks.platform, row, target);
  await checks.started;
  const now = await seedCommit(gantry, project.id, { later: String(number) });
  await settle(gantry);
  assert.equal((await rowOf(request)).checked_target_sha, now);
  checks.release();
  assert.equal(await status, 'can_be_merged');
  const { checked_target_sha, merge_status } = await rowOf(request);
  assert.deepEqual([merge_status, checked_target_sha], ['can_be_merged', now]);
});
