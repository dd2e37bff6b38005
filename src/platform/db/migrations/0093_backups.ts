import type { MigrationText } from '../ddl_keywords.ts';

/** Backups of this instance, and which of them holds back the removal of files. */
export const backups: MigrationText = {
  name: '0093_backups',
  statements: ({ id, text, integer, end }) => [
    `create table backups (
      id ${id},
      name ${text} not null unique,
      destination ${text} not null,
      holder ${text} not null,
      started_at ${integer} not null,
      held_until ${integer},
      finished_at ${integer},
      verified_at ${integer},
      bytes ${integer},
      error ${text}
    ) ${end}`,
    'create index backups_holding on backups (held_until) where held_until is not null',
  ],
};
