/** Tests who pages name as the last editor of a description or a comment. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { type SeededProject, seedIssue, seedProject } from '../../../../../test/support/seed.ts';
import { openRequest, seedBranch, seedCoded } from '../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';

let gantry: TestService;
let project: SeededProject;
let ada: SeededVisitor;
let grace: SeededVisitor;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'public' });
  ada = await seedVisitor(gantry, { project: project.id, access_level: 40 });
  grace = await seedVisitor(gantry, { project: project.id, access_level: 40 });
});
after(async () => await gantry.close());

const api = async (line: string, json: object = {}): Promise<{ id: number; iid: number }> => {
  const { status, body } = await gantry.api(line, { json });
  assert.ok(status < 300, `${line}: ${status}`);
  return body;
};

/** Returns the editors that a page names, in its order. */
const editorsOn = async (path: string): Promise<(string | null)[]> => {
  const { status, text } = await ada.visitor.get(path);
  assert.equal(status, 200);
  const edits = [
    ...text.matchAll(/<span class="muted last-edit">edited <time[^>]*>[^<]*<\/time>(.*?)<\/span>/g),
  ];
  return edits.map(([, by = '']) => /^ by <a class="muted" href="\/([^"]+)">/.exec(by)?.[1] ?? null);
};

test('names the last editor of a description, not who changed something else', async () => {
  const { iid } = await seedIssue(gantry, { project: project.id });
  const line = `/projects/${project.id}/issues/${iid}`;
  const path = `/${project.full_path}/issues/${iid}`;
  await api(`PUT ${line}?sudo=${ada.id}`, { title: 'Another title', add_labels: 'docs' });
  assert.deepEqual(await editorsOn(path), []);
  await api(`PUT ${line}?sudo=${ada.id}`, { description: 'One' });
  assert.deepEqual(await editorsOn(path), [ada.username]);
  const form = (await grace.visitor.get(`${path}/edit`)).text;
  const base = /name="base" value="([^"]+)"/.exec(form)?.[1] ?? '';
  const saved = await grace.visitor.post(`${path}/edit`, {
    title: 'Another title',
    description: 'Two',
    base,
  });
  assert.equal(saved.status, 303);
  await api(`PUT ${line}?sudo=${ada.id}`, { state_event: 'close' });
  assert.deepEqual(await editorsOn(path), [grace.username]);
});

test('names the last editor of a comment and of a reply; to resolve a thread is no edit', async () => {
  const { iid } = await seedIssue(gantry, { project: project.id });
  const line = `/projects/${project.id}/issues/${iid}`;
  const path = `/${project.full_path}/issues/${iid}`;
  const thread = (await gantry.api(`POST ${line}/discussions?sudo=${ada.id}`, { json: { body: 'Why?' } }))
    .body;
  const reply = await api(`POST ${line}/discussions/${thread.id}/notes?sudo=${ada.id}`, { body: 'So' });
  await api(`PUT ${line}/discussions/${thread.id}?sudo=${grace.id}`, { resolved: true });
  assert.deepEqual(await editorsOn(path), []);
  await api(`PUT ${line}/notes/${thread.notes[0].id}?sudo=${ada.id}`, { body: 'Why not?' });
  await api(`PUT ${line}/notes/${reply.id}?sudo=${grace.id}`, { body: 'So!' });
  assert.deepEqual(await editorsOn(path), [ada.username, grace.username]);
});

test('keeps the edit of a deleted editor, without a name', async () => {
  const { iid } = await seedIssue(gantry, { project: project.id });
  const gone = await seedVisitor(gantry, { project: project.id, access_level: 40 });
  await api(`PUT /projects/${project.id}/issues/${iid}?sudo=${gone.id}`, { description: 'Mine' });
  const { status } = await gantry.api(`DELETE /users/${gone.id}`);
  assert.equal(status, 204);
  assert.deepEqual(await editorsOn(`/${project.full_path}/issues/${iid}`), [null]);
});

test('names editors on merge requests and between their lines, with marks of author and role', async () => {
  const coded = await seedCoded(gantry, { visibility: 'public' });
  const author = await seedVisitor(gantry, { project: coded.id, access_level: 40 });
  await seedCommit(gantry, coded.id, { 'a.txt': 'one\n' });
  await seedBranch(gantry, coded, 'topic', { files: { 'a.txt': 'two\n' } });
  const { iid } = await openRequest(gantry, coded, 'topic', { sudo: author.username });
  const line = `/projects/${coded.id}/merge_requests/${iid}`;
  await api(`PUT ${line}?sudo=${author.id}`, { description: 'Text' });
  const { diff_refs } = (await gantry.api(`GET ${line}`)).body;
  const position = { position_type: 'text', new_path: 'a.txt', old_path: 'a.txt', new_line: 1, ...diff_refs };
  const on = async (who: number): Promise<number> =>
    (await gantry.api(`POST ${line}/discussions?sudo=${who}`, { json: { body: 'Here', position } })).body
      .notes[0].id;
  const first = await on(author.id);
  await on(1);
  await api(`PUT ${line}/notes/${first}?sudo=${author.id}`, { body: 'There' });
  const path = `/${coded.full_path}/merge_requests/${iid}`;
  assert.deepEqual(await editorsOn(path), [author.username, author.username]);
  assert.deepEqual(await editorsOn(`${path}/diffs`), [author.username]);
  const { text } = await author.visitor.get(`${path}/diffs`);
  const marks = [...text.matchAll(/<div class="note" id="note_(\d+)">(.*?)<\/div>/gs)].map(
    ([, id, head = '']) => [
      Number(id) === first,
      head.includes('<span class="count">Author</span>'),
      /title="Role in the project">(\w+)</.exec(head)?.[1] ?? null,
    ],
  );
  assert.deepEqual(marks, [
    [true, true, 'Maintainer'],
    [false, false, null],
  ]);
});
