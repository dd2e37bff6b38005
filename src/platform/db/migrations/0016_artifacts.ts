import type { MigrationText } from '../ddl_keywords.ts';

export const artifacts: MigrationText = {
  name: '0016_artifacts',
  statements: ({ engine, text, integer, end }) => [
    // Maximum megabytes of an artifact file; null: the instance's limit.
    `alter table projects add column max_artifacts_size ${integer}`,
    // Claims on a blob by a process that is about to reference or delete it. The first claim wins.
    `create table byte_holds (
      project_id ${integer} not null references projects (id) on delete cascade,
      sha256 ${text} not null,
      holder ${text} not null,
      kind ${text} not null,
      created_at ${integer} not null,
      primary key (project_id, sha256, holder)
    ) ${end}`,

    // Job logs shared by several services: a row for each growing log, and one for each piece.
    `create table shared_traces (
      job_id ${integer} primary key references jobs (id) on delete cascade,
      project_id ${integer} not null,
      size ${integer} not null,
      crc ${integer} not null,
      sha256 ${text}
    ) ${end}`,
    'create index shared_traces_project on shared_traces (project_id)',
    `create table shared_trace_pieces (
      job_id ${integer} not null references shared_traces (job_id) on delete cascade,
      start ${integer} not null,
      bytes ${engine === 'postgres' ? 'bytea' : 'blob'} not null,
      primary key (job_id, start)
    ) ${end}`,
  ],
};
