/** The stages and the queued time in the list of pipelines. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline, setJob } from '../../../../../test/support/ci/jobs.ts';
import { countStatements } from '../../../../../test/support/request_log.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import type { Visitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let reporter: Visitor;
before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'info' });
  project = await seedProject(gantry, { visibility: 'private' });
  ({ visitor: reporter } = await seedVisitor(gantry, { project: project.id, access_level: 20 }));
});
after(async () => await gantry.close());

const file = `
stages: [build, "test <b>", ship]
build: { stage: build, script: make }
unit: { stage: "test <b>", script: test }
lint: { stage: "test <b>", script: lint }
ship: { stage: ship, script: ship, when: manual }
`;

const rowOf = async (id: number): Promise<string> => {
  const { text } = await reporter.get(`/${project.full_path}/-/pipelines`);
  return text.split('<tr>').find((row) => row.includes(`/pipelines/${id}">#${id}</a>`)) ?? '';
};

test('shows each stage with its state, as a link to its jobs', async () => {
  const { id, jobs } = await seedPipeline(gantry, { project: project.id, file });
  const { store } = gantry.service.platform;
  await setJob(gantry, jobs['build'] ?? 0, { status: 'success' });
  await store.write(async ({ db }) => {
    const statuses = ['success', 'failed', 'skipped'] as const;
    for (const [position, status] of statuses.entries())
      await db
        .updateTable('stages')
        .set({ status })
        .where('pipeline_id', '=', id)
        .where('name', '=', ['build', 'test <b>', 'ship'][position] ?? '')
        .execute();
  });
  const row = await rowOf(id);
  const dots = [
    ...row.matchAll(/<a class="status (\w+)" href="([^"]+)" title="([^"]+)" aria-label="([^"]+)">/g),
  ];
  assert.deepEqual(
    dots.map(([, style, , title, label]) => [style, title, label]),
    [
      ['ok', 'build: passed', 'build: passed'],
      ['bad', 'test &lt;b&gt;: failed', 'test &lt;b&gt;: failed'],
      ['off', 'ship: skipped', 'ship: skipped'],
    ],
  );
  const { text } = await reporter.get(`/${project.full_path}/-/pipelines/${id}`);
  for (const [, , href = ''] of dots) {
    const [path, anchor = ''] = href.split('#');
    assert.equal(path, `/${project.full_path}/-/pipelines/${id}`);
    assert.ok(text.includes(`id="${anchor}"`), anchor);
  }
});

test('shows a dozen of many stages', async () => {
  const names = Array.from({ length: 14 }, (_stage, at) => `s${at}`);
  const jobs = names.map((name) => `${name}: { stage: ${name}, script: x }`);
  const { id } = await seedPipeline(gantry, {
    project: project.id,
    file: [`stages: [${names.join(', ')}]`, ...jobs].join('\n'),
  });
  const row = await rowOf(id);
  assert.equal(row.match(/<a class="status/g)?.length, 12);
  assert.match(row, /s11: created[^]*aria-label="Further stages">…</);
});

test('shows how long a pipeline was queued', async () => {
  const { id } = await seedPipeline(gantry, { project: project.id, file });
  assert.doesNotMatch(await rowOf(id), /queued/);
  await gantry.service.platform.store.write(async ({ db }) => {
    const times = { created_at: 1_000, started_at: 63_000, duration: 5 };
    await db.updateTable('pipelines').set(times).where('id', '=', id).execute();
  });
  assert.match(await rowOf(id), />5 s<br><span class="quiet small">queued 1 min 2 s<\/span>/);
});

test('loads the stages of all pipelines in one statement', async () => {
  const other = await seedProject(gantry, { visibility: 'public' });
  const statements = async (): Promise<number> =>
    await countStatements(gantry, async () => await reporter.get(`/${other.full_path}/-/pipelines`));
  await seedPipeline(gantry, { project: other.id, file });
  const one = await statements();
  for (let more = 0; more < 5; more += 1) await seedPipeline(gantry, { project: other.id, file });
  // What is kept in memory makes a small difference.
  assert.ok((await statements()) < one + 5);
});
