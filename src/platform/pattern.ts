/** Regular expressions that users write, run by an engine with linear time in the text, whatever the pattern. */
import { RE2JS } from 're2js';

const maxPatternLength = 1000;
const maxProgramSize = 5000;

/** A compiled pattern. A test costs `size` times the length of the text. */
export type Pattern = {
  size: number;
  test: (text: string) => boolean;
  find: (text: string) => string[] | null;
  /** Returns the values of these groups in the first matchthat the pattern has; null if there is no match. */
  named: (text: string, names: readonly string[]) => Record<string, string> | null;
  /** Returns the last group of the last match, if there is one; else the match itself. */
  last: (text: string) => string | null;
};

const flagBits: Record<string, number> = {
  i: RE2JS.CASE_INSENSITIVE,
  s: RE2JS.DOTALL,
  // As in Ruby, `m` lets the dot match a newline.
  m: RE2JS.DOTALL,
  U: 0,
};

type Matcher = ReturnType<RE2JS['matcher']>;

const getGroups = (matcher: Matcher): string[] =>
  Array.from({ length: matcher.groupCount() + 1 }, (_, at) => matcher.group(at) ?? '');

/**
 * Compiles a pattern.
 * @returns null if the engine does not accept it
 */
export const compilePattern = (source: string, flags = ''): Pattern | null => {
  if (source.length > maxPatternLength) return null;
  const prefix = flags.includes('U') ? '(?U)' : '';
  const bits = [...flags].reduce((sum, flag) => sum | (flagBits[flag] ?? 0), RE2JS.MULTILINE);
  try {
    const compiled = RE2JS.compile(prefix + source, bits);
    const size = compiled.programSize();
    if (size > maxProgramSize) return null;
    return {
      // Each step copies the positions of all groups.
      size: size * (1 + compiled.groupCount()),
      test: (text) => compiled.matcher(text).find(),
      find: (text) => {
        const matcher = compiled.matcher(text);
        return matcher.find() ? getGroups(matcher) : null;
      },
      named: (text, names) => {
        const matcher = compiled.matcher(text);
        if (!matcher.find()) return null;
        const groups = compiled.namedGroups();
        return Object.fromEntries(
          names.flatMap((name) => (name in groups ? [[name, matcher.group(name) ?? '']] : [])),
        );
      },
      last: (text) => {
        const matcher = compiled.matcher(text);
        let lastGroup: string | null = null;
        while (matcher.find()) lastGroup = matcher.group(matcher.groupCount()) ?? '';
        return lastGroup;
      },
    };
  } catch {
    return null;
  }
};

/** Splits `/source/flags`; null for any other text. */
export const splitPattern = (text: string): { source: string; flags: string } | null => {
  const match = /^\/(.+)\/([ismU]*)$/s.exec(text);
  return match === null ? null : { source: (match[1] ?? '').replaceAll('\\/', '/'), flags: match[2] ?? '' };
};

/** Compiles `/source/flags`; null if the text has another form or the engine does not accept it. */
export const parsePattern = (text: string): Pattern | null => {
  const parts = splitPattern(text);
  return parts === null ? null : compilePattern(parts.source, parts.flags);
};
