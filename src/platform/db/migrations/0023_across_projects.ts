import type { MigrationText } from '../ddl_keywords.ts';

export const acrossProjects: MigrationText = {
  name: '0023_across_projects',
  statements: ({ text, integer, end }) => [
    `create table job_dependencies (
      job_id ${integer} not null references jobs (id) on delete cascade,
      dependency_id ${integer} not null references jobs (id) on delete cascade,
      primary key (job_id, dependency_id)
    ) ${end}`,
    'create index job_dependencies_dependency on job_dependencies (dependency_id)',
    `alter table jobs add column mirrored_pipeline_id ${integer} references pipelines (id) on delete set null`,
    'create index jobs_mirrored on jobs (mirrored_pipeline_id, id) where mirrored_pipeline_id is not null',
    `alter table jobs add column downstream_errors ${text}`,
  ],
};
