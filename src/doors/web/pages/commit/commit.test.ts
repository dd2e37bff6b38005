/** Tests the page of a commit. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedMember, seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

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
  const first = await seedCommit(gantry, project.id, { a: 'one\ntwo\n', spaces: 'a b\n', gone: 'x\n' });
  const message = 'Change <it>\n\nThe reason & more.';
  const second = await seedCommit(
    gantry,
    project.id,
    { a: 'one\n<three>\n', spaces: 'a  b\n', gone: null, 'new.txt': 'n\n' },
    { message },
  );
  return { ...project, first, second, commit: `/${project.full_path}/commit` };
};

test('shows the message, the parent and the diff at its web_url', async () => {
  const { id, first, second, commit } = await newProject();
  const { body } = await gantry.api(`GET /projects/${id}/repository/commits/${second}`);
  const { status, text } = await user.get(new URL(body.web_url).pathname);
  assert.equal(status, 200);
  assert.ok(text.includes('<h1>Change &lt;it&gt;</h1>') && text.includes('The reason &amp; more.'), text);
  assert.ok(text.includes(`href="${commit}/${first}"`), 'the parent');
  assert.ok(text.includes('4 changed files'));
  assert.ok(text.includes('&lt;<mark>') || text.includes('&lt;three&gt;'));
  for (const note of ['added', 'deleted'])
    assert.ok(text.includes(`<span class="badge">${note}</span>`), note);
  assert.ok((await user.get(`${commit}/${first}`)).text.includes('none: a first commit'));
});

test('ignores white space', async () => {
  const { second, commit } = await newProject();
  const all = (await user.get(`${commit}/${second}`)).text;
  const less = (await user.get(`${commit}/${second}?w=1`)).text;
  assert.deepEqual([all.includes('<mark> </mark>'), less.includes('<mark> </mark>')], [true, false]);
  // The texts of other files stay with their files.
  assert.match(less, /Diff of a"[^]*?&lt;three&gt;/);
  assert.match(less, /Diff of new\.txt"[^]*?<td>n/);
});

test('shows one file, and a large one only by a link', async () => {
  const { id, commit, full_path } = await newProject();
  const large = Array.from({ length: 30_000 }, (_line, at) => `line ${at}\n`).join('');
  const sha = await seedCommit(gantry, id, { large, small: 's\n' });
  const { text } = await user.get(`${commit}/${sha}`);
  assert.ok(text.includes(`href="/${full_path}/commit/${sha}?file=large"`), 'collapsed');
  const one = (await user.get(`${commit}/${sha}?file=large`)).text;
  assert.ok(one.includes('line 29999') && !one.includes('Diff of small'));
});

test('names the branches and tags that contain it', async () => {
  const { id, first, commit } = await newProject();
  await gantry.api(`POST /projects/${id}/repository/tags`, { json: { tag_name: 'v1', ref: 'main' } });
  assert.ok((await user.get(`${commit}/${first}`)).text.includes('data-later='));
  const { text } = await user.get(`${commit}/${first}?refs=1`);
  assert.match(text, /<p id="refs">[^]*tree\/main"[^]*tree\/v1"/);
});

test('answers a diff and a patch that git could apply', async () => {
  const { first, second, commit } = await newProject();
  const diff = await user.get(`${commit}/${second}.diff`);
  assert.match(diff.text, /^diff --git a\/a b\/a\n/);
  assert.equal(diff.headers.get('content-type'), 'text/plain; charset=utf-8');
  const patch = (await user.get(`${commit}/${second}.patch`)).text;
  assert.ok(
    patch.startsWith(`From ${second} Mon Sep 17 00:00:00 2001\nFrom: Ada Lovelace <ada@example.com>\n`),
    patch,
  );
  assert.ok(patch.includes('Subject: [PATCH] Change <it>\n\nThe reason & more.\n---\n\ndiff --git'), patch);
  assert.equal((await user.get(`${commit}/${first}.diff`)).status, 200);
});

test('a hidden project answers like a missing one; a guest is refused', async () => {
  const { id, commit, second } = await newProject('private');
  for (const end of ['', '.diff', '.patch']) {
    const missing = await user.get(`/no-such/project/commit/${second}${end}`);
    const hidden = await user.get(`${commit}/${second}${end}`);
    assert.deepEqual([hidden.status, hidden.text], [404, missing.text]);
    assert.match(
      (await openVisitor(gantry).get(`${commit}/${second}${end}`)).location ?? '',
      /^\/users\/sign_in/,
    );
  }
  await seedMember(gantry, { user: userId, project: id, access_level: 10 });
  assert.equal((await user.get(`${commit}/${second}`)).status, 403);
  const open = await newProject();
  assert.equal((await openVisitor(gantry).get(`${open.commit}/${open.second}?refs=1`)).status, 200);
});

test('an unknown commit is missing', async () => {
  const { commit } = await newProject();
  for (const bad of ['0'.repeat(40), 'nope', '-x', 'main..x', `${'0'.repeat(40)}.patch`])
    assert.equal((await user.get(`${commit}/${bad}`)).status, 404, bad);
});
