/**
 * Finds the users and groups that a Markdown text mentions as `@name` or `@group/subgroup`. Ignores fenced blocks, inline code and URLs. Takes
 * linear time.
 */
import { withoutCode } from './code_blocks.ts';

/** No more names than this are looked up for one text. */
const MAX_MENTIONS = 100;
const MAX_NAME_LENGTH = 255;

/** Each alternative ends in a single run, so that nothing can be tried twice. */
const ADDRESS_OR_MENTION = /https?:\/\/[^\s<>]*|@[\w.-]/g;
const NAME_CHARACTER = /[\w.-]/;
const WORD_CHARACTER = /[\p{L}\p{N}_]/u;

/**
 * Returns the mentioned names as first written, without the `@`: distinct regardless of case, in order, at
 * most 100. A name may be the path of a subgroup (`group/sub`). An `@` inside a word or an e-mail address mentions
 * nobody.
 */
export const findMentionedNames = (text: string): string[] => {
  const names = new Map<string, string>();
  const prose = withoutCode(text);
  for (const match of prose.matchAll(ADDRESS_OR_MENTION)) {
    if (names.size >= MAX_MENTIONS) break;
    addName(names, mentionAt(prose, match.index));
  }
  return [...names.values()];
};

/**
 * The names a line starts with, one or several with only blanks between: these people are spoken to, not
 * only of. Items of lists and quotations do not count. Same form as `findMentionedNames`.
 */
export const findAddressedNames = (text: string): string[] => {
  const names = new Map<string, string>();
  let quoted = false;
  for (const line of withoutCode(text).split('\n')) {
    if (names.size >= MAX_MENTIONS) break;
    if (line.trimEnd() === '>>>') quoted = !quoted;
    if (!quoted) addAddressed(names, line);
  }
  return [...names.values()];
};

type Mention = { name: string; end: number };

const addAddressed = (names: Map<string, string>, line: string): void => {
  const start = skipBlanks(line, 0);
  if (start > 3) return; // indented code
  let mention = mentionAt(line, start);
  while (mention !== null && names.size < MAX_MENTIONS) {
    addName(names, mention);
    mention = mentionAt(line, skipBlanks(line, mention.end));
  }
};

const addName = (names: Map<string, string>, mention: Mention | null): void => {
  if (mention === null) return;
  const key = mention.name.toLowerCase();
  if (!names.has(key)) names.set(key, mention.name);
};

/** The mention whose `@` is at `at`, if there is one. A name neither starts with `-` nor ends in a dot. */
const mentionAt = (text: string, at: number): Mention | null => {
  if (text[at] !== '@' || WORD_CHARACTER.test(characterBefore(text, at))) return null;
  let end = nameEnd(text, at + 1);
  while (end > at + 1 && text[end] === '/' && text[end + 1] !== '-' && nameEnd(text, end + 1) > end + 1)
    end = nameEnd(text, end + 1);
  const name = text.slice(at + 1, end);
  if (name === '' || name.startsWith('-') || name.length > MAX_NAME_LENGTH) return null;
  return { name, end };
};

/** The whole character, be it two code units; '' at the start. */
const characterBefore = (text: string, at: number): string => {
  const pair = text.codePointAt(at - 2) ?? 0;
  return pair > 0xffff ? String.fromCodePoint(pair) : text.charAt(at - 1);
};

const nameEnd = (text: string, at: number): number => {
  let end = at;
  while (end < text.length && NAME_CHARACTER.test(text.charAt(end))) end++;
  while (end > at && text[end - 1] === '.') end--;
  return end;
};

const skipBlanks = (text: string, at: number): number => {
  let end = at;
  while (text[end] === ' ' || text[end] === '\t') end++;
  return end;
};
