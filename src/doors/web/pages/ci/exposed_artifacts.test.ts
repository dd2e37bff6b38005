/** Tests exposed artifacts on the page of a pipeline, for users who may read them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedArtifact, buildZip } from '../../../../../test/support/ci/artifacts.ts';
import { seedPipeline, setJob } from '../../../../../test/support/ci/jobs.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let developer: Visitor;
let reporter: Visitor;
let base: string;

const member = async (access_level: number): Promise<Visitor> =>
  (await seedVisitor(gantry, { project: project.id, access_level })).visitor;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  base = `/${project.full_path}/-`;
  developer = await member(30);
  reporter = await member(20);
});
after(async () => await gantry.close());

type Left = Record<string, string>;

/** Creates a pipeline with one job that has this `artifacts` section and uploads these files. */
const left = async (artifacts: string, files: Left, expire_in: string | null = null) => {
  const file = `one: { script: x, artifacts: ${artifacts} }`;
  const { id, jobs } = await seedPipeline(gantry, { project: project.id, file });
  const job = jobs['one'] ?? 0;
  await setJob(gantry, job, { status: 'success', started_at: 1_000, finished_at: 2_000 });
  await seedArtifact(gantry, { id: job, project_id: project.id }, await buildZip(files), { expire_in });
  return { id, job, link: `${base}/jobs/${job}/artifacts/exposed` };
};

const linksOf = (text: string): (string | undefined)[][] =>
  [
    ...text.matchAll(/<a href="([^"]+)\/artifacts\/exposed">([^<]+)<\/a> <span class="quiet">of ([^<]+)</g),
  ].map(([, path, name, job]) => [path, name, job]);

const exposedOn = async (pipeline: number, who: Visitor = developer) => {
  const { status, text } = await who.get(`${base}/pipelines/${pipeline}`);
  assert.equal(status, 200);
  return linksOf(text);
};

test('links to the exposed file', async () => {
  const { id, job, link } = await left('{ expose_as: The report, paths: [out/report.txt] }', {
    'out/report.txt': 'all is well',
    'other.txt': 'more',
  });
  assert.deepEqual(await exposedOn(id), [[`${base}/jobs/${job}`, 'The report', 'one']]);
  const { status, location } = await developer.get(link);
  assert.deepEqual(
    [status, location],
    [302, `/api/v4/projects/${project.id}/jobs/${job}/artifacts/out/report.txt`],
  );
  assert.equal((await developer.get(location ?? '')).text, 'all is well');
});

test('links to the common folder of several files', async () => {
  const files = { 'site/a b.html': 'a', 'site/deep/c.html': 'c', 'one/only.txt': 'o', x: 'x', y: 'y' };
  const cases: [paths: string, to: (job: number) => string][] = [
    ['[site]', (job) => `${base}/jobs/${job}/artifacts/browse/site`],
    ['[./site/]', (job) => `${base}/jobs/${job}/artifacts/browse/site`],
    ['[x, y]', (job) => `${base}/jobs/${job}/artifacts/browse`],
    ['[x, not-there]', (job) => `/api/v4/projects/${project.id}/jobs/${job}/artifacts/x`],
    ['[one/]', (job) => `/api/v4/projects/${project.id}/jobs/${job}/artifacts/one/only.txt`],
    ['[site/a b.html]', (job) => `/api/v4/projects/${project.id}/jobs/${job}/artifacts/site/a%20b.html`],
    ['[not-there]', (job) => `${base}/jobs/${job}/artifacts/browse`],
    ['[x, $CI_JOB_NAME/only.txt]', (job) => `${base}/jobs/${job}/artifacts/browse`],
  ];
  for (const [paths, to] of cases) {
    const { job, link } = await left(`{ expose_as: it, paths: ${paths} }`, files);
    const { location } = await developer.get(link);
    assert.equal(location, to(job), paths);
    assert.equal((await developer.get(location ?? '')).status, 200, paths);
  }
});

test('lists nothing expired, retried or not exposed', async () => {
  const over = await left('{ expose_as: it, paths: [a] }', { a: 'a' }, '1 second');
  await gantry.service.platform.store.write(async ({ db }) => {
    await db.updateTable('artifacts').set({ expire_at: 1 }).where('job_id', '=', over.job).execute();
  });
  const again = await left('{ expose_as: it, paths: [a] }', { a: 'a' });
  await setJob(gantry, again.job, { retried: 1 });
  const plain = await left('{ paths: [a] }', { a: 'a' });
  for (const { id } of [over, again, plain]) assert.deepEqual(await exposedOn(id), []);
  assert.equal((await developer.get(over.link)).status, 404);
  assert.equal((await developer.get(plain.link)).status, 404);
  const file = 'one: { script: x, artifacts: { expose_as: it, paths: [a] } }';
  const nothing = await seedPipeline(gantry, { project: project.id, file });
  assert.deepEqual(await exposedOn(nothing.id), []);
  assert.equal((await developer.get(`${base}/jobs/${nothing.jobs['one']}/artifacts/exposed`)).status, 404);
});

test('hides artifacts that the user may not read, and refuses their address', async () => {
  const { id, link } = await left('{ expose_as: it, paths: [a], access: developer }', { a: 'a' });
  assert.equal((await exposedOn(id)).length, 1);
  assert.deepEqual(await exposedOn(id, reporter), []);
  assert.deepEqual([(await reporter.get(link)).status, (await developer.get(link)).status], [403, 302]);
  const forNobody = await left('{ expose_as: it, paths: [a], access: none }', { a: 'a' });
  assert.deepEqual(await exposedOn(forNobody.id), []);
});

test('lists ten artifacts, those of the first jobs', async () => {
  const names = Array.from({ length: 12 }, (_one, at) => `job${at}`);
  const file = names
    .map((name) => `${name}: { script: x, artifacts: { expose_as: of ${name}, paths: [a] } }`)
    .join('\n');
  const { id, jobs } = await seedPipeline(gantry, { project: project.id, file });
  const zip = await buildZip({ a: 'a' });
  for (const job of Object.values(jobs)) await seedArtifact(gantry, { id: job, project_id: project.id }, zip);
  assert.deepEqual(
    (await exposedOn(id)).map(([, text]) => text),
    names.slice(0, 10).map((name) => `of ${name}`),
  );
});

test("ignores the keyword's text in scripts and variables", async () => {
  const file = `
one:
  script: ['echo "\\"expose_as\\":\\"x\\""']
  parallel: { matrix: [{ expose_as: [x] }] }
  artifacts: { paths: [a] }`;
  const { id, jobs } = await seedPipeline(gantry, { project: project.id, file });
  const [job = 0] = Object.values(jobs);
  await seedArtifact(gantry, { id: job, project_id: project.id }, await buildZip({ a: 'a' }));
  assert.doesNotMatch((await developer.get(`${base}/pipelines/${id}`)).text, /Exposed artifacts/);
});
