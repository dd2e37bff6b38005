/** Finds the jobs of the same pipeline whose artifacts and dotenv variables a job gets. */
import type { Selectable } from 'kysely';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { JobsTable } from '../../../platform/db/schema/ci.ts';
import type { JobConfig } from '../pipeline_rows.ts';
import { type SharedQueries, shareQueries } from '../shared_queries.ts';

const columns = ['id', 'project_id', 'name', 'stage_position', 'status'] as const;

export type Dependency = Pick<Selectable<JobsTable>, (typeof columns)[number]>;

const selectEarlierStages = compiled((db, params: { pipeline_id: number; stage_position: number }) =>
  db
    .selectFrom('jobs')
    .select(columns)
    .where('pipeline_id', '=', params.pipeline_id)
    .where('stage_position', '<', params.stage_position)
    .where('retried', '=', 0)
    .orderBy('stage_position')
    .orderBy('id')
    .compile(),
);

const selectNamed = compiled((db, params: { pipeline_id: number; names: string[] }, dialect) =>
  db
    .selectFrom('jobs')
    .select(columns)
    .where('pipeline_id', '=', params.pipeline_id)
    .where(dialect.oneOf('name', params.names))
    .where('retried', '=', 0)
    .orderBy('stage_position')
    .orderBy('id')
    .compile(),
);

type DependentJob = Pick<Selectable<JobsTable>, 'id' | 'pipeline_id' | 'stage_position'>;

const getDependencyNames = ({
  needs,
  dependencies,
}: Pick<JobConfig, 'needs' | 'dependencies'>): Set<string> | null => {
  if (needs === null) return dependencies === null ? null : new Set(dependencies);
  const names = needs.filter(({ artifacts }) => artifacts).map(({ job }) => job);
  return new Set(dependencies === null ? names : names.filter((name) => dependencies.includes(name)));
};

/**
 * Loads the jobs whose artifacts a job receives, in stage order: its `needs` with artifacts or `dependencies`,
 * otherwise all jobs of earlier stages. For retried jobs, only the last.
 */
export const loadDependencies = async (
  db: Reader,
  job: DependentJob,
  config: Pick<JobConfig, 'needs' | 'dependencies'>,
  { once }: Pick<SharedQueries, 'once'> = shareQueries([job.id]),
): Promise<Dependency[]> => {
  const names = getDependencyNames(config);
  const { id, pipeline_id, stage_position } = job;
  if (names?.size === 0 || (config.needs === null && stage_position === 0)) return [];
  if (names === null)
    return await once(
      `before ${stage_position}`,
      async () => await selectEarlierStages(db, { pipeline_id, stage_position }),
    );
  const distinctNames = [...names];
  const rows = await once(
    `named ${distinctNames.join()}`,
    async () => await selectNamed(db, { pipeline_id, names: distinctNames }),
  );
  const mayDependOn = (row: Dependency): boolean =>
    config.needs !== null || row.stage_position < stage_position;
  return rows.filter((row) => row.id !== id && mayDependOn(row));
};
