/** Everything that the runner of a job gets as variables. */
import { sql } from 'kysely';
import type { Platform } from '../access/call.ts';
import { compiled } from '../db/compiled.ts';
import type { VariableType } from '../db/schema_ci.ts';
import { unsealValue, variablesForJob } from '../variables/queries.ts';
import { openGiven } from './given_variables.ts';
import { type Facts, type Issue, factsOfJob } from './job_facts.ts';
import { type JobVariable, plain, predefinedFor, secret } from './job_predefined.ts';
import type { JobConfig } from './store.ts';
import { type VariableLists, shared } from './variable_texts.ts';

/** Of one key the last one, in the place of the last. */
const lastOfEach = (variables: readonly JobVariable[]): JobVariable[] => {
  const byKey = new Map<string, JobVariable>();
  for (const variable of variables) {
    byKey.delete(variable.key);
    byKey.set(variable.key, variable);
  }
  return [...byKey.values()];
};

const filed = new WeakMap<JobConfig, JobVariable[]>();

const ofFile = ({ config }: Facts): JobVariable[] => {
  const known = filed.get(config);
  if (known !== undefined) return known;
  const made = shared(
    lastOfEach(config.variables.map(({ key, value, raw }) => ({ ...plain, key, value, raw }))),
  );
  filed.set(config, made);
  return made;
};

/** Those that people keep for the project. */
const kept = async ({ platform, project, pipeline, job, together }: Facts): Promise<JobVariable[]> => {
  const who = { isProtected: pipeline.protected === 1, environment: job.environment };
  return await together.once(`kept ${pipeline.protected} ${job.environment}`, async () => {
    const variables = await variablesForJob(platform, project, who);
    return variables.map(({ key, value, variable_type, masked, raw }) => ({
      key,
      value,
      public: false,
      file: variable_type === 'file',
      masked: masked === 1,
      raw: raw === 1,
    }));
  });
};

/** Of a pipeline, and of jobs: their `job_id` is theirs, else 0. */
const storedWith = compiled((db, given: { pipeline_id: number; job_ids: readonly number[] }, words) =>
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

/** Of the pipeline, of those that are given away together, and of those before them. */
const storedOf = async ({ platform, pipeline, dependencies, together }: Facts): Promise<Stored[]> => {
  const before = dependencies.map(({ id }) => id);
  const { ids, once } = together;
  return await once(`stored ${before.join()}`, async () => {
    const job_ids = [...new Set([...ids, ...before])];
    return await storedWith(platform.store.db, { pipeline_id: pipeline.id, job_ids });
  });
};

type Said = { reported: JobVariable[]; given: JobVariable[]; played: JobVariable[] };

/** What the jobs before it reported (`reports: dotenv`), what was given to the pipeline, and to who started the job. */
const said = async (facts: Facts): Promise<Said> => {
  const { platform, job, dependencies } = facts;
  const rows = await storedOf(facts);
  if (rows.length === 0) return { reported: [], given: [], played: [] };
  const before = new Set(dependencies.map(({ id }) => id));
  return {
    reported: rows
      .filter(({ source, job_id }) => source === 'dotenv' && before.has(job_id))
      .map((row) => opened(platform, row, true)),
    given: rows.filter(({ source }) => source === 'given').map((row) => given(platform, row)),
    played: rows
      .filter(({ source, job_id }) => source === 'play' && job_id === job.id)
      .map((row) => opened(platform, row, false)),
  };
};

/** Those that others override are left out; a list of which nobody does stays the same one. */
const without = (list: JobVariable[], keys: ReadonlySet<string>): JobVariable[] =>
  list.some(({ key }) => keys.has(key)) ? list.filter(({ key }) => !keys.has(key)) : list;

/**
 * The variables of a job, each key once, in the order in which later ones win: of the service, of the file, of jobs
 * before, of instance, groups and project, of the pipeline, of who started the job. In lists, the first of which it
 * shares with other jobs.
 */
export const variableListsOf = async (facts: Facts): Promise<VariableLists> => {
  const stored = await said(facts);
  const ofService = await predefinedFor(facts);
  const file = ofFile(facts);
  const others = [...stored.reported, ...(await kept(facts)), ...stored.given, ...stored.played];
  const ofOthers = lastOfEach(others);
  const keys = new Set(ofOthers.map(({ key }) => key));
  const ofItsFile = without(file, keys);
  for (const { key } of ofItsFile) keys.add(key);
  return [...ofService.map((list) => without(list, keys)), ofItsFile, ofOthers];
};

/** As `variableListsOf`, in one. */
export const variablesOf = async (facts: Facts): Promise<JobVariable[]> =>
  (await variableListsOf(facts)).flat();

/** None of a job that is gone. */
export const variablesOfJob = async (
  platform: Platform,
  jobId: number,
  issue: Issue,
): Promise<JobVariable[]> => {
  const facts = await factsOfJob(platform, jobId, issue);
  return facts === null ? [] : await variablesOf(facts);
};
