import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedMember, seedProject, seedUser } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { anonymous, toViewer } from '../../../core/access/viewer.ts';
import type { PushQuestion, PushedRef } from '../../../platform/git/protocol_types.ts';
import { createPushHandlers } from './push.ts';
import { fileProblem, pushProblems } from './push_policy.ts';
import { startRecovery } from './recover_operations.ts';
import type { GitUser } from './transfer_access.ts';
import { getRepositoryPlace } from '../../../../test/support/repositories/seed_commits.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const [zero, one, two] = ['0'.repeat(40), '1'.repeat(40), '2'.repeat(40)];

const update = (ref: string, old: string, next: string, forced = false): PushedRef => ({
  ref,
  old,
  new: next,
  forced,
});

const asked = (...updates: PushedRef[]): PushQuestion => ({
  ask: 'push',
  updates,
  push_options: [],
  largest_file: 0,
  repository_size: 0,
});

const pushing = async () => {
  const [project, user] = [await seedProject(gantry), await seedUser(gantry)];
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 30 });
  const viewer = toViewer({ id: user.id, admin: 0, external: 0 }, `P${project.id}:30`);
  const cause = { user: { id: user.id }, sudo_by_id: null };
  const pusher: GitUser = { viewer, cause, scopes: null, deployKey: null };
  const row = await getRepositoryPlace(gantry, project.id);
  const told: string[] = [];
  const answers = createPushHandlers(gantry.service.platform, {
    project: row,
    user: pusher,
    messages: async (updates) => {
      told.push(...updates.map(({ ref }) => ref));
      return await Promise.resolve(['a message']);
    },
  });
  return { project, user, answers, told };
};

const operations = async (projectId: number) =>
  await gantry.service.platform.store.db
    .selectFrom('git_operations')
    .select(['id', 'updates', 'created_at', 'process'])
    .where('project_id', '=', projectId)
    .execute();

const loadEvents = async (projectId: number): Promise<string[]> => {
  const { db } = gantry.service.platform.store;
  const rows = await db
    .selectFrom('events')
    .select(['kind', 'data'])
    .where('project_id', '=', projectId)
    .execute();
  return rows.map(({ kind, data }) => `${kind} ${JSON.parse(data).ref}`);
};

test('records an accepted push before git runs, and completes it with the result of git', async () => {
  const { project, answers, told } = await pushing();
  assert.equal(answers.isBegun(), false);
  const question = asked(update('refs/heads/a', zero, one), update('refs/heads/b', zero, two));
  assert.deepEqual(await answers.onAsk(question), { refuse: null });
  assert.equal(answers.isBegun(), true);
  const [row] = await operations(project.id);
  assert.deepEqual(JSON.parse(row?.updates ?? ''), [
    { ref: 'refs/heads/a', old: zero, new: one },
    { ref: 'refs/heads/b', old: zero, new: two },
  ]);
  const news = { tell: 'pushed' as const, updates: [update('refs/heads/b', zero, two)] };
  assert.deepEqual(await answers.onNotify(news), { messages: ['a message'] });
  assert.deepEqual(await operations(project.id), []);
  assert.deepEqual(await loadEvents(project.id), ['ref.created refs/heads/b']);
  assert.deepEqual(told, ['refs/heads/b']);
});

test('removes the record of a push that moved no ref', async () => {
  const { project, answers } = await pushing();
  await answers.onAsk(asked(update('refs/heads/a', zero, one)));
  assert.deepEqual(await answers.onNotify({ tell: 'pushed', updates: [] }), { messages: [] });
  assert.deepEqual([await operations(project.id), await loadEvents(project.id)], [[], []]);
});

test('refuses a push if the pusher lost access while it ran', async () => {
  const { project, user, answers } = await pushing();
  await gantry.service.platform.store.write(async ({ db }) => {
    await db.deleteFrom('members').where('user_id', '=', user.id).execute();
  });
  assert.deepEqual(await answers.onAsk(asked(update('refs/heads/a', zero, one))), {
    refuse: ['You are not allowed to push code to this project.'],
  });
  assert.equal(answers.isBegun(), false);
  assert.deepEqual(await operations(project.id), []);
});

test('recovers a push of a dead process, but not a slow one', async (context) => {
  const { project, answers } = await pushing();
  const { platform } = gantry.service;
  context.mock.timers.enable({ apis: ['setInterval'] });
  const began = Date.now();
  gantry.setTime(began);
  await answers.onAsk(asked(update('refs/heads/a', zero, one)));
  const [before] = await operations(project.id);
  gantry.setTime(began + 70_000);
  context.mock.timers.tick(20_000);
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await operations(project.id))[0]?.created_at !== began) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const recover = async (): Promise<string[]> => {
    await (
      await startRecovery(platform, {})
    )();
    return (await operations(project.id)).map(({ process }) => process);
  };
  assert.deepEqual(await recover(), [before?.process]);
  answers.end();
  context.mock.timers.tick(200_000);
  gantry.setTime(began + 140_000);
  assert.notDeepEqual(await recover(), [before?.process]);
  gantry.setTime(null);
});

test('recovers a push whose end the database did not take, without waiting until it counts as abandoned', async (context) => {
  const { project, answers } = await pushing();
  const { platform } = gantry.service;
  gantry.setTime(Date.now());
  await answers.onAsk(asked(update('refs/heads/a', zero, one)));
  const [before] = await operations(project.id);
  const gone = new Error('Connection terminated unexpectedly');
  const { mock: write } = context.mock.method(
    platform.store,
    'write',
    async () => await Promise.reject(gone),
  );
  await assert.rejects(
    answers.onNotify({ tell: 'pushed', updates: [update('refs/heads/a', zero, one)] }),
    gone,
  );
  write.restore();
  assert.deepEqual(await operations(project.id), [before]);
  await (
    await startRecovery(platform, {})
  )();
  assert.deepEqual(
    (await operations(project.id)).map(({ process }) => process),
    ['dropped'],
  );
  gantry.setTime(null);
});

test('drops a push whose beginning the database recorded without an answer', async (context) => {
  const { project, answers } = await pushing();
  const { platform } = gantry.service;
  gantry.setTime(Date.now());
  const gone = new Error('Connection terminated unexpectedly');
  const write = platform.store.write.bind(platform.store);
  const { mock: lost } = context.mock.method(
    platform.store,
    'write',
    async (...args: Parameters<typeof write>) => {
      await write(...args);
      throw gone;
    },
  );
  context.mock.method(platform.store, 'isUnreachable', (error: unknown) => error === gone);
  await assert.rejects(answers.onAsk(asked(update('refs/heads/a', zero, one))), gone);
  lost.restore();
  assert.equal((await operations(project.id)).length, 1);
  await (
    await startRecovery(platform, {})
  )();
  assert.deepEqual(
    (await operations(project.id)).map(({ process }) => process),
    ['dropped'],
  );
  gantry.setTime(null);
});

test('recovers operations of an ended process immediately on a shared store', async () => {
  const { project, answers } = await pushing();
  const { platform } = gantry.service;
  await answers.onAsk(asked(update('refs/heads/a', zero, one)));
  answers.end();
  const [begun] = await operations(project.id);
  await platform.store.write(async ({ db }) => {
    await db.updateTable('git_operations').set({ process: 'dead' }).where('id', '=', begun!.id).execute();
  });
  await (
    await startRecovery(platform, {}, 'dead')
  )();
  assert.deepEqual(
    (await operations(project.id)).map(({ process }) => process),
    ['dropped'],
  );
});

test('refuses a push if the deploy key lost write access while it ran', async () => {
  const { platform } = gantry.service;
  const project = await seedProject(gantry);
  const deployKey = { id: 1_000_000, canPush: true };
  const user: GitUser = { viewer: anonymous, cause: null, scopes: null, deployKey };
  const row = await getRepositoryPlace(gantry, project.id);
  const answers = createPushHandlers(platform, {
    project: row,
    user,
    messages: async () => await Promise.resolve([]),
  });
  const { refuse } = await answers.onAsk(asked(update('refs/heads/a', zero, one)));
  assert.match(refuse?.[0] ?? '', /could not be found/);
  assert.deepEqual(await operations(project.id), []);
});

test('applies the rules of protected branches and tags', () => {
  const project = { id: 1, namespace_id: 2, visibility: 'public', deleted_at: null, default_branch: 'main' };
  const asked = project as unknown as Parameters<typeof pushProblems>[0]['project'];
  const rule = { id: 1, merge_access_level: 40, allow_force_push: 0 as const };
  const rules = {
    branches: [
      { ...rule, name: 'main', push_access_level: 30 },
      { ...rule, name: 'stable-*', push_access_level: 40 },
      { ...rule, name: 'free-*', push_access_level: 30, allow_force_push: 1 as const },
      { ...rule, name: 'nobody', push_access_level: 0 },
    ],
    tags: [{ id: 1, name: 'v*', create_access_level: 40 }],
  };
  const full = { ...asked, archived: 0, repository_access_level: 'enabled' } as typeof asked;
  const problems = (user: GitUser, ...updates: PushedRef[]): string[] =>
    pushProblems({ user, project: full, rules }, updates);
  const of = (level: number): GitUser => ({
    viewer: toViewer({ id: 5, admin: 0, external: 0 }, `P1:${level}`),
    cause: null,
    scopes: null,
    deployKey: null,
  });
  const key: GitUser = { ...of(0), deployKey: { id: 1, canPush: true } };
  const counts = (user: GitUser): number[] =>
    [
      update('refs/heads/main', one, two),
      update('refs/heads/stable-1', one, two),
      update('refs/heads/nobody', one, two),
      update('refs/heads/other', one, two, true),
      update('refs/heads/main', one, two, true),
      update('refs/heads/free-1', one, two, true),
      update('refs/heads/main', one, zero),
      update('refs/heads/stable-1', one, zero),
      update('refs/tags/v1', zero, one),
      update('refs/tags/v1', one, two),
      update('refs/tags/v1', one, zero),
      update('refs/tags/other', one, two),
      update('refs/notes/x', zero, one),
    ].map((one) => problems(user, one).length);
  assert.deepEqual(counts(of(30)), [0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0, 0]);
  assert.deepEqual(counts(of(40)), [0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 0]);
  assert.deepEqual(counts(key), [0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0, 0]);
});

test('refuses files above the size limit and reports sizes', () => {
  assert.equal(fileProblem(10, null), null);
  assert.equal(fileProblem(2 ** 20, 2 ** 20), null);
  assert.equal(
    fileProblem(1.5 * 2 ** 20, 2 ** 20),
    'The push has a file of 1.5 MiB; the largest that may be pushed is 1 MiB.',
  );
});
