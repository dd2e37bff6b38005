/**
 * Markdown of n and of 2n characters: the CPU of its conversion may grow at most 2.5 times. The HTML of a short text is
 * at most so many times as long as the text.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { convert } from '../../src/doors/markdown/convert/convert.ts';
import { isWhole, seed } from '../support/run/sample.ts';
import { repeated, texts } from './fragments.ts';

/** Characters of the longer text, and how many fragments a sample has. */
const length = 64 * 1024;
const sampled = 12;
/** Milliseconds of CPU below which a growth tells nothing. */
const floor = 60;
const mostGrowth = 2.5;
const rounds = 4;

/** Markup whose parts a parser may read again from each of their starts. */
const fragments = [
  ...texts,
  '[a](',
  '![a](',
  '[a]',
  '[a][',
  '[a]: b\n',
  '[^1]',
  '[^1]: a\n',
  '[^a\n',
  '<a href="',
  '<b>',
  '</b>',
  '<b ',
  '<!--',
  '**a',
  '__a',
  '~~a',
  '*a_',
  '*a**',
  '_a ',
  '~',
  '***',
  '`a',
  '``a`',
  '```js\na\n```\n',
  '```\n',
  '~~~a\n',
  '    a\n',
  '> ',
  '>',
  '>>>\n',
  '- ',
  '- a\n',
  ' - a\n',
  '1. ',
  '  ',
  '\t',
  '|a',
  '|a|\n|-|\n|b|\n\n',
  '|-',
  '# a\n',
  '#',
  'a\n=\n',
  '- [ ] a\n',
  '<details>',
  '<details>\n\n',
  '<table><tr><td>',
  '<div>\n\n',
  '<svg>',
  '<style>',
  '<!--a-->',
  '<?',
  '<![CDATA[',
  'https://a.b/c ',
  'https://',
  'www.a.b ',
  'www.',
  'a@b.c ',
  'a@b',
  'a.b.',
  ':tada:',
  ':a',
  '::',
  '@a',
  'a/b#1 ',
  'a/b/',
  '~"a',
  '%"a" ',
  '~a::b ',
  '0123abc ',
  '!1',
  '$1 ',
  '&amp;',
  '&',
  '&#1',
  '\\*',
  '\\\\',
  '<a id=a>',
  '<p title="',
  '"',
  "'",
  '<img src=a>',
  '![',
  '<summary>',
  '<kbd>',
  '<a name=b href=c>d',
  '</a>',
  '<ol><li>',
  '<x>',
  '<x a=b c=d>',
  '{',
  '---\n',
  '---\na: b\n',
  '{+ ',
  '{+a+}',
  '{+[-{-[+',
  '[-a',
  '> [!note]\n',
  '>>> [!note]\n',
  '[[_TOC_]]\n\n',
  '[[_TOC_]]\n# a\n',
  '$`a`$',
  '$$a\n',
  '$$a$$\n\n',
  '- [~] a\n',
];

const options = {
  project: { id: 4, full_path: 'group/project' },
  ref: 'main',
  path: 'README.md',
  baseUrl: 'https://git.example.com',
  isAbsolute: false,
  diagramServer: 'https://diagrams.example.com',
  imageKey: 'ab'.repeat(32),
  hasReferences: true,
};

/** The head of a table, and rows that are completed to its width. */
const wideTables = [50, 200, 500].flatMap((columns) =>
  [1, 3].map((tables) => {
    const head = `${'|a'.repeat(columns)}\n${'|-'.repeat(columns)}\n`;
    const rows = Math.max(1, Math.floor((4096 / tables - head.length) / 2));
    return `${head}${'|\n'.repeat(rows)}\n`.repeat(tables);
  }),
);

/** Characters of a short text, and how many times as long its HTML may be. A link with an image is longest. */
const shortLength = 4 * 1024;
const mostExpansion = 40;

const lengthOf = (text: string): number =>
  convert(text, options).reduce(
    (sum, part) => sum + (typeof part === 'string' ? part.length : part.plain.length),
    0,
  );

test('a short text makes bounded HTML', () => {
  const texts = [...fragments.map((fragment) => repeated(fragment, shortLength)), ...wideTables];
  const long = texts.filter((text) => lengthOf(text) > mostExpansion * text.length);
  assert.deepEqual(
    long.map((text) => text.slice(0, 60)),
    [],
  );
});

const costOf = (text: string): number => {
  const start = process.cpuUsage();
  convert(text, options);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
};

/** The least of several: what else goes on only ever adds. */
const leastCost = (text: string): number => Math.min(...Array.from({ length: rounds }, () => costOf(text)));

const growsTooMuch = (fragment: string, characters: number): boolean => {
  const whole = leastCost(repeated(fragment, characters));
  return whole > floor && whole > leastCost(repeated(fragment, characters / 2)) * mostGrowth;
};

test('conversion takes linear time', { timeout: 3_600_000 }, () => {
  convert(repeated('**a** [b](c)\n\n- d\n', 8 * 1024), options);
  const pairs = fragments.flatMap((first) => [first, `${first}a `, `a${first}\n`]);
  const some = isWhole ? pairs : fc.sample(fc.constantFrom(...pairs), { numRuns: sampled, seed });
  // Suspects are measured again, also at twice the length, before they count: other tests run meanwhile.
  const slow = some.filter((fragment) =>
    [length, 2 * length, length].every((characters) => growsTooMuch(fragment, characters)),
  );
  assert.deepEqual(slow, [], `seed ${seed}`);
});
