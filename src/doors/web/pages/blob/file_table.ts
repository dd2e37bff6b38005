/** Renders the numbered lines of a file as a table. Caches the encoded HTML by the id of the blob. */
import type { Call } from '../../../../core/access/call.ts';
import { makeLruCache } from '../../../../platform/lru_cache.ts';
import { canHighlight, toLanguage } from '../../../markdown/convert/languages.ts';
import type { CodeText } from '../../../markdown/highlight_lines.ts';
import { limitLines, writeLines } from '../../parts/code/write_lines.ts';
import { highlightLines } from '../../parts/highlight.ts';
import { type Html, encode } from '../../parts/html.ts';

/** Lines on a page. */
export const maxLines = 2_500;

export type FileTable = {
  content: Html;
  /** Lines of the file. */
  total: number;
  /** Number of the page. */
  page: number;
};

/** Bytes in memory. */
const maxBytes = 12 * 1024 * 1024;
const tables = makeLruCache<FileTable & { bytes: number }>(maxBytes, ({ bytes }) => bytes + 300);

/** Returns the lines of one page of a file; the last page if it has fewer. `code.key` is the id of the blob. */
export const loadFileTable = async (
  call: Call,
  code: CodeText,
  requestedPage: number,
): Promise<FileTable> => {
  const language = toLanguage(code.path);
  const toKey = (page: number): string => `${language} ${code.key} ${page}`;
  const cached = tables.get(toKey(requestedPage));
  if (cached !== undefined) return cached;
  const { lines: all, isHighlighted } = await highlightLines(call, code);
  const page = Math.min(requestedPage, Math.max(1, Math.ceil(all.length / maxLines)));
  const offset = (page - 1) * maxLines;
  const lines = limitLines(all.slice(offset, offset + maxLines));
  const content = encode(writeLines({ lines, first: offset + 1, size: maxLines, total: all.length }));
  const table = { content, total: all.length, page };
  // Highlighting that took too long is tried again.
  if (isHighlighted || !canHighlight(language))
    tables.set(toKey(page), { ...table, bytes: content.byteLength });
  return table;
};
