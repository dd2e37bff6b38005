import type { Call } from '../../core/access/call.ts';
import { array, int, nullable, object, string, timestamp } from '../../platform/http/schema.ts';
import { formatTime } from '../../platform/time.ts';
import { basicUser, basicUserShape, basicUsersById } from '../../identity/users/json.ts';
import type { Home } from './snippet_home.ts';
import type { SnippetRow } from './snippet_row.ts';

export const snippetShape = object({
  id: int,
  title: string,
  file_name: string,
  description: nullable(string),
  visibility: string,
  author: nullable(basicUserShape),
  project_id: nullable(int),
  web_url: string,
  raw_url: string,
  files: array(object({ path: string, raw_url: string })),
  created_at: timestamp,
  updated_at: timestamp,
});

/**
 * Renders snippets with their authors, loaded in one statement.
 * @param toPath full path of a snippet's project; null: a personal one
 */
export const renderSnippets = async <R extends SnippetRow>(
  call: Call,
  rows: readonly R[],
  toPath: (row: R) => string | null,
) => {
  const authors = await basicUsersById(
    call.db,
    rows.map(({ author_id }) => author_id),
  );
  return rows.map((row) => {
    const author = authors.get(row.author_id);
    const path = toPath(row);
    const web_url = `${call.baseUrl}${path === null ? '' : `/${path}`}/snippets/${row.id}`;
    return {
      id: row.id,
      title: row.title,
      file_name: row.file_name,
      description: row.description,
      visibility: row.visibility,
      author: author === undefined ? null : basicUser(author, call),
      project_id: row.project_id,
      web_url,
      raw_url: `${web_url}/raw`,
      files: [{ path: row.file_name, raw_url: `${web_url}/raw` }],
      created_at: formatTime(row.created_at),
      updated_at: formatTime(row.updated_at),
    };
  });
};

/** Renders the snippets of one home. */
export const snippetsJson = async (call: Call, home: Home, rows: readonly SnippetRow[]) =>
  await renderSnippets(call, rows, () => home?.full_path ?? null);
