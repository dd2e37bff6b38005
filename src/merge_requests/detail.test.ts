import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../test/support/code.ts';
import { seedPipeline, setPipeline } from '../../test/support/jobs.ts';
import {
  type Request,
  merge,
  openRequest,
  pathOf,
  readRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../test/support/requests.ts';
import { seedMember, seedUser } from '../../test/support/seed.ts';
import { type TestService, rootToken, startTestService } from '../../test/support/service.ts';
import type { JobStatus } from '../db/schema_ci.ts';

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

/** What it says stands, how that ends, and what merging it now answers. */
const seen = async (request: Request): Promise<[detail: string, status: string]> => {
  const { detailed_merge_status, merge_status } = await readRequest(gantry, request);
  return [detailed_merge_status, merge_status];
};

test('who must wait for a pipeline is told so, until it is green', async () => {
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
  const { body, text } = await gantry.api(`GET ${pathOf(request)}/changes`);
  assert.equal(body.detailed_merge_status, 'ci_must_pass');
  assert.equal(text.split('"detailed_merge_status"').length, 2);
  assert.equal(await after('manual'), 'ci_must_pass');
  assert.equal(await after('success'), 'mergeable');
  assert.equal((await merge(gantry, request)).body.detailed_merge_status, 'not_open');
});

test('how a pipeline stands is told to those who may read it, or merge', async () => {
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
    (await gantry.api(`GET ${pathOf(request)}`, { as })).body.detailed_merge_status;
  for (const status of ['running', 'failed', 'success'] as const) {
    await setPipeline(gantry, id, { status });
    assert.equal(await toldTo(stranger.token), 'mergeable', status);
  }
  await setPipeline(gantry, id, { status: 'failed' });
  assert.deepEqual([await toldTo(reporter.token), await toldTo(rootToken)], ['ci_must_pass', 'ci_must_pass']);
});

test('who must resolve discussions is told so, until they are', async () => {
  const request = await opened({ only_allow_merge_if_all_discussions_are_resolved: 1 });
  const path = `${pathOf(request)}/discussions`;
  const { body } = await gantry.api(`POST ${path}`, { json: { body: 'Why?' } });
  assert.deepEqual(await seen(request), ['discussions_not_resolved', 'can_be_merged']);
  assert.equal((await merge(gantry, request)).status, 405);
  await gantry.api(`PUT ${path}/${body.id}`, { json: { resolved: true } });
  assert.deepEqual(await seen(request), ['mergeable', 'can_be_merged']);
});

test('who must be on top of the target is told so once the target has moved', async () => {
  for (const merge_method of ['ff', 'rebase_merge']) {
    const request = await opened({ merge_method });
    assert.deepEqual(await seen(request), ['mergeable', 'can_be_merged']);
    await seedCommit(gantry, request.project_id, { other: 'x\n' }, { branch: 'main' });
    await settle(gantry);
    assert.deepEqual(await seen(request), ['need_rebase', 'can_be_merged']);
    assert.equal((await merge(gantry, request)).status, 405);
    await gantry.api(`PUT ${pathOf(request)}/rebase`);
    await settle(gantry);
    assert.deepEqual(await seen(request), ['mergeable', 'can_be_merged']);
    assert.equal((await merge(gantry, request)).status, 200);
  }
});

test('what a project does not ask for stands against nothing', async () => {
  const request = await opened({});
  await gantry.api(`POST ${pathOf(request)}/discussions`, { json: { body: 'Why?' } });
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
