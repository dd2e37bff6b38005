import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../test/support/repositories/seed_commits.ts';
import { seedPipeline, setPipeline } from '../../../test/support/ci/jobs.ts';
import {
  type Request,
  merge,
  openRequest,
  toPath,
  readRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../../test/support/seed_merge_requests.ts';
import { seedMember, seedUser } from '../../../test/support/seed.ts';
import { type TestService, rootToken, startTestService } from '../../../test/support/service.ts';
import type { JobStatus } from '../../platform/db/schema/ci.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const opened = async (columns: Record<string, unknown>): Promise<Request> => {
  const project = await seedCoded(gantry, {}, columns);
  await seedBranch(gantry, project, 'topic');
  const request = await openRequest(gantry, project, 'topic');
  await settle(gantry);
  return request;
};

/** Returns the detailed and the plain merge status of a request. */
const seen = async (request: Request): Promise<[detail: string, status: string]> => {
  const { detailed_merge_status, merge_status } = await readRequest(gantry, request);
  return [detailed_merge_status, merge_status];
};

test('reports a required pipeline until it succeeds', async () => {
  const request = await opened({ only_allow_merge_if_pipeline_succeeds: 1 });
  assert.deepEqual(await seen(request), ['mergeable', 'can_be_merged']);
  const { id } = await seedPipeline(gantry, {
    project: request.project_id,
    sha: request.sha,
    ref: 'topic',
    file: 'test: { script: make }',
  });
  const after = async (status: JobStatus): Promise<string> => {
    await setPipeline(gantry, id, { status });
    return (await seen(request))[0];
  };
  assert.equal(await after('pending'), 'ci_still_running');
  assert.equal(await after('running'), 'ci_still_running');
  assert.equal(await after('failed'), 'ci_must_pass');
  assert.equal((await merge(gantry, request)).status, 405);
  const { body, text } = await gantry.api(`GET ${toPath(request)}/changes`);
  assert.equal(body.detailed_merge_status, 'ci_must_pass');
  assert.equal(text.split('"detailed_merge_status"').length, 2);
  assert.equal(await after('manual'), 'ci_must_pass');
  assert.equal(await after('success'), 'mergeable');
  assert.equal((await merge(gantry, request)).body.detailed_merge_status, 'not_open');
});

test('shows the pipeline state to users who may read it or merge', async () => {
  const request = await opened({ only_allow_merge_if_pipeline_succeeds: 1, builds_access_level: 'private' });
  const { id } = await seedPipeline(gantry, {
    project: request.project_id,
    sha: request.sha,
    ref: 'topic',
    file: 'test: { script: make }',
  });
  const [stranger, reporter] = [await seedUser(gantry), await seedUser(gantry)];
  await seedMember(gantry, { user: reporter.id, project: request.project_id, access_level: 20 });
  const toldTo = async (as: string): Promise<string> =>
    (await gantry.api(`GET ${toPath(request)}`, { as })).body.detailed_merge_status;
  for (const status of ['running', 'failed', 'success'] as const) {
    await setPipeline(gantry, id, { status });
    assert.equal(await toldTo(stranger.token), 'mergeable', status);
  }
  await setPipeline(gantry, id, { status: 'failed' });
  assert.deepEqual([await toldTo(reporter.token), await toldTo(rootToken)], ['ci_must_pass', 'ci_must_pass']);
});

test('reports unresolved discussions until they are resolved', async () => {
  const request = await opened({ only_allow_merge_if_all_discussions_are_resolved: 1 });
  const path = `${toPath(request)}/discussions`;
  const { body } = await gantry.api(`POST ${path}`, { json: { body: 'Why?' } });
  assert.deepEqual(await seen(request), ['discussions_not_resolved', 'can_be_merged']);
  assert.equal((await merge(gantry, request)).status, 405);
  await gantry.api(`PUT ${path}/${body.id}`, { json: { resolved: true } });
  assert.deepEqual(await seen(request), ['mergeable', 'can_be_merged']);
});

test('reports a required rebase after the target has moved', async () => {
  for (const merge_method of ['ff', 'rebase_merge']) {
    const request = await opened({ merge_method });
    assert.deepEqual(await seen(request), ['mergeable', 'can_be_merged']);
    await seedCommit(gantry, request.project_id, { other: 'x\n' }, { branch: 'main' });
    await settle(gantry);
    assert.deepEqual(await seen(request), ['need_rebase', 'can_be_merged']);
    assert.equal((await merge(gantry, request)).status, 405);
    await gantry.api(`PUT ${toPath(request)}/rebase`);
    await settle(gantry);
    assert.deepEqual(await seen(request), ['mergeable', 'can_be_merged']);
    assert.equal((await merge(gantry, request)).status, 200);
  }
});

test('ignores conditions that the project does not require', async () => {
  const request = await opened({});
  await gantry.api(`POST ${toPath(request)}/discussions`, { json: { body: 'Why?' } });
  const { id } = await seedPipeline(gantry, {
    project: request.project_id,
    sha: request.sha,
    ref: 'topic',
    file: 'test: { script: make }',
  });
  await setPipeline(gantry, id, { status: 'failed' });
  await seedCommit(gantry, request.project_id, { other: 'x\n' }, { branch: 'main' });
  await settle(gantry);
  assert.deepEqual(await seen(request), ['mergeable', 'can_be_merged']);
});
