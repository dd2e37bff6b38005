import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedPipeline } from '../../../../../test/support/ci/jobs.ts';
import {
  type Coded,
  type Request,
  merge,
  openFromBranch,
  readRequest,
  seedCodedWith,
  settle,
  systemNotes,
  toPath,
} from '../../../../../test/support/seed_merge_requests.ts';
import type { SeededUser } from '../../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { followEndedPipeline } from './follow_ended_pipeline.ts';
import { openRepository } from '../../../../../test/support/repositories/seed_commits.ts';

let gantry: TestService;
let project: Coded;
let author: SeededUser;
let reporter: SeededUser;
let number = 0;

before(async () => {
  gantry = await startTestService();
  ({ project, author, reporter } = await seedCodedWith(gantry, { author: 40, reporter: 20 }));
});
after(async () => await gantry.close());

const later = { merge_when_pipeline_succeeds: true };
const deferred = async (json: object = {}): Promise<Request> => {
  const branch = `deferred-${(number += 1)}`;
  const request = await openFromBranch(gantry, project, branch);
  const { status, body } = await merge(gantry, request, { ...later, ...json });
  assert.equal(status, 200);
  await settle(gantry); // from here on, the push gets no pipeline
  return body;
};

const cancel = async (request: Request, method = 'PUT', as?: string) => {
  const line = `${method} ${toPath(request)}/cancel_merge_when_pipeline_succeeds`;
  const { status, body } = await gantry.api(line, as === undefined ? {} : { as });
  return [status, body.message ?? body.merge_when_pipeline_succeeds];
};

const ended = (request: Request, status: 'success' | 'failed') => ({
  project_id: project.id,
  ref: request.source_branch as string,
  sha: request.sha as string,
  status,
});

/** Moves the source branch like a push whose background work has not run yet. */
const pushUnheard = async ({ source_branch, sha }: Request): Promise<string> => {
  const pushed = await seedCommit(
    gantry,
    project.id,
    { unheard: source_branch },
    { branch: `${source_branch}-next`, from: source_branch },
  );
  const repository = await openRepository(gantry, project.id);
  await repository.ask('refs.update', {
    updates: [{ ref: `refs/heads/${source_branch}`, old: sha, new: pushed }],
  });
  return pushed;
};

const todosOn = async (request: Request, action: string): Promise<number[]> => {
  const rows = await gantry.service.platform.store.db
    .selectFrom('todos')
    .select('user_id')
    .where('target_type', '=', 'MergeRequest')
    .where('target_id', '=', request.id)
    .where('action', '=', action as never)
    .execute();
  return rows.map(({ user_id }) => user_id);
};

describe('scheduling without a pipeline', () => {
  test('keeps the request open and sets the flag', async () => {
    const request = await deferred({ should_remove_source_branch: true });
    assert.partialDeepStrictEqual(request, {
      state: 'opened',
      merge_when_pipeline_succeeds: true,
      should_remove_source_branch: true,
      merge_user: { username: 'root' },
    });
    const short = request.sha.slice(0, 8);
    const note = `enabled an automatic merge when the pipeline for ${short} succeeds`;
    assert.deepEqual(await systemNotes(gantry, request), [note]);
    const again = await merge(gantry, request, later);
    assert.equal(again.body.should_remove_source_branch, null);
    assert.deepEqual(await systemNotes(gantry, request), [note]);
  });

  test('refuses requests that cannot be merged', async () => {
    const request = await deferred();
    const refused = async (json: object) => {
      const { status, body } = await merge(gantry, request, { ...later, ...json });
      return [status, body.message];
    };
    assert.deepEqual(await refused({ sha: 'f'.repeat(40) }), [
      409,
      'SHA does not match HEAD of source branch',
    ]);
    await seedCommit(gantry, project.id, { [`${request.source_branch}.txt`]: 'other' });
    assert.deepEqual(await refused({}), [405, 'Branch cannot be merged']);
    await gantry.api(`PUT ${toPath(request)}`, { json: { title: 'Draft: x' } });
    assert.deepEqual(await refused({}), [405, '405 Method Not Allowed']);
  });
});

describe('is canceled', () => {
  test('by PUT with 200 and by POST with 201', async () => {
    const [one, two] = [await deferred(), await deferred()];
    assert.deepEqual(await cancel(one), [200, false]);
    assert.deepEqual(await cancel(two, 'POST'), [201, false]);
    assert.equal((await systemNotes(gantry, one)).at(-1), 'canceled the automatic merge');
    const refused = [406, "Can't cancel the automatic merge"];
    assert.deepEqual(await cancel(one), refused);
    assert.deepEqual(await cancel(two, 'POST'), refused);
  });

  test('only by users who may merge, or by its own user', async () => {
    const request = await deferred();
    assert.deepEqual(await cancel(request, 'PUT', reporter.token), [401, '401 Unauthorized']);
    assert.deepEqual(await cancel(request, 'PUT', author.token), [200, false]);
  });

  test('auto-merge of a merged request cannot be canceled', async () => {
    const request = await deferred();
    await merge(gantry, request);
    assert.deepEqual(await cancel(request), [405, 'Method Not Allowed']);
  });

  test('a push to the source branch cancels auto-merge', async () => {
    const request = await deferred({ should_remove_source_branch: true });
    await seedCommit(gantry, project.id, { pushed: '1' }, { branch: request.source_branch });
    await settle(gantry);
    assert.partialDeepStrictEqual(await readRequest(gantry, request), {
      merge_when_pipeline_succeeds: false,
      should_remove_source_branch: null,
      merge_user: null,
    });
  });
});

describe('when the pipeline', () => {
  test('succeeds: merges with the stored parameters', async () => {
    const request = await deferred({ merge_commit_message: 'Later' });
    await followEndedPipeline(gantry.service.platform, ended(request, 'success'));
    const merged = await readRequest(gantry, request);
    assert.partialDeepStrictEqual(merged, { state: 'merged', merged_by: { username: 'root' } });
    const { body } = await gantry.api(
      `GET /projects/${project.id}/repository/commits/${merged.merge_commit_sha}`,
    );
    assert.equal(body.message.trim(), 'Later');
  });

  test('succeeds but merging fails: adds a todo for the user who scheduled it', async () => {
    const request = await deferred();
    await seedCommit(gantry, project.id, { [`${request.source_branch}.txt`]: 'other' });
    await followEndedPipeline(gantry.service.platform, ended(request, 'success'));
    assert.equal((await readRequest(gantry, request)).state, 'opened');
    assert.deepEqual(await todosOn(request, 'unmergeable'), [1]);
  });

  test('succeeds after another push: does not merge the newer commits', async () => {
    const request = await deferred();
    await pushUnheard(request);
    await followEndedPipeline(gantry.service.platform, ended(request, 'success'));
    assert.equal((await readRequest(gantry, request)).state, 'opened');
    assert.deepEqual(await todosOn(request, 'unmergeable'), [1]);
  });

  test('succeeded before another push: waits for the pipeline of the newer commits', async () => {
    const request = await deferred();
    await seedPipeline(gantry, {
      project: project.id,
      file: 'job: { script: x }',
      ref: request.source_branch,
    });
    await gantry.service.platform.store.write(
      async ({ db }) =>
        await db
          .updateTable('pipelines')
          .set({ status: 'success', sha: request.sha })
          .where('ref', '=', request.source_branch)
          .execute(),
    );
    const sha = await pushUnheard(request);
    const { body } = await merge(gantry, request, later);
    assert.deepEqual([body.state, body.sha, body.merge_when_pipeline_succeeds], ['opened', sha, true]);
  });

  test('succeeds after merge requests were disabled: does not merge', async () => {
    const request = await deferred();
    const setLevel = async (merge_requests_access_level: string) =>
      await gantry.api(`PUT /projects/${project.id}`, { json: { merge_requests_access_level } });
    await setLevel('disabled');
    await followEndedPipeline(gantry.service.platform, ended(request, 'success'));
    await setLevel('enabled');
    assert.equal((await readRequest(gantry, request)).state, 'opened');
  });

  test('belongs to another commit: does not wait for it', async () => {
    const request = await deferred();
    await followEndedPipeline(gantry.service.platform, { ...ended(request, 'success'), sha: project.first });
    assert.equal((await readRequest(gantry, request)).state, 'opened');
  });

  test('fails: keeps the flag and adds a todo', async () => {
    const request = await deferred();
    await followEndedPipeline(gantry.service.platform, ended(request, 'failed'));
    assert.partialDeepStrictEqual(await readRequest(gantry, request), {
      state: 'opened',
      merge_when_pipeline_succeeds: true,
    });
    assert.deepEqual(await todosOn(request, 'build_failed'), [1]);
  });
});
