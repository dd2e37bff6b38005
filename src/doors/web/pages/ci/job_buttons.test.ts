/** Tests that the page of a job offers exactly the actions that the API accepts in its status. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedArtifact } from '../../../../../test/support/ci/artifacts.ts';
import { seedPipeline, setJob } from '../../../../../test/support/ci/jobs.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor } from '../../../../../test/support/visitor.ts';
import type { JobStatus } from '../../../../platform/db/schema/ci.ts';

const every: Record<JobStatus, true> = {
  created: true,
  waiting_for_resource: true,
  scheduled: true,
  pending: true,
  running: true,
  canceling: true,
  success: true,
  failed: true,
  canceled: true,
  skipped: true,
  manual: true,
};
const statuses = Object.keys(every) as JobStatus[];
const acts = ['play', 'retry', 'cancel', 'erase'] as const;
type Act = (typeof acts)[number];

let gantry: TestService;
let project: { id: number; full_path: string };
let owner: Visitor;
before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry);
  ({ visitor: owner } = await seedVisitor(gantry, { project: project.id, access_level: 40 }));
});
after(async () => await gantry.close());

/** Creates a job of this status with artifacts. */
const inStatus = async (status: JobStatus): Promise<number> => {
  const { jobs } = await seedPipeline(gantry, {
    project: project.id,
    file: 'a: { script: x }',
    ref: 'topic',
  });
  const id = jobs['a'] ?? 0;
  await seedArtifact(gantry, { id, project_id: project.id }, Buffer.from('left'));
  const started = ['running', 'canceling', 'success', 'failed'].includes(status);
  await setJob(gantry, id, { status, started_at: started ? 1_000 : null });
  return id;
};

const offered = async (id: number): Promise<Act[]> => {
  const { text } = await owner.get(`/${project.full_path}/-/jobs/${id}`);
  return acts.filter((act) => new RegExp(`action="[^"]*/jobs/${id}/${act}"`).test(text));
};

/** Checks whether the action changed anything: the API answers a cancelled or erased job unchanged in some states. */
const isDone = async (status: JobStatus, act: Act): Promise<boolean> => {
  const id = await inStatus(status);
  const { db } = gantry.service.platform.store;
  const read = async () =>
    await db
      .selectFrom('jobs')
      .select(['status', 'erased_at'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
  const before = await read();
  const reply = await gantry.api(`POST /projects/${project.id}/jobs/${id}/${act}`);
  if (act === 'cancel') return (await read()).status !== before.status;
  if (act === 'erase') return (await read()).erased_at !== before.erased_at;
  return reply.status === 201;
};

for (const status of statuses) {
  test(`${status}: like the API`, async () => {
    const done: Act[] = [];
    for (const act of acts) if (await isDone(status, act)) done.push(act);
    assert.deepEqual(await offered(await inStatus(status)), done);
  });
}
