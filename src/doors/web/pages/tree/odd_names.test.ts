/** Tests that pages work for files with names of any bytes: every link of theirs leads somewhere. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import {
  type WorkTree,
  gitEnvironment,
  newWorkTree,
  repositoryUrl,
} from '../../../../../test/support/repositories/git.ts';
import { isWhole } from '../../../../../test/support/run/sample.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { type TestService, rootToken, startTestService } from '../../../../../test/support/service.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import type { Visitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let tree: WorkTree;
let visitor: Visitor;

before(async () => {
  gantry = await startTestService();
  tree = await newWorkTree();
  visitor = (await seedVisitor(gantry)).visitor;
});
after(async () => {
  await gantry.close();
  await tree.remove();
});

const names: (string | Buffer)[] = [
  'a%2Fb',
  'hash#1',
  'what?x=1',
  '-rf',
  '--output=x',
  '...',
  '..a',
  'a..b',
  ' ',
  ' leading and trailing ',
  'new\nline',
  'tab\tand\u0001control\u007f',
  'return\rhere',
  'back\\slash',
  '"quotes" and \'more\'',
  '<b>&amp;',
  '$(id) `id` ;',
  '*[a]{b}!',
  ':(top)x',
  '%',
  '%zz%ff',
  '%E4',
  'ä€😀',
  'e\u0301',
  '\u202Egpj.exe',
  '+a b+',
  'x'.repeat(255),
  '名'.repeat(85),
  'README.md ',
  'a@{1}',
  'main',
  'HEAD',
  Buffer.from([0x66, 0xff, 0xfe]),
  Buffer.from([0xc3]),
];

const run = (args: string[], input: Buffer | string): string =>
  execFileSync('git', args, { cwd: tree.path, env: gitEnvironment(), input }).toString().trim();

/** Commits files with these names to a folder, each with its number as content. */
const commitNames = async (folder: string, path: string): Promise<void> => {
  const lines = names.map((name, at) => {
    const id = run(['hash-object', '-w', '--stdin'], `content ${at}\n`);
    return Buffer.concat([
      Buffer.from(`100644 ${id}\t${folder}`),
      typeof name === 'string' ? Buffer.from(name) : name,
      Buffer.from([0]),
    ]);
  });
  run(['update-index', '-z', '--index-info'], Buffer.concat(lines));
  await tree.git('commit', '--quiet', '--message', 'Odd names');
  await tree.git('push', '--quiet', repositoryUrl(gantry.url, path, rootToken), 'HEAD:refs/heads/main');
};

const hrefs = (text: string, part: string): string[] =>
  [...text.matchAll(/href="([^"]+)"/g)]
    .map(([, href = '']) => href.replaceAll('&amp;', '&').replaceAll('&#39;', "'"))
    .filter((href) => href.includes(part));

test('every link of files with odd names works', async () => {
  const { id, full_path } = await seedProject(gantry, { visibility: 'public' });
  const { visitor: writer } = await seedVisitor(gantry, { project: id, access_level: 40 });
  await commitNames('odd/', full_path);
  const { status, text } = await visitor.get(`/${full_path}/tree/main/odd?commits=1`);
  assert.equal(status, 200);
  assert.equal([...text.matchAll(/Odd names<\/a><\/td>/g)].length, names.length, 'each has its commit');
  const files = hrefs(text, '/-/blob/main/odd/');
  assert.equal(files.length, names.length);
  const contents = new Set<string>();
  for (const [at, href] of files.entries()) {
    const file = await writer.get(href);
    assert.equal(file.status, 200, href);
    contents.add(/content \d+/.exec(file.text)?.[0] ?? `nothing at ${href}`);
    const others = [...new Set(hrefs(file.text, '/main/odd/'))].filter((other) => other !== href);
    assert.ok(others.length >= 2, href);
    for (const other of others.filter((_other, index) => isWhole || (index + at) % 3 === 0)) {
      const seen = await writer.get(other);
      assert.equal(seen.status, 200, `${other} from ${href}`);
    }
  }
  assert.equal(contents.size, names.length, 'each link leads to its own file');
});

test('the file search and the home of a project show odd names', async () => {
  const { full_path } = await seedProject(gantry, { visibility: 'public' });
  await tree.git('checkout', '--quiet', '--orphan', 'second');
  await tree.git('rm', '--quiet', '-r', '--cached', '.');
  await commitNames('', full_path);
  const found = await visitor.get(`/${full_path}/-/find_file/main`);
  assert.equal(hrefs(found.text, '/-/blob/main/').length, names.length);
  assert.equal((await visitor.get(`/${full_path}`)).status, 200);
  assert.equal((await visitor.get(`/${full_path}/commits/main`)).status < 500, true);
  const { location } = await visitor.get(`/${full_path}/-/commits`);
  assert.equal(location, null);
  const commit = hrefs((await visitor.get(`/${full_path}/-/commits`)).text, '/commit/')[0] ?? '';
  const shown = await visitor.get(commit);
  assert.equal(shown.status, 200);
  for (const href of hrefs(shown.text, '/-/blob/')) assert.equal((await visitor.get(href)).status, 200, href);
  assert.equal((await visitor.get(`${commit}.patch`)).status, 200);
});
