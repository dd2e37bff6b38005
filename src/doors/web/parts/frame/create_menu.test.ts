/** Tests what the menu “Create” offers on pages of a project. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;

before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

/** Returns the links of the menu; null if the page has no menu. */
const links = async (visitor: Visitor, path: string): Promise<{ text: string; paths: string[] } | null> => {
  const { status, text } = await visitor.get(path);
  assert.equal(status, 200, path);
  const [menu] = /title="Create"[^]*?<\/details>/.exec(text) ?? [];
  if (menu === undefined) return null;
  return { text: menu, paths: [...menu.matchAll(/<a href="([^"]+)"/g)].map(([, href = '']) => href) };
};

const elsewhere = ['/projects/new', '/groups/new', '/-/snippets/new'];

test('offers a new issue and a new merge request first, to those who may', async () => {
  const { id, full_path, path: name } = await seedProject(gantry, { visibility: 'public' });
  const [issue, request] = [`/${full_path}/issues/new`, `/${full_path}/merge_requests/new`];
  const { visitor: developer } = await seedVisitor(gantry, { project: id, access_level: 30 });
  assert.deepEqual((await links(developer, `/${full_path}`))?.paths, [issue, ...elsewhere], 'no commit');
  await seedCommit(gantry, id, { a: 'one' });
  for (const path of [`/${full_path}`, `/${full_path}/-/branches`, `/${full_path}/issues`]) {
    const shown = await links(developer, path);
    assert.deepEqual(shown?.paths, [issue, request, ...elsewhere], path);
    assert.ok(shown.text.includes(`<strong>${name}</strong>`), shown.text);
  }
  for (const path of [issue, request]) assert.equal((await developer.get(path)).status, 200, path);
  assert.deepEqual((await links(developer, '/dashboard/issues'))?.paths, elsewhere);
  assert.equal(await links(openVisitor(gantry), `/${full_path}`), null);
  await gantry.api(`PUT /projects/${id}`, {
    json: { issues_access_level: 'disabled', merge_requests_access_level: 'disabled' },
  });
  assert.deepEqual((await links(developer, `/${full_path}`))?.paths, elsewhere);
});
