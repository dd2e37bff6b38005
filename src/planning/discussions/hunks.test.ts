import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findLine,
  parseHunks,
  toNewLine,
  numbersAt,
  toOldLine,
} from '../../code/repository/commits/hunks.ts';
import { tracePosition } from './trace_position.ts';
import type { TextPosition } from '../notes/position.ts';

/** A fixed source of chance, so that a failure comes again. */
const chance = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return seed / 2_147_483_648;
};

type Step = 'keep' | 'add' | 'remove';

const makeScript = (random: () => number): Step[] => {
  const length = Math.floor(random() * 60);
  let step: Step = 'keep';
  return Array.from({ length }, () => {
    if (random() < 0.3)
      step = (['keep', 'keep', 'add', 'remove'] as const)[Math.floor(random() * 4)] ?? 'keep';
    return step;
  });
};

type Pair = { old_line: number | null; new_line: number | null; step: Step };

const toPairs = (script: Step[]): Pair[] => {
  let [old_at, new_at] = [0, 0];
  return script.map((step) => ({
    step,
    old_line: step === 'add' ? null : (old_at += 1),
    new_line: step === 'remove' ? null : (new_at += 1),
  }));
};

const marks = { keep: ' ', add: '+', remove: '-' };

/** As git writes it, with three lines around. */
const toDiff = (pairs: Pair[]): string => {
  const isShown = (at: number): boolean =>
    pairs.slice(Math.max(at - 3, 0), at + 4).some(({ step }) => step !== 'keep');
  let text = '--- a/x\n+++ b/x\n';
  for (let at = 0; at < pairs.length; at += 1) {
    if (!isShown(at)) continue;
    const from = at;
    while (at < pairs.length && isShown(at)) at += 1;
    const block = pairs.slice(from, at);
    const before = pairs.slice(0, from);
    const count = (some: Pair[], side: 'old_line' | 'new_line') =>
      some.filter((one) => one[side] !== null).length;
    const range = (side: 'old_line' | 'new_line') => {
      const lines = count(block, side);
      return `${count(before, side) + (lines === 0 ? 0 : 1)},${lines}`;
    };
    text += `@@ -${range('old_line')} +${range('new_line')} @@ some text\n`;
    // Lines that look like headers are none.
    text += block
      .map(({ step }) => `${marks[step]}${step === 'keep' ? '@@ -1,2 +3,4 @@' : '-- a/x'}\n`)
      .join('');
  }
  return text;
};

test('maps every line of one side to the other side, or to none', () => {
  const random = chance(7);
  for (let round = 0; round < 400; round += 1) {
    const pairs = toPairs(makeScript(random));
    const diff = toDiff(pairs);
    for (const { old_line, new_line } of pairs) {
      if (old_line !== null) assert.equal(toNewLine(diff, old_line), new_line, diff);
      if (new_line !== null) assert.equal(toOldLine(diff, new_line), old_line, diff);
    }
  }
});

test('finds a line of the diff by one number or by both', () => {
  const random = chance(11);
  for (let round = 0; round < 200; round += 1) {
    const pairs = toPairs(makeScript(random));
    const diff = toDiff(pairs);
    pairs.forEach(({ old_line, new_line, step }, at) => {
      const isShown = pairs.slice(Math.max(at - 3, 0), at + 4).some((one) => one.step !== 'keep');
      const whole = { old_line, new_line };
      assert.deepEqual(findLine(diff, whole), isShown ? whole : null);
      if (step !== 'keep' || !isShown) return;
      assert.deepEqual(findLine(diff, { old_line: null, new_line }), whole);
      assert.deepEqual(findLine(diff, { old_line, new_line: null }), whole);
      assert.equal(findLine(diff, { old_line: (old_line ?? 0) + 1000, new_line }), null);
    });
  }
});

test('does not count the marker of a missing final line feed as a line', () => {
  const diff = '--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n';
  assert.deepEqual(
    parseHunks(diff).map(({ marks: all }) => all),
    [['-', '+', '+']],
  );
  assert.deepEqual(findLine(diff, { old_line: null, new_line: 2 }), { old_line: null, new_line: 2 });
});

test('names a line that a side lacks by the next line of that side', () => {
  const diff = '@@ -5,2 +5,3 @@\n a\n+b\n c\n';
  assert.deepEqual(numbersAt(diff, { old_line: null, new_line: 6 }), { old_at: 6, new_at: 6 });
  assert.deepEqual(numbersAt(diff, { old_line: 6, new_line: 7 }), { old_at: 6, new_at: 7 });
});

const at = (old_line: number | null, new_line: number | null): TextPosition => ({
  base_sha: 'b',
  start_sha: 's',
  head_sha: 'h',
  old_path: 'x',
  new_path: 'x',
  position_type: 'text' as const,
  old_line,
  new_line,
  line_range: null,
});
const shas = { base_sha: 'b2', start_sha: 's2', head_sha: 'h2' };

test('moves a comment with its line through any change of both sides', () => {
  const random = chance(13);
  for (let round = 0; round < 300; round += 1) {
    // One history of a file in three steps: base -> head, then base -> base 2, head -> head 2 share their lines.
    const lines = Array.from({ length: 40 }, () => ({
      base: random() < 0.7,
      head: random() < 0.7,
      base2: random() < 0.7,
      head2: random() < 0.7,
    }));
    type Side = 'base' | 'head' | 'base2' | 'head2';
    const number = (side: Side, index: number): number | null =>
      lines[index]?.[side] === true ? lines.slice(0, index + 1).filter((line) => line[side]).length : null;
    const diff = (from: Side, to: Side): string =>
      toDiff(
        lines.flatMap((line, index): Pair[] => {
          const pair = { old_line: number(from, index), new_line: number(to, index) };
          if (!line[from] && !line[to]) return [];
          return [{ ...pair, step: line[from] ? (line[to] ? 'keep' : 'remove') : 'add' }];
        }),
      );
    const since = { heads: diff('head', 'head2'), bases: diff('base', 'base2') };
    const file = { old_path: 'x', new_path: 'y', diff: diff('base2', 'head2') };
    lines.forEach((line, index) => {
      const was = at(number('base', index), number('head', index));
      if (was.old_line === null && was.new_line === null) return;
      const now = tracePosition(was, since, { file, shas });
      const isThere = line.head ? line.head2 : line.base2;
      const then = { ...at(number('base2', index), number('head2', index)), ...shas, new_path: 'y' };
      assert.deepEqual(now, isThere ? then : null);
    });
  }
});
