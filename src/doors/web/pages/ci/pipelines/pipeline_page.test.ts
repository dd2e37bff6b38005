/** What the page of a pipeline says of failed jobs, needed jobs and tests. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { seedArtifact, seedTrace } from '../../../../../../test/support/ci/artifacts.ts';
import { seedPipeline, setJob } from '../../../../../../test/support/ci/jobs.ts';
import { seedProject } from '../../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { type Visitor, contentIn } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let base: string;
let reporter: Visitor;
before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  base = `/${project.full_path}/-`;
  ({ visitor: reporter } = await seedVisitor(gantry, { project: project.id, access_level: 20 }));
});
after(async () => await gantry.close());

const read = async (path: string, who = reporter): Promise<string> => {
  const seen = await who.get(`${base}/${path}`);
  assert.equal(seen.status, 200, seen.text);
  return contentIn(seen);
};

const file = `
stages: [build, test]
build: { stage: build, script: make }
lint: { stage: build, script: lint, allow_failure: true }
unit: { stage: test, script: test }
"quick <b>": { stage: test, script: quick, needs: [] }
both: { stage: test, script: both, needs: [lint, build] }
`;

const seed = async () => {
  const pipeline = await seedPipeline(gantry, { project: project.id, file, ref: 'main' });
  const job = (name: string) => ({ id: pipeline.jobs[name] ?? 0, project_id: project.id });
  return { path: `pipelines/${pipeline.id}`, job };
};

test('names the commit in its heading, to those who may read the code', async () => {
  const { path } = await seed();
  const { visitor: guest } = await seedVisitor(gantry, { project: project.id, access_level: 10 });
  assert.match(await read(path), /<h1>Pipeline #\d+<\/h1>/);
  const { body: commit } = await gantry.api(`POST /projects/${project.id}/repository/commits`, {
    json: {
      branch: 'main',
      commit_message: 'Keep <loads>\n\nwhen splitting',
      actions: [{ action: 'create', file_path: 'a.txt', content: 'a' }],
    },
  });
  const pipeline = await seedPipeline(gantry, { project: project.id, file, sha: commit.id });
  const own = `pipelines/${pipeline.id}`;
  assert.match(
    await read(own),
    /<h1>Pipeline #\d+ <span class="muted subject">Keep &lt;loads&gt;<\/span><\/h1>/,
  );
  assert.match(await read(own, guest), /<h1>Pipeline #\d+<\/h1>/);
});

test('says for which jobs a job waits', async () => {
  const { path } = await seed();
  const page = await read(path);
  assert.match(
    page,
    /<span class="name">both<\/span><span class="needs visually-hidden">after build, lint<\/span>/,
  );
  assert.match(page, />both<\/a><br><span class="quiet">Needs build, lint<\/span>/);
  assert.match(page, />quick &lt;b&gt;<\/a><br><span class="quiet">Needs no other job<\/span>/);
  assert.match(page, />unit<\/a><\/th>/);
});

test('shows the end of the logs of failed jobs, without colors and section marks', async () => {
  const { path, job } = await seed();
  assert.doesNotMatch(await read(path), /log-tail/);
  const lines = Array.from({ length: 30 }, (_, at) => `line ${at + 1}`).join('\n');
  await seedTrace(gantry, job('build'), `${lines}\n\u{1b}[31m<b>error</b>\u{1b}[0m\n`);
  await seedTrace(gantry, job('build'), 'section_end:1700000000:script\r\u{1b}[0Kdone 50%\rdone 100%\n\n');
  await setJob(gantry, job('build').id, { status: 'failed', failure_reason: 'script_failure' });
  await seedTrace(gantry, job('lint'), 'of no importance\n');
  await setJob(gantry, job('lint').id, { status: 'failed', failure_reason: 'script_failure' });
  const page = await read(path);
  assert.match(page, /build failed <span class="quiet">script failure<\/span>/);
  const [, tail = ''] = /<pre class="log-tail"[^>]*>([^]*?)<\/pre>/.exec(page) ?? [];
  assert.match(tail, /^line 21\n[^]*line 30\n&lt;b&gt;error&lt;\/b&gt;\ndone 100%$/);
  assert.match(page, new RegExp(`href="${base}/jobs/${job('build').id}" aria-label="Whole log of build"`));
  assert.doesNotMatch(page, /of no importance/);
});

test('counts the jobs that are done, and offers to retry a failed job to those who may', async () => {
  const { path, job } = await seed();
  assert.match(await read(path), /<dt>Jobs<\/dt><dd>0 of 5 jobs done<\/dd>/);
  await setJob(gantry, job('build').id, { status: 'failed', failure_reason: 'script_failure' });
  await setJob(gantry, job('lint').id, { status: 'success' });
  const retry = new RegExp(
    `build failed [^]*action="${base}/jobs/${job('build').id}/retry"[^]*aria-label="Retry failed build"`,
  );
  const { visitor: maintainer } = await seedVisitor(gantry, { project: project.id, access_level: 40 });
  const page = await read(path, maintainer);
  assert.match(page, /2 of 5 jobs done/);
  assert.match(page, retry);
  assert.doesNotMatch(await read(path), /Retry failed build/);
});

test('reads only the last lines of a log, also of empty ones', async () => {
  const { path, job } = await seed();
  await seedTrace(gantry, job('build'), `error\n${'\n'.repeat(2_000)}`);
  await setJob(gantry, job('build').id, { status: 'failed' });
  assert.doesNotMatch(await read(path), /log-tail/);
});

test('hides logs with the values of variables from those who may not see the variables', async () => {
  const { path, job } = await seed();
  await seedTrace(gantry, job('build'), 'export TOKEN=secret-value\n');
  await setJob(gantry, job('build').id, { status: 'failed', debug_trace: 1 });
  assert.doesNotMatch(await read(path), /secret-value/);
  const { visitor: developer } = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  assert.match(await read(path, developer), /secret-value/);
});

const report = `<testsuite>
<testcase name="adds" classname="Sum" time="0.5"/>
<testcase name="divides" classname="Sum" file="sum.ts" time="12.4"><failure>1 &lt; 2</failure></testcase>
<testcase name="later"><skipped/></testcase></testsuite>`;

test('shows the tests of a pipeline, failed ones first', async () => {
  const { path, job } = await seed();
  assert.doesNotMatch(await read(path), /test_report/);
  assert.match(await read(`${path}/test_report`), /No test reports/);
  const metadata = { file_type: 'junit', file_format: 'gzip', filename: 'junit.xml.gz' } as const;
  await seedArtifact(gantry, job('unit'), gzipSync(report), metadata);
  await seedArtifact(gantry, job('both'), gzipSync('<broken>'), metadata);
  assert.match(await read(path), new RegExp(`href="${base}/${path}/test_report">Tests</a>`));
  const page = await read(`${path}/test_report`);
  assert.match(page, /<h2>unit<\/h2> <span class="quiet">3 tests, 1 failed, 1 skipped, 13 s<\/span>/);
  assert.match(
    page,
    /divides[^]*sum\.ts[^]*1 &lt; 2[^]*Failed[^]*12 s[^]*adds[^]*Passed[^]*later[^]*Skipped/,
  );
  assert.match(page, /JUnit XML parsing failed: &lt;broken&gt; is not closed/);
  assert.match(page, /<dt>Tests<\/dt><dd>3<\/dd>/);
});

test('says how many of many tests are shown', async () => {
  const { path, job } = await seed();
  const cases = Array.from({ length: 250 }, (_, at) => `<testcase name="case ${at}"/>`).join('');
  const metadata = { file_type: 'junit', file_format: 'gzip', filename: 'junit.xml.gz' } as const;
  await seedArtifact(gantry, job('unit'), gzipSync(`<testsuite>${cases}</testsuite>`), metadata);
  const page = await read(`${path}/test_report`);
  assert.match(page, /The first 200 of 250 tests are shown/);
  assert.equal(page.match(/<th scope="row">case /g)?.length, 200);
});

test('shows at most a thousand tests', async () => {
  const script = '{ script: x }';
  const names = Array.from({ length: 7 }, (_, at) => `job${at}`);
  const yaml = names.map((name) => `${name}: ${script}`).join('\n');
  const pipeline = await seedPipeline(gantry, { project: project.id, file: yaml, ref: 'main' });
  const cases = Array.from({ length: 190 }, (_, at) => `<testcase name="case ${at}"/>`).join('');
  const metadata = { file_type: 'junit', file_format: 'gzip', filename: 'junit.xml.gz' } as const;
  for (const name of names) {
    const job = { id: pipeline.jobs[name] ?? 0, project_id: project.id };
    await seedArtifact(gantry, job, gzipSync(`<testsuite>${cases}</testsuite>`), metadata);
  }
  const page = await read(`pipelines/${pipeline.id}/test_report`);
  assert.equal(page.match(/<th scope="row">case /g)?.length, 1_000);
  assert.match(page, /The first 50 of 190 tests are shown/);
  assert.match(page, /No tests of this job are shown/);
});

/** Returns the number of lines of the graph; null: it has none. */
const linesIn = (page: string): number | null => {
  const path = /<svg class="edges"[^>]*><path d="([^"]*)"/.exec(page)?.[1];
  return path === undefined ? null : path.split('M').length - 1;
};

test('draws a line from each needed job to those that wait for it, without inline styles', async () => {
  const { path } = await seed();
  const page = await read(path);
  assert.equal(linesIn(page), 2);
  assert.doesNotMatch(page, / style=/);
  const plain = await seedPipeline(gantry, { project: project.id, file: 'one: { script: x }' });
  assert.equal(linesIn(await read(`pipelines/${plain.id}`)), null);
});

test('draws some hundred lines at most', async () => {
  const stage = (name: string, rest: string) =>
    Array.from({ length: 26 }, (_job, at) => `${name}${at}: { stage: ${name}, script: x${rest} }`);
  const needs = `, needs: [${Array.from({ length: 26 }, (_job, at) => `build${at}`).join(', ')}]`;
  const text = ['stages: [build, test]', ...stage('build', ''), ...stage('test', needs)].join('\n');
  const many = await seedPipeline(gantry, { project: project.id, file: text });
  const page = await read(`pipelines/${many.id}`);
  assert.equal(linesIn(page), 500);
  assert.match(page, /The first 500 lines between jobs are drawn/);
});
