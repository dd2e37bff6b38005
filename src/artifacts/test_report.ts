/** What the tests of a pipeline say, out of the reports of its jobs. */
import { PassThrough } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Call } from '../access/call.ts';
import { isKept } from '../jobs/kept_artifacts.ts';
import { type TestCase, mostCases, readJunit } from './junit.ts';
import { readText } from './read_text.ts';
import { type Artifact, artifactBytes } from './store.ts';
import { XmlFault } from './xml.ts';

export type TestSuite = {
  /** Of the job, or of all jobs that `parallel` makes of one. */
  name: string;
  build_ids: number[];
  cases: TestCase[];
  /** Why nothing of it is known; null: it was read. */
  error: string | null;
};

/** Of one report, unpacked. */
const mostBytes = 20 * 1024 * 1024;
const mostReports = 500;

class Unreadable extends Error {}

/** Of the jobs that count, oldest first. */
const reportsOf = async ({ db, now }: Call, pipelineId: number): Promise<(Artifact & { name: string })[]> =>
  await db
    .selectFrom('jobs')
    .innerJoin('artifacts', 'artifacts.job_id', 'jobs.id')
    .innerJoin('pipelines', 'pipelines.id', 'jobs.pipeline_id')
    .selectAll('artifacts')
    .select('jobs.name')
    .where('jobs.pipeline_id', '=', pipelineId)
    .where('jobs.retried', '=', 0)
    .where('artifacts.file_type', '=', 'junit')
    .where(isKept(now))
    .orderBy('jobs.id')
    .limit(mostReports)
    .execute();

/** `test 2/5` and `test: [a, b]` are of `test`. */
const suiteOf = (jobName: string): string => jobName.replace(/(?: \d+\/\d+|: \[.*\])$/, '');

const textOf = async (call: Call, report: Artifact): Promise<string> => {
  const content = await artifactBytes(call.platform, report);
  if (content === null) throw new Unreadable('the report is gone');
  return await readText(content, report.file_format === 'gzip' ? createGunzip() : new PassThrough(), {
    most: mostBytes,
    tooBig: () => new Unreadable('the report is too large'),
    invalidFormat: () => new Unreadable('the report is no compressed text'),
  });
};

const readReport = async (call: Call, report: Artifact): Promise<TestCase[] | { error: string }> => {
  try {
    return readJunit(await textOf(call, report));
  } catch (error) {
    if (error instanceof XmlFault) return { error: `JUnit XML parsing failed: ${error.message}` };
    if (error instanceof Unreadable || error instanceof RangeError) return { error: error.message };
    throw error;
  }
};

/** The suites of a pipeline, in the order of its jobs. */
export const testSuites = async (call: Call, pipelineId: number): Promise<TestSuite[]> => {
  const suites = new Map<string, TestSuite>();
  let count = 0;
  for (const report of await reportsOf(call, pipelineId)) {
    const name = suiteOf(report.name);
    const suite = suites.get(name) ?? { name, build_ids: [], cases: [], error: null };
    suites.set(name, suite);
    suite.build_ids.push(report.job_id);
    // oxlint-disable-next-line no-await-in-loop -- one report in memory at a time
    const read = count < mostCases ? await readReport(call, report) : { error: 'too many test cases' };
    if ('error' in read) suite.error ??= read.error;
    else for (const one of read) suite.cases.push(one);
    count += 'error' in read ? 0 : read.length;
  }
  return [...suites.values()];
};
