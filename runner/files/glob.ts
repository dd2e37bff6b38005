/**
 * Matches paths by glob patterns: `*` and `?` stay within a folder, `**` does not, `{a,b}` and `[a-z]` choose. Jobs
 * write both patterns and paths, so the cost is bounded by the product of their lengths. Regular expressions built
 * from globs (picomatch) take exponential time on hostile patterns: docs/decisions/0034-own-glob-matcher.md.
 */

type Step =
  | { kind: 'letter'; letter: string }
  | { kind: 'class'; test: RegExp }
  /** `one` letter; `some`: letters of one folder; `all`: any letters; `folders`: whole folders. */
  | { kind: 'one' | 'some' | 'all' | 'folders' };

type Piece = { step: Step; length: number };

const parseClassAt = (pattern: string, at: number): Piece | null => {
  const end = pattern.indexOf(']', at + (/^\[[!^]?\]/.test(pattern.slice(at, at + 3)) ? 3 : 1));
  const [, not, inner] = /^([!^]?)(.+)$/s.exec(pattern.slice(at + 1, Math.max(at + 1, end))) ?? [];
  if (inner === undefined) return null;
  const body = inner.replaceAll(/[\\\][^]/g, String.raw`\$&`);
  try {
    const test = new RegExp(`[${not === '' ? '' : '^'}${body}]`, 's');
    return { step: { kind: 'class', test }, length: end + 1 - at };
  } catch {
    return null; // an inverted range
  }
};

const parseStarsAt = (pattern: string, at: number): Piece => {
  const isWhole = pattern.startsWith('**', at) && (at === 0 || pattern[at - 1] === '/');
  if (isWhole && pattern[at + 2] === '/') return { step: { kind: 'folders' }, length: 3 };
  if (isWhole && pattern.length === at + 2) return { step: { kind: 'all' }, length: 2 };
  return { step: { kind: 'some' }, length: /^\*+/.exec(pattern.slice(at))?.[0].length ?? 1 };
};

const parsePieceAt = (pattern: string, at: number): Piece => {
  const letter = pattern[at] ?? '';
  if (letter === '*') return parseStarsAt(pattern, at);
  if (letter === '?') return { step: { kind: 'one' }, length: 1 };
  if (letter === '\\') return { step: { kind: 'letter', letter: pattern[at + 1] ?? letter }, length: 2 };
  const characterClass = letter === '[' ? parseClassAt(pattern, at) : null;
  return characterClass ?? { step: { kind: 'letter', letter }, length: 1 };
};

const parsePattern = (pattern: string): Step[] => {
  const steps: Step[] = [];
  for (let at = 0; at < pattern.length;) {
    const { step, length } = parsePieceAt(pattern, at);
    steps.push(step);
    at += length;
  }
  return steps;
};

const maxAlternatives = 100;

/** Expands `a{b,c}` to `ab`, `ac`. Beyond 100 alternatives, remaining braces are literal. */
const expandBraces = (pattern: string): string[] => {
  let open = [pattern];
  for (;;) {
    const [whole, inner] = /\{([^{}]*)\}/.exec(open[0] ?? '') ?? [];
    const choices = inner?.split(',') ?? [];
    if (whole === undefined || open.length * choices.length > maxAlternatives) return open;
    open = open.flatMap((one) => choices.map((choice) => one.replace(whole, () => choice)));
  }
};

/** Normalizes a path: `./a//b/` becomes `a/b`; null if it contains `..`. */
export const tidyPath = (path: string): string | null => {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return parts.includes('..') ? null : parts.join('/');
};

/** For each offset in a path: 1 if a match can reach it. */
type Places = Uint8Array;

const isLetter = (step: Step, letter: string): boolean => {
  if (step.kind === 'letter') return step.letter === letter;
  return letter !== '/' && (step.kind === 'one' || (step.kind === 'class' && step.test.test(letter)));
};

/** Advances the reachable offsets by one step. */
const advance = (step: Step, from: Places, path: string): Places => {
  const to = new Uint8Array(from.length);
  let within = 0;
  for (let at = 0; at < from.length; at += 1) {
    const letter = at === 0 ? '' : (path[at - 1] ?? '');
    const before = at === 0 ? 0 : (to[at - 1] ?? 0);
    const here = from[at] ?? 0;
    if (step.kind === 'all') to[at] = here | before;
    else if (step.kind === 'some') to[at] = here | (letter === '/' ? 0 : before);
    else if (step.kind === 'folders') {
      to[at] = here | (letter === '/' ? within : 0);
      within = letter === '/' ? 0 : within | before;
    } else if (at > 0 && isLetter(step, letter)) to[at] = from[at - 1] ?? 0;
  }
  return to;
};

const findReachablePlaces = (steps: readonly Step[], path: string): Places | null => {
  let places: Places = new Uint8Array(path.length + 1);
  places[0] = 1;
  for (const step of steps) {
    places = advance(step, places, path);
    if (!places.includes(1)) return null;
  }
  return places;
};

/** Maximum characters of a pattern. */
const maxPatternLength = 4_096;

export type Matcher = (path: string) => boolean;

const makeMatcher = (pattern: string, isEnd: (path: string, place: number) => boolean): Matcher => {
  if (pattern.length > maxPatternLength) return () => false;
  const alternatives = expandBraces(pattern).map(parsePattern);
  return (path) =>
    alternatives.some(
      (steps) =>
        findReachablePlaces(steps, path)?.some((is, place) => is === 1 && isEnd(path, place)) === true,
    );
};

/** Matches the path itself. */
export const matchGlob = (pattern: string): Matcher =>
  makeMatcher(pattern, (path, place) => place === path.length);

/** Matches the path or one of its parent folders. */
export const matchGlobOrWithin = (pattern: string): Matcher => {
  const matches = makeMatcher(pattern, (path, place) => place === path.length || path[place] === '/');
  return (path) => pattern === '' || matches(path);
};

/** Returns the literal path before the first segment that has a wildcard. */
export const getFixedFolder = (pattern: string): string => {
  const parts = pattern.split('/');
  const end = parts.findIndex((part) => /[*?[{\\]/.test(part));
  return (end === -1 ? parts : parts.slice(0, end)).join('/');
};
