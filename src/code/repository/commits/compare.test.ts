import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { existsSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import { seedProject } from '../../../../test/support/seed.ts';
import { type TestService, rootToken, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const message = ({ status, body }: { status: number; body: { message: unknown } }) => [status, body.message];

const newCode = async () => {
  const project = await seedProject(gantry);
  const sha = await seedCommit(gantry, project.id, { 'README.md': 'Hello\n', 'docs/a.txt': 'a\n' });
  return { project, sha, code: `/projects/${project.id}/repository` };
};

/** Returns the body of a reply as bytes. */
const bytes = async (path: string): Promise<Buffer> => {
  const headers = { 'private-token': rootToken };
  const response = await fetch(`${gantry.url}/api/v4${path}`, { headers });
  assert.equal(response.status, 200);
  return Buffer.from(await response.arrayBuffer());
};

test('compares two commits from their merge base', async () => {
  const { project, sha, code } = await newCode();
  const two = await seedCommit(gantry, project.id, { a: '1\n' }, { branch: 'topic', from: 'main' });
  const three = await seedCommit(gantry, project.id, { b: '1\n' }, { branch: 'topic' });
  await seedCommit(gantry, project.id, { c: 'something else\n' });
  const { body } = await gantry.api(`GET ${code}/compare?from=main&to=topic`);
  assert.equal(body.commit.id, three);
  assert.deepEqual(
    body.commits.map(({ id }: { id: string }) => id),
    [two, three],
  );
  const changed = (diffs: { new_path: string; deleted_file: boolean }[]) =>
    diffs.map(({ new_path, deleted_file }) => `${deleted_file ? '-' : '+'}${new_path}`);
  assert.deepEqual(changed(body.diffs), ['+a', '+b']);
  assert.deepEqual([body.compare_timeout, body.compare_same_ref], [false, false]);
  const straight = await gantry.api(`GET ${code}/compare?from=main&to=topic&straight=true`);
  assert.deepEqual(changed(straight.body.diffs), ['+a', '+b', '-c']);
  const same = await gantry.api(`GET ${code}/compare?from=main&to=main`);
  assert.deepEqual(
    [same.body.commit, same.body.commits, same.body.diffs, same.body.compare_same_ref],
    [null, [], [], true],
  );
  const missing = await gantry.api(`GET ${code}/compare?from=main&to=none`);
  assert.deepEqual(message(missing), [404, '404 Ref Not Found']);
  const base = await gantry.api(`GET ${code}/merge_base?refs[]=main&refs[]=topic`);
  assert.equal(base.body.id, sha);
  assert.deepEqual(message(await gantry.api(`GET ${code}/merge_base?refs[]=main`)), [
    400,
    'Provide at least 2 refs',
  ]);
  assert.deepEqual(message(await gantry.api(`GET ${code}/merge_base?refs[]=main&refs[]=none`)), [
    400,
    'Could not find ref: none',
  ]);
});

test('returns no merge base for branches without a common commit', async () => {
  const { project, code } = await newCode();
  await seedCommit(gantry, project.id, { x: '1\n' }, { branch: 'alone', onto: null });
  const base = await gantry.api(`GET ${code}/merge_base?refs[]=main&refs[]=alone`);
  assert.deepEqual(message(base), [404, '404 Merge Base Not Found']);
  assert.deepEqual((await gantry.api(`GET ${code}/compare?from=main&to=alone`)).body.diffs, []);
});

test('returns a reproducible archive of the files of a commit', async () => {
  const { project, sha, code } = await newCode();
  const path = `${code}/archive?sha=main`;
  const { headers } = await gantry.api(`GET ${path}`);
  const name = `${project.path}-main-${sha}`;
  assert.equal(headers.get('content-type'), 'application/gzip');
  assert.match(
    headers.get('content-disposition') ?? '',
    new RegExp(`^attachment; filename="${name}.tar.gz"`),
  );
  const tar = gunzipSync(await bytes(path)).toString('latin1');
  for (const file of ['README.md', 'docs/a.txt']) assert.ok(tar.includes(`${name}/${file}`), file);
  for (const format of ['tar.gz', 'zip', 'tar']) {
    const at = `${code}/archive.${format}?sha=${sha}`;
    assert.deepEqual(await bytes(at), await bytes(at), format);
  }
  const zip = await bytes(`${code}/archive.zip`);
  assert.equal(zip.subarray(0, 2).toString(), 'PK');
  const part = (await bytes(`${code}/archive.tar?path=docs`)).toString('latin1');
  assert.deepEqual([part.includes('README.md'), part.includes('docs/a.txt')], [false, true]);
});

test('returns a bzip2 archive if bzip2 is installed', async (context) => {
  if (!existsSync('/usr/bin/bzip2') && !existsSync('/bin/bzip2')) return context.skip('no bzip2');
  const { code } = await newCode();
  assert.equal((await bytes(`${code}/archive.tar.bz2`)).subarray(0, 3).toString(), 'BZh');
});

test('refuses archives of missing refs and paths and of unknown formats', async () => {
  const { code } = await newCode();
  for (const query of ['?sha=none', '?path=none', '?path=../x']) {
    assert.deepEqual(
      message(await gantry.api(`GET ${code}/archive${query}`)),
      [404, '404 File Not Found'],
      query,
    );
  }
  assert.equal((await gantry.api(`GET ${code}/archive.rar`)).status, 406);
  const empty = await seedProject(gantry);
  assert.equal((await gantry.api(`GET /projects/${empty.id}/repository/archive`)).status, 404);
  assert.equal((await gantry.api(`HEAD ${code}/archive`)).status, 200);
});

test('counts the commits of contributors', async () => {
  const { project, code } = await newCode();
  await seedCommit(gantry, project.id, { a: '1\n' });
  const json = {
    branch: 'main',
    commit_message: 'Mine',
    content: 'x',
    author_name: 'Zoe',
    author_email: 'z@example.com',
  };
  await gantry.api(`POST ${code}/files/zoe`, { json });
  const names = async (query = '') => {
    const { body, headers } = await gantry.api(`GET ${code}/contributors${query}`);
    return [
      body.map(({ name, commits }: { name: string; commits: number }) => [name, commits]),
      headers.get('x-total'),
    ];
  };
  assert.deepEqual(await names(), [
    [
      ['Zoe', 1],
      ['Ada Lovelace', 2],
    ],
    '2',
  ]);
  assert.deepEqual(await names('?order_by=name&per_page=1'), [[['Ada Lovelace', 2]], '2']);
  const empty = await seedProject(gantry);
  assert.deepEqual((await gantry.api(`GET /projects/${empty.id}/repository/contributors`)).body, []);
});

/** Texts of users that must never reach git as options or expressions. */
const options = [
  '--upload-pack=x',
  '--output=/tmp/gantry-injected',
  '-x',
  '--exec=touch /tmp/gantry-injected',
  ':/Change',
  'main^{/x}',
  'main:README.md',
  'main~1',
  '@{-1}',
  '../../etc/passwd',
  'a\nb',
  'a\0b',
  'x'.repeat(1500),
];

test('passes no user text to git as an option or an expression', async () => {
  const { code, project } = await newCode();
  const base = `/projects/${project.id}`;
  const asked = (text: string): [string, object?][] => {
    const one = encodeURIComponent(text);
    return [
      [`GET ${code}/branches/${one}`],
      [`DELETE ${code}/branches/${one}`],
      [`PUT ${code}/branches/${one}/protect`],
      [`POST ${code}/branches`, { branch: 'made', ref: text }],
      [`POST ${code}/branches`, { branch: text, ref: 'main' }],
      [`GET ${code}/tags/${one}`],
      [`DELETE ${code}/tags/${one}`],
      [`POST ${code}/tags`, { tag_name: text, ref: 'main' }],
      [`POST ${code}/tags`, { tag_name: 'made', ref: text }],
      [`GET ${code}/commits?ref_name=${one}`],
      [`GET ${code}/commits/${one}`],
      [`GET ${code}/commits/${one}/diff`],
      [`GET ${code}/commits/${one}/refs`],
      [`GET ${code}/commits/${one}/statuses`],
      [`GET ${code}/commits/${one}/comments`],
      [`POST ${code}/commits/${one}/cherry_pick`, { branch: 'main' }],
      [`POST ${code}/commits/main/revert`, { branch: text }],
      [`POST ${base}/statuses/${one}`, { state: 'success' }],
      [`POST ${base}/statuses/main`, { state: 'success', ref: text }],
      [`GET ${code}/tree?ref=${one}`],
      [`GET ${code}/tree?path=${one}`],
      [`GET ${code}/blobs/${one}`],
      [`GET ${code}/files/README.md?ref=${one}`],
      [`GET ${code}/files/${one}?ref=main`],
      [`GET ${code}/files/${one}/raw`],
      [`GET ${code}/files/${one}/blame`],
      [`PUT ${code}/files/${one}`, { branch: 'main', commit_message: 'x', content: 'x' }],
      [`POST ${code}/files/made`, { branch: text, start_branch: 'main', commit_message: 'x', content: 'x' }],
      [`POST ${code}/files/made`, { branch: 'made', start_branch: text, commit_message: 'x', content: 'x' }],
      [`POST ${code}/files/made`, { branch: 'made', start_sha: text, commit_message: 'x', content: 'x' }],
      [`GET ${code}/compare?from=${one}&to=main`],
      [`GET ${code}/compare?from=main&to=${one}`],
      [`GET ${code}/merge_base?refs[]=main&refs[]=${one}`],
      [`GET ${code}/archive?sha=${one}`],
      [`GET ${code}/archive?path=${one}`],
      [`GET ${code}/contributors?ref=${one}`],
    ];
  };
  const before = (await gantry.api(`GET ${code}/branches/main`)).body.commit.id;
  for (const text of options) {
    for (const [line, json] of asked(text)) {
      const { status } = await gantry.api(line, json === undefined ? {} : { json });
      assert.ok([400, 404, 414].includes(status), `${line.slice(0, 200)} ${text.slice(0, 40)}: ${status}`);
    }
    const { status } = await gantry.api(`GET ${code}/commits?path=${encodeURIComponent(text)}`);
    assert.ok([200, 400].includes(status), `commits of ${text.slice(0, 40)}: ${status}`);
    const author = await gantry.api(`GET ${code}/commits?author=${encodeURIComponent(text)}`);
    assert.ok([200, 400].includes(author.status), `commits by ${text.slice(0, 40)}: ${author.status}`);
  }
  assert.equal(existsSync('/tmp/gantry-injected'), false);
  assert.equal((await gantry.api(`GET ${code}/branches/main`)).body.commit.id, before);
  assert.equal((await gantry.api(`GET ${code}/branches`)).body.length, 1);
});
