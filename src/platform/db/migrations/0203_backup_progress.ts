import type { MigrationText } from '../ddl_keywords.ts';

/** How far a backup or its verification is: the part that runs, and how many of its items are done. */
export const backupProgress: MigrationText = {
  name: '0203_backup_progress',
  statements: ({ text, integer }) => [
    `alter table backups add column part ${text}`,
    `alter table backups add column part_done ${integer}`,
    `alter table backups add column part_total ${integer}`,
    `alter table backups add column part_at ${integer}`,
  ],
};
