/** Tests the file finder. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedMember, seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';
import { rankPaths, toWords } from '../../../../code/repository/files/rank_path.ts';

let gantry: TestService;
let user: Visitor;
let userId: number;

before(async () => {
  gantry = await startTestService();
  ({ id: userId, visitor: user } = await seedVisitor(gantry));
});
after(async () => await gantry.close());

const newProject = async (visibility: 'public' | 'private' = 'public') => {
  const project = await seedProject(gantry, { visibility });
  await seedCommit(gantry, project.id, { 'src/Main.ts': '', 'src/lib/<b>.ts': '', 'docs/guide.md': '' });
  return { ...project, find: `/${project.full_path}/-/find_file` };
};

test('lists all files, and searches without scripts', async () => {
  const { find, full_path } = await newProject();
  const all = (await user.get(`${find}/main`)).text;
  assert.ok(
    all.includes('3 files') && all.includes(`href="/${full_path}/-/blob/main/src/lib/%3Cb%3E.ts"`),
    all,
  );
  const found = (await user.get(`${find}/main?search=main+SRC`)).text;
  assert.deepEqual(
    [found.includes('1 file<'), found.includes('src/Main.ts'), found.includes('guide.md')],
    [true, true, false],
  );
  assert.equal((await user.get(find)).status, 200);
  assert.equal((await user.get(`${find}/nope`)).status, 404);
});

test('finds files by letters of their path, the best first', async () => {
  const { find } = await newProject();
  const namesFor = async (search: string): Promise<string[]> => {
    const { text } = await user.get(`${find}/main?search=${search}`);
    const list = /<ul[^>]+id="paths">.*?<\/ul>/s.exec(text)?.[0] ?? '';
    return [...list.matchAll(/<li>.*?<a [^>]+>([^<]+)<\/a>/g)].map(([, name = '']) => name);
  };
  assert.deepEqual(await namesFor('srcmain'), ['src/Main.ts']);
  assert.deepEqual(await namesFor('s'), ['src/Main.ts', 'src/lib/&lt;b&gt;.ts', 'docs/guide.md']);
  assert.deepEqual(await namesFor('dg'), ['docs/guide.md']);
  assert.deepEqual(await namesFor('md+gui'), ['docs/guide.md']);
  assert.deepEqual(await namesFor('niam'), []);
});

test('ranks by the first eight distinct words', async () => {
  const { find } = await newProject();
  const search = async (words: string): Promise<boolean> =>
    (await user.get(`${find}/main?${new URLSearchParams({ search: words })}`)).text.includes('src/Main.ts');
  assert.equal(await search('s r c m m m a i n t zzz'), true);
  assert.equal(await search('s r c m a i zzz'), false);
});

test('ends the search among very many long paths, and says so', () => {
  const paths = Array.from({ length: 50_000 }, (_one, at) => `${'ab/'.repeat(300)}${at}`);
  const rank = (list: string[], search: string) => rankPaths(list, toWords(search), (path) => path);
  const { items, isCut } = rank(paths, 'b a');
  assert.ok(isCut && items.length > 5_000 && items.length < 25_000, `${items.length}`);
  assert.equal(rank(paths.slice(0, 5_000), 'b a').isCut, false);
  assert.deepEqual(rank([`${'a/'.repeat(501)}b`, 'a/b'], 'ab').items, ['a/b']);
});

test('a hidden project answers like a missing one; a guest is refused', async () => {
  const { id, find } = await newProject('private');
  const missing = await user.get('/no-such/project/-/find_file/main');
  const hidden = await user.get(`${find}/main`);
  assert.deepEqual([hidden.status, hidden.text], [404, missing.text]);
  assert.match((await openVisitor(gantry).get(`${find}/main`)).location ?? '', /^\/users\/sign_in/);
  await seedMember(gantry, { user: userId, project: id, access_level: 10 });
  assert.equal((await user.get(`${find}/main`)).status, 403);
  const open = await newProject();
  assert.equal((await openVisitor(gantry).get(`${open.find}/main`)).status, 200);
});
