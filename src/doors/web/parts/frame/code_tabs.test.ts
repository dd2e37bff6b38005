/** Tests the links between the pages about the code of a project. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

/** Returns the links of the tabs below those of the project, the current one in brackets. */
const tabsOn = async (path: string): Promise<string[]> => {
  const { status, text } = await openVisitor(gantry).get(path);
  assert.equal(status, 200, path);
  const [, nav = ''] = /<nav class="tabs-nav" aria-label="Code">([^]*?)<\/nav>/.exec(text) ?? [];
  return [...nav.matchAll(/<a href="([^"]*)"( aria-current="page")?>/g)].map(([, to = '', current]) =>
    current === undefined ? to : `[${to}]`,
  );
};

test('pages about code link to each other', async () => {
  const { id, full_path } = await seedProject(gantry, { visibility: 'public' });
  const sha = await seedCommit(gantry, id, { 'src/a.ts': 'x\n' });
  const root = `/${full_path}`;
  const tabs = [
    `${root}/tree`,
    `${root}/-/commits`,
    `${root}/-/branches`,
    `${root}/-/tags`,
    `${root}/compare`,
    `${root}/-/graphs`,
  ];
  const currentOf = {
    [`${root}/tree/main/src`]: 0,
    [`${root}/-/blob/main/src/a.ts`]: 0,
    [`${root}/-/blame/main/src/a.ts`]: 0,
    [`${root}/-/find_file/main`]: 0,
    [`${root}/-/commits/main`]: 1,
    [`${root}/commit/${sha}`]: 1,
    [`${root}/-/branches?state=all`]: 2,
    [`${root}/-/tags`]: 3,
    [`${root}/compare`]: 4,
    [`${root}/compare/main...main`]: 4,
    [`${root}/-/graphs/main`]: 5,
  };
  for (const [path, current] of Object.entries(currentOf)) {
    const expected = tabs.map((tab, at) => (at === current ? `[${tab}]` : tab));
    assert.deepEqual(await tabsOn(path), expected, path);
  }
  for (const path of tabs) assert.equal((await openVisitor(gantry).get(path)).status, 200, path);
  assert.deepEqual(await tabsOn(root), []);
  assert.deepEqual(await tabsOn(`${root}/-/activity`), []);
});

test('a repository without commits has no pages about code', async () => {
  const { full_path } = await seedProject(gantry, { visibility: 'public' });
  assert.deepEqual(await tabsOn(`/${full_path}/-/branches`), []);
});
