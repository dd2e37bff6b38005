/** Tests uploads of files, new folders, moves of binary files, and the way to a merge request. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { settle } from '../../../../../test/support/seed_merge_requests.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, rootToken, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let developer: Visitor;
let reporter: Visitor;
let root: string;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  root = `/${project.full_path}/-`;
  developer = (await seedVisitor(gantry, { project: project.id, access_level: 40 })).visitor;
  reporter = (await seedVisitor(gantry, { project: project.id, access_level: 20 })).visitor;
  await seedCommit(gantry, project.id, { 'docs/a.txt': 'one\n', bin: 'x\0y', 'same.bin': 'a\0b' });
  await settle(gantry);
});
after(async () => await gantry.close());

const read = async (path: string, branch = 'main'): Promise<Buffer | null> => {
  const file = encodeURIComponent(path);
  const address = `${gantry.url}/api/v4/projects/${project.id}/repository/files/${file}/raw?ref=${encodeURIComponent(branch)}`;
  const answer = await fetch(address, { headers: { 'private-token': rootToken } });
  return answer.status === 200 ? Buffer.from(await answer.arrayBuffer()) : null;
};

const lastOf = (text: string): string => /name="last_commit_id" value="(\w+)"/.exec(text)?.[1] ?? '';

const bytes = new Uint8Array([0, 255, 13, 10, 10, 128, 0]);

test('uploads a file of any bytes into a folder', async () => {
  const path = `${root}/upload/main/docs`;
  const { text } = await developer.get(path);
  assert.match(text, /enctype="multipart\/form-data"/);
  assert.match(text, /name="folder"[^>]+value="docs"/);
  const form = { folder: '/docs/new/', branch: 'main', commit_message: 'Upload' };
  const made = await developer.postFiles(path, form, { file: { name: 'C:\\x\\a b.bin', content: bytes } });
  assert.equal(made.location, `${root}/blob/main/docs/new/a%20b.bin`);
  assert.deepEqual(await read('docs/new/a b.bin'), Buffer.from(bytes));
  const again = await developer.postFiles(path, form, { file: { name: 'a b.bin', content: bytes } });
  assert.deepEqual([again.status, /id="file_error">A file with this name/.test(again.text)], [422, true]);
  const none = await developer.postFiles(path, form, {});
  assert.deepEqual([none.status, /id="file_error"/.test(none.text)], [422, true]);
  const odd = await developer.postFiles(path, form, { file: { name: '..', content: bytes } });
  assert.equal(odd.status, 422, odd.text);
});

test('uploads several files in one commit, or none of them', async () => {
  const path = `${root}/upload/main`;
  assert.match((await developer.get(path)).text, /type="file" required multiple/);
  const form = { folder: 'several', branch: 'main', commit_message: 'Upload three' };
  const file = (name: string) => ({ name, content: `of ${name}` });
  const made = await developer.postFiles(path, form, { file: [file('a'), file('b'), file('c')] });
  assert.equal(made.location, `/${project.full_path}/tree/main/several`);
  for (const name of ['a', 'b', 'c']) assert.equal((await read(`several/${name}`))?.toString(), `of ${name}`);
  const { body } = await gantry.api(`GET /projects/${project.id}/repository/commits?path=several`);
  assert.equal((body as unknown[]).length, 1);
  const refused = await developer.postFiles(path, form, { file: [file('d'), file('a')] });
  assert.deepEqual([refused.status, await read('several/d')], [422, null]);
  const files = Array.from({ length: 21 }, (_file, at) => file(`many ${at}`));
  const tooMany = await developer.postFiles(path, form, { file: files });
  assert.deepEqual([tooMany.status, await read('several/many 0')], [422, null]);
  assert.match(tooMany.text, />You chose 21 files; at most 20 can be uploaded together</);
});

test('uploads files larger than other forms, of members only', async () => {
  const path = `${root}/upload/main`;
  const content = new Uint8Array(3 * 1024 * 1024).fill(7);
  await developer.get(path);
  const form = { branch: 'main', commit_message: 'Upload' };
  const made = await developer.postFiles(path, form, { file: { name: 'large', content } });
  assert.equal(made.status, 303, made.text);
  assert.equal((await read('large'))?.length, content.length);
  await reporter.get('/profile');
  assert.equal((await reporter.postFiles(path, form, { file: { name: 'x', content: bytes } })).status, 403);
  const anonymous = openVisitor(gantry);
  const sent = await anonymous.postFiles(path, form, { file: { name: 'x', content: bytes } });
  assert.match(sent.location ?? '', /sign_in/);
  const forged = await developer.postFiles(
    path,
    { ...form, authenticity_token: 'x' },
    { file: { name: 'y', content: bytes } },
  );
  assert.equal(forged.status, 422);
  const tooLarge = new Uint8Array(33 * 1024 * 1024);
  const refused = await developer.postFiles(path, form, { file: { name: 'z', content: tooLarge } });
  assert.equal(refused.status, 413);
});

test('replaces a file, but not one that changed meanwhile', async () => {
  const path = `${root}/upload/main/bin`;
  const last = lastOf((await developer.get(path)).text);
  await seedCommit(gantry, project.id, { bin: 'newer' });
  await settle(gantry);
  const form = { branch: 'main', commit_message: 'Replace' };
  const file = { file: { name: 'other name', content: bytes } };
  const refused = await developer.postFiles(path, { ...form, last_commit_id: last }, file);
  assert.deepEqual([refused.status, String(await read('bin'))], [409, 'newer']);
  const done = await developer.postFiles(path, { ...form, last_commit_id: lastOf(refused.text) }, file);
  assert.equal(done.location, `${root}/blob/main/bin`);
  assert.deepEqual(await read('bin'), Buffer.from(bytes));
});

test('creates a folder', async () => {
  const path = `${root}/new_folder/main/docs`;
  assert.match((await developer.get(path)).text, /name="folder"[^>]+value="docs\/"/);
  const form = { folder: 'docs/deep/er', branch: 'main', commit_message: 'Add' };
  assert.match((await developer.post(path, form)).location ?? '', /\/tree\/main\/docs\/deep\/er$/);
  assert.equal((await read('docs/deep/er/.gitkeep'))?.length, 0);
  const again = await developer.post(path, form);
  assert.deepEqual([again.status, /id="folder_error">Folder already exists/.test(again.text)], [422, true]);
  for (const folder of ['', '/', '../x', 'a//b']) {
    const bad = await developer.post(path, { ...form, folder });
    assert.deepEqual([bad.status, /id="folder_error"/.test(bad.text)], [422, true], folder);
  }
});

test('moves a binary file as it is', async () => {
  const path = `${root}/edit/main/same.bin`;
  const { text } = await developer.get(path);
  assert.match(text, /binary or larger than 1 MiB/);
  assert.ok(!text.includes('<textarea class="code"'));
  const form = { file_path: 'moved/same.bin', branch: 'main', commit_message: 'Move' };
  const unmoved = await developer.post(path, { ...form, file_path: 'same.bin' });
  assert.equal(unmoved.status, 422);
  const moved = await developer.post(path, { ...form, last_commit_id: lastOf(text) });
  assert.equal(moved.location, `${root}/blob/main/moved/same.bin`);
  assert.deepEqual(
    [String(await read('moved/same.bin')), await read('same.bin')],
    [Buffer.from('a\0b').toString(), null],
  );
});

test('leads to a merge request of the new branch, where that is wanted', async (t) => {
  t.mock.method(gantry.service.platform, 'hasPage', () => true);
  const path = `${root}/new/main`;
  const { text } = await developer.get(path);
  assert.match(text, /name="opens_request" type="checkbox" value="1" checked/);
  const form = { file_path: 'wanted', content: 'x', commit_message: 'Add', opens_request: '1' };
  const made = await developer.post(path, { ...form, branch: 'feature/a&b' });
  assert.equal(
    made.location,
    `/${project.full_path}/merge_requests/new?${new URLSearchParams({
      'merge_request[source_branch]': 'feature/a&b',
      'merge_request[target_branch]': 'main',
    }).toString()}`,
  );
  assert.equal(String(await read('wanted', 'feature/a&b')), 'x');
  const here = await developer.post(path, { ...form, branch: 'main' });
  assert.equal(here.location, `${root}/blob/main/wanted`);
  const unwanted = await developer.post(path, { ...form, file_path: 'b', branch: 'b', opens_request: '0' });
  assert.equal(unwanted.location, `${root}/blob/b/b`);
});

test('folders of a branch and files offer the forms to those who may push', async () => {
  const folder = (await developer.get(`/${project.full_path}/tree/main/docs`)).text;
  for (const noun of ['new', 'upload', 'new_folder'])
    assert.ok(folder.includes(`${root}/${noun}/main/docs"`));
  const file = (await developer.get(`${root}/blob/main/docs/a.txt`)).text;
  for (const noun of ['edit', 'upload', 'delete'])
    assert.ok(file.includes(`${root}/${noun}/main/docs/a.txt"`));
  const readOnly = (await reporter.get(`/${project.full_path}/tree/main/docs`)).text;
  assert.ok(!readOnly.includes('/upload/'));
  assert.ok(!(await reporter.get(`${root}/blob/main/docs/a.txt`)).text.includes('/delete/'));
});
