import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { seed, times } from '../../../../../test/support/run/sample.ts';
import { compareTexts } from './compare_texts.ts';

const signs = { same: ' ', add: '+', del: '-', hunk: '', note: '\\ ' } as const;

const write = (old: string, fresh: string): string[] =>
  compareTexts(old, fresh).rows.map(({ kind, text }) => signs[kind] + text);

test('shows changed lines and three around them', () => {
  const lines = Array.from({ length: 20 }, (_line, at) => `${at + 1}\n`);
  const fresh = [...lines.slice(0, 9), 'ten\n', ...lines.slice(10, 19), 'x\n', '20\n'];
  assert.deepEqual(write(lines.join(''), fresh.join('')), [
    '@@ -7 +7 @@',
    ' 7',
    ' 8',
    ' 9',
    '-10',
    '+ten',
    ' 11',
    ' 12',
    ' 13',
    '@@ -17 +17 @@',
    ' 17',
    ' 18',
    ' 19',
    '+x',
    ' 20',
  ]);
});

test('says where the last line has no end', () => {
  assert.deepEqual(write('a\n', 'a'), ['@@ -1 +1 @@', '-a', '+a', '\\ No newline at end of file']);
  assert.deepEqual(write('', 'a\n'), ['@@ -1 +1 @@', '+a']);
  assert.deepEqual(write('a\n', 'a\n'), []);
});

test('bounds the search: unlike texts are one change', () => {
  const text = (mark: string): string =>
    Array.from({ length: 20_000 }, (_line, at) => `${mark}${at}\n`).join('');
  const { additions, deletions } = compareTexts(`same\n${text('a')}end\n`, `same\n${text('b')}end\n`);
  assert.deepEqual([additions, deletions], [20_000, 20_000]);
});

test('bounds the rows, and counts all changes', () => {
  const text = (mark: string, length: number): string =>
    Array.from({ length }, (_line, at) => `${mark}${at}\n`).join('');
  const { rows, ...counts } = compareTexts(text('a', 900), text('b', 500), 100);
  assert.deepEqual(counts, { isCut: true, additions: 500, deletions: 900 });
  assert.deepEqual([rows.length, rows[0]?.kind, rows[99]?.kind], [100, 'hunk', 'del']);
  const few = compareTexts(text('a', 20), text('b', 30), 100);
  assert.deepEqual([few.rows.length, few.isCut, few.additions, few.deletions], [51, false, 30, 20]);
  const far = compareTexts(`${text('a', 500)}end`, `${text('a', 500)}END`, 100);
  assert.equal(far.rows[0]?.text, '@@ -498 +498 @@');
});

/** Length of the longest common subsequence, the slow way. */
const countCommon = (old: string, fresh: string): number => {
  const row = Array.from({ length: fresh.length + 1 }, () => 0);
  for (const letter of old) {
    let diagonal = 0;
    for (let at = 1; at <= fresh.length; at += 1) {
      const above = row[at] ?? 0;
      row[at] = letter === fresh[at - 1] ? diagonal + 1 : Math.max(above, row[at - 1] ?? 0);
      diagonal = above;
    }
  }
  return row.at(-1) ?? 0;
};

test('finds the fewest changes, from which both texts can be read', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 });
  const toText = (word: string): string => [...word].map((letter) => `${letter}\n`).join('');
  fc.assert(
    fc.property(letters, letters, (old, fresh) => {
      const { rows, additions, deletions } = compareTexts(toText(old), toText(fresh));
      const common = countCommon(old, fresh);
      assert.deepEqual([additions, deletions], [fresh.length - common, old.length - common]);
      for (const row of rows) {
        if (row.kind === 'hunk' || row.kind === 'note') continue;
        if (row.kind !== 'add') assert.equal(row.text, old[row.old - 1]);
        if (row.kind !== 'del') assert.equal(row.text, fresh[row.new - 1]);
      }
    }),
    { numRuns: times(2_000, 300), seed },
  );
});
