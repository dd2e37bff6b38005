/** Tests files that are shown in another form than their lines: tables, notebooks, sounds, films, documents. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { settle } from '../../../../../test/support/seed_merge_requests.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';
import { parseRows } from './csv_table.ts';
import { parseNotebook } from '../../../markdown/notebooks/parse_notebook.ts';

let gantry: TestService;
let user: Visitor;
let root: string;
let project: { id: number; full_path: string; path: string };

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const notebook = {
  nbformat: 4,
  metadata: { language_info: { name: 'python' } },
  cells: [
    { cell_type: 'markdown', source: ['# Title\n', '<script>alert(1)</script>\n', '\n', '*text*'] },
    {
      cell_type: 'code',
      execution_count: 3,
      source: 'print("```<b>")',
      outputs: [
        { output_type: 'stream', text: ['out <i>\n', '\u001B[31mred\u001B[0m'] },
        { output_type: 'display_data', data: { 'image/png': `${png.slice(0, 40)}\n${png.slice(40)}` } },
        {
          output_type: 'execute_result',
          data: { 'text/html': '<script>alert(2)</script>', 'text/plain': ['plain <u>'] },
        },
        { output_type: 'display_data', data: { 'application/javascript': 'alert(3)' } },
        { output_type: 'error', ename: 'E', evalue: 'v', traceback: ['Trace <s>'] },
        { output_type: 'display_data', data: { 'image/png': '"><script>alert(4)</script>' } },
      ],
    },
    { cell_type: 'odd', source: 'left-out-cell' },
  ],
};

before(async () => {
  gantry = await startTestService();
  ({ visitor: user } = await seedVisitor(gantry));
  project = await seedProject(gantry, { visibility: 'public' });
  root = `/${project.full_path}/-`;
  const sections = Array.from({ length: 4 }, (_one, at) => `## Part <${at}>\n\ntext\n`).join('\n');
  await seedCommit(gantry, project.id, {
    'a.csv': 'name,<b>\n"x, ""y""\nz",1\nonly\n',
    'semicolons.csv': 'a;b\n1;2\n',
    'a.tsv': 'a\tb\n1\t2\n',
    'empty.csv': '',
    'long.csv': `n\n${Array.from({ length: 1_500 }, (_row, at) => `${at}\n`).join('')}`,
    'n.ipynb': JSON.stringify(notebook),
    'bad.ipynb': '{ "cells": 1 }',
    'a.mp4': 'film',
    'a.mp3': 'sound',
    'a.pdf': '%PDF-1.7 \0',
    'long.md': sections,
    'short.md': '# A\n\ntext\n',
    'docs/sub/deep.txt': 'deep',
    'docs/top.txt': 'one\ntwo\n',
  });
  await settle(gantry);
});
after(async () => await gantry.close());

const blob = async (path: string): Promise<string> => {
  const { status, text } = await user.get(`${root}/blob/main/${path}`);
  assert.equal(status, 200);
  return text;
};

test('parses separated values with quotes, and bounds them', () => {
  const rows = (text: string, separator = ',') => parseRows(text, separator, 100).rows;
  assert.deepEqual(rows('a,b\r\n"c,""d""\ne",\n'), [
    ['a', 'b'],
    ['c,"d"\ne', ''],
  ]);
  assert.deepEqual(rows('a,'), [['a', '']]);
  assert.deepEqual(rows('\uFEFFa\n\nb'), [['a'], [''], ['b']]);
  assert.deepEqual(rows('"a'), [['a']]);
  assert.deepEqual(rows('"a"b,c'), [['ab', 'c']]);
  assert.deepEqual(rows(''), []);
  assert.deepEqual(parseRows('1\n2\n3\n', ',', 2), { rows: [['1'], ['2']], isCut: true });
});

test('shows separated values as a table, with a switch to their source', async () => {
  const text = await blob('a.csv');
  assert.match(text, /<th scope="col">name<\/th><th scope="col">&lt;b&gt;<\/th>/);
  assert.match(text, /<td class="n">1<\/td><td>x, &quot;y&quot;\nz<\/td><td>1<\/td>/);
  assert.match(text, /<td>only<\/td><td><\/td>/);
  assert.ok(text.includes('2 rows') && text.includes(`href="${root}/blob/main/a.csv?plain=1"`));
  assert.match(await blob('a.csv?plain=1'), /id="L1">/);
  for (const path of ['semicolons.csv', 'a.tsv'])
    assert.match(await blob(path), /<td>1<\/td><td>2<\/td>/, path);
  assert.match(await blob('empty.csv'), /The file is empty/);
  const long = await blob('long.csv');
  assert.ok(
    long.includes('the first 1000 rows') && long.includes('<td>999</td>') && !long.includes('<td>1000</td>'),
  );
});

test('shows the cells of a notebook, of which nothing runs', async () => {
  const text = await blob('n.ipynb');
  assert.match(text, /<h1 id="user-content-title"[^>]*>Title/);
  assert.match(text, /<em>text<\/em>/);
  assert.match(text, /aria-label="Code cell 2"/);
  assert.ok(text.includes('[3]') && text.includes('```&lt;b&gt;') && text.includes('out &lt;i&gt;\nred'));
  assert.ok(
    text.includes('plain &lt;u&gt;') && text.includes('Trace &lt;s&gt;') && !text.includes('left-out-cell'),
  );
  assert.ok(text.includes('Output of type text/html is not shown.'));
  assert.ok(text.includes('Output of type application/javascript is not shown.'));
  assert.ok(text.includes('Output of type image/png is not shown.'));
  assert.doesNotMatch(text, /alert\(/);
  const [, image] = /<img src="([^"]+\?notebook_image=0)"/.exec(text) ?? [];
  const served = await user.get(image ?? '');
  assert.equal(served.headers.get('content-type'), 'image/png');
  assert.equal(served.headers.get('x-content-type-options'), 'nosniff');
  assert.match(served.headers.get('content-security-policy') ?? '', /sandbox/);
  assert.equal((await user.get(`${root}/raw/main/n.ipynb?notebook_image=1`)).status, 404);
  assert.equal((await user.get(`${root}/raw/main/a.csv?notebook_image=0`)).status, 404);
  assert.match(await blob('n.ipynb?plain=1'), /id="L1">/);
  assert.match(await blob('bad.ipynb'), /id="L1">/);
  for (const odd of [
    '',
    '[]',
    'null',
    '{"cells":[null,1,{"cell_type":"code","outputs":[null,{"data":[]}]}]}',
  ])
    assert.doesNotThrow(() => parseNotebook(odd));
});

test('parses a notebook once for its page and images, and a long one in a worker thread', async (t) => {
  const { id, full_path } = await seedProject(gantry, { visibility: 'public' });
  const image = { output_type: 'display_data', data: { 'image/png': png } };
  const cell = { cell_type: 'code', source: 'marked-cell', outputs: Array.from({ length: 40 }, () => image) };
  const makeNotebook = (cells: number, more: object = {}): string =>
    JSON.stringify({ ...more, cells: Array.from({ length: cells }, () => cell) });
  const names = Array.from({ length: 60_000 }, (_one, at) => [`name-${at}`, at]);
  await seedCommit(gantry, id, {
    'short.ipynb': makeNotebook(2),
    'images.ipynb': makeNotebook(10),
    'names.ipynb': makeNotebook(2, Object.fromEntries(names)),
    'nested.ipynb': `{"marked-cell":${'['.repeat(200_000)}`,
  });
  const parse = t.mock.method(JSON, 'parse');
  const get = async (path: string) => {
    const { status, text } = await openVisitor(gantry).get(`/${full_path}/-/${path}`);
    return { status, text };
  };
  for (const file of ['short', 'images', 'names']) {
    assert.match((await get(`blob/main/${file}.ipynb`)).text, /aria-label="Code cell 2"/, file);
    for (const at of [0, 79, 79])
      assert.equal((await get(`raw/main/${file}.ipynb?notebook_image=${at}`)).status, 200);
  }
  // Anonymous visitors are sent to the sign-in where nothing is found.
  assert.match((await get('blob/main/nested.ipynb')).text, /id="L1">/);
  assert.equal((await get('raw/main/nested.ipynb?notebook_image=0')).status, 302);
  assert.equal((await get('raw/main/images.ipynb?notebook_image=99')).status, 200);
  assert.equal((await get('raw/main/images.ipynb?notebook_image=100')).status, 302);
  const parsed = parse.mock.calls.filter(({ arguments: [text] }) => text.includes('marked-cell'));
  assert.equal(parsed.length, 1);
});

test('plays audio and video of the repository, and links documents', async () => {
  for (const [path, element, type] of [
    ['a.mp4', 'video', 'video/mp4'],
    ['a.mp3', 'audio', 'audio/mpeg'],
  ] as const) {
    const seen = await user.get(`${root}/blob/main/${path}`);
    assert.ok(seen.text.includes(`<${element} controls preload="none" src="${root}/raw/main/${path}"`));
    assert.match(seen.headers.get('content-security-policy') ?? '', /; media-src 'self';/);
    const raw = await user.get(`${root}/raw/main/${path}`);
    assert.equal(raw.headers.get('content-type'), type);
    assert.match(raw.headers.get('content-security-policy') ?? '', /^default-src 'none';.* sandbox$/);
  }
  const other = await user.get(`${root}/blob/main/a.pdf`);
  assert.doesNotMatch(other.headers.get('content-security-policy') ?? '', /media-src/);
  assert.match(other.text, /PDF files are not shown here[\s\S]+raw\/main\/a\.pdf\?inline=false"/);
});

test('lists the headings of a long text', async () => {
  const text = await blob('long.md');
  assert.match(text, /<summary[^>]*>Contents<\/summary>/);
  assert.match(text, /<a class="rank-2" href="#user-content-part-0">Part &lt;0&gt;<\/a>/);
  assert.doesNotMatch(await blob('short.md'), />Contents</);
});

test('offers links to marked lines, and an issue only to users', async () => {
  const text = await blob('docs/top.txt');
  assert.match(text, /data-line-menu[^>]* hidden>/);
  assert.match(text, /<a [^>]*data-line-link href="[^"]+\/blob\/[0-9a-f]{40}\/docs\/top\.txt\?plain=1"/);
  assert.match(text, /data-line-issue="docs\/top\.txt" href="[^"]+\/issues\/new"/);
});

test('downloads one folder', async () => {
  const { text } = await user.get(`/${project.full_path}/tree/main/docs/sub`);
  const [, path = ''] = /href="([^"]+\.tar\?path=[^"]+)"/.exec(text) ?? [];
  assert.match(path, /-main-docs-sub\.tar\?path=docs%2Fsub$/);
  const archive = await user.get(path);
  assert.equal(archive.status, 200);
  assert.ok(archive.text.includes('docs/sub/deep.txt') && !archive.text.includes('top.txt'));
  const escaped = path.replace('docs%2Fsub', '..%2Fx');
  assert.equal((await user.get(escaped)).status, 404);
});
