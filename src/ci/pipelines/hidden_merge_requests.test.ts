import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../test/support/repositories/seed_commits.ts';
import { setJob } from '../../../test/support/ci/jobs.ts';
import {
  type Coded,
  type Request,
  openRequest,
  seedCoded,
  settle,
} from '../../../test/support/seed_merge_requests.ts';
import { type SeededUser, seedMember, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { loadVariablesOfJob } from './predefined_variables/job_variables.ts';

let gantry: TestService;
let upstream: Coded;
let fork: { id: number };
let owner: SeededUser;
/** A member of the fork only. */
let helper: SeededUser;
let request: Request;

const config = [
  'job: { script: make, rules: [{ when: always }] }',
  'told: { script: make, rules: [{ if: $CI_OPEN_MERGE_REQUESTS }] }',
].join('\n');

before(async () => {
  gantry = await startTestService();
  upstream = await seedCoded(gantry);
  [owner, helper] = [await seedUser(gantry), await seedUser(gantry)];
  const { body } = await gantry.api(`POST /projects/${upstream.id}/fork`, { as: owner.token });
  fork = body;
  await settle(gantry);
  await seedMember(gantry, { user: helper.id, project: fork.id, access_level: 30 });
  await seedMember(gantry, { user: owner.id, project: upstream.id, access_level: 20 });
  await seedCommit(gantry, fork.id, { '.gitlab-ci.yml': config }, { branch: 'topic', from: 'main' });
  request = await openRequest(gantry, fork, 'topic', { target_project_id: upstream.id, as: owner.token });
  const reply = await gantry.api(`PUT /projects/${upstream.id}`, { json: { visibility: 'private' } });
  assert.equal(reply.status, 200, reply.text);
  await settle(gantry);
});

after(async () => await gantry.close());

type Made = { source: string; jobs: string[]; variables: string };

/** Returns the pipelines that a push to the branch creates, with the variables of their first jobs. */
const pushAs = async (user: SeededUser): Promise<Made[]> => {
  const sha = await seedCommit(gantry, fork.id, { [user.username]: '1' }, { branch: 'topic', by: user.id });
  await settle(gantry);
  const { platform } = gantry.service;
  const { db } = platform.store;
  const pipelines = await db
    .selectFrom('pipelines')
    .selectAll()
    .where('sha', '=', sha)
    .orderBy('id')
    .execute();
  return await Promise.all(
    pipelines.map(async ({ id, source }) => {
      const jobs = await db
        .selectFrom('jobs')
        .selectAll()
        .where('pipeline_id', '=', id)
        .orderBy('id')
        .execute();
      const issue = { base_url: 'https://ci.example.com', token: 'x' };
      const told = await loadVariablesOfJob(platform, jobs[0]?.id ?? 0, issue);
      return { source, jobs: jobs.map(({ name }) => name), variables: JSON.stringify(told) };
    }),
  );
};

test('creates no pipeline for a target project that the pusher cannot see, and hides the request from jobs', async () => {
  const made = await pushAs(helper);
  assert.deepEqual(
    made.map(({ source, jobs }) => [source, jobs]),
    [['push', ['job']]],
  );
  assert.ok(made[0]?.variables.includes(upstream.full_path) === false);
});

test('creates both pipelines for a pusher who can see the target', async () => {
  const made = await pushAs(owner);
  assert.deepEqual(
    made.map(({ source, jobs }) => [source, jobs]),
    [
      ['push', ['job', 'told']],
      ['merge_request_event', ['job', 'told']],
    ],
  );
  assert.match(made[1]?.variables ?? '', new RegExp(`"CI_MERGE_REQUEST_ID","value":"${request.id}"`));
});

test('lets users who see the request retry and play its jobs', async () => {
  const { db } = gantry.service.platform.store;
  const { id: pipelineId } = await db
    .selectFrom('pipelines')
    .select('id')
    .where('merge_request_id', '=', request.id)
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow();
  const jobs = await db.selectFrom('jobs').select('id').where('pipeline_id', '=', pipelineId).execute();
  const [ended = 0, waiting = 0] = jobs.map(({ id }) => id);
  await setJob(gantry, ended, { status: 'failed' });
  await setJob(gantry, waiting, { status: 'manual', run_when: 'manual' });
  const asked = async (line: string, user: SeededUser) =>
    (await gantry.api(`POST /projects/${fork.id}${line}`, { as: user.token })).status;
  const retried = `/jobs/${ended}/retry`;
  const played = `/jobs/${waiting}/play`;
  const again = `/pipelines/${pipelineId}/retry`;
  for (const line of [retried, played, again]) assert.equal(await asked(line, helper), 403, line);
  assert.deepEqual(
    [await asked(played, owner), await asked(retried, owner), await asked(again, owner)],
    [201, 201, 201],
  );
  assert.equal(await asked(`/pipelines/${pipelineId}/cancel`, helper), 201);
});
