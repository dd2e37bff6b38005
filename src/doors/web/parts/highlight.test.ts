import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedUser } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import type { Call } from '../../../core/access/call.ts';
import { openCallWithoutRequest } from '../../../core/access/call_without_request.ts';
import { highlightLines } from './highlight.ts';

let gantry: TestService;
let call: Call;

before(async () => {
  gantry = await startTestService();
  const { id } = await seedUser(gantry);
  const cause = { user: { id }, sudo_by_id: null };
  const opened = await openCallWithoutRequest(gantry.service.platform, { cause, baseUrl: gantry.url });
  assert.ok(opened !== null);
  call = opened;
});
after(async () => await gantry.close());

let lastKey = 0;
const highlight = async (path: string, text: string): Promise<string[]> =>
  (await highlightLines(call, { text, path, key: String(++lastKey) })).lines.map((line) => line.text);

test('highlights each line by itself, by the language of the name', async () => {
  assert.deepEqual(await highlight('src/a.ts', 'const a = 1;\r\n/* <b>\n*/ let c;\n\n'), [
    '<span class="hljs-keyword">const</span> a = <span class="hljs-number">1</span>;',
    '<span class="hljs-comment">/* &lt;b&gt;</span>',
    '<span class="hljs-comment">*/</span> <span class="hljs-keyword">let</span> c;',
    '',
  ]);
});

test('knows languages by the names of their files', async () => {
  for (const [path, code] of [
    ['Makefile', 'all: a'],
    ['a/Dockerfile', 'FROM a'],
    ['CMakeLists.txt', 'project(a)'],
    ['x.nix', '{ a = 1; }'],
    ['x.SVG', '<svg/>'],
    ['.gitlab-ci.yml', 'a: 1'],
  ] as const) {
    assert.match((await highlight(path, code)).join(''), /class="hljs-/, path);
  }
});

test('leaves other texts plain', async () => {
  const code = 'let a = "<b>";';
  const plain = 'let a = &quot;&lt;b&gt;&quot;;';
  for (const path of ['a.txt', 'a', 'LICENSE', 'constructor', 'a.__proto__', '../../core', 'a.wat\0']) {
    assert.deepEqual(await highlight(path, code), [plain], path);
  }
  assert.deepEqual(await highlight('a.js', ''), []);
  const many = await highlight('a.js', `${code}\n`.repeat(5_001));
  assert.deepEqual([many.length, many[0]], [5_001, plain]);
  const [huge = ''] = await highlight('a.js', `${code}${' '.repeat(1024 * 1024)}`);
  assert.ok(huge.startsWith(plain));
});

test('highlights a file once for each key, and does not mix up texts of different length', async () => {
  const read = async (text: string): Promise<string> =>
    (await highlightLines(call, { text, path: 'a.js', key: 'same' })).lines.map((line) => line.text).join();
  assert.equal(await read('let a;'), await read('let b;'));
  assert.equal(await read('let b;\nlet c;'), 'let b;,let c;');
});
