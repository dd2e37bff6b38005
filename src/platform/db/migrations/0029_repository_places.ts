import type { MigrationText } from '../ddl_keywords.ts';

/**
 * Stores the path of a project's repository, and whether the repository must exist. A restored database may reuse
 * ids; the random path keeps a project from reading the repository of an earlier project with its id.
 */
export const repositoryPlaces: MigrationText = {
  name: '0029_repository_places',
  statements: ({ text, integer }) => [
    `alter table projects add column repository_path ${text}`,
    `alter table projects add column repository_written ${integer} not null default 0`,
    'update projects set repository_written = 1 where default_branch is not null',
  ],
};
