/** A merge that has begun and not ended: in another process, or in one that is gone. */
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import {
  type Coded,
  type Request,
  openRequest,
  pathOf,
  readRequest,
  seedBranch,
  seedCoded,
  systemNotes,
} from '../../test/support/requests.ts';
import { type SeededUser, seedMember, seedUser } from '../../test/support/seed.ts';
import { type TestService, startTestService } from '../../test/support/service.ts';
import { repositoryOf } from '../repository/open.ts';
import {
  type Operation,
  beginOperation,
  dropOperation,
  finishOperation,
  operationOf,
} from '../repository/operations.ts';
import { completionsOf } from '../work.ts';
import { placeOf } from '../../test/support/code.ts';

let gantry: TestService;
let project: Coded;
let merger: SeededUser;
let number = 0;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry);
  merger = await seedUser(gantry);
  await seedMember(gantry, { user: merger.id, project: project.id, access_level: 40 });
});
after(async () => await gantry.close());

const place = async () => await placeOf(gantry, project.id);

const openNew = async (): Promise<Request> => {
  const branch = `branch-${(number += 1)}`;
  await seedBranch(gantry, project, branch);
  return await openRequest(gantry, project, branch);
};

/** As a process leaves it that dies right after: only what is in the store is known. */
const begin = async (request: Request): Promise<Operation> => {
  const { platform } = gantry.service;
  const { refs } = await repositoryOf(platform, await place()).ask('refs.get', {
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
  return operationOf(await query.executeTakeFirstOrThrow());
};

const complete = async (operation: Operation): Promise<void> => {
  const { platform } = gantry.service;
  const { merge } = completionsOf(platform);
  assert.ok(merge !== undefined);
  await finishOperation(platform, { operation, complete: merge });
};

test('is completed once by who finds it', async () => {
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

/** Long enough for a request that does not wait to be answered. */
const aWhile = 200;

const edits: [string, string, object | undefined, unknown][] = [
  ['close', 'PUT', { state_event: 'close' }, [200, 'merged']],
  ['a merge', 'PUT /merge', {}, [406, undefined]],
];
for (const [name, line, json, expected] of edits) {
  test(`${name} waits for it, and finds the request merged`, async () => {
    const request = await openNew();
    const operation = await begin(request);
    const [method, rest = ''] = line.split(' ');
    const asked = gantry.api(`${method} ${pathOf(request)}${rest}`, { json });
    await setTimeout(aWhile);
    await complete(operation);
    const { status, body } = await asked;
    assert.deepEqual([status, body.state], expected);
  });
}

test('a close goes on where it comes to nothing', async () => {
  const request = await openNew();
  const operation = await begin(request);
  const asked = gantry.api(`PUT ${pathOf(request)}`, { json: { state_event: 'close' } });
  await setTimeout(aWhile);
  await dropOperation(gantry.service.platform, operation);
  assert.equal((await asked).body.state, 'closed');
});

test('another merge that waits for it finds the project archived, and does not merge', async () => {
  const request = await openNew();
  const operation = await begin(request);
  const asked = gantry.api(`PUT ${pathOf(request)}/merge`);
  await setTimeout(aWhile);
  assert.equal((await gantry.api(`POST /projects/${project.id}/archive`)).status, 201);
  await dropOperation(gantry.service.platform, operation);
  assert.equal((await asked).status, 401);
  await gantry.api(`POST /projects/${project.id}/unarchive`);
  assert.equal((await readRequest(gantry, request)).state, 'opened');
});
