import type { MigrationText } from '../ddl.ts';

/**
 * Where a project's repository lies, and whether it has to be there. A path that no other project ever had keeps a
 * project whose id was given out before (a restored database gives ids out again) from what lies in a storage.
 */
export const repositoryPlaces: MigrationText = {
  name: '0029_repository_places',
  statements: ({ text, integer }) => [
    `alter table projects add column repository_path ${text}`,
    `alter table projects add column repository_written ${integer} not null default 0`,
    'update projects set repository_written = 1 where default_branch is not null',
  ],
};
