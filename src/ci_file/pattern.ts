/** Patterns that users write: by an engine whose time grows with the text and never with what the pattern is. */
import { RE2JS } from 're2js';

const longestPattern = 1000;
const largestProgram = 5000;

/** `size` times the length of a text is what a test may cost. */
export type Pattern = {
  size: number;
  test: (text: string) => boolean;
  find: (text: string) => string[] | null;
  /** The last group of the last match, where there is any; else the match itself. */
  last: (text: string) => string | null;
};

const flagOf: Record<string, number> = {
  i: RE2JS.CASE_INSENSITIVE,
  s: RE2JS.DOTALL,
  // In Ruby, `m` lets the dot match a line's end.
  m: RE2JS.DOTALL,
  U: 0,
};

type Matcher = ReturnType<RE2JS['matcher']>;

const groupsOf = (matcher: Matcher): string[] =>
  Array.from({ length: matcher.groupCount() + 1 }, (_, at) => matcher.group(at) ?? '');

/** @returns null: it is no pattern that the engine takes */
export const compilePattern = (source: string, flags = ''): Pattern | null => {
  if (source.length > longestPattern) return null;
  const prefix = flags.includes('U') ? '(?U)' : '';
  const wanted = [...flags].reduce((sum, flag) => sum | (flagOf[flag] ?? 0), RE2JS.MULTILINE);
  try {
    const compiled = RE2JS.compile(prefix + source, wanted);
    const size = compiled.programSize();
    if (size > largestProgram) return null;
    return {
      // With each step go the places of all groups.
      size: size * (1 + compiled.groupCount()),
      test: (text) => compiled.matcher(text).find(),
      find: (text) => {
        const matcher = compiled.matcher(text);
        return matcher.find() ? groupsOf(matcher) : null;
      },
      last: (text) => {
        const matcher = compiled.matcher(text);
        let found: string | null = null;
        while (matcher.find()) found = matcher.group(matcher.groupCount()) ?? '';
        return found;
      },
    };
  } catch {
    return null;
  }
};

/** `/source/flags`; null: the text is none. */
export const splitPattern = (text: string): { source: string; flags: string } | null => {
  const found = /^\/(.+)\/([ismU]*)$/s.exec(text);
  return found === null ? null : { source: (found[1] ?? '').replaceAll('\\/', '/'), flags: found[2] ?? '' };
};

/** `/source/flags` as a pattern; null: the text is none, or the engine does not take it. */
export const patternOf = (text: string): Pattern | null => {
  const parts = splitPattern(text);
  return parts === null ? null : compilePattern(parts.source, parts.flags);
};
