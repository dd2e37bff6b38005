/** The files of a snippet, each with numbered lines in pages. */
import { createHash } from 'node:crypto';
import type { SnippetFile, SnippetFiles } from '../../../../projects/snippets/files.ts';
import { toRawUrl } from '../../../../projects/snippets/json.ts';
import type { Visit } from '../../page.ts';
import { writeLines } from '../../parts/code/write_lines.ts';
import { highlightLines } from '../../parts/highlight.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { pagesNav } from '../../parts/paging.ts';

/** Lines on a page. */
const maxLines = 2_500;

/** The page of lines of one file; other files show their first one. */
export type RequestedLines = { file: string | undefined; page: number };

/** Shown for a file without a name. */
export const nameOf = ({ path }: SnippetFile): string => (path === '' ? 'snippet.txt' : path);

/** Renders a page of the numbered lines of a file. @param idPrefix of its lines; empty: the file is the only one */
const linesPart = async (
  { call }: Visit,
  file: SnippetFile,
  { path, requested, idPrefix }: { path: string; requested: number; idPrefix: string },
): Promise<{ content: Html; nav: Html | null }> => {
  const text = file.content;
  const key = createHash('sha1').update(text).digest('hex');
  const { lines } = await highlightLines(call, { text, path: nameOf(file), key });
  const last = Math.max(Math.ceil(lines.length / maxLines), 1);
  const number = Math.min(Math.max(requested, 1), last);
  const offset = (number - 1) * maxLines;
  const shown = lines.slice(offset, offset + maxLines);
  return {
    content: writeLines({
      lines: shown,
      first: offset + 1,
      size: maxLines,
      total: lines.length,
      oneOfSeveral: idPrefix === '' ? undefined : { idPrefix, name: file.path },
    }),
    nav: pagesNav({
      path,
      query: { file: idPrefix === '' ? undefined : file.path },
      page: { page: number, per_page: maxLines, limit: maxLines, offset },
      total: lines.length,
      isFixedSize: true,
    }),
  };
};

/** Renders the files. @param path of the snippet */
export const fileCards = async (
  visit: Visit,
  path: string,
  files: SnippetFiles,
  requested: RequestedLines,
): Promise<Html[]> =>
  await Promise.all(
    files.map(async (file, at) => {
      const isOnly = files.length === 1;
      const { content, nav } = await linesPart(visit, file, {
        path,
        requested: isOnly || file.path === requested.file ? requested.page : 1,
        idPrefix: isOnly ? '' : `file_${at + 1}_`,
      });
      const [id, raw] = [isOnly ? 'file' : `file_${at + 1}`, toRawUrl(path, file.path)];
      const label = isOnly ? 'Copy the content' : `Copy the content of ${file.path}`;
      return html`<section class="card" aria-labelledby="${id}"><header>${icon('file')}<h2 id="${id}">${nameOf(file)}</h2><span class="end row"><a class="button small" href="${raw}"${
        !isOnly && html` aria-label="Raw text of ${file.path}"`
      }>Raw</a><button type="button" class="small" data-copy-from="${raw}" hidden aria-label="${label}">${icon('copy')}</button></span></header>
${content}</section>
${nav}`;
    }),
  );
