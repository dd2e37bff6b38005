/** Tests the page that resolves the conflicts of a merge request. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import { seedMember, unique } from '../../../../../../test/support/seed.ts';
import {
  type Coded,
  openRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;

before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

type Files = Record<string, string>;
type Opened = { project: Coded; path: string; iid: number; developer: SeededVisitor };

const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_line, index) => String(from + index));

/** Text of lines, some replaced. */
const lines = (changes: Record<number, string> = {}): string =>
  numbers(1, 30)
    .map((line, index) => `${changes[index + 1] ?? line}\n`)
    .join('');

/** Opens a request of `topic` into `main`, which conflict. */
const openConflict = async (base: Files, topic: Files, main: Files): Promise<Opened> => {
  const project = await seedCoded(gantry, { visibility: 'private' });
  await seedCommit(gantry, project.id, base, { branch: 'main', from: 'main' });
  await seedBranch(gantry, project, 'topic', { files: topic });
  await seedCommit(gantry, project.id, main, { branch: 'main', from: 'main' });
  const { iid } = await openRequest(gantry, project, 'topic');
  await settle(gantry);
  const developer = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  return { project, path: `/${project.full_path}/merge_requests/${iid}`, iid, developer };
};

const fileOn = async (project: { id: number }, branch: string, path: string): Promise<string | null> => {
  const file = encodeURIComponent(path);
  const { status, text } = await gantry.api(
    `GET /projects/${project.id}/repository/files/${file}/raw?ref=${branch}`,
  );
  return status === 200 ? text : null;
};

const headOf = async (project: { id: number }, branch: string) =>
  (await gantry.api(`GET /projects/${project.id}/repository/commits/${branch}`)).body;

const unescape = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** Returns the hidden fields and texts of the form, as a browser sends them, without choices. */
const formOf = (text: string): Record<string, string> => {
  const hidden = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const areas = [...text.matchAll(/<textarea[^>]+name="([^"]+)"[^>]*>\n([^<]*)<\/textarea>/g)];
  const checked = [
    ...text.matchAll(/<input id="[^"]+"[^>]*name="([^"]+)" type="radio" value="([^"]+)" checked/g),
  ];
  const fields = [...hidden, ...checked].map(([, name = '', value = '']) => [name, unescape(value)]);
  const texts = areas.map(([, name = '', value = '']) => [
    name,
    unescape(value).replaceAll(/\r?\n/g, '\r\n'),
  ]);
  const all = Object.fromEntries([...fields, ...texts]) as Record<string, string>;
  return Object.fromEntries(
    Object.entries(all).filter(([name]) => /^(files|source_sha|target_sha|commit_message)/.test(name)),
  );
};

test('commits the chosen sides as a merge of the target into the source branch', async () => {
  const { project, path, iid, developer } = await openConflict(
    { 'a.txt': lines(), 'clean.txt': 'one\n' },
    { 'a.txt': lines({ 3: 'three <b>', 15: 'fifteen', 28: 'x' }) },
    { 'a.txt': lines({ 3: 'drei', 15: 'fuenfzehn', 28: 'y' }), 'clean.txt': 'two\n' },
  );
  const { visitor } = developer;
  assert.match((await visitor.get(path)).text, /href="[^"]+\/conflicts">Resolve conflicts</);
  const seen = await visitor.get(`${path}/conflicts`);
  assert.equal(seen.status, 200);
  assert.match(seen.text, /Conflict 1 of 3[\s\S]+three &lt;b&gt;[\s\S]+drei[\s\S]+Conflict 2 of 3/);
  const form = formOf(seen.text);
  assert.match(form['files[0][text]'] ?? '', /<<<<<<< topic\r\nthree <b>\r\n=======\r\ndrei\r\n>>>>>>> main/);
  const [source, target] = [await headOf(project, 'topic'), await headOf(project, 'main')];

  const chosen = { ...form, 'files[0][hunks][0]': 'ours', 'files[0][hunks][1]': 'theirs' };
  const missing = await visitor.post(`${path}/conflicts`, chosen);
  assert.deepEqual([missing.status, (await headOf(project, 'topic')).id], [422, source.id]);
  assert.match(missing.text, /Choose a side for each conflict/);
  assert.match(missing.text, /name="files\[0\]\[hunks\]\[1\]" type="radio" value="theirs" checked/);

  const all = { ...chosen, 'files[0][hunks][2]': 'both', commit_message: 'Merge it\r\n\r\nBody' };
  const done = await visitor.post(`${path}/conflicts`, all);
  assert.deepEqual([done.status, done.location], [303, path]);
  const commit = await headOf(project, 'topic');
  assert.deepEqual(commit.parent_ids, [source.id, target.id]);
  assert.equal(commit.message.trim(), 'Merge it\n\nBody');
  assert.equal(
    await fileOn(project, 'topic', 'a.txt'),
    lines({ 3: 'three <b>', 15: 'fuenfzehn', 28: 'x\ny' }),
  );
  assert.equal(await fileOn(project, 'topic', 'clean.txt'), 'two\n');
  await settle(gantry);
  const merged = await gantry.api(`GET /projects/${project.id}/merge_requests/${iid}`);
  assert.equal(merged.body.has_conflicts, false);
  assert.match((await visitor.get(`${path}/conflicts`)).text, /Nothing conflicts with the target branch/);
  await gantry.api(`PUT /projects/${project.id}/merge_requests/${iid}`, { json: { state_event: 'close' } });
  const closed = await visitor.get(`${path}/conflicts`);
  assert.deepEqual([closed.status, closed.location], [302, path]);
});

test('takes the whole text of a file, with its line ends, and refuses remaining marks', async () => {
  const crlf = (text: string): string => text.replaceAll('\n', '\r\n');
  const { project, path, developer } = await openConflict(
    { 'dos.txt': crlf('\na\nb\n'), 'b.txt': 'x\n' },
    { 'dos.txt': crlf('\nours\nb\n'), 'b.txt': 'ours\n' },
    { 'dos.txt': crlf('\ntheirs\nb\n'), 'b.txt': 'theirs\n' },
  );
  const { visitor } = developer;
  const form = formOf((await visitor.get(`${path}/conflicts`)).text);
  const index = form['files[0][path]'] === 'dos.txt' ? 0 : 1;
  const chosen = { ...form, [`files[${1 - index}][hunks][0]`]: 'ours', [`files[${index}][way]`]: 'text' };
  const marked = await visitor.post(`${path}/conflicts`, chosen);
  assert.deepEqual([marked.status, /still has marks of conflicts/.test(marked.text)], [422, true]);
  const edited = { ...chosen, [`files[${index}][text]`]: '\r\nmine <i>\r\nb\r\n' };
  const unsure = await visitor.post(`${path}/conflicts`, { ...edited, [`files[${index}][way]`]: 'hunks' });
  assert.deepEqual([unsure.status, /mine &lt;i&gt;/.test(unsure.text)], [422, true]);
  assert.equal((await visitor.post(`${path}/conflicts`, edited)).status, 303);
  assert.equal(await fileOn(project, 'topic', 'dos.txt'), '\r\nmine <i>\r\nb\r\n');
  assert.equal(await fileOn(project, 'topic', 'b.txt'), 'ours\n');
});

test('shows the conflicts again when a branch moved, with the choices of equal files', async () => {
  const base = { 'a.txt': lines(), 'b.txt': lines() };
  const { project, path, developer } = await openConflict(
    base,
    { 'a.txt': lines({ 3: 'a ours' }), 'b.txt': lines({ 3: 'b ours' }) },
    { 'a.txt': lines({ 3: 'a theirs' }), 'b.txt': lines({ 3: 'b theirs' }) },
  );
  const { visitor } = developer;
  const form = formOf((await visitor.get(`${path}/conflicts`)).text);
  await seedCommit(
    gantry,
    project.id,
    { 'b.txt': lines({ 3: 'b newer' }) },
    { branch: 'main', from: 'main' },
  );
  await settle(gantry);
  const target = await headOf(project, 'main');
  const source = await headOf(project, 'topic');
  const sent = {
    ...form,
    'files[0][hunks][0]': 'theirs',
    'files[1][hunks][0]': 'theirs',
    commit_message: 'Kept message',
  };
  const moved = await visitor.post(`${path}/conflicts`, sent);
  assert.equal(moved.status, 409);
  assert.match(moved.text, /role="alert">The source or the target branch changed after you opened this page/);
  assert.equal((await headOf(project, 'topic')).id, source.id);
  const again = formOf(moved.text);
  assert.equal(again['target_sha'], target.id);
  assert.equal(again['commit_message'], 'Kept message');
  assert.deepEqual([again['files[0][hunks][0]'], again['files[1][hunks][0]']], ['theirs', undefined]);
  assert.match(moved.text, /b newer/);
  const typed = { ...sent, 'files[1][way]': 'text', 'files[1][text]': 'typed for long\r\n' };
  const kept = await visitor.post(`${path}/conflicts`, typed);
  const lost = /name="files\[1\]\[lost\]" rows="8" readonly>\ntyped for long\n</;
  assert.match(kept.text, lost);
  const refused = await visitor.post(`${path}/conflicts`, formOf(kept.text));
  assert.deepEqual([refused.status, lost.test(refused.text)], [422, true]);
  const done = await visitor.post(`${path}/conflicts`, { ...again, 'files[1][hunks][0]': 'theirs' });
  assert.equal(done.status, 303);
  assert.equal(await fileOn(project, 'topic', 'b.txt'), lines({ 3: 'b newer' }));
});

test('keeps what was typed for files that conflict no more', async () => {
  const base = { 'a.txt': lines(), 'b.txt': lines() };
  const ours = { 'a.txt': lines({ 3: 'a ours' }), 'b.txt': lines({ 3: 'b ours' }) };
  const theirs = { 'a.txt': lines({ 3: 'a theirs' }), 'b.txt': lines({ 3: 'b theirs' }) };
  const { project, path, developer } = await openConflict(base, ours, theirs);
  const { visitor } = developer;
  const form = formOf((await visitor.get(`${path}/conflicts`)).text);
  const typed = { ...form, 'files[1][way]': 'text', 'files[1][text]': 'typed for long\r\n' };
  const take = async (name: 'a.txt' | 'b.txt'): Promise<void> => {
    await seedCommit(gantry, project.id, { [name]: ours[name] }, { branch: 'main', from: 'main' });
    await settle(gantry);
  };
  const lost = /<h2>b\.txt<\/h2>[^]+name="files\[\d\]\[lost\]" rows="8" readonly>\ntyped for long\n</;
  await take('b.txt');
  const moved = await visitor.post(`${path}/conflicts`, typed);
  assert.deepEqual([moved.status, lost.test(moved.text)], [409, true]);
  const refused = await visitor.post(`${path}/conflicts`, formOf(moved.text));
  assert.deepEqual([refused.status, lost.test(refused.text)], [422, true]);
  await take('a.txt');
  const none = await visitor.post(`${path}/conflicts`, formOf(refused.text));
  assert.match(none.text, /Nothing conflicts with the target branch/);
  assert.match(none.text, lost);
});

test('keeps the line ends of other lines, and takes sides of very many lines', async () => {
  const mixed = (word: string): string => `first\r\n${word}\nlast\n`;
  const many = (word: string): string => `${word}\n${'\n'.repeat(200_000)}`;
  const { project, path, developer } = await openConflict(
    { 'a.txt': many('x'), 'b.txt': mixed('x') },
    { 'a.txt': many('ours'), 'b.txt': mixed('ours') },
    { 'a.txt': many('theirs'), 'b.txt': mixed('theirs') },
  );
  const { visitor } = developer;
  const form = formOf((await visitor.get(`${path}/conflicts`)).text);
  const sides = { ...form, 'files[0][hunks][0]': 'ours', 'files[1][hunks][0]': 'theirs' };
  const edited = { ...sides, 'files[1][way]': 'text', 'files[1][text]': 'first\r\nmine\r\nlast\r\n' };
  const refused = await visitor.post(`${path}/conflicts`, edited);
  assert.deepEqual([refused.status, /mixed line endings/.test(refused.text)], [422, true]);
  assert.equal((await visitor.post(`${path}/conflicts`, sides)).status, 303);
  assert.equal(await fileOn(project, 'topic', 'a.txt'), many('ours'));
  assert.equal(await fileOn(project, 'topic', 'b.txt'), mixed('theirs'));
});

test('says which conflicts it cannot resolve, and the commands that do', async () => {
  const { project, path, developer } = await openConflict(
    {
      'bin.dat': 'a\0b',
      'gone.txt': lines(),
      'old.txt': lines({ 1: 'old' }),
      'big.txt': 'x\n',
      'a.txt': 'a\n',
      'cr.txt': 'x\ry\n',
    },
    {
      'bin.dat': 'a\0c',
      'gone.txt': lines({ 4: 'kept' }),
      'big.txt': 'y'.repeat(300_000),
      'a.txt': 'b\n',
      'cr.txt': 'x\rb\n',
    },
    { 'bin.dat': 'a\0d', 'big.txt': 'z'.repeat(300_000), 'a.txt': 'c\n', 'cr.txt': 'x\rc\n' },
  );
  const commit = async (branch: string, actions: object[]): Promise<void> => {
    const json = { branch, commit_message: 'Change', actions };
    const { status, text } = await gantry.api(`POST /projects/${project.id}/repository/commits`, { json });
    assert.equal(status, 201, text);
  };
  await commit('main', [
    { action: 'delete', file_path: 'gone.txt' },
    { action: 'update', file_path: 'old.txt', content: lines({ 1: 'old', 9: 'theirs' }) },
  ]);
  await commit('topic', [
    {
      action: 'move',
      previous_path: 'old.txt',
      file_path: 'new.txt',
      content: lines({ 1: 'old', 9: 'ours' }),
    },
  ]);
  await settle(gantry);
  const seen = await developer.visitor.get(`${path}/conflicts`);
  assert.equal(seen.status, 200);
  const reasons = Object.fromEntries(
    [...seen.text.matchAll(/<li><code>([^<]+)<\/code> ([^<]+)<\/li>/g)].map(([, name = '', why = '']) => [
      name,
      why,
    ]),
  );
  assert.deepEqual(reasons, {
    'a.txt': 'conflicts in its text',
    'big.txt': 'is too large to be edited here',
    'bin.dat': 'is a binary file',
    'cr.txt': 'is not UTF-8 text with LF or CRLF line endings',
    'gone.txt': 'was deleted in one branch and changed in the other',
    'new.txt': 'was renamed or moved',
  });
  assert.match(seen.text, /git merge origin\/main\ngit push/);
  assert.doesNotMatch(seen.text, /name="files\[/);
  const head = await headOf(project, 'topic');
  const sent = { source_sha: head.id, target_sha: (await headOf(project, 'main')).id };
  assert.equal((await developer.visitor.post(`${path}/conflicts`, sent)).status, 422);
  assert.equal((await headOf(project, 'topic')).id, head.id);
});

test('edits only the text of a file whose lines look like marks', async () => {
  const { project, path, developer } = await openConflict(
    { 'a.md': 'Title\n' },
    { 'a.md': 'Ours\n=======\n' },
    { 'a.md': 'Theirs\n=====\n' },
  );
  const { text } = await developer.visitor.get(`${path}/conflicts`);
  assert.match(text, /Only the whole text of this file can be edited here/);
  const form = { ...formOf(text), 'files[0][text]': 'Both\r\n=======\r\n' };
  assert.equal((await developer.visitor.post(`${path}/conflicts`, form)).status, 303);
  assert.equal(await fileOn(project, 'topic', 'a.md'), 'Both\n=======\n');
});

test('is for those who may push to the source branch', async () => {
  const { project, path, developer } = await openConflict({ a: 'a\n' }, { a: 'b\n' }, { a: 'c\n' });
  const reporter = await seedVisitor(gantry, { project: project.id, access_level: 20 });
  const stranger = await seedVisitor(gantry);
  const form = {
    ...formOf((await developer.visitor.get(`${path}/conflicts`)).text),
    'files[0][hunks][0]': 'ours',
  };
  const head = await headOf(project, 'topic');
  assert.doesNotMatch((await reporter.visitor.get(path)).text, />Resolve conflicts</);
  for (const [visitor, status] of [
    [reporter.visitor, 403],
    [stranger.visitor, 404],
  ] as const) {
    assert.equal((await visitor.get(`${path}/conflicts`)).status, status);
    assert.equal((await visitor.post(`${path}/conflicts`, form)).status, status);
  }
  const missing = await stranger.visitor.get(`${path.replace(/\d+$/, '999')}/conflicts`);
  assert.equal(missing.status, 404);
  assert.match((await openVisitor(gantry).get(`${path}/conflicts`)).location ?? '', /sign_in/);
  assert.equal(
    (await developer.visitor.post(`${path}/conflicts`, { ...form, authenticity_token: null })).status,
    422,
  );
  await gantry.api(`POST /projects/${project.id}/protected_branches`, {
    json: { name: 'topic', push_access_level: 40 },
  });
  assert.equal((await developer.visitor.get(`${path}/conflicts`)).status, 403);
  assert.equal((await developer.visitor.post(`${path}/conflicts`, form)).status, 403);
  assert.equal((await headOf(project, 'topic')).id, head.id);
});

test('resolves conflicts in the branch of a fork for those who may push there', async () => {
  const target = await seedCoded(gantry, { visibility: 'public' });
  const name = unique('fork');
  const { body: fork } = await gantry.api(`POST /projects/${target.id}/fork`, { json: { path: name, name } });
  await settle(gantry);
  await seedCommit(gantry, fork.id, { 'README.md': 'Theirs\n' }, { branch: 'main', from: 'main' });
  await seedCommit(gantry, target.id, { 'README.md': 'Ours\n' }, { branch: 'main', from: 'main' });
  const { iid } = await openRequest(gantry, fork, 'main', { target_project_id: target.id });
  await settle(gantry);
  const path = `/${target.full_path}/merge_requests/${iid}`;
  const developer = await seedVisitor(gantry, { project: fork.id, access_level: 40 });
  const maintainer = await seedVisitor(gantry);
  await seedMember(gantry, { user: maintainer.id, project: target.id, access_level: 40 });
  assert.equal((await maintainer.visitor.get(`${path}/conflicts`)).status, 403);
  const form = formOf((await developer.visitor.get(`${path}/conflicts`)).text);
  const done = await developer.visitor.post(`${path}/conflicts`, { ...form, 'files[0][hunks][0]': 'theirs' });
  assert.deepEqual([done.status, done.location], [303, path]);
  assert.equal(await fileOn(fork, 'main', 'README.md'), 'Ours\n');
  const head = await headOf(fork, 'main');
  assert.equal(head.parent_ids[1], (await headOf(target, 'main')).id);
});
