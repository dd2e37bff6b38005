/** Tests what the pages of folders and files show of entries that only git itself can write. */
import assert from 'node:assert/strict';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type WorkTree, newWorkTree, repositoryUrl } from '../../../../../test/support/repositories/git.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { type TestService, rootToken, startTestService } from '../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let tree: WorkTree;

before(async () => {
  gantry = await startTestService();
  tree = await newWorkTree();
});
after(async () => {
  await gantry.close();
  await tree.remove();
});

test('shows symlinks, submodules and names that are not UTF-8', async () => {
  const { full_path } = await seedProject(gantry, { visibility: 'public' });
  const submodule = 'a'.repeat(40);
  await writeFile(join(tree.path, 'plain'), 'plain\n');
  await symlink('plain', join(tree.path, 'link'));
  await symlink('../../etc/passwd', join(tree.path, 'outside'));
  await writeFile(
    Buffer.concat([Buffer.from(`${tree.path}/`), Buffer.from([0x66, 0xff, 0xfe])]),
    'of odd bytes\n',
  );
  await tree.write('.gitmodules', '[submodule "s"]\n\tpath = linked\n\turl = ../other.git\n');
  await tree.git('update-index', '--add', '--cacheinfo', `160000,${submodule},sub`);
  await tree.git('add', '--', 'plain', 'link', 'outside', '.');
  await tree.git('update-index', '--add', '--cacheinfo', `160000,${submodule},sub`);
  await tree.git('update-index', '--add', '--cacheinfo', `160000,${submodule},linked`);
  await tree.git('commit', '--quiet', '--message', 'Odd entries');
  await tree.git('push', '--quiet', repositoryUrl(gantry.url, full_path, rootToken), 'HEAD:refs/heads/main');

  const visitor = openVisitor(gantry);
  const { text } = await visitor.get(`/${full_path}/tree/main?commits=1`);
  assert.match(text, />link<\/a> <span class="badge">symlink/);
  assert.match(text, /<span>sub<\/span> <code class="muted">@ aaaaaaaa/);
  const other = `/${full_path.replace(/[^/]+$/, 'other')}`;
  const linked = `<a href="${other}">linked</a> <code class="muted"><a href="${other}/tree/${submodule}">@ aaaaaaaa</a>`;
  assert.ok(text.includes(linked), text);
  const link = (await visitor.get(`/${full_path}/-/blob/main/link`)).text;
  assert.ok(link.includes(`Symbolic link to <a href="/${full_path}/-/blob/main/plain">`), link);
  const outside = (await visitor.get(`/${full_path}/-/blob/main/outside`)).text;
  assert.ok(outside.includes('Symbolic link to <code>../../etc/passwd'), outside);
  const [, href = ''] = /href="([^"]+blob\/main\/f%EF[^"]*)"/.exec(text) ?? [];
  for (const name of [href, `/${full_path}/-/blob/main/f%FF%FE`]) {
    const odd = await visitor.get(name);
    assert.ok(odd.status === 200 && odd.text.includes('of odd bytes'), name);
  }
  assert.equal((await visitor.get(`/${full_path}/-/raw/main/f%FF%FE`)).text, 'of odd bytes\n');
  // Git cannot be asked for such a name: to anonymous visitors, what is missing is a matter of signing in.
  assert.equal((await visitor.get(`/${full_path}/-/commits/main/f%FF%FE`)).status, 200);
  assert.equal((await visitor.get(`/${full_path}/-/blame/main/f%FF%FE`)).status, 302);
  assert.equal((await visitor.get(`/${full_path}/-/blob/main/sub`)).status, 302);
});
