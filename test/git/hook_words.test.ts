/** Text of a push must not be mistaken for output of git's hook. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type WorkTree, newWorkTree, repositoryUrl, tryGit } from '../support/repositories/git.ts';
import { type SeededProject, seedMember, seedProject, seedUser } from '../support/seed.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';

let gantry: TestService;
let tree: WorkTree;
let first: string;
let second: string;
before(async () => {
  gantry = await startTestService();
  tree = await newWorkTree();
  first = await tree.commit('First', { 'a.txt': 'a\n' });
  second = await tree.commit('Second', { 'b.txt': 'b\n' });
});
after(async () => {
  await gantry.close();
  await tree.remove();
});

const zero = '0'.repeat(40);
const urlOf = (project: SeededProject, token: string): string =>
  repositoryUrl(gantry.url, project.full_path, token);

/** `main` is protected and stands at the first commit; `known` has the second one. */
const seedForDeveloper = async (): Promise<{ project: SeededProject; token: string }> => {
  const project = await seedProject(gantry);
  await tree.git('push', '--quiet', urlOf(project, rootToken), `${first}:refs/heads/main`);
  await tree.git('push', '--quiet', urlOf(project, rootToken), `${second}:refs/heads/known`);
  const { id, token } = await seedUser(gantry);
  await seedMember(gantry, { user: id, project: project.id, access_level: 30 });
  return { project, token };
};

const refsOf = async (project: SeededProject): Promise<string[]> =>
  (await tree.git('ls-remote', '--refs', urlOf(project, rootToken)))
    .split('\n')
    .map((line) => line.replace('\t', ' '));

const untouched = (): string[] => [`${second} refs/heads/known`, `${first} refs/heads/main`];

const packet = (text: string): Buffer => {
  const data = Buffer.from(text);
  return Buffer.concat([Buffer.from((data.length + 4).toString(16).padStart(4, '0')), data]);
};

const emptyPack = (): Buffer => {
  const head = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  return Buffer.concat([head, hash('sha1', head, 'buffer')]);
};

/** Sends a push that no regular client writes. */
const rawPush = async (project: SeededProject, token: string, updates: string[]): Promise<string> => {
  const lines = updates.map((line, at) => packet(at === 0 ? `${line}\0 report-status` : line));
  const response = await fetch(`${gantry.url}/${project.full_path}.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}`,
      'content-type': 'application/x-git-receive-pack-request',
    },
    body: Buffer.concat([...lines, Buffer.from('0000'), emptyPack()]),
  });
  return await response.text();
};

test('refuses a push with too many options, and takes none of them for a ref', async () => {
  const { project, token } = await seedForDeveloper();
  const options = [...Array(1_000).keys()].map((at) => `--push-option=${at}`);
  const posing = `--push-option=${first} ${second} refs/heads/fine`;
  const args = ['push', ...options, posing, urlOf(project, token), `${second}:refs/heads/main`];
  const { code, stderr } = await tryGit(tree.path, args);
  assert.notEqual(code, 0);
  assert.deepEqual(await refsOf(project), untouched());
  assert.match(stderr, /remote rejected/);
});

/** Lines that make branches, together so long in the words of the hook. */
const fillers = (bytes: number): string[] => {
  const lines: string[] = [];
  for (let left = bytes, at = 0; left > 0; at += 1) {
    const length = left > 400 ? 200 : left;
    const line = `${zero} ${first} refs/heads/${at}-`;
    lines.push(line + 'x'.repeat(length - line.length - 1));
    left -= length;
  }
  return lines;
};

test('shows every ref of a push although a ref name contains line ends', async () => {
  const { project, token } = await seedForDeveloper();
  // This fills a pipe: the hook's output is read up to the end of that name and looks complete.
  const odd = `${zero} ${first} refs/heads/fine\n.`;
  const answer = await rawPush(project, token, [
    ...fillers(65_536 - odd.length - 1),
    odd,
    `${first} ${second} refs/heads/main`,
  ]);
  assert.match(answer, /pre-receive hook declined/);
  assert.deepEqual(await refsOf(project), untouched());
});
