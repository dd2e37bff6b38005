import type { MigrationText } from '../ddl_keywords.ts';

const ofSnippet = "target_type = 'Snippet' and target_id = old.id";
const notes = `(select id from notes where ${ofSnippet})`;

/**
 * Deletes what refers to the comments on a snippet, then the reactions to the snippet, its mentions, and the comments.
 */
const deletions = [
  `delete from activities where target_type = 'Note' and target_id in ${notes}`,
  `delete from award_emoji where target_type = 'Note' and target_id in ${notes}`,
  ...['award_emoji', 'mentions', 'notes'].map((table) => `delete from ${table} where ${ofSnippet}`),
];

const body = deletions.map((text) => `${text};`).join(' ');

/** Deletes a snippet's comments when the snippet is deleted, including by cascade from its author or project. */
export const snippetNotes: MigrationText = {
  name: '0171_snippet_notes',
  statements: ({ engine }) =>
    engine === 'sqlite'
      ? [`create trigger snippets_deleted after delete on snippets begin ${body} end`]
      : [
          `create function delete_notes_of_snippet() returns trigger language plpgsql as $$
            begin ${body} return null; end $$`,
          `create trigger snippets_deleted after delete on snippets for each row
            execute function delete_notes_of_snippet()`,
        ],
};
