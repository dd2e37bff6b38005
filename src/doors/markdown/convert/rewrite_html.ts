/**
 * Rewrites sanitized HTML: resolves addresses, prefixes ids, adds anchors to headings, replaces names of emoji, and
 * separates references. Writes every tag itself, with escaped values.
 */
import { replaceEmoji } from './emoji.ts';
import { findReferences, readAddress } from './find_references.ts';
import { escapeHtml } from '../../../platform/escape_html.ts';
import { type HtmlToken, readHtml, writeTag } from './html_tokens.ts';
import { imagePath } from '../../image_proxy/image_links.ts';
import type { RenderFormula } from './math/parse_formulas.ts';
import { type ConvertOptions, type Part, getRoot } from './options.ts';
import { type ResolvedUrl, idPrefix, resolveUrl } from './resolve_urls.ts';
import { trimEnd } from '../../../platform/trim.ts';

type Open = Extract<HtmlToken, { kind: 'open' }>;

type Rewrite = {
  options: ConvertOptions;
  /** Marks the checkboxes of tasks, and formulas. */
  nonce: string;
  /** Absent: formulas stay as they were written. */
  renderFormula?: RenderFormula;
};

type Rewriting = Rewrite & {
  tokens: HtmlToken[];
  at: number;
  parts: Part[];
  /** Number of open elements, by name. */
  depths: Map<string, number>;
  /** Id of the open heading; null: none. */
  headingId: string | null;
};

const voids = new Set(['br', 'hr', 'img', 'input', 'wbr']);
/** Their texts have no references and no emoji. */
const verbatim = ['a', 'code', 'kbd', 'pre', 'samp', 'tt'];
const headings = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6']);
const directed = new Set([...headings, 'p', 'ul', 'ol', 'dl', 'blockquote', 'table']);
/** Files that `<img>` cannot show. */
const media = /\.(?:mp4|m4v|mov|webm|ogv|mp3|oga|ogg|wav|spx)$/i;

const isInside = ({ depths }: Rewriting, name: string): boolean => (depths.get(name) ?? 0) > 0;

const externalRel = 'nofollow noreferrer noopener';

const writeLink = (href: string, isExternal: boolean, more: [string, string | null][] = []): string =>
  writeTag('a', [['href', href], ['rel', isExternal ? externalRel : null], ...more]);

/** Returns where a browser loads an image from; null: nowhere, it is shown as a link. */
const getSource = ({ options }: Rewriting, url: ResolvedUrl, isDiagram: boolean): string | null => {
  if (media.test(url.href)) return null;
  if (!url.isExternal || isDiagram) return url.href;
  const { imageKey, baseUrl } = options;
  const absolute = URL.parse(url.href, baseUrl === '' ? undefined : baseUrl)?.href;
  const path = imageKey === null || absolute === undefined ? null : imagePath(imageKey, absolute);
  return path === null ? null : `${getRoot(options)}${path}`;
};

/**
 * Writes an image. Pages load nothing from other sites: the service loads their images, or they become links.
 */
const writeImage = (state: Rewriting, { attributes }: Open): string => {
  const { options } = state;
  const url = resolveUrl(attributes.get('src') ?? '', 'image', options);
  const alt = attributes.get('alt') ?? '';
  if (url === null || attributes.get('src') === undefined) return escapeHtml(alt);
  const isDiagram =
    options.diagramServer !== null && url.href.startsWith(`${trimEnd(options.diagramServer, '/')}/`);
  const source = getSource(state, url, isDiagram);
  if (source !== null) {
    const size = (name: string): string | null =>
      /^\d{1,4}(?:px|%)?$/.exec(attributes.get(name) ?? '')?.[0].replace('px', '') ?? null;
    return writeTag('img', [
      ['src', source],
      // `alt` without a value is a decoration.
      ['alt', alt],
      ['title', attributes.get('title') ?? null],
      ['width', size('width')],
      ['height', size('height')],
      ['align', attributes.get('align') ?? null],
      ['loading', 'lazy'],
      ['class', isDiagram ? 'diagram' : null],
    ]);
  }
  const text = escapeHtml(alt === '' ? url.href : alt);
  return isInside(state, 'a') ? text : `${writeLink(url.href, url.isExternal)}${text}</a>`;
};

const taskNames: Record<string, string> = { x: 'Completed task', '~': 'Task that does not apply' };

const writeTaskBox = (state: Rewriting, { attributes }: Open): string => {
  const [nonce, line = '', tick = ''] = attributes.get('data-task')?.split(' ') ?? [];
  if (nonce !== state.nonce) return '';
  return writeTag('input', [
    ['type', 'checkbox'],
    ['class', 'task-list-item-checkbox'],
    ['aria-label', taskNames[tick] ?? 'Open task'],
    // Without a line, pages offer no button that checks it.
    ['data-line', tick === '~' ? null : line],
    ['disabled', ''],
    ['checked', tick === 'x' ? '' : null],
  ]);
};

/** Returns the attributes that are common to all elements. */
const commonAttributes = ({ name, attributes }: Open): [string, string | null][] => {
  const rest = [...attributes].filter(([key]) => !['href', 'id', 'name', 'dir', 'data-math'].includes(key));
  const id = attributes.get('id') ?? (name === 'a' ? attributes.get('name') : undefined);
  const direction =
    /^(?:ltr|rtl|auto)$/.exec(attributes.get('dir') ?? '')?.[0] ?? (directed.has(name) ? 'auto' : null);
  return [
    ['id', id === undefined || id === '' ? null : id.startsWith(idPrefix) ? id : idPrefix + id],
    ['dir', direction],
    ...rest,
  ];
};

/** Adds the reference of a link whose text is the address of a record of this instance. */
const addAddress = (state: Rewriting, href: string): boolean => {
  const [text, close] = state.tokens.slice(state.at + 1, state.at + 3);
  if (!state.options.hasReferences || text?.kind !== 'text' || close?.kind !== 'close' || close.name !== 'a')
    return false;
  if (text.text !== href) return false;
  const plain = `${writeLink(href, false)}${escapeHtml(href)}</a>`;
  const reference = readAddress(href, state.options.baseUrl, plain);
  if (reference === null) return false;
  state.parts.push(reference);
  state.at += 2;
  return true;
};

const openLink = (state: Rewriting, token: Open): boolean => {
  const href = token.attributes.get('href');
  const url = href === undefined ? null : resolveUrl(href, 'link', state.options);
  if (url !== null && addAddress(state, url.href)) return false;
  const common = commonAttributes(token);
  state.parts.push(url === null ? writeTag('a', common) : writeLink(url.href, url.isExternal, common));
  return true;
};

/** Writes a formula that starts here as MathML. Returns false if there is none, or it cannot be rendered. */
const writeFormula = (state: Rewriting, token: Open): boolean => {
  const { tokens, at, renderFormula } = state;
  const start = token.name === 'pre' ? at + 1 : at;
  const [code, text, ...closing] = tokens.slice(start, start + (start - at) + 3);
  if (renderFormula === undefined || code?.kind !== 'open' || code.name !== 'code') return false;
  const [nonce, style] = code.attributes.get('data-math')?.split(' ') ?? [];
  if (nonce !== state.nonce || text?.kind !== 'text' || !closing.every(({ kind }) => kind === 'close'))
    return false;
  const formula = renderFormula(text.text, style === 'display');
  if (formula === null) return false;
  state.parts.push(token.name === 'pre' ? `<p dir="ltr">${formula}</p>` : formula);
  state.at = start + 1 + closing.length;
  return true;
};

/** Writes the opening tag. Returns whether the element is open now. */
const writeOpen = (state: Rewriting, token: Open): boolean => {
  const { name } = token;
  if ((name === 'pre' || name === 'code') && writeFormula(state, token)) return false;
  if (name === 'img') state.parts.push(writeImage(state, token));
  else if (name === 'input') state.parts.push(writeTaskBox(state, token));
  else if (name === 'a') return openLink(state, token);
  else state.parts.push(writeTag(name, commonAttributes(token)));
  if (headings.has(name)) state.headingId = token.attributes.get('id') ?? null;
  return !voids.has(name);
};

const writeClose = (state: Rewriting, name: string): void => {
  const depth = state.depths.get(name) ?? 0;
  if (voids.has(name) || depth === 0) return;
  state.depths.set(name, depth - 1);
  if (headings.has(name) && state.headingId !== null && !isInside(state, 'a')) {
    const href = `#${idPrefix}${state.headingId}`;
    state.parts.push(
      writeTag('a', [
        ['class', 'anchor'],
        ['href', href],
        ['aria-label', 'Link to this heading'],
      ]),
      '</a>',
    );
    state.headingId = null;
  }
  state.parts.push(`</${name}>`);
};

const writeText = (state: Rewriting, text: string): void => {
  if (verbatim.some((name) => isInside(state, name))) {
    state.parts.push(escapeHtml(text));
    return;
  }
  const parts = state.options.hasReferences
    ? findReferences(replaceEmoji(text))
    : [escapeHtml(replaceEmoji(text))];
  for (const part of parts) state.parts.push(part);
};

/** Joins neighbouring pieces of HTML. */
const joinHtml = (parts: Part[]): Part[] => {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part === 'string' && typeof last === 'string') joined[joined.length - 1] = last + part;
    else joined.push(part);
  }
  return joined;
};

/** Rewrites sanitized HTML. */
export const rewriteHtml = (html: string, rewrite: Rewrite): Part[] => {
  const tokens = readHtml(html);
  const state: Rewriting = { ...rewrite, tokens, at: 0, parts: [], depths: new Map(), headingId: null };
  for (; state.at < tokens.length; state.at++) {
    const token = tokens[state.at];
    if (token === undefined) break;
    if (token.kind === 'text') writeText(state, token.text);
    else if (token.kind === 'close') writeClose(state, token.name);
    else if (writeOpen(state, token)) state.depths.set(token.name, (state.depths.get(token.name) ?? 0) + 1);
  }
  return joinHtml(state.parts);
};
