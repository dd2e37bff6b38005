import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type Pushed, seedPushed } from '../../../../test/support/ci/pipelines.ts';
import {
  type Request,
  merge,
  openRequest,
  readRequest,
  seedBranch,
  settle,
} from '../../../../test/support/seed_merge_requests.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import { processName } from '../../../platform/db/process_name.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const write = async <T>(work: Parameters<typeof gantry.service.platform.store.write<T>>[0]): Promise<T> =>
  await gantry.service.platform.store.write(work);

/** Contains characters that need escaping in JSON and in LIKE patterns. */
const branch = 'to"p_ic%é';

const config = 'job: { script: make, rules: [{ if: $CI_COMMIT_BRANCH }] }';

/** Creates a request that requires a successful pipeline. @param file null for no configuration */
const seed = async (file: string | null): Promise<{ project: Pushed; request: Request }> => {
  const project = await seedPushed(gantry);
  await project.push(file === null ? { 'README.md': 'Read me' } : file);
  await seedBranch(gantry, project, branch, { files: { topic: '1' } });
  const request = await openRequest(gantry, project, branch);
  const json = { only_allow_merge_if_pipeline_succeeds: true };
  assert.equal((await gantry.api(`PUT ${project.path}`, { json })).status, 200);
  await settle(gantry);
  return { project, request };
};

const succeed = async ({ id }: Pushed): Promise<void> => {
  await write(
    async ({ db }) =>
      await db.updateTable('pipelines').set({ status: 'success' }).where('project_id', '=', id).execute(),
  );
};

/** Blocks the work of this turn, like a busy queue, until the returned function is called. */
const holdUp = async (turn: string): Promise<() => Promise<void>> => {
  const { id } = await write(
    async ({ db, now }) =>
      await db
        .insertInto('work')
        .values({
          name: 'held',
          payload: '{}',
          unique_key: null,
          turn,
          run_at: now,
          locked_until: now + 3_600_000,
          last_error: null,
          created_at: now,
        })
        .returning('id')
        .executeTakeFirstOrThrow(),
  );
  return async () =>
    void (await write(async ({ db }) => await db.deleteFrom('work').where('id', '=', id).execute()));
};

test('does not merge a push before its required pipeline exists', async () => {
  const { project, request } = await seed(config);
  await succeed(project);
  const release = await holdUp(`pipelines:${project.id}`);
  const sha = await seedCommit(gantry, project.id, { quick: '1' }, { branch });
  const hurried = await merge(gantry, request);
  assert.deepEqual([hurried.status, hurried.body.message], [405, '405 Method Not Allowed']);
  await release();
  await settle(gantry);
  assert.deepEqual(
    (await project.pipelines(`sha=${sha}`)).map(({ status }) => status),
    ['pending'],
  );
  assert.equal((await merge(gantry, request)).status, 405);
  await succeed(project);
  assert.equal((await merge(gantry, request)).status, 200);
});

test('external statuses do not replace the required pipeline', async () => {
  const { project, request } = await seed(config);
  await succeed(project);
  const release = await holdUp(`pipelines:${project.id}`);
  const sha = await seedCommit(gantry, project.id, { quick: '1' }, { branch });
  while ((await readRequest(gantry, request)).sha !== sha) await wait(10);
  const json = { state: 'success', ref: branch };
  const said = await gantry.api(`POST ${project.path}/statuses/${sha}`, { json });
  assert.equal(said.status, 201, said.text);
  assert.equal((await merge(gantry, request)).status, 405);
  const waiting = await merge(gantry, request, { merge_when_pipeline_succeeds: true });
  assert.deepEqual([waiting.status, waiting.body.state], [200, 'opened']);
  await release();
  await settle(gantry);
  const shown = (await project.pipelines(`sha=${sha}`)).map(({ source, status }) => `${source} ${status}`);
  assert.deepEqual(shown, ['push pending', 'external success']);
  const { state, head_pipeline } = await readRequest(gantry, request);
  assert.deepEqual([state, head_pipeline.source], ['opened', 'push']);
});

test('does not merge a new request before its merge request pipeline exists', async () => {
  const { project } = await seed('job: { script: make, rules: [{ if: $CI_MERGE_REQUEST_IID }] }');
  await seedBranch(gantry, project, 'other');
  await settle(gantry);
  const release = await holdUp(`pipelines:${project.id}`);
  const request = await openRequest(gantry, project, 'other');
  assert.equal((await merge(gantry, request)).status, 405);
  assert.equal((await readRequest(gantry, request)).detailed_merge_status, 'ci_still_running');
  await release();
  await settle(gantry);
  await succeed(project);
  assert.equal((await merge(gantry, request)).status, 200);
});

test('merges a head that gets no pipeline, or whose work was abandoned', async () => {
  const { project, request } = await seed(null);
  await write(
    async ({ db, now }) =>
      await db
        .insertInto('work')
        .values({
          name: 'pipelines.follow_push',
          payload: JSON.stringify({
            project_id: project.id,
            updates: JSON.stringify([{ ref: `refs/heads/${branch}`, old: '', new: '' }]),
          }),
          unique_key: null,
          turn: null,
          run_at: Number.MAX_SAFE_INTEGER,
          locked_until: null,
          last_error: 'failed',
          created_at: now,
        })
        .execute(),
  );
  assert.equal((await merge(gantry, request)).status, 200);
  assert.equal((await readRequest(gantry, request)).state, 'merged');
});

test('does not merge a ref update before its background work has run', async () => {
  const { project, request } = await seed(null);
  const { id } = await write(
    async ({ db, now }) =>
      await db
        .insertInto('git_operations')
        .values({
          project_id: project.id,
          user_id: null,
          kind: 'push',
          updates: JSON.stringify([{ ref: `refs/heads/${branch}`, old: '', new: '' }]),
          data: '{}',
          process: processName,
          created_at: now,
        })
        .returning('id')
        .executeTakeFirstOrThrow(),
  );
  assert.equal((await merge(gantry, request)).status, 405);
  await write(async ({ db }) => await db.deleteFrom('git_operations').where('id', '=', id).execute());
  assert.equal((await merge(gantry, request)).status, 200);
});
