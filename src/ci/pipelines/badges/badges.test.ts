import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedPipeline, setJob, setPipeline } from '../../../../test/support/ci/jobs.ts';
import { type SeededProject, seedGroup, seedProject } from '../../../../test/support/seed.ts';
import { type TestService, rootToken, startTestService } from '../../../../test/support/service.ts';
import { rewriteBadgePath } from './routes.ts';

const file = 'one: { script: make }\ntwo: { script: make }\n';

let gantry: TestService;
let project: SeededProject;
before(async () => {
  gantry = await startTestService();
  const { id: above } = await seedGroup(gantry);
  const { id: namespace } = await seedGroup(gantry, { parent: above });
  project = await seedProject(gantry, { namespace });
});
after(async () => await gantry.close());

const ask = async (path: string, token?: string) => {
  const headers: Record<string, string> = token === undefined ? {} : { 'private-token': token };
  const response = await fetch(`${gantry.url}/${path}`, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

const label = (svg: string): string | undefined => /<title>([^<]*)<\/title>/.exec(svg)?.[1];

const badge = async (rest: string, of: SeededProject = project) =>
  label((await ask(`${of.full_path}/${rest}`)).text);

describe('the badge of a pipeline', () => {
  it('shows the status of the newest pipeline of a ref', async () => {
    assert.equal(await badge('badges/main/pipeline.svg'), 'pipeline: unknown');
    const { id } = await seedPipeline(gantry, { project: project.id, file });
    assert.equal(await badge('badges/main/pipeline.svg'), 'pipeline: pending');
    await setPipeline(gantry, id, { status: 'success' });
    assert.equal(await badge('badges/main/pipeline.svg'), 'pipeline: passed');
    assert.equal(await badge('badges/main/build.svg'), 'pipeline: passed');
    const later = await seedPipeline(gantry, { project: project.id, file });
    await setPipeline(gantry, later.id, { status: 'skipped' });
    assert.equal(await badge('badges/main/pipeline.svg'), 'pipeline: skipped');
    assert.equal(await badge('badges/main/pipeline.svg?ignore_skipped=true'), 'pipeline: passed');
    assert.equal(await badge('badges/other/pipeline.svg'), 'pipeline: unknown');
  });

  it('is served for a branch with slashes, and at its newer address', async () => {
    const { id } = await seedPipeline(gantry, { project: project.id, file, ref: 'a/b/c' });
    await setPipeline(gantry, id, { status: 'failed' });
    assert.equal(await badge('badges/a/b/c/pipeline.svg'), 'pipeline: failed');
    assert.equal(await badge('-/badges/a%2Fb/c/pipeline.svg'), 'pipeline: failed');
  });

  it('is an image that is not cached and runs no scripts', async () => {
    const key = encodeURIComponent(`<script>"&'</script>`);
    const { headers, text } = await ask(
      `${project.full_path}/badges/main/pipeline.svg?key_text=${key}&key_width=90`,
    );
    assert.equal(headers.get('content-type'), 'image/svg+xml');
    assert.match(headers.get('cache-control') ?? '', /no-store/);
    assert.equal(headers.get('content-security-policy'), "default-src 'none'; sandbox");
    assert.ok(text.startsWith('<svg ') && !text.includes('<script'));
    assert.ok(label(text)?.startsWith('&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;: '));
    assert.ok(text.includes('M0 0h90v20'));
    const square = await ask(`${project.full_path}/badges/main/pipeline.svg?style=flat-square`);
    assert.ok(!square.text.includes('rx='));
  });

  it('is missing for a hidden project or hidden pipelines', async () => {
    const hidden = await seedProject(gantry, { visibility: 'private' });
    const path = `${hidden.full_path}/badges/main/pipeline.svg`;
    const missing = await ask('no/such/badges/main/pipeline.svg');
    const refused = await ask(path);
    assert.deepEqual([refused.status, refused.text], [404, missing.text]);
    assert.equal((await ask(path, rootToken)).status, 200);
    const shut = await seedProject(gantry);
    await gantry.api(`PUT /projects/${shut.id}`, { json: { public_builds: false } });
    const closed = await ask(`${shut.full_path}/badges/main/pipeline.svg`);
    assert.deepEqual([closed.status, closed.text], [404, missing.text]);
  });
});

describe('the badge of the coverage', () => {
  it('shows the coverage of the last successful pipeline, in total or of one job', async () => {
    assert.equal(await badge('badges/covered/coverage.svg'), 'coverage: unknown');
    const pipeline = await seedPipeline(gantry, { project: project.id, file, ref: 'covered' });
    await setJob(gantry, pipeline.jobs['one'] ?? 0, { coverage: 9000 });
    await setJob(gantry, pipeline.jobs['two'] ?? 0, { coverage: 5050 });
    assert.equal(await badge('badges/covered/coverage.svg'), 'coverage: unknown');
    await setPipeline(gantry, pipeline.id, { status: 'success' });
    assert.equal(await badge('badges/covered/coverage.svg'), 'coverage: 70.25%');
    assert.equal(await badge('badges/covered/coverage.svg?job=one'), 'coverage: 90.00%');
    assert.equal(await badge('badges/covered/coverage.svg?job=three'), 'coverage: unknown');
  });
});

describe('the address of a badge', () => {
  it('is rewritten to the served address; other addresses stay', () => {
    assert.equal(rewriteBadgePath('/a/b/badges/main/pipeline.svg'), '/-/badges/a%2Fb/main/pipeline.svg');
    assert.equal(rewriteBadgePath('/a/b/-/badges/x/y/coverage.svg'), '/-/badges/a%2Fb/x%2Fy/coverage.svg');
    for (const path of [
      '/a/badges/main/pipeline.svg',
      '/a/b/badges/pipeline.svg',
      '/a/b/badges/main/other.svg',
      '/api/v4/x/badges/main/pipeline.svg',
      '/-/badges/a%2Fb/main/pipeline.svg',
    ]) {
      assert.equal(rewriteBadgePath(path), path);
    }
  });
});
