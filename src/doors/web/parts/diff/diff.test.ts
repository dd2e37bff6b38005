import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLines } from './parse_lines.ts';
import { writeRows } from './write_rows.ts';

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

test('escapes content, says what was added and removed, and marks the words that differ', () => {
  const { text } = writeRows(
    `${header}@@ -1 +1 @@\n-const <a> = "one";\n+const <a> = "two";\n`,
    'f',
    'x "y"',
  );
  assert.ok(text.includes('aria-label="x &quot;y&quot;"'));
  assert.ok(
    text.includes('aria-label="removed">−</td><td>const &lt;a&gt; = &quot;<mark>one</mark>&quot;;'),
    text,
  );
  assert.ok(
    text.includes('aria-label="added">+</td><td>const &lt;a&gt; = &quot;<mark>two</mark>&quot;;'),
    text,
  );
  assert.ok(text.includes('id="f_1_1"') && text.includes('href="#f_2_1"'), text);
});

test('a pair of surrogates stays whole', () => {
  const { text } = writeRows(`${header}@@ -1 +1 @@\n-many equal words 😀\n+many equal words 😁\n`, 'f', 'x');
  assert.ok(text.isWellFormed() && text.includes('😀') && text.includes('😁'), text);
});
