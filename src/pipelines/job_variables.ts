/** Everything that the runner of a job gets as variables. */
import type { Platform } from '../access/call.ts';
import { compiled } from '../db/compiled.ts';
import type { Reader } from '../db/open.ts';
import { loadProject } from '../projects/find.ts';
import { unsealValue, variablesForJob } from '../variables/queries.ts';
import { dependenciesOf } from './dependencies.ts';
import { givenTo } from './given_variables.ts';
import { type Facts, type Issue, type JobVariable, plain, predefinedFor, secret } from './job_predefined.ts';
import { factsOfRequest } from './merge_request_facts.ts';
import { jobById, jobConfigOf } from './store.ts';

const ofFile = ({ config }: Facts): JobVariable[] =>
  config.variables.map(({ key, value, raw }) => ({ ...plain, key, value, raw }));

type Stored = { job_id: number; key: string; sealed_value: string; source: string };

const storedWith = async (db: Reader, jobIds: readonly number[], source: string): Promise<Stored[]> =>
  jobIds.length === 0
    ? []
    : await db
        .selectFrom('job_variables')
        .selectAll()
        .where('job_id', 'in', jobIds)
        .where('source', '=', source)
        .orderBy('job_id')
        .execute();

const opened = (platform: Platform, rows: readonly Stored[], raw: boolean): JobVariable[] =>
  rows.map(({ key, sealed_value }) => ({
    ...secret(key, unsealValue(platform, sealed_value), false),
    raw,
  }));

/** What the jobs before it reported (`reports: dotenv`). */
const reported = async ({ platform, job, config }: Facts): Promise<JobVariable[]> => {
  const { db } = platform.store;
  const ids = (await dependenciesOf(db, job, config)).map(({ id }) => id);
  return opened(platform, await storedWith(db, ids, 'dotenv'), true);
};

const kept = async ({ platform, project, pipeline, job }: Facts): Promise<JobVariable[]> => {
  const who = { isProtected: pipeline.protected === 1, environment: job.environment };
  const variables = await variablesForJob(platform, project, who);
  return variables.map(({ key, value, variable_type, masked, raw }) => ({
    key,
    value,
    public: false,
    file: variable_type === 'file',
    masked: masked === 1,
    raw: raw === 1,
  }));
};

const given = async ({ platform, pipeline }: Facts): Promise<JobVariable[]> => {
  const variables = await givenTo(platform, platform.store.db, pipeline.id);
  return variables.map(({ key, value, variable_type, raw }) => ({
    ...secret(key, value, false),
    file: variable_type === 'file',
    raw,
  }));
};

const played = async ({ platform, job }: Facts): Promise<JobVariable[]> =>
  opened(platform, await storedWith(platform.store.db, [job.id], 'play'), false);

/** Of one key the last one, in the place of the last. */
const lastOfEach = (variables: readonly JobVariable[]): JobVariable[] => {
  const byKey = new Map<string, JobVariable>();
  for (const variable of variables) {
    byKey.delete(variable.key);
    byKey.set(variable.key, variable);
  }
  return [...byKey.values()];
};

const pipelineById = compiled((db, { id }: { id: number }) =>
  db.selectFrom('pipelines').selectAll().where('id', '=', id).compile(),
);

const factsOf = async (platform: Platform, jobId: number, issue: Issue): Promise<Facts | null> => {
  const { db } = platform.store;
  const [job] = await jobById(db, { id: jobId });
  if (job === undefined) return null;
  const project = await loadProject(db, job.project_id);
  const [pipeline] = await pipelineById(db, { id: job.pipeline_id });
  if (project === null || pipeline === undefined) return null;
  const config = await jobConfigOf(db, job);
  const { merge_request_id: id } = pipeline;
  const request = id === null ? null : await factsOfRequest(db, id);
  return { platform, project, pipeline, job, config, issue, request };
};

/**
 * The variables of a job, each key once, in the order in which later ones win: of the service, of the file, of jobs
 * before, of instance, groups and project, of the pipeline, of who started the job. None of a job that is gone.
 */
export const variablesOfJob = async (
  platform: Platform,
  jobId: number,
  issue: Issue,
): Promise<JobVariable[]> => {
  const facts = await factsOf(platform, jobId, issue);
  if (facts === null) return [];
  return lastOfEach([
    ...(await predefinedFor(facts)),
    ...ofFile(facts),
    ...(await reported(facts)),
    ...(await kept(facts)),
    ...(await given(facts)),
    ...(await played(facts)),
  ]);
};
