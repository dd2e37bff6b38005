/** Tests how users who may not push change a file in their fork, and propose the change. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { unique } from '../../../../../test/support/seed.ts';
import {
  type Coded,
  seedBranch,
  seedCoded,
  settle,
} from '../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { storageUnavailable } from '../../../../platform/git/failure.ts';
import type { Repository, RepositoryLocation } from '../../../../platform/git/repository.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';

let gantry: TestService;
let project: Coded;

before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'public' });
  await seedBranch(gantry, project, 'stable', { files: { 'docs/a b.txt': 'one\n' } });
});
after(async () => await gantry.close());

const linkIn = (text: string, pattern: RegExp): string =>
  (pattern.exec(text)?.[1] ?? '').replaceAll('&amp;', '&');

/** Presses Edit on a file, forks, and returns the address of the editor. */
const forkFromEditor = async ({ visitor }: SeededVisitor, path: string): Promise<string> => {
  const blob = await visitor.get(`/${project.full_path}/-/blob/stable/${path}`);
  const refused = await visitor.get(linkIn(blob.text, /href="([^"]+)" data-key="e">Edit</));
  assert.equal(refused.status, 403);
  const form = await visitor.get(linkIn(refused.text, /href="([^"]+forks\/new\?[^"]+)"/));
  const next = linkIn(form.text, /name="continue" value="([^"]+)"/);
  assert.equal(next, `edit/stable/${path}`);
  const name = unique('fork');
  const made = await visitor.post(`/${project.full_path}/-/forks`, { name, path: name, continue: next });
  await settle(gantry);
  return made.location ?? '';
};

test('Edit forks the project, continues in its editor, and proposes the change to the upstream', async () => {
  const user = await seedVisitor(gantry);
  const editor = await forkFromEditor(user, 'docs/a%20b.txt');
  assert.match(
    editor,
    new RegExp(`^/${user.username}/fork[^/]+/-/edit/stable/docs/a%20b\\.txt\\?propose=1$`),
  );
  const { status, text } = await user.visitor.get(editor);
  assert.equal(status, 200, text);
  assert.match(text, new RegExp(`name="branch"[^>]+value="${user.username}-patch-1"`));
  assert.match(text, new RegExp(`Open a merge request in ${project.full_path} for a new branch`));
  const last_commit_id = linkIn(text, /name="last_commit_id" value="(\w+)"/);
  const saved = await user.visitor.post(editor.split('?')[0] ?? '', {
    file_path: 'docs/a b.txt',
    content: 'two\n',
    commit_message: 'Change it',
    branch: `${user.username}-patch-1`,
    opens_request: '1',
    last_commit_id,
  });
  assert.match(saved.location ?? '', /\/merge_requests\/new\?/, saved.text);
  const request = await user.visitor.get(saved.location ?? '');
  assert.match(request.text, new RegExp(`into <code>${project.full_path}:stable</code>`));
  assert.match(request.text, /name="title" type="text" value="Change it"/);
});

test('a commit in a fork succeeds where the storage of the upstream does not answer', async (t) => {
  const user = await seedVisitor(gantry);
  const editor = await forkFromEditor(user, 'docs/a%20b.txt');
  const { text } = await user.visitor.get(editor);
  const { git } = gantry.service.platform;
  const open = git.repository.bind(git);
  t.mock.method(git, 'repository', (location: RepositoryLocation): Repository => {
    const repository = open(location);
    if (location.id !== project.id) return repository;
    const ask = async () => await Promise.reject(storageUnavailable('it is down'));
    return { ...repository, ask };
  });
  const saved = await user.visitor.post(editor.split('?')[0] ?? '', {
    file_path: 'docs/a b.txt',
    content: 'three\n',
    commit_message: 'Change it again',
    branch: 'patch',
    opens_request: '1',
    last_commit_id: linkIn(text, /name="last_commit_id" value="(\w+)"/),
  });
  assert.deepEqual([saved.status, /source_branch%5D=patch/.test(saved.location ?? '')], [303, true]);
});

test('leads to the form in a fork that the user has', async () => {
  const user = await seedVisitor(gantry);
  const editor = await forkFromEditor(user, 'docs/a%20b.txt');
  const fork = editor.split('/-/')[0] ?? '';
  for (const page of [
    'edit/stable/docs/a%20b.txt',
    'new/stable/docs',
    'upload/stable',
    'delete/stable/docs/a%20b.txt',
  ]) {
    const { status, text } = await user.visitor.get(`/${project.full_path}/-/${page}`);
    assert.equal(status, 403);
    const link = linkIn(text, /href="([^"]+\?propose=1)"/);
    assert.equal(link, `${fork}/-/${page}?propose=1`);
    assert.equal((await user.visitor.get(link)).status, 200, link);
  }
});

test('says that a fork lacks the file', async () => {
  const user = await seedVisitor(gantry);
  const editor = await forkFromEditor(user, 'docs/a%20b.txt');
  await seedCommit(gantry, project.id, { 'newer.txt': 'x\n' }, { branch: 'main', from: 'main' });
  const fork = editor.split('/-/')[0] ?? '';
  for (const page of ['edit/main/newer.txt', 'edit/none/newer.txt']) {
    const { status, text } = await user.visitor.get(`${fork}/-/${page}?propose=1`);
    assert.deepEqual([status, /This fork does not have the file/.test(text)], [404, true]);
    assert.ok(text.includes(`href="${fork}">Go to the fork`));
    assert.doesNotMatch((await user.visitor.get(`${fork}/-/${page}`)).text, /This fork does not/);
  }
  const stranger = await seedVisitor(gantry);
  const hidden = await stranger.visitor.get(`/${user.username}/none/-/edit/main/x?propose=1`);
  assert.deepEqual([hidden.status, /This fork does not/.test(hidden.text)], [404, false]);
});

test('the form of a fork ignores other addresses to continue at', async () => {
  const user = await seedVisitor(gantry);
  for (const next of [
    'settings',
    '//example.com',
    'edit/../../x\r\ny: z',
    'edit/a?b',
    'edit/../../x',
    'edit/a/.',
    '../edit/a',
  ]) {
    const address = `/${project.full_path}/-/forks/new?${new URLSearchParams({ continue: next }).toString()}`;
    assert.doesNotMatch((await user.visitor.get(address)).text, /name="continue"/, next);
    const name = unique('fork');
    const sent = { name, path: name, continue: next };
    const { location } = await user.visitor.post(`/${project.full_path}/-/forks`, sent);
    assert.equal(location, `/${user.username}/${name}`);
  }
});
