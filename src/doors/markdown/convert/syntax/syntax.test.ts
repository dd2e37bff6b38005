/** What GitLab's flavour adds to CommonMark: contents, alerts, differences, tasks that do not apply, front matter, math. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { convert } from '../convert.ts';

const options = {
  project: { id: 4, full_path: 'group/project' },
  ref: 'main',
  path: 'README.md',
  baseUrl: 'https://git.example.com',
  isAbsolute: false,
  diagramServer: null,
  imageKey: null,
  hasReferences: true,
};

const read = (text: string): string =>
  convert(text, options)
    .map((part) => (typeof part === 'string' ? part : part.plain))
    .join('')
    .replaceAll(/ dir="auto"|\n/g, '');

const contents = (text: string): string => /^<ul class="section-nav">.*?(?=<h\d)/.exec(read(text))?.[0] ?? '';

test('lists the headings in place of [[_TOC_]] and [TOC], nested by rank', () => {
  const link = (id: string, title: string): string => `<li><a href="#user-content-${id}">${title}</a>`;
  for (const marker of ['[[_TOC_]]', '[TOC]', '[[_toc_]]'])
    assert.equal(
      contents(`${marker}\n\n# A *b* :tada:\n### C & d\n## \`e\`\n# A b :tada:`),
      `<ul class="section-nav">${link('a-b-tada', 'A b 🎉')}<ul>${link('c-d', 'C &amp; d')}</li>` +
        `${link('e', 'e')}</li></ul></li>${link('a-b-tada-1', 'A b 🎉')}</li></ul>`,
    );
});

test('keeps the marker of contents in a sentence, in code, and as a link that is defined', () => {
  assert.equal(read('see [TOC]\n\n# a').includes('section-nav'), false);
  assert.equal(read('`[[_TOC_]]`\n\n# a').includes('section-nav'), false);
  assert.match(read('[TOC]\n\n[toc]: https://a.example'), /^<p><a href="https:\/\/a\.example"/);
  assert.equal(read('[TOC]\n\ntext'), '<p>text</p>');
});

for (const kind of ['note', 'tip', 'important', 'warning', 'caution'])
  test(`shows a quote that starts with [!${kind}] as a box`, () => {
    const name = kind.charAt(0).toUpperCase() + kind.slice(1);
    const box = `<div class="markdown-alert markdown-alert-${kind}"><p class="markdown-alert-title">`;
    const html = `${box}${name}</p><p>a<em>b</em></p></div>`;
    assert.equal(read(`> [!${kind}]\n> a*b*`), html);
    assert.equal(read(`> [!${kind.toUpperCase()}]\n>\n> a*b*`), html);
    assert.equal(read(`>>> [!${kind}]\na*b*\n>>>`), html);
    assert.equal(
      read(`> [!${kind}] Read *this*\n> - a`),
      `${box}Read <em>this</em></p><ul><li>a</li></ul></div>`,
    );
  });

test('keeps other quotes, and the end of each of several', () => {
  assert.equal(read('> [!other]\n> a'), '<blockquote><p>[!other]a</p></blockquote>');
  assert.equal(read('> a\n> [!note]'), '<blockquote><p>a[!note]</p></blockquote>');
  assert.match(
    read('> a\n> > [!tip]\n> > b'),
    /^<blockquote><p>a<\/p><div .*<p>b<\/p><\/div><\/blockquote>$/,
  );
  const nested = read('>>> [!note]\n>>> [!tip]\n>>>\n\nb\n\n>>>\nc\n>>>');
  assert.match(nested, /<p>b<\/p><blockquote><p>c<\/p><\/blockquote>$/);
});

test('marks what was added and deleted', () => {
  assert.equal(
    read('{+ a *b* +} {-c-} [+d+] [-e-]'),
    '<p><ins class="idiff">a <em>b</em></ins> <del class="idiff">c</del> ' +
      '<ins class="idiff">d</ins> <del class="idiff">e</del></p>',
  );
  for (const text of ['{++}', '{+ +}', '{+a', '{+a-}', '{+a+]', '\\{+a+}'])
    assert.doesNotMatch(read(text), /<ins/, text);
  assert.equal(read('`{+a+}`'), '<p><code>{+a+}</code></p>');
  assert.match(read('[-a-](b)'), /^<p><a href="[^"]+\/b">-a-<\/a><\/p>$/);
  assert.doesNotMatch(read('{+<b onclick="x">a</b>+}'), /onclick/);
});

test('strikes tasks through that do not apply, and offers no checkbox for them', () => {
  assert.equal(
    read('- [~] not **this**\n  - [ ] but this'),
    '<ul class="task-list"><li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" ' +
      'aria-label="Task that does not apply" disabled> <s>not <strong>this</strong></s>' +
      '<ul class="task-list"><li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" ' +
      'aria-label="Open task" data-line="1" disabled> but this</li></ul></li></ul>',
  );
});

test('shows front matter as code', () => {
  assert.match(
    read('---\ntitle: "<b>"\n\n# c\n---\n# T'),
    /^<pre><code class="language-yaml">.*&lt;b&gt;.*<\/code><\/pre><h1 /,
  );
  assert.match(read('+++\na = 1\n+++\nx'), /^<pre><code class="language-toml">.*<\/pre><p>x<\/p>$/);
  assert.match(read(';;;\n{ "a": 1 }\n;;;'), /^<pre><code class="language-json">/);
});

test('keeps lines and headings at the start of a text', () => {
  assert.equal(read('---\na\n\n---'), '<hr><p>a</p><hr>');
  assert.match(read('---\n# T\n---'), /^<hr><h1/);
  assert.match(read('---\n\na: b\n\n---'), /^<hr>/);
  assert.match(read('---\na: b'), /^<hr>/);
  assert.match(read('a\n\n---\nb: c\n---'), /^<p>a<\/p><hr>/);
});

test('shows formulas as code with a class', () => {
  assert.equal(
    read('$`a_1^2`$ and $`b`$, `c`$ \\$`d`$'),
    '<p><code class="math">a_1^2</code> and <code class="math">b</code>, <code>c</code>$ $<code>d</code>$</p>',
  );
  assert.equal(read('```math\na_1\n```'), '<pre><code class="language-math">a_1</code></pre>');
});

test('keeps the lines of tasks behind front matter and in alerts', () => {
  assert.match(read('---\na: b\n---\n- [ ] c'), /data-line="3"/);
  assert.match(read('> [!note]\n> - [ ] c'), /data-line="1"/);
});
