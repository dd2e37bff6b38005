/** An unfinished merge of another process, which may have died. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import {
  type Coded,
  type Request,
  openFromBranch,
  readRequest,
  seedCodedWith,
  systemNotes,
  toPath,
} from '../../../../test/support/seed_merge_requests.ts';
import type { SeededUser } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { getRepository } from '../../../code/repository/get_repository.ts';
import {
  beginOperation,
  dropOperation,
  finishOperation,
  toOperation,
} from '../../../code/repository/refs/operations.ts';
import type { Operation } from '../../../code/repository/refs/operation_types.ts';
import { makeCompletions } from '../../../app/background_work.ts';
import { getRepositoryPlace } from '../../../../test/support/repositories/seed_commits.ts';

let gantry: TestService;
let project: Coded;
let merger: SeededUser;
let number = 0;

before(async () => {
  gantry = await startTestService();
  ({ project, merger } = await seedCodedWith(gantry, { merger: 40 }));
});
after(async () => await gantry.close());

const place = async () => await getRepositoryPlace(gantry, project.id);

const openNew = async (): Promise<Request> => {
  const branch = `branch-${(number += 1)}`;
  return await openFromBranch(gantry, project, branch);
};

/** Starts a merge and stops, like a process that dies after it wrote the operation. */
const begin = async (request: Request): Promise<Operation> => {
  const { platform } = gantry.service;
  const { refs } = await getRepository(platform, await place()).ask('refs.get', {
    names: ['refs/heads/main'],
  });
  const { id } = await platform.store.write(
    async (tx) =>
      await beginOperation(tx, {
        project: await place(),
        cause: { user: { id: merger.id }, sudo_by_id: null },
        kind: 'merge',
        updates: [{ ref: 'refs/heads/main', old: refs[0]?.target ?? '', new: request.sha }],
        data: {
          merge_request_id: request.id,
          merge_commit_sha: request.sha,
          squash_commit_sha: null,
          source_sha: request.sha,
          remove_source_as: null,
        },
      }),
  );
  const query = platform.store.db.selectFrom('git_operations').selectAll().where('id', '=', id);
  return toOperation(await query.executeTakeFirstOrThrow());
};

const complete = async (operation: Operation): Promise<void> => {
  const { platform } = gantry.service;
  const { merge } = makeCompletions(platform);
  assert.ok(merge !== undefined);
  await finishOperation(platform, { operation, complete: merge });
};

test('is completed once by another process', async () => {
  const request = await openNew();
  const operation = await begin(request);
  await complete(operation);
  await complete(operation);
  const now = await readRequest(gantry, request);
  assert.deepEqual(
    [now.state, now.merge_commit_sha, now.merged_by.username],
    ['merged', request.sha, merger.username],
  );
  assert.deepEqual(await systemNotes(gantry, request), ['merged']);
});

/** Milliseconds within which a request that does not wait would finish. */
const aWhile = 200;

const edits: [string, string, object | undefined, unknown][] = [
  ['close', 'PUT', { state_event: 'close' }, [200, 'merged']],
  ['a merge', 'PUT /merge', {}, [406, undefined]],
];
for (const [name, line, json, expected] of edits) {
  test(`${name} waits for the merge and sees the request merged`, async () => {
    const request = await openNew();
    const operation = await begin(request);
    const [method, rest = ''] = line.split(' ');
    const pending = gantry.api(`${method} ${toPath(request)}${rest}`, { json });
    await wait(aWhile);
    await complete(operation);
    const { status, body } = await pending;
    assert.deepEqual([status, body.state], expected);
  });
}

test('closes the request when the merge is abandoned', async () => {
  const request = await openNew();
  const operation = await begin(request);
  const pending = gantry.api(`PUT ${toPath(request)}`, { json: { state_event: 'close' } });
  await wait(aWhile);
  await dropOperation(gantry.service.platform, operation);
  assert.equal((await pending).body.state, 'closed');
});

test('refuses a waiting merge after the project was archived', async () => {
  const request = await openNew();
  const operation = await begin(request);
  const pending = gantry.api(`PUT ${toPath(request)}/merge`);
  await wait(aWhile);
  assert.equal((await gantry.api(`POST /projects/${project.id}/archive`)).status, 201);
  await dropOperation(gantry.service.platform, operation);
  assert.equal((await pending).status, 401);
  await gantry.api(`POST /projects/${project.id}/unarchive`);
  assert.equal((await readRequest(gantry, request)).state, 'opened');
});
