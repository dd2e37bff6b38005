import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type SeededPipeline, seedPipeline, setJob } from '../../../../test/support/ci/jobs.ts';
import { seedMember, seedProject, seedUser } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { artifactArea } from '../rules.ts';
import { addArtifact } from '../store/artifacts.ts';

let gantry: TestService;
let project: number;
before(async () => {
  gantry = await startTestService();
  project = (await seedProject(gantry)).id;
});
after(async () => await gantry.close());

const file = `
unit: { script: make, parallel: 2 }
lint: { script: make }
docs: { script: make }
`;

const upload = async (
  job: number,
  content: string | Buffer,
  more: { expire_in?: string; file_format?: 'gzip' | 'raw' } = {},
) => {
  const bytes = typeof content === 'string' ? gzipSync(content) : content;
  const announced = {
    file_type: 'junit',
    file_format: 'gzip' as const,
    filename: 'junit.xml.gz',
    expire_in: null,
  };
  const { platform } = gantry.service;
  await addArtifact(
    platform,
    { id: job, project_id: project },
    { ...announced, ...more },
    Readable.from([bytes]),
  );
};

const idOf = ({ jobs }: SeededPipeline, name: string): number => jobs[name] ?? assert.fail(`no job ${name}`);

const read = async ({ id }: SeededPipeline, what: string) =>
  await gantry.api(`GET /projects/${project}/pipelines/${id}/${what}`);

const counts = (total_time: number, success: number, failed = 0, skipped = 0, error = 0) => ({
  total_time,
  total_count: success + failed + skipped + error,
  success_count: success,
  failed_count: failed,
  skipped_count: skipped,
  error_count: error,
});

test('reports the tests of a pipeline by job, failed ones first', async () => {
  const pipeline = await seedPipeline(gantry, { project, file });
  const [first, second, lint] = [
    idOf(pipeline, 'unit 1/2'),
    idOf(pipeline, 'unit 2/2'),
    idOf(pipeline, 'lint'),
  ];
  const good = '<testcase name="good" classname="A" time="0.1"/>';
  const bad = '<testcase name="bad" classname="A" file="a.ts" time="0.2"><failure>no</failure></testcase>';
  await upload(first, `<testsuite>${good}${bad}</testsuite>`);
  const two = [
    '<t><testcase name="b"><skipped/></testcase></t>',
    '<t><testcase name="c"><error/></testcase></t>',
  ];
  await upload(second, Buffer.concat(two.map((text) => gzipSync(text))));
  await upload(lint, '<broken>');
  const { status, body } = await read(pipeline, 'test_report');
  assert.equal(status, 200);
  const { test_suites, ...all } = body;
  assert.deepEqual(all, counts(0.3, 1, 1, 1, 1));
  const shown = { classname: '', file: null, execution_time: 0, system_output: null, stack_trace: null };
  assert.deepEqual(test_suites, [
    {
      name: 'unit',
      ...counts(0.3, 1, 1, 1, 1),
      suite_error: null,
      test_cases: [
        {
          ...shown,
          status: 'failed',
          name: 'bad',
          classname: 'A',
          file: 'a.ts',
          execution_time: 0.2,
          system_output: 'no',
        },
        { ...shown, status: 'error', name: 'c' },
        { ...shown, status: 'success', name: 'good', classname: 'A', execution_time: 0.1 },
        { ...shown, status: 'skipped', name: 'b' },
      ],
    },
    {
      name: 'lint',
      ...counts(0, 0),
      suite_error: 'JUnit XML parsing failed: <broken> is not closed at line 1',
      test_cases: [],
    },
  ]);
  const summary = await read(pipeline, 'test_report_summary');
  assert.deepEqual(summary.body, {
    total: {
      time: 0.3,
      count: 4,
      success: 1,
      failed: 1,
      skipped: 1,
      error: 1,
      suite_error: 'JUnit XML parsing failed: <broken> is not closed at line 1',
    },
    test_suites: [
      { name: 'unit', ...counts(0.3, 1, 1, 1, 1), build_ids: [first, second], suite_error: null },
      {
        name: 'lint',
        ...counts(0, 0),
        build_ids: [lint],
        suite_error: 'JUnit XML parsing failed: <broken> is not closed at line 1',
      },
    ],
  });
});

test('ignores reports of retried jobs and expired reports', async () => {
  const pipeline = await seedPipeline(gantry, { project, file });
  const [lint, docs] = [idOf(pipeline, 'lint'), idOf(pipeline, 'docs')];
  await upload(lint, '<t><testcase/></t>');
  await setJob(gantry, lint, { retried: 1 });
  await upload(docs, '<t><testcase/></t>', { expire_in: '1 hour' });
  const names = async () =>
    (await read(pipeline, 'test_report')).body.test_suites.map(({ name }: { name: string }) => name);
  assert.deepEqual(await names(), ['docs']);
  gantry.setTime(Date.now() + 2 * 3_600_000);
  assert.deepEqual(await names(), []);
  gantry.setTime(null);
});

const kept = `
open: { script: make, artifacts: { reports: { junit: a.xml } } }
members: { script: make, artifacts: { public: false, reports: { junit: a.xml } } }
masters: { script: make, artifacts: { access: maintainer, reports: { junit: a.xml } } }
nobody: { script: make, artifacts: { access: none, reports: { junit: a.xml } } }
`;

test('leaves out reports that the caller may not read', async () => {
  const pipeline = await seedPipeline(gantry, { project, file: kept });
  for (const id of Object.values(pipeline.jobs)) await upload(id, '<t><testcase time="1"/></t>');
  const tokenOf = async (access_level: number | null): Promise<string> => {
    const { id: user, token } = await seedUser(gantry);
    if (access_level !== null) await seedMember(gantry, { user, project, access_level });
    return token;
  };
  const shown = async (access_level: number | null) => {
    const as = await tokenOf(access_level);
    const path = `/projects/${project}/pipelines/${pipeline.id}`;
    const { body: report } = await gantry.api(`GET ${path}/test_report`, { as });
    const { body: summary } = await gantry.api(`GET ${path}/test_report_summary`, { as });
    const names = report.test_suites.map(({ name }: { name: string }) => name);
    assert.deepEqual(
      [report.total_count, summary.total.count, summary.test_suites.length],
      [names.length, names.length, names.length],
    );
    return names;
  };
  assert.deepEqual(await shown(null), ['open']);
  assert.deepEqual(await shown(20), ['open']);
  assert.deepEqual(await shown(30), ['open', 'members']);
  assert.deepEqual(await shown(40), ['open', 'members', 'masters']);
});

test('reports an error for a file that is not gzipped text or is too large', async () => {
  const pipeline = await seedPipeline(gantry, { project, file });
  await upload(idOf(pipeline, 'lint'), Buffer.from('<t/>'));
  await upload(idOf(pipeline, 'docs'), gzipSync(Buffer.alloc(21 * 1024 * 1024, 0x20)));
  const { body } = await read(pipeline, 'test_report');
  assert.deepEqual(
    body.test_suites.map(({ suite_error }: { suite_error: string }) => suite_error),
    ['the report is not compressed text', 'the report is too large'],
  );
});

const many = (count: number, more = ''): string =>
  `<t>\n${Array.from({ length: count }, (_, at) => `<testcase name="case ${at}" time="0.001"/>`).join('')}${more}`;

test('reads a long report like a short one, and names the line of an error', async () => {
  const pipeline = await seedPipeline(gantry, { project, file });
  await upload(
    idOf(pipeline, 'lint'),
    `${many(5_001, '<testcase name="last"><failure>no</failure></testcase>')}</t>`,
  );
  await upload(idOf(pipeline, 'docs'), `${many(5_001, '\n\n</broken>')}</t>`);
  const { status, body } = await read(pipeline, 'test_report');
  assert.equal(status, 200);
  const [lint, docs] = body.test_suites;
  assert.deepEqual([lint.total_count, lint.failed_count, lint.suite_error], [5_002, 1, null]);
  assert.equal(lint.test_cases[0].name, 'last');
  assert.equal(lint.test_cases[5_001].name, 'case 5000');
  assert.deepEqual(
    [docs.total_count, docs.suite_error],
    [0, 'JUnit XML parsing failed: </broken> closes an element that is not open at line 4'],
  );
});

test('parses a report once', async () => {
  const pipeline = await seedPipeline(gantry, { project, file });
  await upload(idOf(pipeline, 'lint'), `${many(3_000)}</t>`);
  const first = await read(pipeline, 'test_report_summary');
  const { platform } = gantry.service;
  await platform.blobs.removeArea(artifactArea(project));
  assert.deepEqual((await read(pipeline, 'test_report_summary')).body, first.body);
});

test('reads a limited amount of all reports of a pipeline', async () => {
  const parallel = 'unit: { script: make, parallel: 5 }';
  const pipeline = await seedPipeline(gantry, { project, file: parallel });
  const large = gzipSync(`<t>${' '.repeat(19 * 1024 * 1024)}<testcase/></t>`);
  for (const id of Object.values(pipeline.jobs)) await upload(id, large);
  const { body } = await read(pipeline, 'test_report');
  const [suite] = body.test_suites;
  assert.deepEqual([suite.total_count, suite.suite_error], [4, 'the reports are too large together']);
});

test('answers an empty report without tests, and 404 for a missing pipeline', async () => {
  const pipeline = await seedPipeline(gantry, { project, file });
  assert.deepEqual((await read(pipeline, 'test_report')).body, { ...counts(0, 0), test_suites: [] });
  const missing = await gantry.api(`GET /projects/${project}/pipelines/4711/test_report`);
  assert.deepEqual([missing.status, missing.body], [404, { message: '404 Not found' }]);
});
