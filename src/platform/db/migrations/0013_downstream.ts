import type { Ddl, MigrationText } from '../ddl_keywords.ts';

const setNull = 'on delete set null';

const pipelines = ({ integer }: Ddl): string[] => [
  `alter table pipelines add column source_pipeline_id ${integer} references pipelines (id) ${setNull}`,
  `alter table pipelines add column source_job_id ${integer} references jobs (id) ${setNull}`,
  // No foreign key: the size of a pipeline tree must be known even after its root is deleted.
  `alter table pipelines add column root_id ${integer}`,
  `alter table pipelines add column depth ${integer} not null default 0`,
  `alter table pipelines add column schedule_id ${integer} references pipeline_schedules (id) ${setNull}`,
  'create index pipelines_source_pipeline on pipelines (source_pipeline_id, id) where source_pipeline_id is not null',
  // A job starts at most one pipeline, also when it is retried.
  'create unique index pipelines_source_job on pipelines (source_job_id) where source_job_id is not null',
  'create index pipelines_root on pipelines (root_id, id) where root_id is not null',
  'create index pipelines_schedule on pipelines (schedule_id, id) where schedule_id is not null',
];

export const downstream: MigrationText = {
  name: '0013_downstream',
  statements: (ddl) => [
    ...pipelines(ddl),
    `alter table jobs add column bridge ${ddl.integer} not null default 0`,
    `update jobs set bridge = 1 where config_id in
      (select id from job_configs where config like '%"trigger":%' and config not like '%"trigger":null%')`,
    // Job lists omit bridges, which are counted separately.
    'create index jobs_bridge on jobs (project_id, status, id) where bridge = 1',
    `create index jobs_bridge_open on jobs (status, id)
      where bridge = 1 and status in ('pending', 'running', 'manual')`,
  ],
};
