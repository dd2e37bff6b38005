/** Tests merges that wait until all checks pass: for reviewers, threads, the author and the pipeline. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline } from '../../../../../test/support/ci/jobs.ts';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedMember, seedUser } from '../../../../../test/support/seed.ts';
import {
  type Coded,
  type Request,
  merge,
  openRequest,
  readRequest,
  seedBranch,
  seedCoded,
  settle,
  systemNotes,
  toPath,
} from '../../../../../test/support/seed_merge_requests.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { followEndedPipeline } from './follow_ended_pipeline.ts';

let gantry: TestService;
let project: Coded;
let number = 0;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, {}, { only_allow_merge_if_all_discussions_are_resolved: 1 });
});
after(async () => await gantry.close());

const open = async (title?: string): Promise<Request> => {
  const branch = `auto-${(number += 1)}`;
  await seedBranch(gantry, project, branch);
  const request = await openRequest(gantry, project, branch, title === undefined ? {} : { title });
  await settle(gantry);
  return request;
};

const send = async (line: string, json: object = {}): Promise<Request> => {
  const { status, body, text } = await gantry.api(line, { json });
  assert.ok(status < 300, `${line}: ${text}`);
  return body;
};

const addThread = async (request: Request): Promise<string> =>
  (await send(`POST ${toPath(request)}/discussions`, { body: 'Why?' })).id;

const resolve = async (request: Request, thread: string): Promise<void> =>
  void (await send(`PUT ${toPath(request)}/discussions/${thread}`, { resolved: true }));

/** Has a request merged by itself, and returns its state and whether it waits. */
const wait = async (request: Request, json: object = {}): Promise<[string, boolean]> => {
  const { status, body, text } = await merge(gantry, request, { auto_merge: true, ...json });
  assert.equal(status, 200, text);
  return [body.state, body.merge_when_pipeline_succeeds];
};

const stateOf = async (request: Request): Promise<string> => {
  await settle(gantry);
  return (await readRequest(gantry, request)).state;
};

const todosOn = async (request: Request): Promise<string[]> => {
  const rows = await gantry.service.platform.store.db
    .selectFrom('todos')
    .select('action')
    .where('target_type', '=', 'MergeRequest')
    .where('target_id', '=', request.id)
    .execute();
  return rows.map(({ action }) => action);
};

test('merges at once what passes all checks', async () => {
  const request = await open();
  assert.deepEqual(await wait(request), ['merged', false]);
  assert.deepEqual(await systemNotes(gantry, request), ['merged']);
});

test('waits until a draft is ready', async () => {
  const request = await open('Draft: not yet');
  assert.deepEqual(await wait(request, { merge_commit_message: 'At last' }), ['opened', true]);
  const short = request.sha.slice(0, 8);
  const note = `enabled an automatic merge when all merge checks for ${short} pass`;
  assert.ok((await systemNotes(gantry, request)).includes(note));
  assert.equal(await stateOf(request), 'opened');
  await send(`PUT ${toPath(request)}`, { title: 'Draft: other words' });
  assert.equal(await stateOf(request), 'opened');
  await send(`PUT ${toPath(request)}`, { title: 'Ready' });
  assert.equal(await stateOf(request), 'merged');
  const { merge_commit_sha: sha, merged_by } = await readRequest(gantry, request);
  assert.equal(merged_by.username, 'root');
  const { body } = await gantry.api(`GET /projects/${project.id}/repository/commits/${sha}`);
  assert.equal(body.message.trim(), 'At last');
  assert.ok(!(await todosOn(request)).includes('unmergeable'));
});

test('waits until the last thread is resolved or deleted', async () => {
  for (const isDeleted of [false, true]) {
    const request = await open();
    const [first, second] = [await addThread(request), await addThread(request)];
    assert.deepEqual(await wait(request), ['opened', true]);
    await resolve(request, first);
    assert.equal(await stateOf(request), 'opened');
    if (isDeleted) {
      const { body } = await gantry.api(`GET ${toPath(request)}/discussions/${second}`);
      await send(`DELETE ${toPath(request)}/discussions/${second}/notes/${body.notes[0].id}`);
    } else await resolve(request, second);
    assert.equal(await stateOf(request), 'merged');
  }
});

test('waits until the reviewer who requested changes approves, or is removed', async () => {
  for (const isRemoved of [false, true]) {
    const reviewer = await seedUser(gantry);
    await seedMember(gantry, { user: reviewer.id, project: project.id, access_level: 40 });
    const request = await open();
    await send(`PUT ${toPath(request)}`, { reviewer_ids: [reviewer.id] });
    await gantry.service.platform.store.write(
      async ({ db }) =>
        await db
          .updateTable('reviewers')
          .set({ state: 'requested_changes' })
          .where('target_id', '=', request.id)
          .execute(),
    );
    assert.deepEqual(await wait(request), ['opened', true]);
    assert.equal(await stateOf(request), 'opened');
    if (isRemoved) await send(`PUT ${toPath(request)}`, { reviewer_ids: [] });
    else await gantry.api(`POST ${toPath(request)}/approve`, { as: reviewer.token });
    assert.equal(await stateOf(request), 'merged');
  }
});

test('waits for the pipeline and the threads, whichever is last', async () => {
  for (const isPipelineLast of [false, true]) {
    const request = await open();
    const { source_branch: ref, sha } = request;
    const thread = await addThread(request);
    const { id } = await seedPipeline(gantry, { project: project.id, file: 'job: { script: x }', ref, sha });
    assert.deepEqual(await wait(request), ['opened', true]);
    const pass = async (): Promise<void> => {
      await gantry.service.platform.store.write(
        async ({ db }) =>
          await db.updateTable('pipelines').set({ status: 'success' }).where('id', '=', id).execute(),
      );
      const ended = { project_id: project.id, ref, sha, status: 'success' as const };
      await followEndedPipeline(gantry.service.platform, ended);
    };
    const steps = [pass, async () => await resolve(request, thread)];
    const [first, last] = isPipelineLast ? steps.toReversed() : steps;
    await first?.();
    assert.equal(await stateOf(request), 'opened');
    assert.ok(!(await todosOn(request)).includes('unmergeable'));
    await last?.();
    assert.equal(await stateOf(request), 'merged');
  }
});

test('refuses what no check can repair, and other heads', async () => {
  const request = await open('Draft: clash');
  const other = await merge(gantry, request, { auto_merge: true, sha: 'f'.repeat(40) });
  assert.equal(other.status, 409);
  await seedCommit(gantry, project.id, { [`${request.source_branch}.txt`]: 'other' });
  const { status, body } = await merge(gantry, request, { auto_merge: true });
  assert.deepEqual([status, body.message], [405, 'Branch cannot be merged']);
  assert.equal((await readRequest(gantry, request)).merge_when_pipeline_succeeds, false);
});

test('is canceled by a push', async () => {
  const request = await open();
  const thread = await addThread(request);
  await wait(request);
  await seedCommit(gantry, project.id, { pushed: '1' }, { branch: request.source_branch });
  await settle(gantry);
  await resolve(request, thread);
  assert.equal(await stateOf(request), 'opened');
  assert.equal((await readRequest(gantry, request)).merge_when_pipeline_succeeds, false);
});

test('misses nothing of what happens while it is scheduled', async () => {
  for (let round = 0; round < 6; round += 1) {
    const request = await open();
    const threads = [await addThread(request), await addThread(request)];
    await Promise.all([
      merge(gantry, request, { auto_merge: true }),
      ...threads.map(async (thread) => await resolve(request, thread)),
    ]);
    assert.equal(await stateOf(request), 'merged', `round ${round}`);
  }
});
