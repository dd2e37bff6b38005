/**
 * Reads and writes the HTML that the sanitizer writes: lower-case names, double quotes, and `<`, `>`, `&` escaped
 * wherever they are not markup. Takes linear time.
 */
import { escapeHtml } from '../../../platform/escape_html.ts';

export type HtmlToken =
  | { kind: 'text'; text: string }
  | { kind: 'open'; name: string; attributes: Map<string, string> }
  | { kind: 'close'; name: string };

const entities: Record<string, string> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
};

const unescapeHtml = (text: string): string =>
  text.replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => entities[entity] ?? entity);

const attribute = / ([a-z][a-z0-9-]*)(?:="([^"]*)")?/g;

const readTag = (tag: string): HtmlToken => {
  if (tag.startsWith('/')) return { kind: 'close', name: tag.slice(1) };
  const name = /^[a-z][a-z0-9]*/.exec(tag)?.[0] ?? '';
  const attributes = new Map<string, string>();
  for (const [, key = '', value = ''] of tag.slice(name.length).matchAll(attribute)) {
    if (!attributes.has(key)) attributes.set(key, unescapeHtml(value));
  }
  return { kind: 'open', name, attributes };
};

/** Splits sanitized HTML into tags and unescaped texts. */
export const readHtml = (html: string): HtmlToken[] => {
  const tokens: HtmlToken[] = [];
  const addText = (from: number, to: number): void => {
    if (to > from) tokens.push({ kind: 'text', text: unescapeHtml(html.slice(from, to)) });
  };
  let at = 0;
  for (;;) {
    const start = html.indexOf('<', at);
    const end = start === -1 ? -1 : html.indexOf('>', start);
    if (end === -1) break;
    addText(at, start);
    tokens.push(readTag(html.slice(start + 1, end)));
    at = end + 1;
  }
  addText(at, html.length);
  return tokens;
};

/** Writes an opening tag. Values are escaped; null omits the attribute. */
export const writeTag = (name: string, attributes: Iterable<readonly [string, string | null]>): string => {
  let tag = `<${name}`;
  for (const [key, value] of attributes) {
    if (value !== null) tag += value === '' ? ` ${key}` : ` ${key}="${escapeHtml(value)}"`;
  }
  return `${tag}>`;
};
