/** Pages about code in a browser: links to lines, permalinks, what is loaded later, uploads. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import { seedProject } from '../../support/seed.ts';
import { settle } from '../../support/seed_merge_requests.ts';
import { type Web, openWeb, pathOf, skip } from '../web.ts';

let web: Web;
let project: { id: number; full_path: string };
let sha: string;
let admin: string;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  admin = await web.makeUser({ admin: true });
  project = await seedProject(web.gantry, { visibility: 'public' });
  const many = Object.fromEntries(Array.from({ length: 120 }, (_file, at) => [`many/${at}`, '']));
  const text = Array.from({ length: 3_000 }, (_line, at) => `line ${at + 1}\n`).join('');
  sha = await seedCommit(web.gantry, project.id, { 'a.txt': text, ...many }, { message: 'Begin' });
  await settle(web.gantry);
});
after(async () => {
  if (skip === false) await web.close();
});

test('links to lines mark them, also on a later page, and y leads to the permalink', { skip }, async () => {
  const blob = `/${project.full_path}/-/blob`;
  await web.withPage(async (page) => {
    await page.goto(`${blob}/main/a.txt#L10-20`);
    assert.equal(await page.locator('tr.marked').count(), 11);
    await page.locator('#L5 td.n a').click();
    await page.locator('#L7 td.n a').click({ modifiers: ['Shift'] });
    assert.equal(new URL(page.url()).hash, '#L5-7');
    await page.keyboard.press('y');
    await page.waitForURL(`**/${sha}/a.txt#L5-7`);
    assert.equal(pathOf(page), `${blob}/${sha}/a.txt`);
    await page.goto(`${blob}/main/a.txt#L2600`);
    await page.waitForURL('**/a.txt?page=2#L2600');
    assert.equal(await page.locator('tr.marked').count(), 1);
    await page.goto(`/${project.full_path}/tree/main/many`);
    await page.keyboard.press('y');
    await page.waitForURL(`**/tree/${sha}/many`);
  });
});

test('shows lines around a change of a commit in place, and steps through its files', { skip }, async () => {
  const { id, full_path } = await seedProject(web.gantry, { visibility: 'public' });
  const lines = Array.from({ length: 60 }, (_line, at) => `line ${at + 1}\n`);
  await seedCommit(web.gantry, id, { 'a.txt': lines.join(''), 'b/c.txt': 'c\n' });
  const files = { 'a.txt': lines.with(39, 'forty\n').join(''), 'b/c.txt': 'd\n' };
  const change = await seedCommit(web.gantry, id, files);
  await web.withPage(async (page) => {
    await page.goto(`/${full_path}/commit/${change}`);
    // A mark that a load of the page would remove.
    await page.evaluate('window.isSamePage = true');
    await page.locator('#files .step').first().click();
    await page.getByText('line 17', { exact: true }).first().waitFor();
    assert.equal(await page.evaluate('window.isSamePage'), true);
    assert.equal(await page.locator('.diff-file').count(), 2);
    await web.assertFine(page);
    await page.evaluate('document.activeElement.blur(); scrollTo(0, 0)');
    for (const name of ['b/c.txt', 'a.txt']) {
      await page.keyboard.press('j');
      await page.locator(`.diff-file[data-path="${name}"] h2 a:focus`).waitFor();
    }
    await page.keyboard.press(';');
    assert.equal(await page.locator('.diff-body:visible').count(), 0);
    await page.getByRole('button', { name: 'Split' }).click();
    await page.locator('table.split-diff').first().waitFor();
    await web.assertFine(page);
  });
});

test('comments on a line of a commit in place, and edits the comment', { skip }, async () => {
  const { id, full_path } = await seedProject(web.gantry, { visibility: 'public' });
  await seedCommit(web.gantry, id, { 'a.txt': 'one\ntwo\n' });
  const change = await seedCommit(web.gantry, id, { 'a.txt': 'one\nthree\n' });
  await web.withPage(async (page) => {
    await web.signIn(page, admin);
    await page.waitForURL('**/');
    await page.goto(`/${full_path}/commit/${change}`);
    // A mark that a load of the page would remove.
    await page.evaluate('window.isSamePage = true');
    await page.getByRole('link', { name: 'Comment on line 2, added' }).click();
    await page.getByRole('textbox', { name: 'Comment on line 2' }).fill('Why *three*?');
    await web.assertFine(page);
    await page.keyboard.press('Control+Enter');
    await page.locator('tr.thread em', { hasText: 'three' }).waitFor();
    await page.locator('tr.thread').getByText('Reply', { exact: true }).first().click();
    await page.locator('tr.thread').getByRole('textbox', { name: 'Reply' }).fill('As agreed.');
    await page.keyboard.press('Control+Enter');
    await page.locator('tr.thread p', { hasText: 'As agreed.' }).waitFor();
    await page.locator('tr.thread [data-edit]').last().click();
    await page.getByRole('textbox', { name: 'Comment', exact: true }).fill('As told.');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.locator('tr.thread p', { hasText: 'As told.' }).waitFor();
    assert.equal(await page.evaluate('window.isSamePage'), true);
    await web.assertFine(page);
  });
});

test('an address with a line shows the source of a file that is rendered', { skip }, async () => {
  const { id, full_path } = await seedProject(web.gantry, { visibility: 'public' });
  await seedCommit(web.gantry, id, {
    'a.svg': '<svg xmlns="http://www.w3.org/2000/svg">\n<rect/>\n</svg>\n',
    'b.md': '# B\n\ntext\n',
  });
  await web.withPage(async (page) => {
    for (const name of ['a.svg', 'b.md']) {
      await page.goto(`/${full_path}/-/blob/main/${name}#L2`);
      await page.waitForURL(`**/${name}?plain=1#L2`);
      assert.equal(await page.locator('tr.marked').count(), 1);
    }
  });
});

test('the last commits of a large folder come after its entries', { skip }, async () => {
  await web.withPage(async (page) => {
    await page.goto(`/${project.full_path}/tree/main/many`);
    await page.getByRole('row', { name: '119' }).getByRole('link', { name: 'Begin' }).waitFor();
    assert.equal(await page.getByText('are not shown yet').count(), 0);
  });
});

test(
  'the link to the parent folder begins where the names begin, and the finder is one line',
  { skip },
  async () => {
    await web.withPage(async (page) => {
      const place = async (name: string): Promise<{ x: number; y: number }> =>
        (await page.locator(name).first().boundingBox()) ?? { x: -1, y: -1 };
      await page.goto(`/${project.full_path}/tree/main/many`);
      const [parent, icon] = [
        await place('[aria-label="Parent folder"] .icon'),
        await place('tr td > .icon'),
      ];
      assert.ok(parent.x > 0 && Math.abs(parent.x - icon.x) < 2, `${parent.x} and ${icon.x}`);
      await page.goto(`/${project.full_path}/-/find_file/main`);
      assert.equal((await place('#search')).y, (await place('#search + button')).y);
    });
  },
);

test('a file is uploaded by the menu of a folder', { skip }, async () => {
  await web.withPage(async (page) => {
    await web.signIn(page, admin);
    await page.goto(`/${project.full_path}/tree/main/many`);
    await page.locator('summary', { hasText: 'Add' }).click();
    await page.getByRole('link', { name: 'Upload file' }).click();
    await page
      .getByLabel('File')
      .setInputFiles({ name: 'sent.txt', mimeType: 'text/plain', buffer: Buffer.from('sent\n') });
    await page.getByRole('button', { name: 'Upload files' }).click();
    await page.waitForURL('**/-/blob/main/many/sent.txt');
    await page.getByText('The file was uploaded.').waitFor();
    await web.assertFine(page);
  });
});
