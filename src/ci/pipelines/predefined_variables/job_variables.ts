/** Builds all variables that a runner gets for a job. */
import { sql } from 'kysely';
import type { Platform } from '../../../core/platform.ts';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { VariableType } from '../../../platform/db/schema/ci.ts';
import { unsealValue, variablesForJob } from '../../variables/queries.ts';
import { unsealPipelineVariable } from '../creation/pipeline_variables.ts';
import { type Facts, type JobAccess, loadJobFactsById } from './job_facts.ts';
import { plain, loadPredefinedLists, secret } from './job_predefined.ts';
import type { JobVariable } from './job_variable.ts';
import type { JobConfig } from '../pipeline_rows.ts';
import { type VariableLists, cacheJson } from './variable_json.ts';

/** Keeps the last variable of each key, at the last position. */
const keepLastOfEachKey = (variables: readonly JobVariable[]): JobVariable[] => {
  const byKey = new Map<string, JobVariable>();
  for (const variable of variables) {
    byKey.delete(variable.key);
    byKey.set(variable.key, variable);
  }
  return [...byKey.values()];
};

const yamlVariablesCache = new WeakMap<JobConfig, JobVariable[]>();

const getYamlVariables = ({ config }: Facts): JobVariable[] => {
  const cached = yamlVariablesCache.get(config);
  if (cached !== undefined) return cached;
  const variables = cacheJson(
    keepLastOfEachKey(config.variables.map(({ key, value, raw }) => ({ ...plain, key, value, raw }))),
  );
  yamlVariablesCache.set(config, variables);
  return variables;
};

/** Loads the variables of instance, groups and project. */
const loadStoredVariables = async ({
  platform,
  project,
  pipeline,
  job,
  queries,
}: Facts): Promise<JobVariable[]> => {
  const scope = { isProtected: pipeline.protected === 1, environment: job.environment };
  return await queries.once(`kept ${pipeline.protected} ${job.environment}`, async () => {
    const variables = await variablesForJob(platform, project, scope);
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

/** Selects the variables of a pipeline (`job_id` 0) and of jobs. */
const selectStoredRows = compiled(
  (db, params: { pipeline_id: number; job_ids: readonly number[] }, dialect) =>
    db
      .selectFrom('pipeline_variables')
      .select(['key', 'sealed_value', 'variable_type', 'raw'])
      .select([sql<string>`'pipeline'`.as('source'), sql<number>`0`.as('job_id')])
      .where('pipeline_id', '=', params.pipeline_id)
      .unionAll(
        db
          .selectFrom('job_variables')
          .select(['key', 'sealed_value'])
          .select([sql<VariableType>`'env_var'`.as('variable_type'), sql<0 | 1>`0`.as('raw')])
          .select(['source', 'job_id'])
          .where(dialect.oneOf('job_id', params.job_ids)),
      )
      .orderBy('job_id')
      .orderBy('key')
      .compile(),
);

type StoredVariableRow = Awaited<ReturnType<typeof selectStoredRows>>[number];

const toSecretVariable = (
  platform: Platform,
  { key, sealed_value }: StoredVariableRow,
  raw: boolean,
): JobVariable => ({
  ...secret(key, unsealValue(platform, sealed_value), false),
  raw,
});

const toPipelineVariable = (platform: Platform, row: StoredVariableRow): JobVariable => {
  const { key, value, variable_type, raw } = unsealPipelineVariable(platform, row);
  return { ...secret(key, value, false), file: variable_type === 'file', raw };
};

/** Loads stored variables of the pipeline, the jobs assigned together, and their dependencies. */
const loadStoredRows = async ({
  platform,
  pipeline,
  dependencies,
  queries,
}: Facts): Promise<StoredVariableRow[]> => {
  const dependencyIds = dependencies.map(({ id }) => id);
  const { ids, once } = queries;
  return await once(`stored ${dependencyIds.join()}`, async () => {
    const job_ids = [...new Set([...ids, ...dependencyIds])];
    return await selectStoredRows(platform.store.db, { pipeline_id: pipeline.id, job_ids });
  });
};

type VariablesBySource = { reported: JobVariable[]; pipeline: JobVariable[]; played: JobVariable[] };

/** Loads dotenv variables of dependencies (`reports: dotenv`), pipeline variables, and manually entered variables. */
const loadVariablesBySource = async (facts: Facts): Promise<VariablesBySource> => {
  const { platform, job, dependencies } = facts;
  const rows = await loadStoredRows(facts);
  if (rows.length === 0) return { reported: [], pipeline: [], played: [] };
  const dependencyIds = new Set(dependencies.map(({ id }) => id));
  return {
    reported: rows
      .filter(({ source, job_id }) => source === 'dotenv' && dependencyIds.has(job_id))
      .map((row) => toSecretVariable(platform, row, true)),
    pipeline: rows
      .filter(({ source }) => source === 'pipeline')
      .map((row) => toPipelineVariable(platform, row)),
    played: rows
      .filter(({ source, job_id }) => source === 'play' && job_id === job.id)
      .map((row) => toSecretVariable(platform, row, false)),
  };
};

/** Removes variables with these keys. Returns the same array if it has none of them, so that its JSON stays cached. */
const withoutKeys = (list: JobVariable[], keys: ReadonlySet<string>): JobVariable[] =>
  list.some(({ key }) => keys.has(key)) ? list.filter(({ key }) => !keys.has(key)) : list;

/**
 * Loads a job's variables as lists, each key once. Precedence from low to high: predefined, YAML, dotenv of
 * dependencies, instance, groups, project, pipeline, manually entered. The first lists are shared with other jobs.
 */
export const loadVariableLists = async (facts: Facts): Promise<VariableLists> => {
  const stored = await loadVariablesBySource(facts);
  const predefined = await loadPredefinedLists(facts);
  const file = getYamlVariables(facts);
  const variables = [
    ...stored.reported,
    ...(await loadStoredVariables(facts)),
    ...stored.pipeline,
    ...stored.played,
  ];
  const overriding = keepLastOfEachKey(variables);
  const keys = new Set(overriding.map(({ key }) => key));
  const remainingYaml = withoutKeys(file, keys);
  for (const { key } of remainingYaml) keys.add(key);
  return [...predefined.map((list) => withoutKeys(list, keys)), remainingYaml, overriding];
};

/** Like `loadVariableLists`, merged into one list. */
export const getJobVariables = async (facts: Facts): Promise<JobVariable[]> =>
  (await loadVariableLists(facts)).flat();

/** Loads the variables of a job by id; empty if the job is gone. */
export const loadVariablesOfJob = async (
  platform: Platform,
  jobId: number,
  issue: JobAccess,
): Promise<JobVariable[]> => {
  const facts = await loadJobFactsById(platform, jobId, issue);
  return facts === null ? [] : await getJobVariables(facts);
};
