/**
 * Finds the users and groups that a Markdown text mentions as `@name` or `@group/subgroup`. Ignores
 * fenced blocks, inline code and URLs. Takes linear time.
 */
import { withoutCode } from './code_blocks.ts';

/** Maximum number of names that are looked up for one text. */
const maxMentions = 100;
const maxNameLength = 255;

/** Each alternative ends in a single run, so it never backtracks. */
const addressOrMention = /https?:\/\/[^\s<>]*|@[\w.-]/g;
const nameCharacter = /[\w.-]/;
const wordCharacter = /[\p{L}\p{N}_]/u;

/**
 * Returns the mentioned names as first written, without the `@`: distinct regardless of case, in order, at
 * most 100. A name may be the path of a subgroup (`group/sub`). An `@` inside a word or an e-mail address mentions
 * nobody.
 */
export const findMentionedNames = (text: string): string[] => {
  if (!text.includes('@')) return [];
  const names = new Map<string, string>();
  const prose = withoutCode(text);
  for (const match of prose.matchAll(addressOrMention)) {
    if (names.size >= maxMentions) break;
    addName(names, readMention(prose, match.index));
  }
  return [...names.values()];
};

/**
 * Returns the names at the start of a line, one or several separated by blanks: these users are addressed directly.
 * Ignores list items and quotes. Returns the same form as `findMentionedNames`.
 */
export const findAddressedNames = (text: string): string[] => {
  const names = new Map<string, string>();
  let quoted = false;
  for (const line of withoutCode(text).split('\n')) {
    if (names.size >= maxMentions) break;
    if (line.trimEnd() === '>>>') quoted = !quoted;
    if (!quoted) addAddressed(names, line);
  }
  return [...names.values()];
};

type Mention = { name: string; end: number };

const addAddressed = (names: Map<string, string>, line: string): void => {
  const start = skipBlanks(line, 0);
  if (start > 3) return; // indented code
  let mention = readMention(line, start);
  while (mention !== null && names.size < maxMentions) {
    addName(names, mention);
    mention = readMention(line, skipBlanks(line, mention.end));
  }
};

const addName = (names: Map<string, string>, mention: Mention | null): void => {
  if (mention === null) return;
  const key = mention.name.toLowerCase();
  if (!names.has(key)) names.set(key, mention.name);
};

/** Reads the mention whose `@` is at `at`; null if there is none. A name neither starts with `-` nor ends in a dot. */
const readMention = (text: string, at: number): Mention | null => {
  if (text[at] !== '@' || wordCharacter.test(readCharacterBefore(text, at))) return null;
  let end = findNameEnd(text, at + 1);
  while (end > at + 1 && text[end] === '/' && text[end + 1] !== '-' && findNameEnd(text, end + 1) > end + 1)
    end = findNameEnd(text, end + 1);
  const name = text.slice(at + 1, end);
  if (name === '' || name.startsWith('-') || name.length > maxNameLength) return null;
  return { name, end };
};

/** Returns the whole character, even if it has two code units; '' at the start. */
const readCharacterBefore = (text: string, at: number): string => {
  const pair = text.codePointAt(at - 2) ?? 0;
  return pair > 0xffff ? String.fromCodePoint(pair) : text.charAt(at - 1);
};

const findNameEnd = (text: string, at: number): number => {
  let end = at;
  while (end < text.length && nameCharacter.test(text.charAt(end))) end += 1;
  while (end > at && text[end - 1] === '.') end -= 1;
  return end;
};

const skipBlanks = (text: string, at: number): number => {
  let end = at;
  while (text[end] === ' ' || text[end] === '\t') end += 1;
  return end;
};
