/** What the tests of a pipeline say, out of the reports of its jobs. */
import type { Call } from '../access/call.ts';
import { isKept } from '../jobs/kept_artifacts.ts';
import type { FoundPipeline } from '../pipelines/find.ts';
import { jobConfigsOf } from '../pipelines/store.ts';
import type { Project } from '../projects/find.ts';
import { isForCaller } from './artifact_access.ts';
import { type TestCase, mostCases } from './junit.ts';
import { type Report, readReport } from './read_report.ts';
import type { Artifact } from './store.ts';

export type TestSuite = {
  /** Of the job, or of all jobs that `parallel` makes of one. */
  name: string;
  build_ids: number[];
  cases: TestCase[];
  /** Why nothing of it is known; null: it was read. */
  error: string | null;
};

const mostReports = 500;
/** UTF-16 units of all reports of a pipeline that are read for one answer. */
const mostText = 64 * 1024 * 1024;

type JobReport = Artifact & { name: string; config_id: number };

/** Of the jobs that count, oldest first. */
const reportsOf = async ({ db, now }: Call, pipelineId: number): Promise<JobReport[]> =>
  await db
    .selectFrom('jobs')
    .innerJoin('artifacts', 'artifacts.job_id', 'jobs.id')
    .innerJoin('pipelines', 'pipelines.id', 'jobs.pipeline_id')
    .selectAll('artifacts')
    .select(['jobs.name', 'jobs.config_id'])
    .where('jobs.pipeline_id', '=', pipelineId)
    .where('jobs.retried', '=', 0)
    .where('artifacts.file_type', '=', 'junit')
    .where(isKept(now))
    .orderBy('jobs.id')
    .limit(mostReports)
    .execute();

/** What jobs leave that is not for the caller is as what is not there. */
const forCaller = async (
  call: Call,
  project: Project,
  reports: readonly JobReport[],
): Promise<JobReport[]> => {
  const configs = await jobConfigsOf(call.db, reports);
  return reports.filter(({ config_id }) =>
    isForCaller(call, project, configs.get(config_id)?.artifacts?.access ?? null),
  );
};

/** `test 2/5` and `test: [a, b]` are of `test`. */
const suiteOf = (jobName: string): string => jobName.replace(/(?: \d+\/\d+|: \[.*\])$/, '');

const left = (error: string): Report => ({ cases: [], error, size: 0 });

/** What is not read any more: of a report, why. */
const tooMuch = (count: number, text: number): Report | null => {
  if (count >= mostCases) return left('too many test cases');
  return text >= mostText ? left('the reports are too large together') : null;
};

/** The suites of a pipeline as far as they are for the caller, in the order of its jobs. */
export const testSuites = async (call: Call, { project, pipeline }: FoundPipeline): Promise<TestSuite[]> => {
  const suites = new Map<string, TestSuite>();
  let [count, text] = [0, 0];
  for (const report of await forCaller(call, project, await reportsOf(call, pipeline.id))) {
    const name = suiteOf(report.name);
    const suite = suites.get(name) ?? { name, build_ids: [], cases: [], error: null };
    suites.set(name, suite);
    suite.build_ids.push(report.job_id);
    // oxlint-disable-next-line no-await-in-loop -- one report in memory at a time
    const read = tooMuch(count, text) ?? (await readReport(call.platform, report));
    suite.error ??= read.error;
    for (const one of read.cases) suite.cases.push(one);
    count += read.cases.length;
    text += read.size;
  }
  return [...suites.values()];
};
