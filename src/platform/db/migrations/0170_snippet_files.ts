import type { MigrationText } from '../ddl_keywords.ts';

/** The second and later files of a snippet. The first stays in `snippets`, where earlier releases read and write it. */
export const snippetFiles: MigrationText = {
  name: '0170_snippet_files',
  statements: ({ id, text, integer, end }) => [
    `create table snippet_files (
      id ${id},
      snippet_id ${integer} not null references snippets (id) on delete cascade,
      position ${integer} not null,
      path ${text} not null,
      content ${text} not null
    ) ${end}`,
    'create unique index snippet_files_path on snippet_files (snippet_id, path)',
  ],
};
