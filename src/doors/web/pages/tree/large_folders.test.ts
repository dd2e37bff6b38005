/** Tests the pages of a folder with 10,000 files and of a file with 200,000 lines. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import {
  type WorkTree,
  gitEnvironment,
  newWorkTree,
  repositoryUrl,
} from '../../../../../test/support/repositories/git.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { type TestService, rootToken, startTestService } from '../../../../../test/support/service.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import type { Visitor } from '../../../../../test/support/visitor.ts';

const files = 10_000;
const lines = 200_000;
/** Bytes that a page has at most, whatever it shows. */
const maxPage = 1_800_000;

let gantry: TestService;
let tree: WorkTree;
let visitor: Visitor;
let path: string;

const run = (args: string[], input: string): string =>
  execFileSync('git', args, { cwd: tree.path, env: gitEnvironment(), input }).toString().trim();

before(async () => {
  gantry = await startTestService();
  tree = await newWorkTree();
  visitor = (await seedVisitor(gantry)).visitor;
  path = (await seedProject(gantry, { visibility: 'public' })).full_path;
  const small = run(['hash-object', '-w', '--stdin'], 'x\n');
  const long = run(
    ['hash-object', '-w', '--stdin'],
    Array.from({ length: lines }, (_line, at) => `const a${at + 1} = 1;\n`).join(''),
  );
  const wide = run(
    ['hash-object', '-w', '--stdin'],
    `first\n${'<"'.repeat(1_000_000)}\n${`${'&'.repeat(10_000)}\n`.repeat(200)}last\n`,
  );
  const entries = Array.from(
    { length: files },
    (_file, at) => `100644 ${small}\tmany/file-${String(at + 1).padStart(5, '0')}\n`,
  );
  run(
    ['update-index', '--index-info'],
    `${entries.join('')}100644 ${long}\tlong.js\n100644 ${wide}\twide.min.js\n`,
  );
  await tree.git('commit', '--quiet', '--message', 'Large');
  await tree.git('push', '--quiet', repositoryUrl(gantry.url, path, rootToken), 'HEAD:refs/heads/main');
});
after(async () => {
  await gantry.close();
  await tree.remove();
});

test('a large folder is shown in pages, at once and without last commits', async () => {
  const first = await visitor.get(`/${path}/tree/main/many`);
  assert.equal(first.status, 200);
  assert.ok(first.text.length < maxPage, String(first.text.length));
  assert.ok(first.text.includes('Page 1 of 20'));
  assert.ok(first.text.includes('>file-00500</a>') && !first.text.includes('>file-00501</a>'));
  assert.ok(!first.text.includes('>Large</a></td>'), 'the last commits of entries come later');
  const [, later = ''] = /data-later="([^"]+)"/.exec(first.text) ?? [];
  const rest = await visitor.get(later.replaceAll('&amp;', '&'));
  assert.equal([...rest.text.matchAll(/>Large<\/a><\/td>/g)].length, 500);
  const last = await visitor.get(`/${path}/tree/main/many?page=20`);
  assert.ok(last.text.includes('>file-10000</a>') && !last.text.includes('>Next</a>'));
  assert.equal((await visitor.get(`/${path}/tree/main/many?page=21`)).status, 200);
  assert.equal((await visitor.get(`/${path}/-/blob/main/many/file-10000`)).status, 200);
});

test('the file search lists a bounded number of a large project', async () => {
  const all = await visitor.get(`/${path}/-/find_file/main`);
  assert.ok(all.text.includes('5,000 files. Not all files are listed'), all.text.slice(0, 4000));
  assert.ok(all.text.length < maxPage, String(all.text.length));
  const some = await visitor.get(`/${path}/-/find_file/main?search=file-0999`);
  assert.ok(some.text.includes('10 files') && some.text.includes('many/file-09999</a>'));
});

test('lines that would make a page too large are left out', async () => {
  for (const page of ['blob', 'blame']) {
    const { status, text } = await visitor.get(`/${path}/-/${page}/main/wide.min.js`);
    assert.equal(status, 200);
    assert.ok(text.length < maxPage, String(text.length));
    assert.match(text, /<td>first\n/);
    assert.ok(text.includes('This line is too long to be shown.'));
    assert.match(text, /id="L203"/);
  }
});

test('a long file is shown in plain pages, with links between lines and pages', async () => {
  const { status, text } = await visitor.get(`/${path}/-/blob/main/long.js`);
  assert.equal(status, 200);
  assert.ok(text.length < maxPage, String(text.length));
  assert.match(text, /200,000 lines/);
  assert.match(text, /data-lines="2500" data-total="200000"/);
  assert.ok(!text.includes('hljs'), 'it is plain');
  assert.match(text, /id="L2500"/);
  const last = await visitor.get(`/${path}/-/blob/main/long.js?page=80`);
  assert.match(
    last.text,
    /<tr id="L200000"><td class="n"><a href="#L200000">200000<\/a><\/td><td>const a200000/,
  );
  for (const page of ['81', '999999999']) {
    const beyond = await visitor.get(`/${path}/-/blob/main/long.js?page=${page}`);
    assert.equal(beyond.status, 200);
    assert.ok(beyond.text.length < maxPage);
  }
  const blame = await visitor.get(`/${path}/-/blame/main/long.js?page=200`);
  assert.match(blame.text, /id="L200000"/);
  assert.ok(blame.text.length < maxPage);
  assert.equal((await visitor.get(`/${path}/-/blame/main/long.js?page=201`)).status, 404);
  const { text: commits } = await visitor.get(`/${path}/-/commits/main/long.js`);
  const [, commit = ''] = /href="([^"]+\/commit\/[0-9a-f]{40})"/.exec(commits) ?? [];
  const diff = await visitor.get(commit);
  assert.equal(diff.status, 200);
  assert.ok(diff.text.length < maxPage, String(diff.text.length));
  assert.match(diff.text, /The first 250 of \d+ files are listed/);
});
