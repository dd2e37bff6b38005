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
    '.gitlab/issue_templates/Dos.md': 'One\r\nTwo\r\n',
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

test('keeps what was typed when a template is chosen', async () => {
  const { visitor } = reporter;
  const choose = async (form: Record<string, string>): Promise<string> => {
    await visitor.get(path);
    const { status, text } = await visitor.post(path, form);
    assert.equal(status, 200);
    return text;
  };
  const typed = { title: 'A <title>', description: 'Mine\r\nand more\r\n', confidential: '1' };
  const text = await choose({ ...typed, applied_template: 'Default', issuable_template: 'Bug' });
  assert.match(text, /value="A &lt;title&gt;"/);
  assert.match(text, /name="confidential" type="checkbox" value="1" checked/);
  assert.match(text, />\nMine\nand more\n\n## Steps &lt;b&gt;\n<\/textarea>/);
  assert.match(text, /name="applied_template" value="Bug"/);
  const untouched = { description: 'Say why.\r\n', applied_template: 'Default' };
  assert.match(
    await choose({ ...untouched, issuable_template: 'Bug' }),
    />\n## Steps &lt;b&gt;\n<\/textarea>/,
  );
  assert.match(await choose({ ...untouched, issuable_template: '' }), />\n<\/textarea>/);
  const dos = { description: 'One\r\nTwo\r\n', applied_template: 'Dos', issuable_template: '' };
  assert.match(await choose(dos), />\n<\/textarea>/);
  const none = await choose({ description: 'Mine', issuable_template: 'missing' });
  assert.match(none, />\nMine<\/textarea>/);
  const { body } = await gantry.api(
    `GET ${path.replace(/^\/(.*)\/issues\/new$/, (_all, full: string) => `/projects/${encodeURIComponent(full)}/issues`)}`,
  );
  assert.deepEqual(body, [], 'nothing is created');
});

test('offers none to users who may not read the code', async () => {
  const { status, text } = await guest.visitor.get(path);
  assert.deepEqual([status, /Say why|Template/.test(text)], [200, false]);
});
