import type { Ddl, MigrationText } from '../ddl_keywords.ts';
import { trigramIndexes } from './0068_trigram_search.ts';

const columns = 'rowid, path, content';
const folded = "new.id, lower(new.path), lower(coalesce(new.content, ''))";

/** SQLite: triggers keep the contentless index of trigrams equal to the table. */
const sqliteIndex = [
  `create virtual table code_files_index using fts5 (path, content, content = '',
    contentless_delete = 1, detail = full, tokenize = 'trigram case_sensitive 1')`,
  `create trigger code_files_inserted after insert on code_files begin
    insert into code_files_index (${columns}) values (${folded}); end`,
  `create trigger code_files_updated after update of path, content on code_files begin
    delete from code_files_index where rowid = old.id;
    insert into code_files_index (${columns}) values (${folded}); end`,
  `create trigger code_files_deleted after delete on code_files begin
    delete from code_files_index where rowid = old.id; end`,
];

/** Code of default branches. Existing repositories are indexed by background work. */
export const codeSearch: MigrationText = {
  name: '0069_code_search',
  statements: (ddl: Ddl) => [
    `create table code_files (
      id ${ddl.id},
      project_id ${ddl.integer} not null references projects (id) on delete cascade,
      path ${ddl.text} not null,
      blob_id ${ddl.text} not null,
      content ${ddl.text},
      unique (project_id, path)
    ) ${ddl.end}`,
    `create table code_indexes (
      project_id ${ddl.integer} primary key references projects (id) on delete cascade,
      commit_id ${ddl.text} not null
    ) ${ddl.end}`,
    ...(ddl.engine === 'sqlite' ? sqliteIndex : []),
    ...trigramIndexes(ddl, [{ table: 'code_files', columns: ['lower(path)', 'lower(content)'] }]),
    `insert into work (name, payload, unique_key, turn, run_at, created_at)
      select 'repository.index_code', '{"project_id":' || id || '}', 'index code ' || id, 'index code ' || id, 0, 0
      from projects where repository_written = 1 and deleted_at is null`,
  ],
};
