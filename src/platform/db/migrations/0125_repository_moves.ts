import type { MigrationText } from '../ddl_keywords.ts';

/**
 * Moves of repositories between storages. `projects.repository_moving` is 1 while the repository is read-only because of
 * a move.
 */
export const repositoryMoves: MigrationText = {
  name: '0125_repository_moves',
  statements: ({ id, text, integer, end }) => [
    `alter table projects add column repository_moving ${integer} not null default 0`,
    `create table repository_moves (
      id ${id},
      project_id ${integer} not null references projects (id) on delete cascade,
      user_id ${integer} references users (id) on delete set null,
      state ${text} not null,
      source_storage ${text} not null,
      source_path ${text} not null,
      destination_storage ${text} not null,
      destination_path ${text} not null,
      attempts ${integer} not null default 0,
      error ${text},
      created_at ${integer} not null,
      updated_at ${integer} not null
    ) ${end}`,
    'create index repository_moves_project on repository_moves (project_id, id)',
    'create index repository_moves_user on repository_moves (user_id) where user_id is not null',
    `create unique index repository_moves_open on repository_moves (project_id)
      where state in ('scheduled', 'started')`,
  ],
};
