import type { MigrationText } from '../ddl.ts';

export const artifacts: MigrationText = {
  name: '0016_artifacts',
  statements: ({ engine, text, integer, end }) => [
    // Megabytes of one file of a job; null: as the instance says.
    `alter table projects add column max_artifacts_size ${integer}`,
    // Bytes that a process is about to name, or to take away: of several on one store, the first has them.
    `create table byte_holds (
      project_id ${integer} not null references projects (id) on delete cascade,
      sha256 ${text} not null,
      holder ${text} not null,
      kind ${text} not null,
      created_at ${integer} not null,
      primary key (project_id, sha256, holder)
    ) ${end}`,

    // What jobs print, where several services share a bucket: a row for each that grows, and one for each piece.
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
