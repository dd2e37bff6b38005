/** Tests what the menu “Create” offers on pages of a project. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedGroup, seedProject } from '../../../../../test/support/seed.ts';
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

test('offers the forms of the project first, to those who may', async () => {
  const { id, full_path, path: name } = await seedProject(gantry, { visibility: 'public' });
  const root = `/${full_path}`;
  const [issue, snippet] = [`${root}/issues/new`, `${root}/snippets/new`];
  const withCode = [
    `${root}/merge_requests/new`,
    ...['new/main', 'branches/new', 'tags/new', 'pipelines/new'].map((path) => `${root}/-/${path}`),
  ];
  const { visitor: developer } = await seedVisitor(gantry, { project: id, access_level: 30 });
  assert.deepEqual(
    (await links(developer, `/${full_path}`))?.paths,
    [issue, snippet, ...elsewhere],
    'no commit',
  );
  await seedCommit(gantry, id, { a: 'one' });
  for (const path of [`/${full_path}`, `/${full_path}/-/branches`, `/${full_path}/issues`]) {
    const shown = await links(developer, path);
    assert.deepEqual(shown?.paths, [issue, ...withCode, snippet, ...elsewhere], path);
    assert.ok(shown.text.includes(`<strong>${name}</strong>`), shown.text);
  }
  for (const path of [issue, ...withCode, snippet])
    assert.equal((await developer.get(path)).status, 200, path);
  const { visitor: stranger } = await seedVisitor(gantry);
  const offered = [issue, `${root}/merge_requests/new`, ...elsewhere];
  assert.deepEqual((await links(stranger, root))?.paths, offered, 'by a fork');
  assert.deepEqual((await links(developer, '/dashboard/issues'))?.paths, elsewhere);
  assert.equal(await links(openVisitor(gantry), `/${full_path}`), null);
  await gantry.api(`PUT /projects/${id}`, {
    json: Object.fromEntries(
      ['issues', 'merge_requests', 'repository', 'snippets'].map((one) => [
        `${one}_access_level`,
        'disabled',
      ]),
    ),
  });
  assert.deepEqual((await links(developer, `/${full_path}`))?.paths, elsewhere);
});

test('offers a new project and a new subgroup on pages of a group, to those who may', async () => {
  const { id, full_path, path: name } = await seedGroup(gantry, { visibility: 'public' });
  const [project, subgroup] = [`/projects/new?namespace_id=${id}`, `/groups/new?parent_id=${id}`];
  const as = async (level: number) => (await seedVisitor(gantry, { group: id, access_level: level })).visitor;
  const [owner, master, guest] = [await as(50), await as(40), await as(10)];
  for (const path of [`/groups/${full_path}`, `/groups/${full_path}/-/labels`]) {
    const shown = await links(owner, path);
    assert.deepEqual(shown?.paths, [project, subgroup, ...elsewhere], path);
    assert.ok(shown.text.includes(`<strong>${name}</strong>`), shown.text);
    assert.deepEqual((await links(guest, path))?.paths, elsewhere, path);
  }
  assert.ok((await links(master, `/groups/${full_path}`))?.paths.includes(project));
  for (const path of [project, subgroup]) assert.equal((await owner.get(path)).status, 200, path);
});
