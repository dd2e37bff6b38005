/** Tests the page of a project: its files, what stands beside them, archives, and `go get`. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedGroup, seedMember, seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let id: number;
let user: Visitor;
before(async () => {
  gantry = await startTestService();
  ({ id, visitor: user } = await seedVisitor(gantry));
});
after(async () => await gantry.close());

const files = {
  'README.md': '# Hello\n\n<script>alert(1)</script> [guide](docs/guide.md)\n',
  LICENSE: 'MIT License\n\nCopyright\n',
  'docs/guide.md': 'Guide\n',
  'src/main.ts': 'export const a = 1;\n',
  '<img src=x>.txt': 'x\n',
};

const newCode = async (visibility: 'public' | 'private' = 'public') => {
  const project = await seedProject(gantry, { visibility });
  const sha = await seedCommit(gantry, project.id, files);
  return { ...project, sha };
};

test('shows files, README, license, topics and counts to everybody', async () => {
  const { id: project, full_path } = await newCode();
  const json = { description: 'Plans <b>spans</b>', topics: ['bridges', 'a&b'] };
  await gantry.api(`PUT /projects/${project}`, { json });
  await gantry.api(`POST /projects/${project}/repository/tags`, { json: { tag_name: 'v1', ref: 'main' } });
  const { status, text } = await openVisitor(gantry).get(`/${full_path}`);
  assert.equal(status, 200);
  assert.ok(text.includes('docs</a>'));
  assert.ok(text.includes('&lt;img src=x&gt;.txt'));
  assert.match(text, /<h1[^>]*>Hello/, 'the README is converted');
  assert.equal(text.includes('<script>alert'), false);
  for (const part of [
    'MIT License',
    'Plans &lt;b&gt;spans&lt;/b&gt;',
    'bridges',
    'a&amp;b',
    '1 branch',
    '1 tag',
    'TypeScript',
  ]) {
    assert.ok(text.includes(part), part);
  }
  assert.ok(text.includes('<meta property="og:description" content="Plans &lt;b&gt;spans&lt;/b&gt;">'));
  assert.ok(text.includes(`value="${gantry.url}/${full_path}.git"`));
});

test('the tab of releases has their count', async () => {
  const { id: project, full_path } = await newCode();
  const count = async () =>
    /Releases <span class="count">(\d+)</.exec((await openVisitor(gantry).get(`/${full_path}`)).text)?.[1];
  assert.equal(await count(), '0');
  const json = { tag_name: 'v1', ref: 'main' };
  assert.equal((await gantry.api(`POST /projects/${project}/releases`, { json })).status, 201);
  assert.equal(await count(), '1');
  await gantry.api(`DELETE /projects/${project}/releases/v1`);
  assert.equal(await count(), '0');
});

test('shows no code to those who may not read it', async () => {
  const { id: project, full_path } = await newCode('private');
  await seedMember(gantry, { user: id, project, access_level: 10 });
  const { status, text } = await user.get(`/${full_path}`);
  assert.equal(status, 200);
  for (const part of ['Hello', 'guide', 'MIT License', 'Clone', 'og:description', '1 branch', 'TypeScript']) {
    assert.equal(text.includes(part), false, part);
  }
  assert.equal((await user.get(`/${full_path}/-/archive/main/x.zip`)).status, 403);
});

test('shows how to begin with an empty repository to those who may push', async () => {
  const mine = await seedProject(gantry, { owner: id });
  const { text } = await user.get(`/${mine.full_path}`);
  assert.ok(text.includes(`git remote add origin ${gantry.url}/${mine.full_path}.git`));
  const other = await seedProject(gantry);
  const seen = await user.get(`/${other.full_path}`);
  assert.equal(seen.text.includes('git remote add'), false);
  assert.ok(seen.text.includes('The repository is empty'));
});

test('names the parent of a fork only to those who see it', async () => {
  const source = await newCode('private');
  await seedMember(gantry, { user: id, project: source.id, access_level: 20 });
  await user.get(`/${source.full_path}/-/forks/new`);
  const { location } = await user.post(`/${source.full_path}/-/forks`, { visibility: 'private' });
  const fork = location ?? '';
  assert.ok((await user.get(fork)).text.includes(`href="/${source.full_path}"`));
  const member = await gantry.api(`GET /projects/${source.id}/members/${id}`);
  assert.equal(member.status, 200);
  await gantry.api(`DELETE /projects/${source.id}/members/${id}`);
  assert.equal((await user.get(fork)).text.includes(source.full_path), false);
});

test('downloads archives of a branch', async () => {
  const { full_path, path } = await newCode();
  const home = await user.get(`/${full_path}`);
  const address = `/${full_path}/-/archive/main/${path}-main.tar.gz`;
  assert.ok(home.text.includes(`href="${address}"`));
  const { status, headers } = await openVisitor(gantry).get(address);
  assert.deepEqual([status, headers.get('content-type')], [200, 'application/gzip']);
  assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="?[\w.-]+\.tar\.gz/);
  for (const wrong of ['main/x.exe', 'missing/x.zip', 'x.zip']) {
    assert.equal((await user.get(`/${full_path}/-/archive/${wrong}`)).status, 404, wrong);
  }
});

test('answers go get, for hidden projects as for missing ones', async () => {
  const group = await seedGroup(gantry);
  const nested = await seedGroup(gantry, { parent: group.id });
  const open = await seedProject(gantry, { namespace: nested.id, visibility: 'public' });
  const hidden = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  const ask = async (path: string) => {
    const response = await fetch(`${gantry.url}/${path}?go-get=1`, { redirect: 'manual' });
    return { status: response.status, text: await response.text() };
  };
  const host = gantry.url.replace('http://', '');
  const found = await ask(`${open.full_path}/pkg/issues`);
  const tag = (path: string) =>
    `<meta name="go-import" content="${host}/${path} git ${gantry.url}/${path}.git">`;
  assert.deepEqual([found.status, found.text.includes(tag(open.full_path))], [200, true], found.text);
  const [seen, missing] = [await ask(`${hidden.full_path}/pkg`), await ask(`${group.full_path}/missing/pkg`)];
  assert.equal(seen.status, 200);
  assert.ok(seen.text.includes(tag(hidden.full_path)));
  assert.equal(seen.text.replaceAll(hidden.path, 'missing'), missing.text);
  const odd = await ask(`a/%22%3E%3Cscript%3E`);
  assert.equal(odd.text.includes('<script>'), false);
});
