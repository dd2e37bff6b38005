import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { logMarkup } from './log_markup.ts';

const markupOf = (text: string, line = 1): string =>
  logMarkup({ text, line, isWhole: true, showsTimes: false }).text;
const esc = '\x1b';

/** Text of the lines, without markup. */
const linesOf = (text: string): string[] =>
  [
    ...markupOf(text).matchAll(
      /<(?:div|summary) class="line".*?><(?:a|b).*?<\/(?:a|b)><span>(.*?)<\/span>(?=<\/div>|<time>|<\/summary>)/g,
    ),
  ].map(([, one = '']) => one);

test('numbers each line and links to it', () => {
  const markup = markupOf('one\n\ntwo', 7);
  assert.match(
    markup,
    /<div class="line" id="L7"><a href="#L7" aria-label="Line 7">7<\/a><span>one<\/span><\/div>/,
  );
  assert.match(markup, /id="L8".*<span><\/span>/);
  assert.match(markup, /id="L9".*<span>two<\/span>/);
  assert.match(
    logMarkup({ text: 'x', line: 7, isWhole: false, showsTimes: false }).text,
    /href="\?line=7#L7"/,
  );
});

test('converts colors to classes, across line ends', () => {
  assert.deepEqual(linesOf(`a ${esc}[31;1mred\nstill${esc}[0;m not`), [
    'a <span class="f1 bold">red</span>',
    '<span class="f1 bold">still</span> not',
  ]);
  const looks: [string, string][] = [
    ['32', 'f2'],
    ['91', 'f9'],
    ['44', 'b4'],
    ['103', 'b3'],
    ['38;5;196', 'f9'],
    ['38;5;15', 'f15'],
    ['38;5;244', 'f8'],
    ['48;2;0;0;238', 'b4'],
    ['38;2;250;250;250;3', 'f15 italic'],
    ['1;2;3;4;7;9', 'bold faint italic underlined struck inverse'],
  ];
  for (const [codes, classes] of looks) {
    assert.deepEqual(linesOf(`${esc}[${codes}mx`), [`<span class="${classes}">x</span>`], codes);
  }
  for (const codes of ['', '0', '31;39', '44;49', '1;22', '7;27', '999', '38', '38;5', '38;2;1', '38;9;1']) {
    const shown = linesOf(`${esc}[${codes}mx`)[0] ?? '';
    assert.equal(shown.replace(/<\/?span[^>]*>/g, ''), 'x', codes);
  }
  assert.deepEqual(linesOf(`${esc}[31;39mx`), ['x']);
});

test('removes other control codes', () => {
  const odd = [
    `${esc}[2K`,
    `${esc}[1;1H`,
    `${esc}]0;title\x07`,
    `${esc}]8;;http://x${esc}\\`,
    '\x07',
    '\b',
    '\u202e',
    `${esc}c`,
  ];
  assert.deepEqual(linesOf(`a${odd.join('')}b\tc`), ['ab\tc']);
  assert.deepEqual(linesOf(`a${esc}`), ['a']);
});

test('a carriage return overwrites the line, except at its end', () => {
  assert.deepEqual(linesOf('10 %\r50 %\r100 %\r\nnext\r\n'), ['100 %', 'next']);
});

const section = (what: 'start' | 'end', time: number, name: string, options = ''): string =>
  `section_${what}:${time}:${name}${options}\r${esc}[0K`;

test('folds nested sections and shows their durations', () => {
  const log = [
    `${section('start', 100, 'outer')}Outer`,
    `${section('start', 101, 'inner', '[collapsed=true]')}${esc}[36mInner${esc}[0m`,
    'deep',
    `${section('end', 166, 'inner')}${section('start', 166, 'next_one', '[hide_duration=true]')}`,
    section('end', 167, 'next_one'),
    `${section('end', 3800, 'outer')}after`,
  ].join('\n');
  const markup = markupOf(log);
  assert.match(
    markup,
    /<details open><summary class="line" id="L1"><b>1<\/b><span>Outer<\/span><time>1:01:40<\/time>/,
  );
  assert.match(
    markup,
    /<details><summary [^>]*id="L2"><b>2<\/b><span><span class="f6">Inner<\/span><\/span><time>1:05<\/time>/,
  );
  assert.match(markup, /<details open><summary [^>]*id="L4"><b>4<\/b><span>next one<\/span><\/summary>/);
  assert.match(markup, /<\/details>\n<div class="line" id="L6">.*after/);
  assert.equal(markup.match(/<details/g)?.length, markup.match(/<\/details>/g)?.length);
  assert.doesNotMatch(markup, /section_/);
});

test('shows no duration of an open section, and ignores an end without a start', () => {
  const markup = markupOf(`${section('end', 5, 'other')}x\n${section('start', 6, 'open')}Open\ny`);
  assert.match(markup, /<span>Open<\/span><\/summary>/);
  assert.ok(markup.endsWith('</details>'));
  assert.deepEqual(linesOf(`${section('end', 5, 'other')}x`), ['x']);
});

test('removes timestamps of newer runners, and joins lines that they split', () => {
  const stamped = ['00O one ', '00O+two', '01E three'].map((rest) => `2026-01-02T03:04:05.678901Z ${rest}`);
  assert.deepEqual(linesOf(stamped.join('\n')), ['one two', 'three']);
});

/** A log as gitlab-runner 18 writes it: a carriage return ends a line that the next one continues. */
const timed = [
  `42:57.5Z 00O section_start:1:prepare\r`,
  `42:57.5Z 00O+${esc}[0K${esc}[36;1mPreparing${esc}[0;m`,
  '42:58.000001Z 01E 10 %\r',
  '42:59.000001Z 01E+20 %',
  '43:00Z 00O ',
  `43:01.000001Z 00O section_end:4:prepare\r`,
  `43:01.000001Z 00O+${esc}[0Kdone`,
  'no time',
]
  .map((line) => line.replace(/^\d/, '2026-01-02T03:$&'))
  .join('\n');

test('shows the time of each line on request, and numbers lines as the text has them', () => {
  assert.deepEqual(linesOf(timed), ['<span class="f6 bold">Preparing</span>', '20 %', '', 'done', 'no time']);
  const { text } = logMarkup({ text: timed, line: 1, isWhole: true, showsTimes: true });
  const time = (clock: string, iso: string): string =>
    `<time datetime="2026-01-02T03:${iso}">${clock}</time>`;
  const expected = [
    `id="L1"><b>1</b>${time('03:42:57', '42:57.5Z')}<span>`,
    `id="L3"><a href="#L3" aria-label="Line 3">3</a>${time('03:42:58', '42:58.000001Z')}<span>20 %`,
    `id="L5"><a href="#L5" aria-label="Line 5">5</a>${time('03:43:00', '43:00Z')}<span></span>`,
    `id="L6"><a href="#L6" aria-label="Line 6">6</a>${time('03:43:01', '43:01.000001Z')}<span>done`,
    'id="L8"><a href="#L8" aria-label="Line 8">8</a><span>no time',
  ];
  for (const part of expected) assert.ok(text.includes(part), `${part} in ${text}`);
  assert.doesNotMatch(markupOf(timed), /datetime/);
});

test('escapes all markup of the log', () => {
  assert.deepEqual(linesOf(`<script>${esc}[31m"&'`), [
    '&lt;script&gt;<span class="f1">&quot;&amp;&#39;</span>',
  ]);
  const piece = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom(
      esc,
      '\r',
      '\n',
      '[31m',
      '<b>',
      '"',
      'section_start:1:a',
      `section_start:1:a\r${esc}[0K`,
      `section_end:2:a\r`,
      '[x=<i>]',
    ),
  );
  const ours =
    /^(?:<div class="line"(?: id="L\d+")?>|<\/div>|<a href="#L\d+" aria-label="Line \d+">|<\/a>|<span(?: class="[a-z0-9 ]+")?>|<\/span>|<details(?: open)?>|<\/details>|<summary class="line"(?: id="L\d+")?>|<\/summary>|<b>|<\/b>|<time>|<\/time>)$/;
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      for (const [tag] of markupOf(pieces.join('')).matchAll(/<[^>]*>?/g)) assert.match(tag, ours);
    }),
  );
});

test('parses a hostile log in linear time', () => {
  const lines = [
    `${esc}]`.repeat(20_000),
    `${esc}[`.repeat(20_000),
    'section_start:'.repeat(10_000),
    '\r'.repeat(50_000),
  ];
  for (const one of lines) assert.ok(markupOf(one).length > 0);
  const nested = Array.from({ length: 3_000 }, (_one, at) => section('start', at, `s${at}`)).join('\n');
  assert.equal(markupOf(nested).match(/<details/g)?.length, 16);
});
