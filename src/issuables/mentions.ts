/**
 * The people a Markdown text mentions as `@name`. Code speaks to nobody, so fenced blocks and inline code
 * are passed over, as are the addresses of web pages. Everything here takes linear time.
 */

/** No more names than this are looked up for one text. */
const MAX_MENTIONS = 100;
const MAX_NAME_LENGTH = 255;

/** Stands for a piece of code: it neither joins a word nor lets the rest of its line start it. */
const CODE = '`';

/** Each alternative ends in a single run, so that nothing can be tried twice. */
const ADDRESS_OR_MENTION = /https?:\/\/[^\s<>]*|@[\w.-]/g;
const NAME_CHARACTER = /[\w.-]/;
const WORD_CHARACTER = /[\p{L}\p{N}_]/u;
const LIST_MARKER = /(?:[-*+]|\d{1,9}[.)])[ \t]/y;
const FENCE = /`{3,}|~{3,}/y;

/**
 * The mentioned names, as first written and without the `@`: each once whatever its case, in order, at
 * most 100. An `@` inside a word or an e-mail address mentions nobody, and neither does the path of a
 * subgroup (`@group/sub`).
 */
export function mentionedUsernames(text: string): string[] {
  const names = new Map<string, string>();
  const prose = withoutCode(text);
  for (const match of prose.matchAll(ADDRESS_OR_MENTION)) {
    if (names.size >= MAX_MENTIONS) break;
    addName(names, mentionAt(prose, match.index));
  }
  return [...names.values()];
}

/**
 * The names a line starts with, one or several with only blanks between: these people are spoken to, not
 * only of. Items of lists and quotations do not count. Same form as `mentionedUsernames`.
 */
export function directlyAddressed(text: string): string[] {
  const names = new Map<string, string>();
  let quoted = false;
  for (const line of withoutCode(text).split('\n')) {
    if (names.size >= MAX_MENTIONS) break;
    if (line.trimEnd() === '>>>') quoted = !quoted;
    if (!quoted) addAddressed(names, line);
  }
  return [...names.values()];
}

type Mention = { name: string; end: number };

function addAddressed(names: Map<string, string>, line: string): void {
  const start = skipBlanks(line, 0);
  if (start > 3) return; // indented code
  let mention = mentionAt(line, start);
  while (mention !== null && names.size < MAX_MENTIONS) {
    addName(names, mention);
    mention = mentionAt(line, skipBlanks(line, mention.end));
  }
}

function addName(names: Map<string, string>, mention: Mention | null): void {
  if (mention === null) return;
  const key = mention.name.toLowerCase();
  if (!names.has(key)) names.set(key, mention.name);
}

/** The mention whose `@` is at `at`, if there is one. A name neither starts with `-` nor ends in a dot. */
function mentionAt(text: string, at: number): Mention | null {
  if (text[at] !== '@' || WORD_CHARACTER.test(characterBefore(text, at))) return null;
  const end = nameEnd(text, at + 1);
  const name = text.slice(at + 1, end);
  if (name === '' || name.startsWith('-') || name.length > MAX_NAME_LENGTH) return null;
  if (text[end] === '/' && text[end + 1] !== '-' && nameEnd(text, end + 1) > end + 1) return null;
  return { name, end };
}

/** The whole character, be it two code units; '' at the start. */
function characterBefore(text: string, at: number): string {
  const pair = text.codePointAt(at - 2) ?? 0;
  return pair > 0xffff ? String.fromCodePoint(pair) : text.charAt(at - 1);
}

function nameEnd(text: string, at: number): number {
  let end = at;
  while (end < text.length && NAME_CHARACTER.test(text.charAt(end))) end++;
  while (end > at && text[end - 1] === '.') end--;
  return end;
}

function skipBlanks(text: string, at: number): number {
  let end = at;
  while (text[end] === ' ' || text[end] === '\t') end++;
  return end;
}

/** The text with one mark in the place of each piece of inline code and of each line of a fenced block. */
export function withoutCode(text: string): string {
  if (!text.includes('`') && !text.includes('~~~')) return text;
  const pieces: string[] = [];
  /** Lines that may share inline code: those of one paragraph. */
  let paragraph: string[] = [];
  const endParagraph = () => {
    if (paragraph.length > 0) pieces.push(withoutInlineCode(paragraph.join('\n')));
    paragraph = [];
  };
  let fence: string | null = null;
  for (const line of text.split('\n')) {
    if (fence !== null) {
      pieces.push(CODE);
      if (closesFence(line, fence)) fence = null;
      continue;
    }
    const { at, inList } = contentStart(line);
    const blank = at === line.length;
    fence = openingFence(line, at);
    if (fence !== null || inList || blank) endParagraph();
    if (fence !== null) pieces.push(CODE);
    else if (blank) pieces.push(line);
    else paragraph.push(line);
  }
  endParagraph();
  return pieces.join('\n');
}

/** Where a line's own text begins, after blanks, quotation marks and list markers. */
function contentStart(line: string): { at: number; inList: boolean } {
  let at = 0;
  let inList = false;
  for (;;) {
    while (line[at] === ' ' || line[at] === '\t' || line[at] === '\r' || line[at] === '>') at++;
    LIST_MARKER.lastIndex = at;
    if (!LIST_MARKER.test(line)) return { at, inList };
    at = LIST_MARKER.lastIndex;
    inList = true;
  }
}

/** The run of backticks or tildes that opens a fenced block, if one does. */
function openingFence(line: string, at: number): string | null {
  FENCE.lastIndex = at;
  const run = FENCE.exec(line)?.[0];
  if (run === undefined) return null;
  return run.startsWith('`') && line.includes('`', at + run.length) ? null : run;
}

/** A block ends with a run of the same kind, at least as long, alone on its line. */
function closesFence(line: string, fence: string): boolean {
  let at = 0;
  while (line[at] === ' ' || line[at] === '\t' || line[at] === '>') at++;
  const rest = line.slice(at).trimEnd();
  return rest.length >= fence.length && rest === fence.charAt(0).repeat(rest.length);
}

/** Inline code stands between two runs of equally many backticks; a run without its like is plain text. */
function withoutInlineCode(text: string): string {
  const { starts, ends, nextLike } = backtickRuns(text);
  let prose = '';
  let from = 0;
  for (let run = 0; run < starts.length; run++) {
    const start = starts[run] ?? 0;
    const closing = nextLike[run] ?? -1;
    if (closing === -1 || isEscaped(text, start)) continue;
    prose += text.slice(from, start) + CODE;
    from = ends[closing] ?? text.length;
    run = closing;
  }
  return prose + text.slice(from);
}

/** Each run of backticks, with the index of the next run as long as it (-1 if there is none). */
function backtickRuns(text: string): { starts: number[]; ends: number[]; nextLike: number[] } {
  const starts: number[] = [];
  const ends: number[] = [];
  const nextLike: number[] = [];
  /** Length of a run -> the last one seen. */
  const waiting = new Map<number, number>();
  for (let at = text.indexOf('`'); at !== -1; at = text.indexOf('`', at)) {
    const run = starts.push(at) - 1;
    while (text[at] === '`') at++;
    ends.push(at);
    nextLike.push(-1);
    const length = at - (starts[run] ?? at);
    const alike = waiting.get(length);
    if (alike !== undefined) nextLike[alike] = run;
    waiting.set(length, run);
  }
  return { starts, ends, nextLike };
}

function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (text[start - 1] === '\\') start--;
  return (at - start) % 2 === 1;
}
