/**
 * Converts Markdown to sanitized HTML with places for references. Pure: no database, no viewer. Takes linear time.
 * Loaded at the first need, because its libraries take memory.
 */
import { hash, randomUUID } from 'node:crypto';
import type { RenderFormula } from './math/parse_formulas.ts';
import { isNestedDeeper } from './nesting.ts';
import type { ConvertOptions, Part } from './options.ts';
import { renderUnsafe } from './parser.ts';
import { showPlain } from './show_plain.ts';
import { rewriteHtml } from './rewrite_html.ts';
import { sanitize } from './sanitize.ts';

/** More open elements than any text needs. */
const maxNesting = 2_000;

/** @param renderFormula default: formulas stay as they were written */
export const convert = (text: string, options: ConvertOptions, renderFormula?: RenderFormula): Part[] => {
  const nonce = randomUUID();
  const docId = hash('sha256', text).slice(0, 6);
  const html = renderUnsafe(text, { nonce, docId, diagramServer: options.diagramServer });
  if (isNestedDeeper(html, maxNesting)) {
    return showPlain(text, 'The elements of this text are nested too deeply to be rendered.');
  }
  return rewriteHtml(sanitize(html), { nonce, options, ...(renderFormula && { renderFormula }) });
};
