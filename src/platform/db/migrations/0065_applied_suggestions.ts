import type { MigrationText } from '../ddl_keywords.ts';

/** Suggestions of comments that were applied, by their number within the comment. */
export const appliedSuggestions: MigrationText = {
  name: '0065_applied_suggestions',
  statements: ({ text, integer, end }) => [
    `create table applied_suggestions (
      note_id ${integer} not null references notes (id) on delete cascade,
      position ${integer} not null,
      commit_sha ${text} not null,
      created_at ${integer} not null,
      primary key (note_id, position)
    ) ${end}`,
  ],
};
