/**
 * Matches paths as the patterns of `.gitattributes` do: `*` and `?` stay within a folder, `**` crosses folders. The
 * time of a match is at most the product of both lengths, whatever the pattern.
 */

type Token = 'any' | ((letter: string) => boolean);

/** Reads a set such as `[a-z]` or `[!0-9]`, whose closing bracket is at `end`. */
const readSet = (pattern: string, from: number, end: number): Token => {
  const isNegated = pattern[from] === '!' || pattern[from] === '^';
  const ranges: [string, string][] = [];
  for (let at = isNegated ? from + 1 : from; at < end; at += 1) {
    const low = pattern[at] ?? '';
    const isRange = pattern[at + 1] === '-' && at + 2 < end;
    ranges.push([low, isRange ? (pattern[at + 2] ?? '') : low]);
    if (isRange) at += 2;
  }
  return (letter) => ranges.some(([low, high]) => low <= letter && letter <= high) !== isNegated;
};

const isLetter =
  (expected: string): Token =>
  (letter) =>
    letter === expected;

const compilePart = (part: string): Token[] => {
  const tokens: Token[] = [];
  for (let at = 0; at < part.length; at += 1) {
    const letter = part[at] ?? '';
    const end = letter === '[' ? part.indexOf(']', at + 2) : -1;
    if (letter === '*') {
      if (tokens.at(-1) !== 'any') tokens.push('any');
    } else if (letter === '?') tokens.push(() => true);
    else if (end !== -1) {
      tokens.push(readSet(part, at + 1, end));
      at = end;
    } else {
      if (letter === '\\') at += 1;
      tokens.push(isLetter(part[at] ?? ''));
    }
  }
  return tokens;
};

/**
 * Matches a sequence with wildcards that match any number of items. On a mismatch, only the last wildcard consumes one
 * more item.
 */
const matchSequence = <Item, Expected>(
  expected: readonly Expected[],
  items: ArrayLike<Item>,
  { isAny, matches }: { isAny: (one: Expected) => boolean; matches: (one: Expected, item: Item) => boolean },
): boolean => {
  let [at, next] = [0, 0];
  let [lastAny, resume] = [-1, 0];
  while (at < items.length) {
    const one = expected[next];
    if (one !== undefined && isAny(one)) [lastAny, resume, next] = [next, at, next + 1];
    else if (one !== undefined && matches(one, items[at] as Item)) [at, next] = [at + 1, next + 1];
    else if (lastAny !== -1) {
      resume += 1;
      [at, next] = [resume, lastAny + 1];
    } else return false;
  }
  return expected.slice(next).every(isAny);
};

const letters = {
  isAny: (token: Token): boolean => token === 'any',
  matches: (token: Token, letter: string): boolean => token !== 'any' && token(letter),
};

const parts = {
  isAny: (part: Token[] | '**'): boolean => part === '**',
  matches: (part: Token[] | '**', name: string): boolean =>
    part !== '**' && matchSequence(part, name, letters),
};

/** Compiles a pattern. One without a slash is about names, others are about paths from the folder of the file. */
export const compilePattern = (pattern: string): ((path: string) => boolean) => {
  if (!pattern.includes('/')) {
    const tokens = compilePart(pattern);
    return (path) => matchSequence(tokens, path.slice(path.lastIndexOf('/') + 1), letters);
  }
  const names = pattern.replace(/^\//, '').split('/');
  // At the end, it matches everything in the folder.
  if (names.at(-1) === '**') names.push('*');
  const compiled = names.map((name) => (name === '**' ? name : compilePart(name)));
  return (path) => matchSequence(compiled, path.split('/'), parts);
};
