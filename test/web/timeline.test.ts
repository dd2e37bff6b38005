/** Tests, in a browser, what stays in sight of a long timeline, and where new comments of others appear. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { seedIssue, seedProject } from '../support/seed.ts';
import { openRequest, seedBranch, seedCoded, toPath } from '../support/seed_merge_requests.ts';
import { type Web, followOnly, openWeb, skip } from './web.ts';

let web: Web;
let admin: string;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  admin = await web.makeUser({ admin: true });
});
after(async () => {
  if (skip === false) await web.close();
});

const comment = async (line: string, body: string): Promise<void> => {
  assert.equal((await web.gantry.api(`POST ${line}/notes`, { json: { body } })).status, 201);
};

test('shows the title while one scrolls, on wide windows only', { skip }, async () => {
  const project = await seedProject(web.gantry, { visibility: 'public' });
  const { iid } = await seedIssue(web.gantry, { project: project.id, title: 'Tide' });
  for (let at = 1; at <= 12; at += 1) await comment(`/projects/${project.id}/issues/${iid}`, `no ${at}`);
  await web.withPage(async (page) => {
    await page.goto(`/${project.full_path}/issues/${iid}`);
    const bar = page.locator('.sticky-title');
    assert.equal(await bar.isVisible(), false);
    await page.evaluate('scrollTo(0, 900)');
    await bar.filter({ visible: true }).waitFor();
    assert.match((await bar.textContent()) ?? '', /Open\s*Tide\s*#1/);
    await web.assertFine(page);
    await page.setViewportSize({ width: 375, height: 800 });
    await bar.filter({ visible: false }).waitFor({ state: 'attached' });
  });
});

test('the buttons to other threads stay beside the properties', { skip }, async () => {
  const project = await seedCoded(web.gantry, { visibility: 'public' });
  await seedCommit(web.gantry, project.id, { 'a.txt': 'one\n' });
  await seedBranch(web.gantry, project, 'topic', { files: { 'a.txt': 'two\n' } });
  const request = await openRequest(web.gantry, project, 'topic');
  for (let at = 1; at <= 5; at += 1) {
    await web.gantry.api(`POST ${toPath(request)}/discussions`, { json: { body: `Why ${at}?` } });
  }
  await web.withPage(async (page) => {
    await page.goto(`/${project.full_path}/merge_requests/${request.iid}`);
    const boxOf = async (selector: string) => {
      const box = await page.locator(selector).boundingBox();
      assert.ok(box !== null);
      return box;
    };
    const [buttons, properties] = [await boxOf('.thread-steps'), await boxOf('#request_properties')];
    assert.ok(buttons.x + buttons.width <= properties.x, 'not over the properties');
    assert.ok(buttons.y + buttons.height <= (page.viewportSize()?.height ?? 0), 'in sight');
  });
});

test('adds a comment of somebody else at the top where the newest come first', { skip }, async () => {
  const project = await seedProject(web.gantry, { visibility: 'public' });
  const { iid } = await seedIssue(web.gantry, { project: project.id });
  const line = `/projects/${project.id}/issues/${iid}`;
  await comment(line, 'the old one');
  await web.withPage(async (page) => {
    await web.signIn(page, admin);
    await page.waitForURL('**/');
    await page.goto(`/${project.full_path}/issues/${iid}`);
    await page.getByRole('button', { name: 'Newest first' }).click();
    await page.locator('button[value=desc][aria-pressed=true]').waitFor();
    await followOnly(page);
    await comment(line, 'the new one');
    await page.getByText('the new one').waitFor();
    const texts = await page.locator('.timeline > article[id^=note_] .body').allTextContents();
    assert.deepEqual(
      texts.map((text) => /the \w+ one/.exec(text)?.[0]),
      ['the new one', 'the old one'],
    );
    assert.ok(await page.getByRole('textbox', { name: 'Add a comment' }).isVisible());
  });
});
