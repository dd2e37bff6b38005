/**
 * Matches paths for `changes` and `exists` as Ruby's `File.fnmatch` does with the flags PATHNAME, DOTMATCH and EXTGLOB:
 * `*` and `?` do not match `/`, only `**` followed by a slash crosses folders, `{a,b}` matches either.
 */

/** Maximum number of alternatives that the braces of one pattern expand to. */
const maxAlternatives = 256;

/** Finds the closing brace and commas of the brace at `from`; null if it never closes. */
const findBrace = (pattern: string, from: number): { commas: number[]; close: number } | null => {
  const commas: number[] = [];
  let depth = 0;
  for (let at = from; at < pattern.length; at++) {
    const letter = pattern[at];
    if (letter === '\\') at++;
    else if (letter === '{') depth++;
    else if (letter === ',' && depth === 1) commas.push(at);
    else if (letter === '}' && --depth === 0) return { commas, close: at };
  }
  return null;
};

const findOpeningBrace = (pattern: string): number => {
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++;
    else if (pattern[at] === '{') return at;
  }
  return -1;
};

/** Expands braces to patterns without braces, up to a limit; the rest is dropped. */
const expandBraces = (pattern: string): string[] => {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const at = findOpeningBrace(next);
    const brace = at < 0 ? null : findBrace(next, at);
    if (brace === null) {
      done.push(next);
      continue;
    }
    const [head, tail] = [next.slice(0, at), next.slice(brace.close + 1)];
    const starts = [at, ...brace.commas];
    const ends = [...brace.commas, brace.close];
    const parts = starts.map((start, index) => head + next?.slice(start + 1, ends[index]) + tail);
    if (open.length + done.length + parts.length <= maxAlternatives) open.push(...parts.toReversed());
  }
  return done;
};

type Part =
  | { kind: 'any' }
  | { kind: 'one' }
  | { kind: 'letter'; letter: string }
  | { kind: 'set'; letters: Set<string>; ranges: [string, string][]; isNegated: boolean };

/** Parses `[a-z]` or `[!x]` at `from`; null if it never closes, and so matches nothing. */
const parseBracket = (letters: string[], from: number): { part: Part; end: number } | null => {
  const isNegated = letters[from + 1] === '!' || letters[from + 1] === '^';
  const single = new Set<string>();
  const ranges: [string, string][] = [];
  for (let at = from + (isNegated ? 2 : 1); at < letters.length; at++) {
    if (letters[at] === ']') return { part: { kind: 'set', letters: single, ranges, isNegated }, end: at };
    if (letters[at] === '\\') at++;
    const first = letters[at] ?? '';
    const last = letters[at + 2];
    if (letters[at + 1] === '-' && last !== undefined && last !== ']') {
      ranges.push([first, last]);
      at += 2;
    } else single.add(first);
  }
  return null;
};

/** Parses one segment between slashes; null if it can match nothing. */
const parseSegment = (text: string): Part[] | null => {
  const letters = [...text];
  const parts: Part[] = [];
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at] ?? '';
    if (letter === '*') {
      if (parts.at(-1)?.kind !== 'any') parts.push({ kind: 'any' });
    } else if (letter === '?') parts.push({ kind: 'one' });
    else if (letter === '[') {
      const bracket = parseBracket(letters, at);
      if (bracket === null) return null;
      parts.push(bracket.part);
      at = bracket.end;
    } else if (letter === '\\' && at + 1 < letters.length)
      parts.push({ kind: 'letter', letter: letters[++at] ?? '' });
    else parts.push({ kind: 'letter', letter });
  }
  return parts;
};

const matchesLetter = (part: Part | undefined, letter: string): boolean => {
  if (part === undefined || part.kind === 'any') return false;
  if (part.kind === 'one') return true;
  if (part.kind === 'letter') return part.letter === letter;
  const isIn = part.letters.has(letter) || part.ranges.some(([low, high]) => low <= letter && letter <= high);
  return isIn !== part.isNegated;
};

/** A string, or an array of characters if the text has surrogate pairs. */
type Letters = { readonly length: number; readonly [at: number]: string };

const toLetters = (text: string): Letters => (/[\ud800-\udfff]/.test(text) ? [...text] : text);

/** Backtracks to the last star only, so the steps are bounded by the product of both lengths. */
const matchesSegment = (parts: readonly Part[], letters: Letters): boolean => {
  let [at, star, after] = [0, -1, 0];
  for (let letter = 0; letter < letters.length;) {
    if (parts[at]?.kind === 'any') [star, after] = [at++, letter];
    else if (matchesLetter(parts[at], letters[letter] ?? '')) [at, letter] = [at + 1, letter + 1];
    else if (star < 0) return false;
    else [at, letter] = [star + 1, ++after];
  }
  while (parts[at]?.kind === 'any') at++;
  return at === parts.length;
};

type Segment = '**' | { parts: Part[] | null };

/** Returns the positions in the path that are reachable after this segment. */
const advanceMatches = (
  segment: Segment,
  positions: ReadonlySet<number>,
  path: readonly Letters[],
): Set<number> => {
  const places = new Set<number>();
  if (segment === '**') {
    for (let at = Math.min(...positions); at <= path.length; at++) places.add(at);
    return places;
  }
  const { parts } = segment;
  for (const at of positions) {
    const letters = path[at];
    if (parts !== null && letters !== undefined && matchesSegment(parts, letters)) places.add(at + 1);
  }
  return places;
};

/** Matches a path. Compares each pattern segment with each path segment at most once. */
const matchesPath = (pattern: readonly Segment[], path: readonly Letters[]): boolean => {
  let positions = new Set([0]);
  for (const segment of pattern) {
    positions = advanceMatches(segment, positions, path);
    if (positions.size === 0) return false;
  }
  return positions.has(path.length);
};

const compileSegments = (pattern: string): Segment[] => {
  const texts = pattern.split('/');
  return texts.map((text, at) =>
    text === '**' && at < texts.length - 1 ? '**' : { parts: parseSegment(text) },
  );
};

const specialCharacters = /[*?[{\\]/;

/** Typical number of characters of a path, for cost estimates. */
const typicalPathLength = 80;
const fewStars = 4;
const stepsWithFewStars = 20;

/** Estimates how many steps of `steps_budget` it takes to match one path. Many stars cause backtracking. */
export const countPathSteps = (pattern: string): number => {
  const stars = pattern.split('*').length - 1;
  const steps = stars <= fewStars ? stepsWithFewStars : pattern.length * typicalPathLength;
  return pattern.includes('{') ? steps * expandBraces(pattern).length : steps;
};

/** Compiles a pattern for matching many paths. */
export const compilePathPattern = (pattern: string): ((path: string) => boolean) => {
  if (!specialCharacters.test(pattern)) return (path) => path === pattern;
  const compiled = expandBraces(pattern).map(compileSegments);
  return (path) => {
    const segments = path.split('/').map(toLetters);
    return compiled.some((one) => matchesPath(one, segments));
  };
};
