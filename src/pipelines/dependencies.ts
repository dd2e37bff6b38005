/** Whose artifacts and dotenv variables a job gets. */
import type { Selectable } from 'kysely';
import { compiled } from '../db/compiled.ts';
import type { Reader } from '../db/open.ts';
import type { JobsTable } from '../db/schema_ci.ts';
import type { JobConfig } from './store.ts';
import { type Together, together } from './together.ts';

const columns = ['id', 'project_id', 'name', 'stage_position', 'status'] as const;

export type Dependency = Pick<Selectable<JobsTable>, (typeof columns)[number]>;

const before = compiled((db, given: { pipeline_id: number; stage_position: number }) =>
  db
    .selectFrom('jobs')
    .select(columns)
    .where('pipeline_id', '=', given.pipeline_id)
    .where('stage_position', '<', given.stage_position)
    .where('retried', '=', 0)
    .orderBy('stage_position')
    .orderBy('id')
    .compile(),
);

const named = compiled((db, given: { pipeline_id: number; names: string[] }, words) =>
  db
    .selectFrom('jobs')
    .select(columns)
    .where('pipeline_id', '=', given.pipeline_id)
    .where(words.oneOf('name', given.names))
    .where('retried', '=', 0)
    .orderBy('stage_position')
    .orderBy('id')
    .compile(),
);

type Asking = Pick<Selectable<JobsTable>, 'id' | 'pipeline_id' | 'stage_position'>;

const wantedNames = ({
  needs,
  dependencies,
}: Pick<JobConfig, 'needs' | 'dependencies'>): Set<string> | null => {
  if (needs === null) return dependencies === null ? null : new Set(dependencies);
  const names = needs.filter(({ artifacts }) => artifacts).map(({ job }) => job);
  return new Set(dependencies === null ? names : names.filter((name) => dependencies.includes(name)));
};

/**
 * The jobs whose artifacts a job gets, in their order: those that it needs with their artifacts or depends on, else all
 * of the stages before its own. Of those that were run again, the last.
 */
export const dependenciesOf = async (
  db: Reader,
  job: Asking,
  config: Pick<JobConfig, 'needs' | 'dependencies'>,
  { once }: Pick<Together, 'once'> = together([job.id]),
): Promise<Dependency[]> => {
  const names = wantedNames(config);
  const { id, pipeline_id, stage_position } = job;
  if (names?.size === 0 || (config.needs === null && stage_position === 0)) return [];
  if (names === null)
    return await once(
      `before ${stage_position}`,
      async () => await before(db, { pipeline_id, stage_position }),
    );
  const all = [...names];
  const rows = await once(`named ${all.join()}`, async () => await named(db, { pipeline_id, names: all }));
  const isBefore = (row: Dependency): boolean => config.needs !== null || row.stage_position < stage_position;
  return rows.filter((row) => row.id !== id && isBefore(row));
};
