/** Formulas become MathML, within limits; what is no formula stays as it was written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findUnsafeMarkup } from '../../../../../test/support/safe_html.ts';
import { convert } from '../convert.ts';
import { makeFormulaRenderer } from './render_formulas.ts';

const read = (text: string): string =>
  convert(
    text,
    {
      project: null,
      ref: null,
      path: null,
      baseUrl: 'https://git.example.com',
      isAbsolute: false,
      diagramServer: null,
      imageKey: null,
      hasReferences: true,
    },
    makeFormulaRenderer(),
  )
    .map((part) => (typeof part === 'string' ? part : part.plain))
    .join('')
    .trim();

const square = '<msup><mi>a</mi><mn>2</mn></msup>';

test('renders formulas within a text, and in blocks', () => {
  assert.equal(
    read('The $`a^2`$ of `a^2`.'),
    `<p dir="auto">The <math>${square}</math> of <code>a^2</code>.</p>`,
  );
  const block = `<p dir="ltr"><math display="block">${square}</math></p>`;
  for (const text of ['```math\na^2\n```', '~~~ Math\na^2\n~~~', '$$a^2$$', '$$\na^2\n$$', '$$a\n^2 $$'])
    assert.equal(read(text), block, text);
  assert.equal(read('- one\n\n  $$\n  a^2\n  $$').replaceAll('\n', '').includes(block), true);
  assert.equal(read('> $$\n> a^2\n> $$\n\nb').includes(block), true);
  assert.match(read('# $`a^2`$ **b**'), /<h1[^>]*><math>.*<strong>b<\/strong>/s);
  assert.match(
    read('$$\n\\begin{pmatrix}a & b\\\\c & d\\end{pmatrix}\n$$'),
    /<mtable>(?:<mtr>.*<\/mtr>){2}/s,
  );
});

test('what is no formula stays as it was written', () => {
  assert.match(read('It costs $$ 5\n\nor $$ 6'), /<p dir="auto">It costs \$\$ 5<\/p>/);
  assert.match(read('$$\na\n\nb\n$$'), /^<p dir="auto">\$\$/);
  assert.match(read('$$$$'), /\$\$\$\$/);
  for (const tex of [
    '\\undefined{x}',
    '\\frac{1}',
    '\\href{javascript:alert(1)}{x}',
    '\\includegraphics{https://evil.example/a.png}',
    '\\htmlClass{a}{x}',
    '\\class{button primary}{x}',
    '\\def\\a{\\a\\a}\\a',
    'a'.repeat(2_001),
  ]) {
    const html = read(`x $\`${tex}\`$ y`);
    assert.match(html, /^<p dir="auto">x <code class="math">/, tex.slice(0, 50));
    assert.match(read(`\`\`\`math\n${tex}\n\`\`\``), /^<pre><code class="language-math">/, tex.slice(0, 50));
  }
  assert.equal(
    read('<code data-math="x inline" class="math">a^2</code>'),
    '<p dir="auto"><code class="math">a^2</code></p>',
  );
  assert.equal(read('<math><mi>a</mi></math>'), '<p dir="auto">a</p>');
});

test('formulas of a text are limited together', () => {
  const one = `$\`${'a+'.repeat(900)}b\`$`;
  const html = read(Array.from({ length: 10 }, () => one).join('\n\n'));
  assert.deepEqual([html.split('<math>').length - 1, html.split('<code class="math">').length - 1], [5, 5]);
  assert.ok(read(`$$\\rule{1000em}{1000em}$$`).includes('width="20em"'));
});

test('openings without an end take linear time', () => {
  const html = read('$$a\n#\n'.repeat(3_000));
  assert.equal(html.split('<h1').length - 1, 3_000);
});

test('no TeX becomes active', () => {
  for (const tex of [
    '\\text{<script>alert(1)</script>}',
    '\\text{</math><img src=x onerror=alert(1)>}',
    '\\unicode{x3c}img',
    '\\label{a}\\ref{a}',
    '\\color{red;background:url(//evil.example)}x',
    '\\textcolor{javascript:alert(1)}{x}',
    '\\operatorname{<b onclick=x>}',
    '\\tag{"><img src=x>}',
    '\\kern{\'"onclick=alert(1)}',
    '\\mathrm{&lt;b&gt;}',
  ])
    for (const text of [`$\`${tex}\`$ $`, `$$\n${tex}\n$$`])
      assert.equal(findUnsafeMarkup(read(text), 'https://git.example.com'), null, text);
});
