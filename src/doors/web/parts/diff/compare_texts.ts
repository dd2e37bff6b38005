/** Compares two texts by lines, for changes that are not in the repository yet. Pure; bounded in time and memory. */
import type { DiffRow } from './parse_lines.ts';

/** Changed lines that are searched for; beyond, all between the common ends is one change. */
const maxChanges = 400;
/** Lines that are shown around a change. */
const contextLines = 3;

/** Steps from the old to the new text: lines of both, only of the old text, only of the new text. */
type Step = 'same' | 'del' | 'add';

/** Returns the lines without their ends. A last line that has no end gets one here, so that it differs. */
const splitLines = (text: string): string[] => {
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  if (last !== '') lines.push(`${last}\n`);
  return lines;
};

type Search = {
  old: readonly string[];
  fresh: readonly string[];
  /** Furthest position in the old text by diagonal, before each round. */
  rounds: Int32Array[];
};

/** True if the step onto a diagonal adds a line, false if it deletes one. */
const isAddition = (furthest: Int32Array, diagonal: number, round: number): boolean => {
  const at = (k: number): number => furthest[k + maxChanges + 1] ?? -1;
  return diagonal === -round || (diagonal !== round && at(diagonal - 1) < at(diagonal + 1));
};

/** Extends every diagonal by one change. @returns whether the ends are reached */
const runRound = ({ old, fresh }: Search, furthest: Int32Array, round: number): boolean => {
  for (let k = -round; k <= round; k += 2) {
    const index = k + maxChanges + 1;
    let x = isAddition(furthest, k, round) ? (furthest[index + 1] ?? 0) : (furthest[index - 1] ?? 0) + 1;
    let y = x - k;
    while (x < old.length && y < fresh.length && old[x] === fresh[y]) {
      x += 1;
      y += 1;
    }
    furthest[index] = x;
    if (x >= old.length && y >= fresh.length) return true;
  }
  return false;
};

/** Walks back along the changes that reached the ends. */
const traceBack = ({ old, fresh, rounds }: Search): Step[] => {
  const steps: Step[] = [];
  let [x, y] = [old.length, fresh.length];
  for (let round = rounds.length - 1; round > 0; round -= 1) {
    const furthest = rounds[round] ?? new Int32Array();
    const isAdded = isAddition(furthest, x - y, round);
    const diagonal = x - y + (isAdded ? 1 : -1);
    const before = furthest[diagonal + maxChanges + 1] ?? 0;
    const start = isAdded ? before : before + 1;
    for (; x > start; x -= 1) steps.push('same');
    steps.push(isAdded ? 'add' : 'del');
    [x, y] = [before, before - diagonal];
  }
  for (; x > 0; x -= 1) steps.push('same');
  return steps.toReversed();
};

/** Finds the fewest changes, as Myers does. @returns null if there are too many */
const findSteps = (old: readonly string[], fresh: readonly string[]): Step[] | null => {
  const search: Search = { old, fresh, rounds: [] };
  const furthest = new Int32Array(2 * maxChanges + 3);
  for (let round = 0; round <= maxChanges; round += 1) {
    search.rounds.push(furthest.slice());
    if (runRound(search, furthest, round)) return traceBack(search);
  }
  return null;
};

const countCommon = (old: readonly string[], fresh: readonly string[]): [start: number, end: number] => {
  const most = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < most && old[start] === fresh[start]) start += 1;
  let end = 0;
  while (end < most - start && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end += 1;
  return [start, end];
};

const repeat = (step: Step, count: number): Step[] => Array.from({ length: count }, () => step);

type Compared = {
  /** Lines before the first step. */
  before: number;
  steps: Step[];
  additions: number;
  deletions: number;
};

const countSteps = (steps: readonly Step[], kind: Step): number =>
  steps.reduce((sum, step) => sum + (step === kind ? 1 : 0), 0);

/** Replaces all lines. @param max steps that are listed of each kind */
const replaceAll = (deletions: number, additions: number, max: number): Omit<Compared, 'before'> => {
  const steps = repeat('del', Math.min(deletions, max)).concat(repeat('add', Math.min(additions, max)));
  return { steps, additions, deletions };
};

/**
 * Finds the steps from one text to the other, with a few of the common lines at the start and the end.
 * @param max steps that are needed
 */
const compareLines = (old: readonly string[], fresh: readonly string[], max: number): Compared => {
  const [start, end] = countCommon(old, fresh);
  const [oldRest, freshRest] = [old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)];
  const shortest = findSteps(oldRest, freshRest);
  const { steps, ...counts } =
    shortest === null
      ? replaceAll(oldRest.length, freshRest.length, max)
      : { steps: shortest, additions: countSteps(shortest, 'add'), deletions: countSteps(shortest, 'del') };
  const [first, last] = [Math.min(start, contextLines), Math.min(end, contextLines)];
  const shownSteps = repeat('same', first).concat(steps, repeat('same', last));
  return { before: start - first, steps: shownSteps, ...counts };
};

/** Tells for each step whether it is shown: a change, or near one. */
const findShown = (steps: readonly Step[]): Uint8Array => {
  const shown = new Uint8Array(steps.length);
  steps.forEach((step, at) => {
    if (step !== 'same') shown.fill(1, Math.max(0, at - contextLines), at + contextLines + 1);
  });
  return shown;
};

export type Comparison = {
  rows: DiffRow[];
  /** There are more rows. */
  isCut: boolean;
  additions: number;
  deletions: number;
};

const addLine = (rows: DiffRow[], kind: Step, [x, y]: [number, number], line: string): void => {
  const hasEnd = !line.endsWith('\n');
  rows.push({ kind, old: x + 1, new: y + 1, text: hasEnd ? line : line.slice(0, -1) });
  if (!hasEnd) rows.push({ kind: 'note', text: 'No newline at end of file' });
};

/** Compares two texts. Returns no rows if they are equal. @param maxRows rows that are returned */
export const compareTexts = (oldText: string, freshText: string, maxRows = Infinity): Comparison => {
  const [old, fresh] = [splitLines(oldText), splitLines(freshText)];
  const { before, steps, ...counts } = compareLines(old, fresh, maxRows + 1);
  const shown = findShown(steps);
  const rows: DiffRow[] = [];
  let [x, y] = [before, before];
  for (const [at, kind] of steps.entries()) {
    if (rows.length > maxRows) break;
    const isFirst = shown[at] === 1 && (at === 0 || shown[at - 1] === 0);
    if (isFirst) rows.push({ kind: 'hunk', text: `@@ -${x + 1} +${y + 1} @@` });
    if (shown[at] === 1) addLine(rows, kind, [x, y], (kind === 'add' ? fresh[y] : old[x]) ?? '');
    if (kind !== 'add') x += 1;
    if (kind !== 'del') y += 1;
  }
  return { rows: rows.slice(0, maxRows), isCut: rows.length > maxRows, ...counts };
};
