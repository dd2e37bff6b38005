/** Tests the blame of a file. */
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
  const first = await seedCommit(
    gantry,
    project.id,
    { 'd/a.txt': 'one\ntwo\nthree\n', empty: '' },
    { message: 'Write <it>' },
  );
  const second = await seedCommit(
    gantry,
    project.id,
    { 'd/a.txt': 'one\nchanged <2>\nthree\n' },
    { message: 'Change two' },
  );
  return { ...project, first, second, blame: `/${project.full_path}/-/blame/main` };
};

test('shows the commit of each line, and the blame before it', async () => {
  const { blame, full_path, first, second } = await newProject();
  const { status, text } = await user.get(`${blame}/d/a.txt`);
  assert.equal(status, 200);
  const rows = [
    ...text.matchAll(/<tr class="first" id="L(\d)"><td class="commit" rowspan="(\d)">[^]*?\/commit\/(\w+)"/g),
  ];
  assert.deepEqual(
    rows.map(([, line, span, commit]) => [line, span, commit]),
    [
      ['1', '1', first],
      ['2', '1', second],
      ['3', '1', first],
    ],
  );
  assert.ok(
    text.includes(`href="/${full_path}/-/blame/${first}/d/a.txt"`),
    'the blame before the second commit',
  );
  assert.ok(text.includes('Write &lt;it&gt;') && text.includes('Write &lt;it&gt;'));
});

test('white space can be ignored, also on further pages', async () => {
  const { id, blame, full_path, first } = await newProject();
  const indented = await seedCommit(gantry, id, { 'd/a.txt': '  one\nchanged <2>\nthree\n' });
  const shown = await user.get(`${blame}/d/a.txt`);
  assert.ok(shown.text.includes(`/commit/${indented}"`));
  assert.ok(shown.text.includes(`href="/${full_path}/-/blame/main/d/a.txt?w=1"`));
  assert.match(shown.text, new RegExp(`href="/${full_path}/-/blame/${indented}/d/a.txt" data-key="y"`));
  const ignored = await user.get(`${blame}/d/a.txt?w=1`);
  assert.ok(!ignored.text.includes(`/commit/${indented}"`) && ignored.text.includes(`/commit/${first}"`));
  assert.match(ignored.text, /Whitespace ignored[^]+>Show whitespace changes</);
  await seedCommit(gantry, id, { long: 'x\n'.repeat(1500) });
  const { text } = await user.get(`${blame}/long?w=1`);
  assert.ok(text.includes(`${blame}/long?w=1&amp;page=2"`), 'the next page');
});

test('a long file is shown in pages', async () => {
  const { id, blame } = await newProject();
  await seedCommit(gantry, id, { long: 'x\n'.repeat(1500) });
  const { text } = await user.get(`${blame}/long?page=2`);
  assert.ok(text.includes('id="L1001"') && text.includes('id="L1500"') && !text.includes('id="L1000"'));
  assert.equal((await user.get(`${blame}/long?page=3`)).status, 404);
});

test('says why a file has no blame', async () => {
  const { id, blame } = await newProject();
  const actions = [
    {
      action: 'create',
      file_path: 'bin',
      content: Buffer.from([0, 1]).toString('base64'),
      encoding: 'base64',
    },
  ];
  await gantry.api(`POST /projects/${id}/repository/commits`, {
    json: { branch: 'main', commit_message: 'x', actions },
  });
  assert.ok((await user.get(`${blame}/bin`)).text.includes('Binary files have no lines'));
  assert.ok((await user.get(`${blame}/empty`)).text.includes('The file is empty.'));
});

test('a hidden project answers like a missing one; a guest is refused', async () => {
  const { id, blame } = await newProject('private');
  const missing = await user.get('/no-such/project/-/blame/main/d/a.txt');
  const hidden = await user.get(`${blame}/d/a.txt`);
  assert.deepEqual([hidden.status, hidden.text], [404, missing.text]);
  assert.match((await openVisitor(gantry).get(`${blame}/d/a.txt`)).location ?? '', /^\/users\/sign_in/);
  await seedMember(gantry, { user: userId, project: id, access_level: 10 });
  assert.equal((await user.get(`${blame}/d/a.txt`)).status, 403);
  const open = await newProject();
  assert.equal((await openVisitor(gantry).get(`${open.blame}/d/a.txt`)).status, 200);
});

test('the blame of a folder or a missing file gets 404', async () => {
  const { blame } = await newProject();
  for (const bad of ['nope', 'd', '', '%00'])
    assert.equal((await user.get(`${blame}/${bad}`)).status, 404, bad);
  assert.equal((await user.get(`${blame}/d/a.txt?page=x`)).status, 400);
});
