/** Tests the pages of files, and raw files. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openRepository, seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedMember, seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let user: Visitor;
let userId: number;

before(async () => {
  gantry = await startTestService();
  ({ id: userId, visitor: user } = await seedVisitor(gantry));
});
after(async () => await gantry.close());

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const newProject = async (visibility: 'public' | 'private' = 'public') => {
  const project = await seedProject(gantry, { visibility });
  const sha = await seedCommit(gantry, project.id, {
    'README.md': '# Title\n\n<script>alert(1)</script>\n\n[link](src/main.ts)\n',
    'src/main.ts': 'const <b> = 1;\nsecond line\n',
    'page.html': '<script>alert(1)</script>\n',
    'image.svg': '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    'big.psd': `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12345\n`,
    nothing: '',
  });
  const base = `/${project.full_path}/-`;
  return { ...project, sha, blob: `${base}/blob/main`, raw: `${base}/raw/main`, base };
};

const commit = async (id: number, actions: object[]) => {
  const json = { branch: 'main', commit_message: 'Change', actions };
  const made = await gantry.api(`POST /projects/${id}/repository/commits`, { json });
  assert.equal(made.status, 201, made.text);
};

test('shows numbered lines, escaped, with an anchor each', async () => {
  const { blob, raw, base, sha } = await newProject();
  const { status, text } = await user.get(`${blob}/src/main.ts`);
  assert.equal(status, 200);
  assert.match(text, /<tr id="L2"><td class="n"><a href="#L2">2<\/a><\/td><td>second line/);
  assert.ok(!text.includes('<b> ='), 'the content is escaped');
  assert.ok(
    text.includes(`href="${raw}/src/main.ts"`) && text.includes(`href="${base}/blob/${sha}/src/main.ts"`),
  );
  assert.ok(text.includes('2 lines · 27 bytes'), text);
  assert.ok((await user.get(`${blob}/nothing`)).text.includes('The file is empty.'));
});

test('renders Markdown, with a switch to its source', async () => {
  const { blob, base } = await newProject();
  const rendered = (await user.get(`${blob}/README.md`)).text;
  assert.ok(rendered.includes(`href="${base}/blob/main/src/main.ts"`), rendered);
  assert.ok(!rendered.includes('<script>alert'));
  const source = (await user.get(`${blob}/README.md?plain=1`)).text;
  assert.match(source, /id="L1">/);
  assert.ok(!source.includes('<script>alert'));
});

test('nothing that is served raw is active', async () => {
  const { id, raw } = await newProject();
  await commit(id, [
    { action: 'create', file_path: 'a.png', content: png.toString('base64'), encoding: 'base64' },
    { action: 'create', file_path: 'binary.svg', content: '<svg>\0</svg>' },
    { action: 'create', file_path: 'large.svg', content: `<svg>${' '.repeat(1024 * 1024)}</svg>` },
  ]);
  const types = {
    'page.html': 'text/plain; charset=utf-8',
    'image.svg': 'image/svg+xml',
    'binary.svg': 'application/octet-stream',
    'large.svg': 'text/plain; charset=utf-8',
    'a.png': 'image/png',
  };
  for (const [file, type] of Object.entries(types)) {
    const { status, headers } = await user.get(`${raw}/${file}`);
    assert.deepEqual([status, headers.get('content-type')], [200, type], file);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.match(
      headers.get('content-security-policy') ?? '',
      /^default-src 'none'; (?:style-src 'unsafe-inline'; frame-ancestors 'none'; )?sandbox$/,
    );
  }
  const saved = await user.get(`${raw}/page.html?inline=false`);
  assert.match(saved.headers.get('content-disposition') ?? '', /^attachment; filename="page.html"/);
});

test('shows an SVG image as one, with a switch to its source', async () => {
  const { blob, raw } = await newProject();
  const rendered = (await user.get(`${blob}/image.svg`)).text;
  assert.ok(rendered.includes(`<img src="${raw}/image.svg" alt="image.svg">`));
  assert.ok(rendered.includes(`href="${blob}/image.svg?plain=1" data-source>Source</a>`));
  const source = (await user.get(`${blob}/image.svg?plain=1`)).text;
  assert.match(source, /id="L1">/);
  assert.ok(!source.includes('<img src') && !source.includes('<script>alert'));
});

test('shows SVG files without an image as text', async () => {
  const { id, blob } = await newProject();
  await seedCommit(gantry, id, { 'empty.svg': '', 'words.svg': 'no image\n' });
  assert.match((await user.get(`${blob}/empty.svg`)).text, /The file is empty\./);
  const { text } = await user.get(`${blob}/words.svg`);
  assert.ok(/id="L1">/.test(text) && !text.includes('<img src'));
});

test('says what an image, a binary file, an LFS pointer and a symlink are', async () => {
  const { id, blob, raw } = await newProject();
  const file = (file_path: string, bytes: Buffer) => ({
    action: 'create',
    file_path,
    content: bytes.toString('base64'),
    encoding: 'base64',
  });
  await commit(id, [file('a.png', png), file('a.bin', Buffer.from([0, 1, 2]))]);
  assert.ok((await user.get(`${blob}/a.png`)).text.includes(`<img src="${raw}/a.png" alt="a.png">`));
  assert.ok((await user.get(`${blob}/a.bin`)).text.includes('Binary file.'));
  assert.ok((await user.get(`${blob}/big.psd`)).text.includes('a pointer to 12.1 KiB'));
});

test('a folder leads to its page', async () => {
  const { blob, full_path } = await newProject();
  assert.equal((await user.get(`${blob}/src`)).location, `/${full_path}/tree/main/src`);
});

test('a long file is shown in pages', async () => {
  const { id, blob } = await newProject();
  await seedCommit(gantry, id, {
    'long.txt': Array.from({ length: 6000 }, (_line, at) => `line ${at + 1}\n`).join(''),
  });
  const first = (await user.get(`${blob}/long.txt`)).text;
  assert.ok(first.includes('6,000 lines') && first.includes('Page 1 of 3') && !first.includes('id="L2501"'));
  assert.ok((await user.get(`${blob}/long.txt?page=3`)).text.includes('id="L6000"'));
});

test('shows files with any characters in their names', async () => {
  const { id, blob, raw } = await newProject();
  const names = ['a b?#%25.txt', 'ä/ß&<i>.txt', 'quote\'".txt', '+plus.txt'];
  await seedCommit(gantry, id, Object.fromEntries(names.map((name) => [name, `of ${name}`])));
  for (const name of names) {
    const encoded = name.split('/').map(encodeURIComponent).join('/');
    assert.equal((await user.get(`${blob}/${encoded}`)).status, 200, name);
    assert.equal((await user.get(`${raw}/${encoded}`)).text, `of ${name}`);
  }
  assert.ok((await openRepository(gantry, id)).written);
});

test('a hidden project answers like a missing one; public files are for everybody', async () => {
  const hidden = await newProject('private');
  const missing = await user.get('/no-such/project/-/blob/main/README.md');
  for (const address of [`${hidden.blob}/README.md`, `${hidden.raw}/README.md`]) {
    const seen = await user.get(address);
    assert.deepEqual([seen.status, seen.text], [404, missing.text]);
    assert.match((await openVisitor(gantry).get(address)).location ?? '', /^\/users\/sign_in/);
  }
  const open = await newProject();
  for (const address of [`${open.blob}/README.md`, `${open.raw}/README.md`])
    assert.equal((await openVisitor(gantry).get(address)).status, 200);
});

test('a guest may not read files of a private project', async () => {
  const { id, blob, raw } = await newProject('private');
  await seedMember(gantry, { user: userId, project: id, access_level: 10 });
  assert.equal((await user.get(`${blob}/README.md`)).status, 403);
  assert.equal((await user.get(`${raw}/README.md`)).status, 403);
});

test('what a commit does not have is missing', async () => {
  const { blob, raw } = await newProject();
  for (const bad of ['nope', 'README.md/x', '%00', '%ff', 'a%2F..%2Fb']) {
    assert.equal((await user.get(`${blob}/${bad}`)).status, 404, bad);
    assert.equal((await user.get(`${raw}/${bad}`)).status, 404, bad);
  }
  assert.equal((await user.get(`${blob}/README.md?page=x`)).status, 400);
});
