/** Filters of the lists of pipelines and jobs, their buttons, their updates, and the deletion of a pipeline. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { after, before, test } from 'node:test';
import { buildZip, seedArtifact } from '../../../../../../test/support/ci/artifacts.ts';
import { seedPipeline, setJob, setPipeline } from '../../../../../../test/support/ci/jobs.ts';
import { seedProject } from '../../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { observeOperations } from '../../../../../platform/db/statement_meter.ts';
import { type TestService, engine, startTestService } from '../../../../../../test/support/service.ts';
import { type Visitor, contentIn } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let developer: SeededVisitor;
let reporter: Visitor;
let owner: Visitor;
let base: string;
before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  const someone = async (access_level: number) =>
    await seedVisitor(gantry, { project: project.id, access_level });
  developer = await someone(30);
  [reporter, owner] = [(await someone(20)).visitor, (await someone(50)).visitor];
  base = `/${project.full_path}/-`;
});
after(async () => await gantry.close());

const file = 'build: { script: make }\n"unit_test <b>": { script: test }';
const seed = async (attributes: { ref?: string; user?: number } = {}) =>
  await seedPipeline(gantry, { project: project.id, file, ...attributes });
const read = async (path: string, who = reporter): Promise<string> => {
  const seen = await who.get(`${base}/${path}`);
  assert.equal(seen.status, 200, path);
  return contentIn(seen);
};

test('filters pipelines by status, source, user, ref and name', async () => {
  const own = await seed({ ref: 'topic', user: developer.id });
  const other = await seed({ ref: 'main' });
  await setPipeline(gantry, own.id, { status: 'failed', source: 'web', name: 'Nightly <b>' });
  const shown = async (query: string): Promise<number[]> => {
    const text = await read(`pipelines?${query}`);
    return [...text.matchAll(/<th scope="row"><a href="[^"]+\/pipelines\/(\d+)"/g)].map(([, id]) =>
      Number(id),
    );
  };
  for (const query of [
    'status=failed',
    'source=web',
    `username=${developer.username}`,
    'ref=topic',
    'name=Nightly+%3Cb%3E',
    'status=failed&source=web&ref=topic&scope=finished',
  ]) {
    assert.deepEqual(await shown(query), [own.id], query);
  }
  assert.deepEqual(await shown('status=&source=&username=&ref=&name='), [other.id, own.id]);
  assert.deepEqual(await shown('status=failed&ref=main'), []);
  const text = await read('pipelines?status=failed&name=Nightly+%3Cb%3E&scope=finished');
  assert.match(
    text,
    /<option value="failed" selected>Failed<[^]+name="name" type="text" value="Nightly &lt;b&gt;"/,
  );
  // The tabs keep the filters, and the form keeps the tab.
  assert.match(text, /href="[^"]+\/pipelines\?scope=tags&amp;status=failed&amp;name=Nightly\+%3Cb%3E"/);
  assert.match(text, /<input type="hidden" name="scope" value="finished">/);
  assert.match(await read('pipelines?ref=topic&status=canceled'), /No pipelines match/);
  assert.equal((await reporter.get(`${base}/pipelines?status=odd`)).status, 400);
});

test('deletes a pipeline after a confirmation, for owners', async () => {
  const { id, jobs } = await seed();
  const path = `${base}/pipelines/${id}`;
  assert.doesNotMatch(await read(`pipelines/${id}`, developer.visitor), /Delete pipeline/);
  assert.equal((await developer.visitor.post(`${path}/delete`)).status, 403);
  assert.match(
    await read(`pipelines/${id}`, owner),
    /<summary>Delete pipeline…<\/summary><p>The pipeline is deleted, with the logs/,
  );
  assert.equal((await owner.post(`${path}/delete`)).location, `${base}/pipelines`);
  assert.match((await owner.get(`${base}/pipelines`)).text, new RegExp(`The pipeline #${id} was deleted`));
  assert.equal((await owner.get(path)).status, 404);
  assert.equal((await owner.get(`${base}/jobs/${jobs['build']}`)).status, 404);
});

test('searches jobs by name', async () => {
  const { jobs } = await seed();
  await setJob(gantry, jobs['build'] ?? 0, { status: 'failed' });
  const shown = async (query: string): Promise<string[]> => {
    const text = await read(`jobs?${query}`);
    return [...text.matchAll(/<th scope="row"><a href="[^"]+">#\d+ ([^<]+)</g)].map(([, name]) => name ?? '');
  };
  const unit = await shown('search=T_test');
  assert.deepEqual([...new Set(unit)], ['unit_test &lt;b&gt;']);
  assert.match(await read('jobs?search=t_test'), new RegExp(`${unit.length} jobs?<`));
  assert.deepEqual(await shown('search=ttest'), []);
  assert.deepEqual(await shown('search=uil&scope=failed'), ['build']);
  assert.match(
    await read('jobs?search=uil&scope=failed'),
    /href="[^"]+\/jobs\?scope=running&amp;search=uil"/,
  );
});

test('offers retry, cancel and artifacts in the row of a job', async () => {
  const { jobs } = await seed();
  const build = jobs['build'] ?? 0;
  await setJob(gantry, build, { status: 'success' });
  await seedArtifact(gantry, { id: build, project_id: project.id }, await buildZip({ a: 'b' }));
  const rowOf = async (id = 0, who = developer.visitor): Promise<string> =>
    (await read('jobs', who)).split('<tr>').find((row) => row.includes(`/jobs/${id}">`)) ?? '';
  const row = await rowOf(build);
  assert.match(row, new RegExp(`href="/api/v4/projects/${project.id}/jobs/${build}/artifacts"`));
  assert.match(row, new RegExp(`action="${base}/jobs/${build}/retry"[^]+aria-label="Retry build"`));
  assert.match(await rowOf(jobs['unit_test <b>']), /aria-label="Cancel unit_test &lt;b&gt;"/);
  const plain = await rowOf(build, reporter);
  assert.doesNotMatch(plain, /<form/);
  assert.match(plain, /Download artifacts of build/);
});

test('lists update themselves while something runs', async () => {
  const own = await seedProject(gantry, { visibility: 'internal' });
  const { id, jobs } = await seedPipeline(gantry, { project: own.id, file });
  const pages = ['pipelines', 'jobs'] as const;
  const isLive = async (page: string): Promise<boolean> => {
    const { text } = await reporter.get(`/${own.full_path}/-/${page}`);
    assert.match(text, new RegExp(`<div id="${page}"[^>]* data-part`));
    return text.includes(' data-live=""');
  };
  for (const page of pages) assert.equal(await isLive(page), true, page);
  for (const job of Object.values(jobs)) await setJob(gantry, job, { status: 'success' });
  await setPipeline(gantry, id, { status: 'success' });
  for (const page of pages) assert.equal(await isLive(page), false, page);
});

test('searches jobs of a large database outside of the main thread', async (t) => {
  await seed();
  const { statSync } = fs;
  const large = t.mock.method(fs, 'statSync', (path: string) =>
    Object.assign(statSync(path), { size: 2 ** 30 }),
  );
  syncBuiltinESMExports();
  const searches: string[] = [];
  const stop = observeOperations(({ name }) => {
    if (/lower\(.*like/s.test(name)) searches.push(name);
  });
  try {
    const text = await read('jobs?search=NIT_t&scope=pending');
    assert.match(text, /#\d+ unit_test &lt;b&gt;/);
    assert.match(text, /\d jobs?<\/p>/);
  } finally {
    stop();
    large.mock.restore();
    syncBuiltinESMExports();
  }
  if (engine === 'sqlite') assert.deepEqual(searches, []);
});
