/** Tests which answers of the repository storage pages share, and when they are asked for again. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openRepository, seedCommit } from '../../../test/support/repositories/seed_commits.ts';
import { seedIssue, seedProject } from '../../../test/support/seed.ts';
import { settle } from '../../../test/support/seed_merge_requests.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import type { Call } from '../../core/access/call.ts';
import { keepReads } from '../../platform/db/keep_until_change.ts';
import { anonymous } from '../../core/access/viewer.ts';
import type { Repository } from '../../platform/git/repository.ts';
import { loadProject } from '../../projects/projects/find.ts';
import { openCachedCode } from './read_cache.ts';

let gantry: TestService;

before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

/** Opens the code of a project for a new call, and lists the methods that reach the storage. */
const openCounted = async (projectId: number, asked: string[], service = gantry) => {
  const { platform } = service.service;
  const project = await loadProject(platform.store.db, projectId);
  assert.ok(project !== null);
  const real = await openRepository(service, projectId);
  const count = (repository: Repository): Repository => ({
    ...repository,
    ask: async (method, ...rest) => {
      asked.push(method);
      return await repository.ask(method, ...rest);
    },
    read: async (method, ...rest) => {
      asked.push(method);
      return await repository.read(method, ...rest);
    },
  });
  const git = { ...platform.git, repository: () => count(real) };
  const call = {
    db: platform.store.db,
    viewer: anonymous,
    platform: { ...platform, git },
  } as unknown as Call;
  return openCachedCode(call, project).repository;
};

test('branches are asked for once until a ref or a project changes, objects once', async () => {
  const { id } = await seedProject(gantry);
  const first = await seedCommit(gantry, id, { a: '1' });
  const asked: string[] = [];
  const read = async () => {
    const repository = await openCounted(id, asked);
    const { refs } = await repository.ask('refs.get', { names: ['refs/heads/main'] });
    const commit = refs[0]?.commit ?? '';
    const { names } = await repository.ask('refs.names', {
      prefix: 'refs/heads/',
      sort: 'name',
      offset: 0,
      limit: 9,
    });
    const { body } = await repository.read('blob.at', { commit, path: 'a', max: 99 });
    return { commit, names: names.length, text: body.toString() };
  };
  const seen = { commit: first, names: 1, text: '1' };
  assert.deepEqual(await read(), seen);
  assert.deepEqual(asked.splice(0), ['refs.get', 'refs.names', 'blob.at']);
  // Background work commits, too: until a moment without any.
  for (let attempt = 0; attempt < 100; attempt += 1) {
    asked.length = 0;
    assert.deepEqual(await read(), seen);
    if (asked.length === 0) break;
    await settle(gantry);
  }
  assert.ok(!asked.includes('blob.at'));
  if (gantry.service.platform.store.dialect.engine === 'sqlite') assert.deepEqual(asked, []);
  asked.length = 0;
  const second = await seedCommit(gantry, id, { a: '2' });
  await seedCommit(gantry, id, { a: '3' }, { branch: 'other', from: 'main' });
  assert.deepEqual(await read(), { commit: second, names: 2, text: '2' });
  assert.deepEqual(asked.splice(0), ['refs.get', 'refs.names', 'blob.at']);
  await seedIssue(gantry, { project: id });
  await read();
  const ofBranches =
    gantry.service.platform.store.dialect.engine === 'sqlite' ? [] : ['refs.get', 'refs.names'];
  assert.deepEqual(asked.splice(0), ofBranches, 'an issue changes no branch');
  await seedProject(gantry);
  await read();
  assert.deepEqual(asked.splice(0), ['refs.get', 'refs.names'], 'objects stay');
});

test('services of one process share no answers, even about repositories of one path', async () => {
  const other = await startTestService();
  try {
    const seedAtPath = async (service: TestService): Promise<number> => {
      const { id } = await seedProject(service);
      const repository_path = `@hashed/ab/cd/abcd${'0'.repeat(60)}.git`;
      await service.service.platform.store.write(
        async ({ db }) =>
          await db.updateTable('projects').set({ repository_path }).where('id', '=', id).execute(),
      );
      return id;
    };
    const [id, otherId] = [await seedAtPath(gantry), await seedAtPath(other)];
    const commit = await seedCommit(gantry, id, { a: '1' });
    const readBranch = async (service: TestService, projectId: number) => {
      const repository = await openCounted(projectId, [], service);
      const { refs } = await repository.ask('refs.get', { names: ['refs/heads/main'] });
      return refs[0]?.commit ?? null;
    };
    // Each project changes the state by one, so that the other service comes through the states of the first.
    for (let at = 0; at < 60; at += 1) {
      await seedProject(other);
      assert.equal(await readBranch(other, otherId), null);
      assert.equal(await readBranch(gantry, id), commit);
    }
  } finally {
    await other.close();
  }
});

test('what is missing is asked for again, and methods that change are passed on', async () => {
  const { id } = await seedProject(gantry);
  const commit = await seedCommit(gantry, id, { a: '1' });
  const asked: string[] = [];
  const repository = await openCounted(id, asked);
  for (let at = 0; at < 2; at += 1) {
    const { result } = await repository.read('blob.at', { commit, path: 'none', max: 9 });
    const { commits } = await repository.ask('commits.get', { ids: ['a'.repeat(40)] });
    const { sizes } = await repository.ask('blob.sizes', { ids: ['a'.repeat(40)] });
    await repository.ask('repository.statistics', {});
    assert.deepEqual([result, commits, sizes], [null, [null], [null]]);
  }
  const expected = ['blob.at', 'commits.get', 'blob.sizes', 'repository.statistics'];
  assert.deepEqual(asked, [...expected, ...expected]);
});

test('refs other than branches and tags are asked for again after each commit, and so is what is missing', async () => {
  const { id } = await seedProject(gantry);
  const commit = await seedCommit(gantry, id, { a: '1' });
  const asked: string[] = [];
  const repository = await openCounted(id, asked);
  const ref = 'refs/merge-requests/1/head';
  const read = async () => {
    const fresh = await openCounted(id, asked);
    const { refs } = await fresh.ask('refs.get', { names: [ref] });
    const resolved = await fresh.ask('revision.resolve', { revision: commit, reachable: true });
    return [refs[0]?.commit ?? null, resolved?.commit ?? null];
  };
  assert.deepEqual(await read(), [null, commit]);
  await repository.ask('refs.update', { updates: [{ ref, old: null, new: commit }] });
  await seedIssue(gantry, { project: id });
  asked.length = 0;
  assert.deepEqual(await read(), [commit, commit]);
  assert.deepEqual(asked, ['refs.get', 'revision.resolve']);
});

test('a kept value that shows branches is read again after a ref changes; others are not kept', async () => {
  const { id } = await seedProject(gantry);
  const commit = await seedCommit(gantry, id, { a: '1' });
  const { db } = gantry.service.platform.store;
  const isSqlite = gantry.service.platform.store.dialect.engine === 'sqlite';
  const keep = keepReads<unknown>(100_000, () => 1);
  const params = { prefix: 'refs/heads/', sort: 'name', offset: 0, limit: 9 } as const;
  let loads = 0;
  const read = async (key: string, ask: (repository: Repository) => Promise<unknown>) =>
    await keep(db, key, async () => {
      loads += 1;
      return await ask(await openCounted(id, []));
    });
  const branches = async () => await read('branches', async ({ ask }) => await ask('refs.names', params));
  const files = async () =>
    await read('files', async ({ ask }) =>
      ask('tree.list', { commit, path: '', recursive: false, offset: 0, limit: 9 }),
    );
  await settle(gantry);
  for (const show of [branches, branches, files, files]) await show();
  assert.equal(loads, isSqlite ? 2 : 4);
  loads = 0;
  await seedCommit(gantry, id, { a: '2' }, { branch: 'other', from: 'main' });
  const { names } = (await branches()) as { names: string[] };
  assert.deepEqual(names, ['refs/heads/main', 'refs/heads/other']);
  loads = 0;
  for (let at = 0; at < 2; at += 1)
    await read('uncached', async ({ ask }) => await ask('repository.statistics', {}));
  assert.equal(loads, 2);
});
