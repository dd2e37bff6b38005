import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DiffRow, parseLines } from './parse_lines.ts';
import { html } from '../html.ts';
import { expandRows } from './expand_rows.ts';
import { addRange, parseRanges } from './line_ranges.ts';
import { prepareRows } from './prepare_rows.ts';
import type { TableOptions } from './row_parts.ts';
import { writeSplit } from './write_split.ts';
import { writeUnified } from './write_unified.ts';

const header = '--- a/x\n+++ b/x\n';

test('numbers the lines of both sides', () => {
  const rows = parseLines(
    `${header}@@ -3,3 +3,3 @@ of it\n same\n-old\n+new\n last\n\\ No newline at end of file\n`,
  );
  assert.deepEqual(rows, [
    { kind: 'hunk', text: '@@ -3,3 +3,3 @@ of it' },
    { kind: 'same', old: 3, new: 3, text: 'same' },
    { kind: 'del', old: 4, new: 4, text: 'old' },
    { kind: 'add', old: 5, new: 4, text: 'new' },
    { kind: 'same', old: 5, new: 5, text: 'last' },
    { kind: 'note', text: 'No newline at end of file' },
  ]);
});

test('a content line that looks like a header is none', () => {
  const rows = parseLines(`${header}@@ -1,2 +1 @@\n--- a/y\n-@@ -1 +1 @@\n+x\n`);
  assert.deepEqual(
    rows.map(({ kind, text }) => [kind, text]),
    [
      ['hunk', '@@ -1,2 +1 @@'],
      ['del', '-- a/y'],
      ['del', '@@ -1 +1 @@'],
      ['add', 'x'],
    ],
  );
});

const options = (diff: string, more: Partial<TableOptions> = {}): TableOptions => ({
  rows: prepareRows(parseLines(header + diff)),
  fileId: 'f',
  label: 'x "y"',
  ...more,
});

const changed = '@@ -1 +1 @@\n-const <a> = "one";\n+const <a> = "two";\n';

test('escapes content, says what was added and removed, and marks the words that differ', () => {
  const { text } = writeUnified(options(changed));
  assert.ok(text.includes('aria-label="x &quot;y&quot;"'));
  for (const [kind, sign, word] of [
    ['removed', '&minus;', 'one'],
    ['added', '+', 'two'],
  ]) {
    const row = `aria-label="${kind}">${sign}</td><td>const &lt;a&gt; = &quot;<mark>${word}</mark>&quot;;`;
    assert.ok(text.includes(row), text);
  }
  assert.ok(text.includes('id="f_1_1"') && text.includes('href="#f_2_1"'), text);
});

test('a pair of surrogates stays whole', () => {
  const { text } = writeUnified(options('@@ -1 +1 @@\n-many equal words 😀\n+many equal words 😁\n'));
  assert.ok(text.isWellFormed() && text.includes('😀') && text.includes('😁'), text);
});

test('the split view has the removed lines beside the added ones', () => {
  const diff = '@@ -1,3 +1,4 @@\n same\n-old one\n-old two\n+new one\n+new two\n+new three\n';
  const { text } = writeSplit(options(diff));
  const rows = text.split('<tr').slice(2);
  const texts = rows.map((row) => row.replaceAll(/<[^>]*>/g, '|').replaceAll(/[\s|]+/g, ' '));
  assert.deepEqual(
    texts.map((row) => row.replace(/^[^>]*>/, '').trim()),
    [
      '@@ -1,3 +1,4 @@',
      '1 same 1 same',
      '2 &minus; old one 2 + new one',
      '3 &minus; old two 3 + new two',
      '4 + new three',
    ],
  );
  assert.ok(rows[4]?.includes('class="none"'));
});

test('line numbers lead to the form for a comment, and parts are shown below their lines', () => {
  const below = new Map([
    ['old_1', html`<p>on the old line</p>`],
    ['new_1', html`<p>on the new line</p>`],
  ]);
  for (const write of [writeUnified, writeSplit]) {
    const { text } = write(options(changed, { commentPath: '?comment=f_', below }));
    assert.ok(text.includes('href="?comment=f_old_1" aria-label="Comment on line 1, removed"'), text);
    assert.ok(text.includes('href="?comment=f_new_1" aria-label="Comment on line 1, added"'), text);
    assert.match(text, /<tr class="thread"><td colspan="\d"><p>on the old line<\/p>/);
    assert.match(text, /<tr class="thread"><td colspan="\d"><p>on the new line<\/p>/);
  }
});

test('shows the whole file around the hunks', () => {
  const rows = parseLines(`${header}@@ -3,2 +3,3 @@\n three\n+inserted\n four\n@@ -7 +8 @@\n-seven\n+7\n`);
  const lines = ['one', 'two', 'three', 'inserted', 'four', 'five', 'six', '7', 'eight'];
  const shown = expandRows(rows, { lines, ranges: 'all' }).map((row) =>
    row.kind === 'hunk' || row.kind === 'note' ? row.kind : [row.old, row.new, row.text].join(' '),
  );
  assert.deepEqual(shown, [
    '1 1 one',
    '2 2 two',
    '3 3 three',
    '4 4 inserted',
    '4 5 four',
    '5 6 five',
    '6 7 six',
    '7 8 seven',
    '8 8 7',
    '8 9 eight',
  ]);
});

const rowTexts = (rows: readonly DiffRow[]): string[] =>
  rows.map((row) => {
    if (row.kind === 'note') return 'note';
    if (row.kind !== 'hunk') return `${row.old} ${row.new}`;
    return row.hidden === undefined ? '@@' : `@@ ${row.hidden.from}-${row.hidden.to}`;
  });

const same = Array.from({ length: 3 }, () => ' same\n').join('');
/** Lines 40 and 80 of 100 lines change, and a line is added before them. */
const farApart = parseLines(
  `${header}@@ -37,6 +37,7 @@ f\n${same}-a\n+b\n+c\n${same.slice(6)}@@ -77,7 +78,7 @@ g\n${same}-a\n+b\n${same}`,
);

test('tells which lines are hidden around the hunks', () => {
  const rows = expandRows(farApart, { lines: null, ranges: [] });
  assert.deepEqual(
    rowTexts(rows).filter((text) => text.startsWith('@@')),
    ['@@ 1-36', '@@ 44-77', '@@ 85-null'],
  );
});

test('shows lines in steps, and says what stays hidden', () => {
  const lines = Array.from({ length: 101 }, (_line, at) => `line ${at + 1}`);
  const rows = rowTexts(
    expandRows(farApart, {
      lines,
      ranges: [
        [44, 45],
        [76, 77],
        [95, 120],
      ],
    }),
  );
  assert.deepEqual(
    rows.filter((text) => text.startsWith('@@')),
    ['@@ 1-36', '@@ 46-75', '@@ 85-94'],
  );
  assert.ok(rows.includes('43 44') && rows.includes('100 101'));
});

test('reads and joins ranges of an address', () => {
  assert.deepEqual(parseRanges('10-29,50-69'), [
    [10, 29],
    [50, 69],
  ]);
  for (const text of ['', '10', '10-29,', 'a-b', '12345678-1']) assert.deepEqual(parseRanges(text), []);
  assert.equal(addRange(parseRanges('50-69,10-29'), [30, 40]), '10-40,50-69');
  const many = Array.from({ length: 100 }, (_range, at) => [at * 100, at * 100 + 1] as const);
  assert.equal(addRange(many, [1, 2]), null);
});
