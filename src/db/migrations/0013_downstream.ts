import type { Ddl, MigrationText } from '../ddl.ts';

const setNull = 'on delete set null';

const pipelines = ({ integer }: Ddl): string[] => [
  `alter table pipelines add column source_pipeline_id ${integer} references pipelines (id) ${setNull}`,
  `alter table pipelines add column source_job_id ${integer} references jobs (id) ${setNull}`,
  // No reference: how large a tree has grown is told also when its root is gone.
  `alter table pipelines add column root_id ${integer}`,
  `alter table pipelines add column depth ${integer} not null default 0`,
  `alter table pipelines add column schedule_id ${integer} references pipeline_schedules (id) ${setNull}`,
  'create index pipelines_source_pipeline on pipelines (source_pipeline_id, id) where source_pipeline_id is not null',
  // One job starts one pipeline, however often it is tried.
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
    // Lists of jobs are without them; they are counted by themselves.
    'create index jobs_bridge on jobs (project_id, status, id) where bridge = 1',
    `create index jobs_bridge_open on jobs (status, id)
      where bridge = 1 and status in ('pending', 'running', 'manual')`,
  ],
};
