/**
 * Ruby's `File.fnmatch` with PATHNAME, DOTMATCH and EXTGLOB, by which `changes` and `exists` mean paths: `*` and `?`
 * stop at `/`, only `**` with a slash behind it goes through folders, `{a,b}` is either.
 */

/** Alternatives that the braces of one pattern may make. */
const mostAlternatives = 256;

/** Where the brace that opens at `from` closes, and where its commas are; null: it never closes. */
const braceAt = (pattern: string, from: number): { commas: number[]; close: number } | null => {
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

const openingBrace = (pattern: string): number => {
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++;
    else if (pattern[at] === '{') return at;
  }
  return -1;
};

/** The patterns that one with braces stands for; bounded, the rest is dropped. */
const alternativesOf = (pattern: string): string[] => {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const at = openingBrace(next);
    const brace = at < 0 ? null : braceAt(next, at);
    if (brace === null) {
      done.push(next);
      continue;
    }
    const [head, tail] = [next.slice(0, at), next.slice(brace.close + 1)];
    const starts = [at, ...brace.commas];
    const ends = [...brace.commas, brace.close];
    const parts = starts.map((start, index) => head + next?.slice(start + 1, ends[index]) + tail);
    if (open.length + done.length + parts.length <= mostAlternatives) open.push(...parts.toReversed());
  }
  return done;
};

type Part =
  | { kind: 'any' }
  | { kind: 'one' }
  | { kind: 'letter'; letter: string }
  | { kind: 'set'; letters: Set<string>; ranges: [string, string][]; not: boolean };

/** `[a-z]`, `[!x]`: from the bracket at `from`; null: it never closes, and matches nothing. */
const readBracket = (letters: string[], from: number): { part: Part; end: number } | null => {
  const not = letters[from + 1] === '!' || letters[from + 1] === '^';
  const known = new Set<string>();
  const ranges: [string, string][] = [];
  for (let at = from + (not ? 2 : 1); at < letters.length; at++) {
    if (letters[at] === ']') return { part: { kind: 'set', letters: known, ranges, not }, end: at };
    if (letters[at] === '\\') at++;
    const first = letters[at] ?? '';
    const last = letters[at + 2];
    if (letters[at + 1] === '-' && last !== undefined && last !== ']') {
      ranges.push([first, last]);
      at += 2;
    } else known.add(first);
  }
  return null;
};

/** One segment between slashes; null: it can match nothing. */
const readSegment = (text: string): Part[] | null => {
  const letters = [...text];
  const parts: Part[] = [];
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at] ?? '';
    if (letter === '*') {
      if (parts.at(-1)?.kind !== 'any') parts.push({ kind: 'any' });
    } else if (letter === '?') parts.push({ kind: 'one' });
    else if (letter === '[') {
      const bracket = readBracket(letters, at);
      if (bracket === null) return null;
      parts.push(bracket.part);
      at = bracket.end;
    } else if (letter === '\\' && at + 1 < letters.length)
      parts.push({ kind: 'letter', letter: letters[++at] ?? '' });
    else parts.push({ kind: 'letter', letter });
  }
  return parts;
};

const takes = (part: Part | undefined, letter: string): boolean => {
  if (part === undefined || part.kind === 'any') return false;
  if (part.kind === 'one') return true;
  if (part.kind === 'letter') return part.letter === letter;
  const isIn = part.letters.has(letter) || part.ranges.some(([low, high]) => low <= letter && letter <= high);
  return isIn !== part.not;
};

/** A text, as long as each of its places is a letter. */
type Letters = { readonly length: number; readonly [at: number]: string };

const lettersOf = (text: string): Letters => (/[\ud800-\udfff]/.test(text) ? [...text] : text);

/** Goes back to the last star only: as many steps as the product of both lengths, whatever is sent. */
const segmentMatches = (parts: readonly Part[], letters: Letters): boolean => {
  let [at, star, after] = [0, -1, 0];
  for (let letter = 0; letter < letters.length;) {
    if (parts[at]?.kind === 'any') [star, after] = [at++, letter];
    else if (takes(parts[at], letters[letter] ?? '')) [at, letter] = [at + 1, letter + 1];
    else if (star < 0) return false;
    else [at, letter] = [star + 1, ++after];
  }
  while (parts[at]?.kind === 'any') at++;
  return at === parts.length;
};

type Segment = '**' | { parts: Part[] | null };

/** Where a path may go on behind this segment, from where it has come. */
const placesAfter = (
  segment: Segment,
  reached: ReadonlySet<number>,
  path: readonly Letters[],
): Set<number> => {
  const places = new Set<number>();
  if (segment === '**') {
    for (let at = Math.min(...reached); at <= path.length; at++) places.add(at);
    return places;
  }
  const { parts } = segment;
  for (const at of reached) {
    const letters = path[at];
    if (parts !== null && letters !== undefined && segmentMatches(parts, letters)) places.add(at + 1);
  }
  return places;
};

/** Each segment of the pattern is held against each of the path once at most. */
const pathMatches = (pattern: readonly Segment[], path: readonly Letters[]): boolean => {
  let reached = new Set([0]);
  for (const segment of pattern) {
    reached = placesAfter(segment, reached, path);
    if (reached.size === 0) return false;
  }
  return reached.has(path.length);
};

const compileOne = (pattern: string): Segment[] => {
  const texts = pattern.split('/');
  return texts.map((text, at) =>
    text === '**' && at < texts.length - 1 ? '**' : { parts: readSegment(text) },
  );
};

const hasSigns = /[*?[{\\]/;

/** Letters of a path, as far as they count for what it costs. */
const usualPath = 80;
const fewStars = 4;

/** What holding a path against a pattern may cost, in the steps of `Work`: many stars go back and forth. */
export const stepsOfPath = (pattern: string): number => {
  const stars = pattern.split('*').length - 1;
  const each = stars <= fewStars ? 20 : pattern.length * usualPath;
  return pattern.includes('{') ? each * alternativesOf(pattern).length : each;
};

/** A pattern, made ready for many paths. */
export const pathPattern = (pattern: string): ((path: string) => boolean) => {
  if (!hasSigns.test(pattern)) return (path) => path === pattern;
  const compiled = alternativesOf(pattern).map(compileOne);
  return (path) => {
    const segments = path.split('/').map(lettersOf);
    return compiled.some((one) => pathMatches(one, segments));
  };
};
