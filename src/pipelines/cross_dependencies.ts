/** `needs: pipeline`: what jobs of pipelines left that started this one, or that those started. */
import { sql } from 'kysely';
import type { Platform } from '../access/call.ts';
import { expand } from '../ci_file/expand.ts';
import { type Dependency, dependenciesOf } from './dependencies.ts';
import { asValues, givenTo } from './given_variables.ts';
import type { Job, JobConfig } from './store.ts';

type Asking = Pick<Job, 'id' | 'pipeline_id' | 'stage_position'>;
type Config = Pick<JobConfig, 'needs' | 'dependencies' | 'cross_needs' | 'variables'>;
type Names = Map<number, Set<string>>;

/** By the id of a pipeline, the names of jobs there. */
const namesOf = async (platform: Platform, { pipeline_id }: Asking, config: Config): Promise<Names> => {
  const needs = config.cross_needs.filter(({ artifacts, project }) => artifacts && project === undefined);
  if (needs.length === 0) return new Map();
  const given = await givenTo(platform, platform.store.db, pipeline_id);
  const values = { ...asValues(config.variables), ...asValues(given) };
  const named = needs
    .map(({ pipeline = '', job }) => ({ id: expand(pipeline, values).trim(), job }))
    .filter(({ id }) => /^\d{1,15}$/.test(id));
  const byId = Map.groupBy(named, ({ id }) => Number(id));
  return new Map([...byId].map(([id, ones]) => [id, new Set(ones.map(({ job }) => job))]));
};

/** Those of the same project, in the same tree of pipelines; of others nothing is said. */
const crossDependenciesOf = async (
  platform: Platform,
  job: Asking,
  config: Config,
): Promise<Dependency[]> => {
  const names = await namesOf(platform, job, config);
  if (names.size === 0) return [];
  const rows = await platform.store.db
    .selectFrom('jobs')
    .innerJoin('pipelines as other', 'other.id', 'jobs.pipeline_id')
    .innerJoin('pipelines as own', 'own.project_id', 'other.project_id')
    .select([
      'jobs.id',
      'jobs.project_id',
      'jobs.name',
      'jobs.stage_position',
      'jobs.status',
      'other.id as of',
    ])
    .where('own.id', '=', job.pipeline_id)
    .where('other.id', 'in', [...names.keys()])
    .whereRef(sql`coalesce(other.root_id, other.id)`, '=', sql`coalesce(own.root_id, own.id)`)
    .where('jobs.name', 'in', [...new Set([...names.values()].flatMap((of) => [...of]))])
    .where('jobs.retried', '=', 0)
    .orderBy('jobs.id')
    .execute();
  return rows.filter(({ id, of, name }) => id !== job.id && names.get(of)?.has(name) === true);
};

/** All whose artifacts and variables a job gets, of its own pipeline and of others. */
export const allDependenciesOf = async (
  platform: Platform,
  job: Asking,
  config: Config,
): Promise<Dependency[]> => [
  ...(await crossDependenciesOf(platform, job, config)),
  ...(await dependenciesOf(platform.store.db, job, config)),
];
