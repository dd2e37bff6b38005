import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import { type SeededUser, seedMember, seedProject, seedUser } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const as = ({ token }: SeededUser) => ({ as: token });

const newCode = async (access_level = 40) => {
  const project = await seedProject(gantry);
  const user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, project: project.id, access_level });
  const sha = await seedCommit(gantry, project.id, { 'README.md': 'Hello\n' });
  const code = `/projects/${project.id}/repository`;
  return { project, user, sha, code, path: `${code}/files` };
};

const sent = (json: object = {}) => ({ json: { branch: 'main', commit_message: 'Change', ...json } });
const message = ({ status, body }: { status: number; body: { message: unknown } }) => [status, body.message];

test('creates, reads, edits and deletes a file', async () => {
  const { user, path } = await newCode();
  const file = `${path}/docs%2Fa%20b.txt`;
  const made = await gantry.api(`POST ${file}`, { ...sent({ content: 'one\n' }), ...as(user) });
  assert.deepEqual([made.status, made.body], [201, { file_path: 'docs/a b.txt', branch: 'main' }]);
  const { body } = await gantry.api(`GET ${file}?ref=main`);
  const { commit_id, blob_id, ...rest } = body;
  assert.deepEqual(rest, {
    file_name: 'a b.txt',
    file_path: 'docs/a b.txt',
    size: 4,
    encoding: 'base64',
    content_sha256: hash('sha256', 'one\n'),
    ref: 'main',
    last_commit_id: commit_id,
    execute_filemode: false,
    content: Buffer.from('one\n').toString('base64'),
  });
  assert.match(blob_id, /^[0-9a-f]{40}$/);
  const two = Buffer.from('two\n').toString('base64');
  const changed = await gantry.api(`PUT ${file}`, {
    ...sent({ content: two, encoding: 'base64' }),
    ...as(user),
  });
  assert.deepEqual([changed.status, changed.body], [200, { file_path: 'docs/a b.txt', branch: 'main' }]);
  assert.equal((await gantry.api(`GET ${file}/raw`)).text, 'two\n');
  const nowhere = { start_branch: null, start_sha: '' };
  const saved = await gantry.api(`PUT ${file}`, { ...sent({ content: 'three\n', ...nowhere }), ...as(user) });
  assert.deepEqual([saved.status, saved.body], [200, { file_path: 'docs/a b.txt', branch: 'main' }]);
  const gone = await gantry.api(`DELETE ${file}?branch=main&commit_message=Gone`, as(user));
  assert.deepEqual([gone.status, gone.text], [204, '']);
  assert.deepEqual(message(await gantry.api(`GET ${file}?ref=main`)), [404, '404 File Not Found']);
});

test('accepts files with unusual names', async () => {
  const { user, path } = await newCode();
  for (const name of [
    'version.json',
    'labels.json',
    'häß/日本.md',
    '%25',
    'a+b',
    '-x',
    '--output=x',
    '.gitlab-ci.yml',
    "it's",
  ]) {
    const file = `${path}/${encodeURIComponent(name)}`;
    const made = await gantry.api(`POST ${file}`, { ...sent({ content: name }), ...as(user) });
    assert.equal(made.status, 201, made.text);
    const { status, text, headers } = await gantry.api(`GET ${file}/raw`);
    assert.deepEqual([status, text], [200, name]);
    assert.equal(
      decodeURIComponent(headers.get('x-gitlab-file-path')?.replace('%25', '%2525') ?? ''),
      name === '%25' ? '%25' : name,
    );
  }
  const dotted = await gantry.api(`GET ${path}/README%2Emd?ref=main`);
  assert.equal(dotted.body.file_path, 'README.md');
});

test('returns file metadata in headers for HEAD', async () => {
  const { path, sha } = await newCode();
  const { status, headers, text } = await gantry.api(`HEAD ${path}/README.md?ref=main`);
  assert.deepEqual([status, text], [200, '']);
  const getHeader = (name: string) => headers.get(`x-gitlab-${name}`);
  assert.deepEqual(
    [
      getHeader('file-name'),
      getHeader('file-path'),
      getHeader('size'),
      getHeader('ref'),
      getHeader('encoding'),
    ],
    ['README.md', 'README.md', '6', 'main', 'base64'],
  );
  assert.deepEqual(
    [
      getHeader('commit-id'),
      getHeader('last-commit-id'),
      getHeader('execute-filemode'),
      getHeader('content-sha256'),
    ],
    [sha, sha, 'false', hash('sha256', 'Hello\n')],
  );
  assert.equal((await gantry.api(`HEAD ${path}/none?ref=main`)).status, 404);
});

test('serves raw files as plain text that cannot run scripts', async () => {
  const { project, path } = await newCode();
  await seedCommit(gantry, project.id, {
    'x.html': '<script>alert(1)</script>',
    'x.svg': '<svg/>',
    bin: 'a\0b',
  });
  const { headers, text } = await gantry.api(`GET ${path}/x.html/raw?ref=main`);
  assert.equal(text, '<script>alert(1)</script>');
  assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.get('content-security-policy'), "default-src 'none'; sandbox");
  const svg = await gantry.api(`GET ${path}/x.svg/raw`);
  assert.equal(svg.headers.get('content-type'), 'text/plain; charset=utf-8');
  const bin = await gantry.api(`GET ${path}/bin/raw`);
  assert.equal(bin.headers.get('content-type'), 'application/octet-stream');
});

test('streams a large file', async () => {
  const { user, path, code } = await newCode();
  const content = 'x'.repeat(3 * 1024 * 1024);
  const made = await gantry.api(`POST ${path}/large`, { ...sent({ content }), ...as(user) });
  assert.equal(made.status, 201, made.text);
  const raw = await gantry.api(`GET ${path}/large/raw`);
  assert.equal(raw.text.length, content.length);
  assert.equal(raw.headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.equal(raw.headers.get('content-length'), String(content.length));
  const head = await gantry.api(`HEAD ${path}/large/raw`);
  assert.equal(head.headers.get('content-length'), String(content.length));
  const id = raw.headers.get('x-gitlab-blob-id');
  assert.equal((await gantry.api(`GET ${code}/blobs/${id}/raw`)).text.length, content.length);
  assert.equal((await gantry.api(`GET ${path}/large`)).body.size, content.length);
});

test('reads a long body only after authorization and up to the limit', async () => {
  const { path } = await newCode();
  const content = 'x'.repeat(3 * 1024 * 1024);
  const stranger = await gantry.api(`POST ${path}/large`, { ...sent({ content }), as: null });
  assert.deepEqual(message(stranger), [401, '401 Unauthorized']);
  const json = { content: 'x'.repeat(33 * 1024 * 1024) };
  const response = await gantry.api(`POST ${path}/large`, sent(json)).catch(() => null);
  if (response !== null) assert.deepEqual(message(response), [413, '413 Request Entity Too Large']);
});

test('applies sudo in a long body', async () => {
  const { path, project } = await newCode();
  const reporter = await seedUser(gantry);
  await seedMember(gantry, { user: reporter.id, project: project.id, access_level: 20 });
  const content = 'x'.repeat(3 * 1024 * 1024);
  const reply = await gantry.api(`POST ${path}/large`, sent({ content, sudo: reporter.username }));
  assert.deepEqual(message(reply), [403, '403 Forbidden']);
});

test('refuses an invalid write with a message', async () => {
  const { user, path, sha } = await newCode();
  const said = async (line: string, json: object) =>
    message(await gantry.api(line, { ...sent(json), ...as(user) }));
  const readme = `${path}/README.md`;
  assert.deepEqual(await said(`POST ${readme}`, { content: 'x' }), [
    400,
    'A file with this name already exists',
  ]);
  assert.deepEqual(await said(`PUT ${path}/none`, { content: 'x' }), [
    400,
    "A file with this name doesn't exist",
  ]);
  assert.deepEqual(await said(`DELETE ${path}/none`, {}), [400, "A file with this name doesn't exist"]);
  assert.deepEqual(await said(`POST ${readme}`, {}), [400, '400 (Bad request) "content" not given']);
  assert.deepEqual(await said(`POST ${path}/new`, { content: 'x', branch: 'none' }), [
    400,
    'You can only create or edit files when you are on a branch',
  ]);
  const other = { content: 'x', last_commit_id: sha };
  assert.equal((await gantry.api(`PUT ${readme}`, { ...sent(other), ...as(user) })).status, 200);
  assert.deepEqual(await said(`PUT ${readme}`, { ...other, content: 'y' }), [
    400,
    'You are attempting to update a file that has changed since you started editing it.',
  ]);
  assert.deepEqual(await said(`DELETE ${readme}`, { last_commit_id: sha }), [
    400,
    'You are attempting to delete a file that has been previously updated.',
  ]);
  const bad = await gantry.api(`PUT ${readme}`, {
    ...sent({ content: 'x', encoding: 'rot13' }),
    ...as(user),
  });
  assert.deepEqual(message(bad), [400, { encoding: ['does not have a valid value'] }]);
});

test('stores an empty file and an executable file', async () => {
  const { user, path } = await newCode();
  const empty = await gantry.api(`POST ${path}/empty`, { ...sent({ content: '' }), ...as(user) });
  assert.equal(empty.status, 201, empty.text);
  assert.equal((await gantry.api(`GET ${path}/empty`)).body.size, 0);
  assert.deepEqual((await gantry.api(`GET ${path}/empty/blame`)).body, []);
  await gantry.api(`POST ${path}/run`, { ...sent({ content: 'x', execute_filemode: true }), ...as(user) });
  assert.equal((await gantry.api(`GET ${path}/run`)).body.execute_filemode, true);
});

test('returns the commit of each line for blame', async () => {
  const { project, path, sha } = await newCode();
  const two = await seedCommit(gantry, project.id, { 'README.md': 'Hello\nthere\nyou\n' });
  const lines = async (query = '') =>
    (await gantry.api(`GET ${path}/README.md/blame?ref=main${query}`)).body.map(
      ({ commit, lines }: { commit: { id: string }; lines: string[] }) => [commit.id, lines],
    );
  assert.deepEqual(await lines(), [
    [sha, ['Hello']],
    [two, ['there', 'you']],
  ]);
  assert.deepEqual(await lines('&range[start]=3&range[end]=9'), [[two, ['you']]]);
  const wrong = await gantry.api(`GET ${path}/README.md/blame?range[start]=3&range[end]=1`);
  assert.equal(wrong.status, 400);
});

test('lists a folder recursively and in pages', async () => {
  const { project, code } = await newCode();
  await seedCommit(gantry, project.id, { 'a/b/c.txt': '1', 'a/d.txt': '2' });
  const paths = async (query: string) => {
    const { body, headers } = await gantry.api(`GET ${code}/tree?${query}`);
    return [
      body.map(({ path, type }: { path: string; type: string }) => `${type} ${path}`),
      headers.get('x-total'),
    ];
  };
  assert.deepEqual(await paths(''), [['tree a', 'blob README.md'], '2']);
  assert.deepEqual(await paths('path=a&ref=main'), [['tree a/b', 'blob a/d.txt'], '2']);
  assert.deepEqual(await paths('path=/a/&recursive=true&pagination=keyset&per_page=2'), [
    ['tree a/b', 'blob a/b/c.txt'],
    '3',
  ]);
  const said = async (query: string) => message(await gantry.api(`GET ${code}/tree?${query}`));
  assert.deepEqual(await said('path=none'), [404, '404 invalid revision or path Not Found']);
  assert.deepEqual(await said('ref=none'), [404, '404 Tree Not Found']);
  assert.deepEqual(await said('path=../x'), [404, '404 invalid revision or path Not Found']);
});

test('finds a blob only by its full id', async () => {
  const { code } = await newCode();
  const { body: tree } = await gantry.api(`GET ${code}/tree`);
  const [{ id }] = tree;
  const { body } = await gantry.api(`GET ${code}/blobs/${id}`);
  assert.deepEqual(body, { size: 6, encoding: 'base64', content: 'SGVsbG8K', sha: id });
  assert.equal((await gantry.api(`GET ${code}/blobs/${id}/raw`)).text, 'Hello\n');
  for (const sha of ['0'.repeat(40), 'main', id.slice(0, 8)]) {
    assert.deepEqual(message(await gantry.api(`GET ${code}/blobs/${sha}`)), [404, '404 Blob Not Found']);
  }
});

test('lets only users with code access read files', async () => {
  const { project, code } = await newCode();
  const [guest, stranger] = [await seedUser(gantry), await seedUser(gantry)];
  await seedMember(gantry, { user: guest.id, project: project.id, access_level: 10 });
  const status = async (options: { as: string | null }) =>
    (await gantry.api(`GET ${code}/files/README.md/raw`, options)).status;
  assert.deepEqual(
    [await status({ as: null }), await status(as(stranger)), await status(as(guest))],
    [200, 200, 200],
  );
  await gantry.api(`PUT /projects/${project.id}`, { json: { visibility: 'private' } });
  assert.deepEqual(
    [await status({ as: null }), await status(as(stranger)), await status(as(guest))],
    [404, 404, 403],
  );
});
