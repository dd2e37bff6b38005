/** Loads the current jobs of a pipeline, without retried jobs. They determine its status. */
import type { Selectable } from 'kysely';
import { compiled } from '../../../platform/db/compiled_query.ts';
import type { Reader } from '../../../platform/db/open.ts';
import type { JobsTable } from '../../../platform/db/schema/ci.ts';

const columns = [
  'id',
  'project_id',
  'pipeline_id',
  'stage_id',
  'name',
  'stage_position',
  'status',
  'run_when',
  'allow_failure',
  'by_needs',
  'protected',
  'interruptible',
  'bridge',
  'config_id',
  'tag_list',
  'environment',
  'resource_group',
  'scheduled_at',
  'started_at',
  'finished_at',
] as const;

type Row = Pick<Selectable<JobsTable>, (typeof columns)[number]>;

export type LatestJob = Row & {
  /** Names of needed jobs; null: the job waits for the stages before its own. */
  needs: string[] | null;
};

const selectLatestRows = compiled((db, { pipeline_id }: { pipeline_id: number }) =>
  db
    .selectFrom('jobs')
    .select(columns)
    .where('pipeline_id', '=', pipeline_id)
    .where('retried', '=', 0)
    .orderBy('stage_position')
    .orderBy('id')
    .compile(),
);

const selectNeedRows = compiled((db, { pipeline_id }: { pipeline_id: number }) =>
  db
    .selectFrom('job_needs')
    .innerJoin('jobs', 'jobs.id', 'job_needs.job_id')
    .select(['job_needs.job_id', 'job_needs.name'])
    .where('jobs.pipeline_id', '=', pipeline_id)
    .where('jobs.retried', '=', 0)
    .compile(),
);

export const loadLatestJobs = async (db: Reader, pipeline_id: number): Promise<LatestJob[]> => {
  const rows = await selectLatestRows(db, { pipeline_id });
  // Needs matter only while a job waits or may wait again.
  const needsMatter = rows.some(
    ({ by_needs, status }) => by_needs === 1 && (status === 'created' || status === 'skipped'),
  );
  const needs = Map.groupBy(
    needsMatter ? await selectNeedRows(db, { pipeline_id }) : [],
    ({ job_id }) => job_id,
  );
  const getNeedNames = ({ id, by_needs }: Row): string[] | null =>
    by_needs === 0 ? null : (needs.get(id) ?? []).map(({ name }) => name);
  // Not copied: there may be many, and every event of a pipeline loads them.
  return rows.map((row) => Object.assign(row, { needs: getNeedNames(row) }));
};
