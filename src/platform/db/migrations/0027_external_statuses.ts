import type { MigrationText } from '../ddl_keywords.ts';

/** Assigns external commit statuses to a pipeline of the commit. */
export const externalStatuses: MigrationText = {
  name: '0027_external_statuses',
  statements: ({ integer }) => [
    `alter table commit_statuses add column pipeline_id ${integer} references pipelines (id) on delete cascade`,
    `alter table commit_statuses add column retried ${integer} not null default 0`,
    `create index commit_statuses_pipeline on commit_statuses (pipeline_id, retried, name)
      where pipeline_id is not null`,
  ],
};
