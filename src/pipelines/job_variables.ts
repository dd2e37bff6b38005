/** Everything that the runner of a job gets as variables. */
import { sql } from 'kysely';
import type { Platform } from '../access/call.ts';
import { compiled } from '../db/compiled.ts';
import type { VariableType } from '../db/schema_ci.ts';
import { unsealValue, variablesForJob } from '../variables/queries.ts';
import { openGiven } from './given_variables.ts';
import { type Facts, type Issue, factsOfJob } from './job_facts.ts';
import { type JobVariable, plain, predefinedFor, secret } from './job_predefined.ts';

const ofFile = ({ config }: Facts): JobVariable[] =>
  config.variables.map(({ key, value, raw }) => ({ ...plain, key, value, raw }));

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

/** Of a pipeline, and of jobs: their `job_id` is theirs, else 0. */
const storedWith = compiled((db, given: { pipeline_id: number; job_ids: number[] }, words) =>
  db
    .selectFrom('pipeline_variables')
    .select(['key', 'sealed_value', 'variable_type', 'raw'])
    .select([sql<string>`'given'`.as('source'), sql<number>`0`.as('job_id')])
    .where('pipeline_id', '=', given.pipeline_id)
    .unionAll(
      db
        .selectFrom('job_variables')
        .select(['key', 'sealed_value'])
        .select([sql<VariableType>`'env_var'`.as('variable_type'), sql<0 | 1>`0`.as('raw')])
        .select(['source', 'job_id'])
        .where(words.oneOf('job_id', given.job_ids)),
    )
    .orderBy('job_id')
    .orderBy('key')
    .compile(),
);

type Stored = Awaited<ReturnType<typeof storedWith>>[number];

const opened = (platform: Platform, { key, sealed_value }: Stored, raw: boolean): JobVariable => ({
  ...secret(key, unsealValue(platform, sealed_value), false),
  raw,
});

const given = (platform: Platform, row: Stored): JobVariable => {
  const { key, value, variable_type, raw } = openGiven(platform, row);
  return { ...secret(key, value, false), file: variable_type === 'file', raw };
};

type Said = { reported: JobVariable[]; given: JobVariable[]; played: JobVariable[] };

/** What the jobs before it reported (`reports: dotenv`), what was given to the pipeline, and to who started the job. */
const said = async ({ platform, pipeline, job, dependencies }: Facts): Promise<Said> => {
  const before = dependencies.map(({ id }) => id);
  const rows = await storedWith(platform.store.db, {
    pipeline_id: pipeline.id,
    job_ids: [job.id, ...before],
  });
  const of = (source: string, isOwn: boolean): Stored[] =>
    rows.filter((row) => row.source === source && (row.job_id === job.id) === isOwn);
  return {
    reported: of('dotenv', false).map((row) => opened(platform, row, true)),
    given: of('given', false).map((row) => given(platform, row)),
    played: of('play', true).map((row) => opened(platform, row, false)),
  };
};

/** Of one key the last one, in the place of the last. */
const lastOfEach = (variables: readonly JobVariable[]): JobVariable[] => {
  const byKey = new Map<string, JobVariable>();
  for (const variable of variables) {
    byKey.delete(variable.key);
    byKey.set(variable.key, variable);
  }
  return [...byKey.values()];
};

/**
 * The variables of a job, each key once, in the order in which later ones win: of the service, of the file, of jobs
 * before, of instance, groups and project, of the pipeline, of who started the job.
 */
export const variablesOf = async (facts: Facts): Promise<JobVariable[]> => {
  const stored = await said(facts);
  return lastOfEach([
    ...(await predefinedFor(facts)),
    ...ofFile(facts),
    ...stored.reported,
    ...(await kept(facts)),
    ...stored.given,
    ...stored.played,
  ]);
};

/** None of a job that is gone. */
export const variablesOfJob = async (
  platform: Platform,
  jobId: number,
  issue: Issue,
): Promise<JobVariable[]> => {
  const facts = await factsOfJob(platform, jobId, issue);
  return facts === null ? [] : await variablesOf(facts);
};
