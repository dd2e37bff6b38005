/** Alert boxes: quotes that start with `[!note]`, `[!tip]`, `[!important]`, `[!warning]` or `[!caution]`. */
import type { StateCore, Token } from 'markdown-it';
import { capitalize } from '../../../../platform/unicode.ts';

const marker = /^\[!(note|tip|important|warning|caution)\](?:[ \t]+([^\n]*))?[ \t]*(?:\n|$)/i;

type Alert = { kind: string; title: string; length: number };

/** Reads the first line of a quote; null if it is an ordinary one. */
export const readAlert = (text: string): Alert | null => {
  const [whole, written, title = ''] = marker.exec(text) ?? [];
  if (whole === undefined || written === undefined) return null;
  const kind = written.toLowerCase();
  const name = capitalize(kind);
  return { kind, title: title.trim() === '' ? name : title.trim(), length: whole.length };
};

/** Returns the alert of a quote, and how many of the tokens after its start have nothing but the marker. */
const findAlert = (tokens: readonly Token[], at: number): { alert: Alert; skipped: number } | null => {
  const open = tokens[at];
  // The marker follows `>>>`: see `multiline_quotes.ts`.
  const fromFence = readAlert(open?.info ?? '');
  if (fromFence !== null) return { alert: fromFence, skipped: 0 };
  const [paragraph, inline] = tokens.slice(at + 1, at + 3);
  if (paragraph?.type !== 'paragraph_open' || inline?.type !== 'inline') return null;
  const alert = readAlert(inline.content);
  if (alert === null) return null;
  inline.content = inline.content.slice(alert.length);
  return { alert, skipped: inline.content.trim() === '' ? 3 : 0 };
};

const writeTitle = (state: StateCore, { title }: Alert, level: number): Token[] => {
  const open = new state.Token('paragraph_open', 'p', 1);
  open.attrSet('class', 'markdown-alert-title');
  const inline = new state.Token('inline', '', 0);
  inline.content = title;
  inline.children = [];
  const close = new state.Token('paragraph_close', 'p', -1);
  const tokens = [open, inline, close];
  for (const token of tokens) {
    token.block = true;
    token.level = level + (token === inline ? 1 : 0);
  }
  return tokens;
};

/** Rule of the parser, before the texts of paragraphs are parsed. */
export const markAlerts = (state: StateCore): void => {
  if (!state.src.includes('[!')) return;
  const tokens: Token[] = [];
  /** For each open quote, whether it is an alert. */
  const open: boolean[] = [];
  for (let at = 0; at < state.tokens.length; at++) {
    const token = state.tokens[at];
    if (token === undefined) break;
    tokens.push(token);
    if (token.type === 'blockquote_close' && open.pop() === true) token.tag = 'div';
    if (token.type !== 'blockquote_open') continue;
    const quote = findAlert(state.tokens, at);
    open.push(quote !== null);
    if (quote === null) continue;
    token.tag = 'div';
    token.attrSet('class', `markdown-alert markdown-alert-${quote.alert.kind}`);
    tokens.push(...writeTitle(state, quote.alert, token.level + 1));
    at += quote.skipped;
  }
  state.tokens = tokens;
};
