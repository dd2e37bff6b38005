/** Changes of the statuses of pipelines and jobs in the change log: which there are, and who sees them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline } from '../../../test/support/ci/jobs.ts';
import { seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, rootToken, startTestService } from '../../../test/support/service.ts';
import type { Change } from './list_changes.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const file = 'build: { stage: build, script: make }\ntest: { stage: test, script: make check }\n';

const read = async (query = '', as = rootToken): Promise<{ changes: Change[]; next_after: number }> => {
  const { status, body, text } = await gantry.api(`GET /changes?${query}`, { as });
  assert.equal(status, 200, text);
  return body;
};

const seedRun = async (json: object = {}) => {
  const { id } = await seedProject(gantry, { visibility: 'private' });
  const project = { id, path: `/projects/${id}` };
  const { status } = await gantry.api(`PUT ${project.path}`, { json: { visibility: 'public', ...json } });
  assert.equal(status, 200);
  const { next_after } = await read();
  return { project, from: next_after, pipeline: await seedPipeline(gantry, { project: project.id, file }) };
};

const statusesOf = (changes: readonly Change[], project: { id: number }) =>
  changes
    .filter(({ project_id, action }) => project_id === project.id && action === 'status')
    .map(({ kind, target_type, target_iid, target_id, pipeline_id }) => [
      kind,
      target_type,
      target_iid,
      target_id,
      pipeline_id,
    ]);

test('names pipelines and jobs whose status changed, once for each transaction', async () => {
  const { project, from, pipeline } = await seedRun();
  const job = ['job', 'Job', null, pipeline.jobs['build'], pipeline.id];
  const whole = ['pipeline', 'Pipeline', null, pipeline.id, pipeline.id];
  const first = await read(`after=${from}`);
  const sorted = (rows: unknown[][]): unknown[][] =>
    rows.toSorted((a, b) => String(a).localeCompare(String(b)));
  assert.deepEqual(sorted(statusesOf(first.changes, project)), [job, whole]);
  const { status } = await gantry.api(`POST ${project.path}/jobs/${pipeline.jobs['build']}/cancel`);
  assert.equal(status, 201);
  const second = await read(`after=${first.next_after}`);
  const canceled = sorted(statusesOf(second.changes, project)).map(([kind, , , id]) => [kind, id]);
  assert.deepEqual(
    new Set(canceled.map(String)),
    new Set([`job,${job[3]}`, `job,${pipeline.jobs['test']}`, `pipeline,${pipeline.id}`]),
  );
});

test('wakes a client that waits, and shows nothing of a deleted pipeline', async () => {
  const { project, pipeline } = await seedRun();
  const { next_after } = await read();
  const waiting = read(`after=${next_after}&wait=60`);
  await gantry.api(`POST ${project.path}/pipelines/${pipeline.id}/cancel`);
  assert.ok(statusesOf((await waiting).changes, project).length > 0);
  assert.equal((await gantry.api(`DELETE ${project.path}/pipelines/${pipeline.id}`)).status, 204);
  assert.deepEqual(statusesOf((await read(`after=${next_after}`)).changes, project), []);
});

const readers: [string, object, { stranger: boolean; guest: boolean; reporter: boolean }][] = [
  ['public pipelines', {}, { stranger: true, guest: true, reporter: true }],
  ['pipelines for members', { public_jobs: false }, { stranger: false, guest: false, reporter: true }],
  ['jobs for members', { builds_access_level: 'private' }, { stranger: false, guest: true, reporter: true }],
  [
    'code for members',
    {
      repository_access_level: 'private',
      merge_requests_access_level: 'private',
      builds_access_level: 'private',
    },
    { stranger: false, guest: true, reporter: true },
  ],
  ['jobs off', { builds_access_level: 'disabled' }, { stranger: false, guest: false, reporter: false }],
];

for (const [name, json, seen] of readers) {
  test(`with ${name}, shows changes to those who read pipelines`, async () => {
    const { project, from } = await seedRun(json);
    for (const [who, level] of [
      ['stranger', 0],
      ['guest', 10],
      ['reporter', 20],
    ] as const) {
      const user = await seedUser(gantry);
      if (level > 0) await seedMember(gantry, { user: user.id, project: project.id, access_level: level });
      const { changes } = await read(`after=${from}`, user.token);
      const list = await gantry.api(`GET ${project.path}/pipelines`, { as: user.token });
      assert.equal(list.status === 200, seen[who], `${who}: ${list.text}`);
      assert.equal(statusesOf(changes, project).length > 0, seen[who], who);
    }
  });
}
