/** GitLab's flavour of Markdown, as HTML before references are resolved. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { convert } from './convert.ts';
import type { ConvertOptions } from './options.ts';

const base: ConvertOptions = {
  project: { id: 4, full_path: 'group/project' },
  ref: 'feature/a b',
  path: 'doc/README.md',
  baseUrl: 'https://git.example.com',
  isAbsolute: false,
  diagramServer: null,
  imageKey: null,
  hasReferences: true,
};

/** Converts a text; references are written as `{Issue group/project 1}`. */
const read = (text: string, options: Partial<ConvertOptions> = {}): string =>
  convert(text, { ...base, ...options })
    .map((part) => (typeof part === 'string' ? part : `{${part.kind} ${part.project} ${part.name}}`))
    .join('')
    .trim();

/** Converts a text of one paragraph. */
const readLine = (text: string, options: Partial<ConvertOptions> = {}): string =>
  /^<p dir="auto">(.*)<\/p>$/s.exec(read(text, options))?.[1] ?? '';

const external = 'rel="nofollow noreferrer noopener"';

for (const [text, html] of [
  ['~~a~~ **b** :tada: `:tada:` :nothing:', '<s>a</s> <strong>b</strong> 🎉 <code>:tada:</code> :nothing:'],
  ['www.example.com/a_b_c.', `<a href="http://www.example.com/a_b_c" ${external}>www.example.com/a_b_c</a>.`],
  ['me@example.com', `<a href="mailto:me@example.com" ${external}>me@example.com</a>`],
  ['README.md a.b.c', 'README.md a.b.c'],
  ['<a href="\ud800">a</a>', '<a href="/group/project/-/blob/feature/a%20b/doc/%EF%BF%BD">a</a>'],
  [
    '<kbd>#1</kbd> `#1` [#1](a)',
    '<kbd>#1</kbd> <code>#1</code> <a href="/group/project/-/blob/feature/a%20b/doc/a">#1</a>',
  ],
] as const) {
  test(text, () => assert.equal(readLine(text), html));
}

for (const [text, html] of [
  ['#1, (!2) $3.', '{Issue  1}, ({MergeRequest  2}) {Snippet  3}.'],
  ['other#1 a/b!2 a/b@0123abc', '{Issue other 1} {MergeRequest a/b 2} {Commit a/b 0123abc}'],
  ['@root, @a.b. @group/sub', '{User  root}, {User  a.b}. {User  group/sub}'],
  ['~bug ~"two words" ~a::b. g/p~x', '{Label  bug} {Label  two words} {Label  a::b}. {Label g/p x}'],
  ['%v1.0. %"two words"', '{Milestone  v1.0}. {Milestone  two words}'],
  ['0123abc 0123abcx x0123abc', '{Commit  0123abc} 0123abcx x0123abc'],
  ['x #0 #01 #1a a/#3 ##4 5% ~ !a', 'x #0 #01 #1a a/#3 ##4 5% ~ !a'],
  ['**#1** <b>!2</b> &amp;#3', '<strong>{Issue  1}</strong> <b>{MergeRequest  2}</b> &amp;#3'],
  ['https://git.example.com/a/b/-/issues/1', '{Issue a/b 1}'],
  ['<https://git.example.com/a/b/merge_requests/1#note_4>', '{MergeRequest a/b 1}'],
  ['https://git.example.com/a/b/-/commit/0123abc', '{Commit a/b 0123abc}'],
] as const) {
  test(`refers: ${text}`, () => assert.equal(readLine(text), html));
}

test('finds no references where none are asked for', () =>
  assert.equal(readLine('#1 @root ~"a b"', { hasReferences: false }), '#1 @root ~&quot;a b&quot;'));

const secret = '0123456789abcdef0123456789abcdef';
const blob = '/group/project/-/blob/feature/a%20b';

for (const [written, href] of [
  ['b%20c.md#Part', `${blob}/doc/b%20c.md#user-content-Part`],
  ['../x.ts#L3', `${blob}/x.ts#L3`],
  ['../../../x', `${blob}/x`],
  ['./', '/group/project/-/tree/feature/a%20b/doc'],
  ['/top.md?a=1', `${blob}/top.md?a=1`],
  ['/group/project/-/issues', '/group/project/-/issues'],
  ['%2e%2e/%2F?', `${blob}/%2F?`],
  ['#part', '#user-content-part'],
  [`/uploads/${secret}/a.txt`, `/-/project/4/uploads/${secret}/a.txt`],
  ['https://git.example.com/a', 'https://git.example.com/a'],
] as const) {
  test(`links to ${written}`, () => assert.equal(readLine(`[a](${written})`), `<a href="${href}">a</a>`));
}

test('links with the address of the instance where answers need it, and below its path', () => {
  assert.equal(
    readLine('[a](b)', { isAbsolute: true, path: null }),
    '<a href="https://git.example.com/group/project/-/blob/feature/a%20b/b">a</a>',
  );
  assert.equal(
    readLine(`![a](/uploads/${secret}/a.png)`, { baseUrl: 'https://example.com/git' }),
    `<img src="/git/-/project/4/uploads/${secret}/a.png" alt="a" loading="lazy">`,
  );
});

test('shows images of the instance, and links those of other sites', () => {
  assert.equal(
    readLine('![a](b.png "T")'),
    '<img src="/group/project/-/raw/feature/a%20b/doc/b.png" alt="a" title="T" loading="lazy">',
  );
  assert.equal(
    readLine('![a](https://e.example/b.png)'),
    `<a href="https://e.example/b.png" ${external}>a</a>`,
  );
  assert.equal(
    readLine('[![a](https://e.example/b.png)](https://e.example)'),
    `<a href="https://e.example" ${external}>a</a>`,
  );
  assert.equal(readLine('![a](data:image/png;base64,AAAA)'), 'a');
  assert.match(readLine('![a](b.mp4)'), /^<a href="[^"]+b\.mp4">a<\/a>$/);
});

test('carries the line of each task, also in nested lists and quotes', () => {
  const html = read('text\n\n- [ ] a\n  1. [x] b\n- c\n\n> * [X] d\n\n- [ ]\n- [y] e\n- \\[ ] f');
  const boxes = [...html.matchAll(/<input type="checkbox"[^>]*data-line="(\d+)"[^>]* disabled( checked)?>/g)];
  assert.deepEqual(
    boxes.map(([, line, checked]) => [line, checked !== undefined]),
    [
      ['2', false],
      ['3', true],
      ['6', true],
    ],
  );
});

test('aligns the cells of tables by attributes', () =>
  assert.equal(
    read('|a|b|\n|-|-:|\n|1|2|').replaceAll('\n', ''),
    '<table dir="auto"><thead><tr><th>a</th><th align="right">b</th></tr></thead>' +
      '<tbody><tr><td>1</td><td align="right">2</td></tr></tbody></table>',
  ));

test('gives headings ids and anchors; repeated ones get a number', () => {
  const anchor = (id: string): string =>
    `<a class="anchor" href="#user-content-${id}" aria-label="Link to this heading"></a>`;
  assert.equal(
    read('# A *b* & `c`!\n## 12\n## 12'),
    `<h1 id="user-content-a-b-c" dir="auto">A <em>b</em> &amp; <code>c</code>!${anchor('a-b-c')}</h1>\n` +
      `<h2 id="user-content-anchor-12" dir="auto">12${anchor('anchor-12')}</h2>\n` +
      `<h2 id="user-content-anchor-12-1" dir="auto">12${anchor('anchor-12-1')}</h2>`,
  );
});

test('quotes several lines between >>>, and not where the end is missing', () => {
  assert.equal(
    read('>>>\na\n\n- b\n>>>\nc').replaceAll('\n', ''),
    '<blockquote dir="auto"><p dir="auto">a</p><ul dir="auto"><li>b</li></ul></blockquote><p dir="auto">c</p>',
  );
  assert.doesNotMatch(read('>>>\na'), /<blockquote dir="auto">\s*<p dir="auto">a/);
});

test('links footnotes both ways, within their own text', () => {
  const html = read('a[^x] b[^none]\n\n[^x]: The *note*');
  const [, id] = /href="#(user-content-fn-\w+-1)"/.exec(html) ?? [];
  assert.ok(id !== undefined && html.includes(`<li id="${id}" class="footnote-item">`), html);
  assert.match(html, /\[\^none\]/);
  assert.notEqual(read('other[^x]\n\n[^x]: y').includes(id), true);
});

test('highlights code by classes, and shows code of unknown languages as it is', () => {
  assert.equal(
    read('```js\nlet a = "<b>";\n```'),
    '<pre><code class="language-js"><span class="hljs-keyword">let</span> a = ' +
      '<span class="hljs-string">&quot;&lt;b&gt;&quot;</span>;\n</code></pre>',
  );
  assert.equal(
    read('```constructor x\n#1 <b>\n```'),
    '<pre><code class="language-constructor">#1 &lt;b&gt;\n</code></pre>',
  );
});

test('shows diagrams as images of the diagram server, and as code without one', () => {
  const text = '```mermaid\ngraph TD; A-->B;\n```';
  const diagramServer = 'https://diagrams.example.com/';
  assert.match(
    readLine(text, { diagramServer }),
    /^<img src="https:\/\/diagrams\.example\.com\/mermaid\/svg\/[\w-]+" alt="Diagram \(mermaid\)" loading="lazy" class="diagram">$/,
  );
  assert.match(read(text), /^<pre><code class="language-mermaid">graph TD;/);
});

test('keeps details, and Markdown inside of them', () =>
  assert.equal(
    read('<details open>\n<summary>S</summary>\n\n**a**\n</details>').replaceAll('\n', ''),
    '<details open><summary>S</summary><p dir="auto"><strong>a</strong></p></details>',
  ));

test('shows a text as it is that nests elements deeply', () => {
  assert.match(read('<b>'.repeat(1_900)), /^<p dir="auto"><b>/);
  assert.match(read('<b></x>'.repeat(2_100)), /nested too deeply.*<pre>&lt;b&gt;&lt;\/x&gt;/s);
  assert.match(read('<b>a</b><br>'.repeat(2_100)), /^<p dir="auto"><b>/);
});
