import type { MigrationText } from '../ddl_keywords.ts';

export const crossReferences: MigrationText = {
  name: '0017_cross_references',
  statements: ({ text, integer }) => [
    // For a note about a mention: the type of the mentioning record. 'Issue', 'MergeRequest' or 'Commit'; null: no
    // such note.
    `alter table notes add column mentioned_by_type ${text}`,
    `alter table notes add column mentioned_by_project_id ${integer}`,
    // Id of the issue or merge request. No foreign key: notes of deleted records are hidden from everyone.
    `alter table notes add column mentioned_by_id ${integer}`,
    `alter table notes add column mentioned_by_sha ${text}`,
    // One note for each pair of records, also under concurrency.
    `create unique index notes_mentioned_by on notes (mentioned_by_type, mentioned_by_id, target_type, target_id)
      where mentioned_by_id is not null`,
    `create unique index notes_mentioned_by_commit
      on notes (mentioned_by_project_id, mentioned_by_sha, target_type, target_id)
      where mentioned_by_sha is not null`,
  ],
};
