/** Tests the order of timelines, and their pages in either order. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedIssue, seedProject } from '../../../../../test/support/seed.ts';
import { openRequest, seedBranch, seedCoded } from '../../../../../test/support/seed_merge_requests.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;

before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const comment = async (line: string, count: number): Promise<number[]> => {
  const ids: number[] = [];
  for (let at = 1; at <= count; at += 1) {
    const { status, body } = await gantry.api(`POST ${line}/notes`, { json: { body: `comment ${at}` } });
    assert.equal(status, 201);
    ids.push(body.id);
  }
  return ids;
};

const read = async (visitor: Visitor, path: string): Promise<string> => {
  const { status, text } = await visitor.get(path);
  assert.equal(status, 200);
  return text;
};

const notesIn = (text: string): number[] =>
  [...text.matchAll(/<article class="note" id="note_(\d+)"/g)].map(([, id]) => Number(id));

test('shows the newest comment first, below the form for the next one', async () => {
  const project = await seedProject(gantry, { visibility: 'public' });
  const { iid } = await seedIssue(gantry, { project: project.id });
  const line = `/projects/${project.id}/issues/${iid}`;
  const path = `/${project.full_path}/issues/${iid}`;
  const [first = 0, second = 0] = await comment(line, 2);
  await gantry.api(`PUT ${line}`, { json: { add_labels: 'docs' } });
  const { visitor } = await seedVisitor(gantry);
  assert.deepEqual(notesIn(await read(visitor, path)), [first, second]);
  assert.deepEqual(notesIn(await read(visitor, `${path}?sort=desc`)), [second, first]);
  assert.deepEqual(notesIn(await read(visitor, path)), [first, second], 'an address is not remembered');
  const return_to = `${path}?sort=asc&page=1`;
  const chosen = await visitor.post('/-/preferences', { sort: 'desc', return_to });
  assert.equal(chosen.location, `${path}?page=1`);
  const text = await read(visitor, path);
  assert.deepEqual(notesIn(text), [second, first]);
  assert.match(
    text,
    /id="description"[^]+id="new_comment"[^]+class="event"[^]+<article class="note" id="note_/,
  );
  assert.match(text, /name="sort" value="desc" aria-pressed="true"/);
});

test('a comment is on the same page in either order, so links to it stay right', async () => {
  const project = await seedProject(gantry, { visibility: 'public' });
  const { iid } = await seedIssue(gantry, { project: project.id });
  const path = `/${project.full_path}/issues/${iid}`;
  const ids = await comment(`/projects/${project.id}/issues/${iid}`, 52);
  const visitor = openVisitor(gantry);
  const newest = await read(visitor, `${path}?sort=desc`);
  assert.deepEqual(notesIn(newest), ids.slice(50).toReversed());
  assert.match(newest, /Page 2 of 2<\/span> <a href="[^"]+\?page=1&amp;sort=desc">Earlier comments/);
  assert.deepEqual(notesIn(await read(visitor, `${path}?page=1&sort=desc`)), ids.slice(0, 50).toReversed());
  assert.deepEqual(notesIn(await read(visitor, `${path}?page=1`)), ids.slice(0, 50));
  const oldest = await read(visitor, `${path}?sort=asc`);
  assert.match(oldest, /\?page=1&amp;sort=asc">Earlier comments<\/a> <span class="muted">Page 2 of 2/);
});

test('orders comments and pushes of a merge request', async () => {
  const coded = await seedCoded(gantry, { visibility: 'public' });
  await seedCommit(gantry, coded.id, { 'a.txt': 'one\n' });
  await seedBranch(gantry, coded, 'topic', { files: { 'a.txt': 'two\n' } });
  const { iid } = await openRequest(gantry, coded, 'topic');
  const [first = 0, second = 0] = await comment(`/projects/${coded.id}/merge_requests/${iid}`, 2);
  const path = `/${coded.full_path}/merge_requests/${iid}`;
  const visitor = openVisitor(gantry);
  assert.deepEqual(notesIn(await read(visitor, path)), [first, second]);
  assert.deepEqual(notesIn(await read(visitor, `${path}?sort=desc`)), [second, first]);
});
