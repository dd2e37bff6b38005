/** Builds the test report of a pipeline from the JUnit reports of its jobs. */
import type { Call } from '../../../core/access/call.ts';
import { isAvailableArtifact } from '../../jobs/artifact_availability.ts';
import type { LoadedPipeline } from '../../pipelines/find.ts';
import { loadJobConfigs } from '../../pipelines/pipeline_rows.ts';
import type { Project } from '../../../projects/projects/find.ts';
import { isForCaller } from '../artifact_access.ts';
import { type TestCase, maxCases } from './junit.ts';
import { type Report, readReport } from './read_report.ts';
import type { Artifact } from '../store/artifacts.ts';

export type TestSuite = {
  /** Name of the job, or of all jobs that `parallel` makes of it. */
  name: string;
  build_ids: number[];
  cases: TestCase[];
  /** Why the report could not be read; null without an error. */
  error: string | null;
};

const maxReports = 500;
/** UTF-16 units of a pipeline's reports that are parsed for one answer. */
const maxText = 64 * 1024 * 1024;

type JobReport = Artifact & { name: string; config_id: number };

/** Selects the reports of jobs that were not retried. */
const selectReports = ({ db, now }: Call, pipelineId: number) =>
  db
    .selectFrom('jobs')
    .innerJoin('artifacts', 'artifacts.job_id', 'jobs.id')
    .innerJoin('pipelines', 'pipelines.id', 'jobs.pipeline_id')
    .where('jobs.pipeline_id', '=', pipelineId)
    .where('jobs.retried', '=', 0)
    .where('artifacts.file_type', '=', 'junit')
    .where(isAvailableArtifact(now));

/** Loads the reports of a pipeline, oldest first. */
const loadReports = async (call: Call, pipelineId: number): Promise<JobReport[]> =>
  await selectReports(call, pipelineId)
    .selectAll('artifacts')
    .select(['jobs.name', 'jobs.config_id'])
    .orderBy('jobs.id')
    .limit(maxReports)
    .execute();

/** Returns whether jobs of a pipeline have reports, which the caller may not be allowed to read. */
export const hasReports = async (call: Call, pipelineId: number): Promise<boolean> =>
  (await selectReports(call, pipelineId).select('artifacts.id').limit(1).executeTakeFirst()) !== undefined;

/** Filters out reports of jobs whose artifacts the caller may not read. */
const filterReadable = async (
  call: Call,
  project: Project,
  reports: readonly JobReport[],
): Promise<JobReport[]> => {
  const configs = await loadJobConfigs(call.db, reports);
  return reports.filter(({ config_id }) =>
    isForCaller(call, project, configs.get(config_id)?.artifacts?.access ?? null),
  );
};

/** Lists the reports of a pipeline that the caller may read, oldest first. */
export const listReadableReports = async (
  call: Call,
  { project, pipeline }: LoadedPipeline,
): Promise<JobReport[]> => await filterReadable(call, project, await loadReports(call, pipeline.id));

/** Groups `test 2/5` and `test: [a, b]` under `test`. */
const getSuiteName = (jobName: string): string => jobName.replace(/(?: \d+\/\d+|: \[.*\])$/, '');

const left = (error: string): Report => ({ cases: [], error, size: 0 });

/** Returns an error report once a limit is reached, else null. */
const checkLimits = (count: number, text: number): Report | null => {
  if (count >= maxCases) return left('too many test cases');
  return text >= maxText ? left('the reports are too large together') : null;
};

/** Builds the suites of a pipeline that the caller may read, in the order of its jobs. */
export const buildTestSuites = async (call: Call, loaded: LoadedPipeline): Promise<TestSuite[]> => {
  const suites = new Map<string, TestSuite>();
  let [count, text] = [0, 0];
  for (const report of await listReadableReports(call, loaded)) {
    const name = getSuiteName(report.name);
    const suite = suites.get(name) ?? { name, build_ids: [], cases: [], error: null };
    suites.set(name, suite);
    suite.build_ids.push(report.job_id);
    const read = checkLimits(count, text) ?? (await readReport(call.platform, report));
    suite.error ??= read.error;
    for (const testCase of read.cases) suite.cases.push(testCase);
    count += read.cases.length;
    text += read.size;
  }
  return [...suites.values()];
};
