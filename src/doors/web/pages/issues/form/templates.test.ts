/** Tests the templates of the form for a new issue. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import { seedProject } from '../../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';

let gantry: TestService;
let reporter: SeededVisitor;
let guest: SeededVisitor;
let path: string;

before(async () => {
  gantry = await startTestService();
  const project = await seedProject(gantry, { visibility: 'private' });
  path = `/${project.full_path}/issues/new`;
  reporter = await seedVisitor(gantry, { project: project.id, access_level: 20 });
  guest = await seedVisitor(gantry, { project: project.id, access_level: 10 });
  await seedCommit(gantry, project.id, {
    '.gitlab/issue_templates/Bug.md': '## Steps <b>\n',
    '.gitlab/issue_templates/Default.md': 'Say why.\n',
    '.gitlab/issue_templates/other.txt': 'none',
  });
});
after(async () => await gantry.close());

test('fills the description from a template', async () => {
  const first = await reporter.visitor.get(path);
  assert.match(first.text, /<option value="Bug">Bug<\/option><option value="Default" selected>/);
  assert.match(first.text, /Say why\.\n<\/textarea>/);
  const chosen = await reporter.visitor.get(`${path}?issuable_template=Bug&title=Kept`);
  assert.match(chosen.text, /value="Kept"[\s\S]+## Steps &lt;b&gt;/);
  assert.doesNotMatch((await reporter.visitor.get(`${path}?issuable_template=`)).text, /Say why/);
  const unknown = await reporter.visitor.get(`${path}?issuable_template=..%2F..%2Fsecret`);
  assert.deepEqual([unknown.status, /Say why/.test(unknown.text)], [200, false]);
  assert.match((await reporter.visitor.get(`${path}?description=Mine`)).text, /Mine<\/textarea>/);
});

test('offers none to users who may not read the code', async () => {
  const { status, text } = await guest.visitor.get(path);
  assert.deepEqual([status, /Say why|Template/.test(text)], [200, false]);
});
