/** Tests what the merge box says about conflicts: the files, and the commands that resolve them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { GitFailure } from '../../../../../platform/git/failure.ts';
import type { Repository, RepositoryLocation } from '../../../../../platform/git/repository.ts';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import {
  type Request,
  openRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../../../../../test/support/seed_merge_requests.ts';
import { seedMember, unique } from '../../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { getMatching } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let stranger: SeededVisitor;

before(async () => {
  gantry = await startTestService();
  stranger = await seedVisitor(gantry);
});
after(async () => await gantry.close());

const api = async (line: string, json: object = {}): Promise<Request> => {
  const { status, body, text } = await gantry.api(line, { json });
  assert.ok(status < 300, `${line}: ${text}`);
  return body;
};

const words = (text: string): string => text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

const commandsOf = (text: string): string[] => {
  const [, commands = ''] = /How to resolve them<\/summary><pre tabindex="0">([^<]+)</.exec(text) ?? [];
  return commands.replaceAll('&#39;', "'").split('\n');
};

/** Opens a request whose branches changed the same files. */
const openConflict = async (files: readonly string[]): Promise<{ id: number; at: string }> => {
  const project = await seedCoded(gantry, { visibility: 'public' });
  const change = (text: string): Record<string, string> =>
    Object.fromEntries(files.map((name) => [name, `${text}\n`]));
  await seedBranch(gantry, project, 'topic', { files: change('theirs') });
  await seedCommit(gantry, project.id, change('ours'), { branch: 'main', from: 'main' });
  const { iid } = await openRequest(gantry, project, 'topic');
  await settle(gantry);
  return { id: project.id, at: `/${project.full_path}/merge_requests/${iid}` };
};

const itemsOf = (text: string): string[] => {
  const [, list = ''] = /<ul class="file-names">(.*?)<\/ul>/s.exec(text) ?? [];
  return [...list.matchAll(/<li>(.*?)<\/li>/gs)].map(([, item = '']) => item);
};

test('names the files that conflict', async () => {
  const { at } = await openConflict(['b/<i>.txt', 'a.txt']);
  const text = await getMatching(stranger.visitor, at, /How to resolve them/);
  assert.match(words(text), /Conflicts with main in 2 files/);
  assert.match(text, /<div>Conflicts with/, 'lists are not allowed within a span');
  assert.deepEqual(itemsOf(text), ['<code>a.txt</code>', '<code>b/&lt;i&gt;.txt</code>']);
});

test('names twenty of many files, and counts the others', async () => {
  const { at } = await openConflict(Array.from({ length: 23 }, (_name, index) => `file-${10 + index}`));
  const text = await getMatching(stranger.visitor, at, /How to resolve them/);
  const items = itemsOf(text);
  assert.match(words(text), /in 23 files/);
  assert.deepEqual([items.length, items[0], items.at(-1)], [21, '<code>file-10</code>', 'and 3 more']);
});

test('a page that was shown before does not ask git for the names again', async (t) => {
  const { at } = await openConflict(['a.txt']);
  await getMatching(stranger.visitor, at, /How to resolve them/);
  const { git } = gantry.service.platform;
  const asked: string[] = [];
  const open = git.repository.bind(git);
  t.mock.method(git, 'repository', (location: RepositoryLocation): Repository => {
    const repository = open(location);
    const ask: Repository['ask'] = async (method, ...rest) => {
      asked.push(method);
      return await repository.ask(method, ...rest);
    };
    return { ...repository, ask };
  });
  const { text } = await stranger.visitor.get(at);
  assert.equal(itemsOf(text).length, 1);
  assert.equal(asked.includes('merge.check'), false, asked.join(', '));
});

test('does not wait again at once for git, which took too long', async (t) => {
  const { at } = await openConflict(['a.txt']);
  const { git } = gantry.service.platform;
  const open = git.repository.bind(git);
  let asked = 0;
  t.mock.method(git, 'repository', (location: RepositoryLocation): Repository => {
    const repository = open(location);
    const ask: Repository['ask'] = async (method, ...rest) => {
      if (method !== 'merge.check' || rest[2]?.seconds === undefined)
        return await repository.ask(method, ...rest);
      asked += 1;
      throw new GitFailure('limit', 'merge.check took too long');
    };
    return { ...repository, ask };
  });
  await getMatching(stranger.visitor, at, /How to resolve them/);
  const before = asked;
  const { text } = await stranger.visitor.get(at);
  assert.match(words(text), /Conflicts with main How to resolve them/);
  assert.deepEqual([before, asked], [1, 1]);
});

test('names the files of the newest commits', async () => {
  const { id, at } = await openConflict(['a.txt', 'b.txt']);
  await getMatching(stranger.visitor, at, /in 2 files/);
  await seedCommit(gantry, id, { 'a.txt': 'theirs\n' }, { branch: 'main', from: 'main' });
  await settle(gantry);
  const text = await getMatching(stranger.visitor, at, /in 1 file/);
  assert.deepEqual(itemsOf(text), ['<code>b.txt</code>']);
});

test('shows the push only to those who may push to the branch', async () => {
  const { id, at } = await openConflict(['a.txt']);
  const developer = await seedVisitor(gantry, { project: id, access_level: 30 });
  const untilPush = [
    'git fetch origin',
    'git checkout topic',
    'git merge --ff-only origin/topic',
    'git merge origin/main',
  ];
  const own = await getMatching(developer.visitor, at, /How to resolve them/);
  assert.deepEqual(commandsOf(own), [...untilPush, 'git push origin topic']);
  const other = await getMatching(stranger.visitor, at, /How to resolve them/);
  assert.deepEqual(commandsOf(other), untilPush);
  assert.match(words(other), /A user who can push to the source branch has to push the result/);
});

/** Opens a request of a branch of a fork that conflicts with its target. */
const openConflictOfFork = async (branch: string): Promise<{ fork: Request; at: string }> => {
  const target = await seedCoded(gantry, { visibility: 'public' });
  const name = unique('fork');
  const fork = await api(`POST /projects/${target.id}/fork`, { path: name, name });
  await settle(gantry);
  await seedCommit(gantry, fork.id, { 'README.md': 'Theirs\n' }, { branch, from: 'main' });
  await seedCommit(gantry, target.id, { 'README.md': 'Ours\n' }, { branch: 'main', from: 'main' });
  const { iid } = await openRequest(gantry, fork, branch, { target_project_id: target.id });
  await settle(gantry);
  return { fork, at: `/${target.full_path}/merge_requests/${iid}` };
};

test('says how to resolve conflicts of a fork, with its address for those who may push to it', async () => {
  const { fork, at } = await openConflictOfFork("it's;mine");
  const untilPush = [
    'git fetch origin',
    'git fetch origin refs/merge-requests/1/head',
    'git checkout -B mr-1 FETCH_HEAD',
    'git merge origin/main',
  ];
  const reader = await getMatching(stranger.visitor, at, /How to resolve them/);
  assert.deepEqual(commandsOf(reader), untilPush, 'a public fork');
  const developer = await seedVisitor(gantry, { project: fork.id, access_level: 30 });
  const push = `git push ${fork.http_url_to_repo} ${String.raw`'HEAD:it'\''s;mine'`}`;
  const own = await getMatching(developer.visitor, at, /How to resolve them/);
  assert.deepEqual(commandsOf(own), [...untilPush, push]);
  await api(`PUT /projects/${fork.id}`, { visibility: 'private' });
  await seedMember(gantry, { user: stranger.id, project: fork.id, access_level: 10 });
  const guest = await getMatching(stranger.visitor, at, /How to resolve them/);
  assert.deepEqual(commandsOf(guest), untilPush, 'a fork whose code is hidden');
});
