import type { Call } from '../../core/access/call.ts';
import { array, bool, int, nullable, object, string, timestamp } from '../../platform/http/schema.ts';
import { formatTime } from '../../platform/time.ts';
import { basicUser, basicUserShape, basicUsersById } from '../../identity/users/json.ts';
import { loadFurtherPaths } from './files.ts';
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
  /** Snippets are not repositories. */
  ssh_url_to_repo: nullable(string),
  http_url_to_repo: nullable(string),
  files: array(object({ path: string, raw_url: string })),
  imported: bool,
  imported_from: string,
  created_at: timestamp,
  updated_at: timestamp,
});

/** The version of files in their addresses: snippets have no history. */
export const currentRef = 'main';

/** Address of the text of a file; a file without a name is the only one of its snippet. */
export const toRawUrl = (webUrl: string, path: string): string =>
  path === '' ? `${webUrl}/raw` : `${webUrl}/raw/${currentRef}/${encodeURIComponent(path)}`;

/**
 * Renders snippets with their authors and the names of their files, each loaded in one statement.
 * @param toPath full path of a snippet's project; null: a personal one
 */
export const renderSnippets = async <R extends SnippetRow>(
  call: Call,
  rows: readonly R[],
  toPath: (row: R) => string | null,
) => {
  const [authors, furtherPaths] = await Promise.all([
    basicUsersById(
      call.db,
      rows.map(({ author_id }) => author_id),
    ),
    loadFurtherPaths(
      call.db,
      rows.map(({ id }) => id),
    ),
  ]);
  return rows.map((row) => {
    const author = authors.get(row.author_id);
    const path = toPath(row);
    const web_url = `${call.baseUrl}${path === null ? '' : `/${path}`}/snippets/${row.id}`;
    const paths = [row.file_name, ...(furtherPaths.get(row.id) ?? [])];
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
      ssh_url_to_repo: null,
      http_url_to_repo: null,
      files: paths.map((name) => ({ path: name, raw_url: toRawUrl(web_url, name) })),
      imported: false,
      imported_from: 'none',
      created_at: formatTime(row.created_at),
      updated_at: formatTime(row.updated_at),
    };
  });
};

/** Renders the snippets of one home. */
export const snippetsJson = async (call: Call, home: Home, rows: readonly SnippetRow[]) =>
  await renderSnippets(call, rows, () => home?.full_path ?? null);
