/** Links and confirmations on CI pages, in a browser without scripts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedArtifact, buildZip } from '../support/ci/artifacts.ts';
import { seedPipeline, setJob } from '../support/ci/jobs.ts';
import { seedGroup, seedProject } from '../support/seed.ts';
import { type Web, openWeb, pathOf, skip } from './web.ts';

const withoutScripts = { javaScriptEnabled: false };

let web: Web;
let project: { id: number; full_path: string };
let base: string;
let login: string;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  login = await web.makeUser({ admin: true });
  project = await seedProject(web.gantry, { visibility: 'private' });
  base = `/${project.full_path}/-`;
});
after(async () => {
  if (skip === false) await web.close();
});

const file = `
one: { script: x, artifacts: { expose_as: The whole site, paths: [site] } }
ship: { script: x, when: manual, manual_confirmation: Ship all of it? }
`;

const seeded = async () => {
  const { id, jobs } = await seedPipeline(web.gantry, { project: project.id, file });
  const [one = 0, ship = 0] = [jobs['one'], jobs['ship']];
  await setJob(web.gantry, one, { status: 'success', started_at: 1_000, finished_at: 2_000 });
  const zip = await buildZip({ 'site/index.html': '<p>hello', 'site/more.html': '<p>more' });
  await seedArtifact(web.gantry, { id: one, project_id: project.id }, zip);
  return { path: `${base}/pipelines/${id}`, one, ship };
};

const statusOf = async (job: number): Promise<string> =>
  (await web.gantry.api(`GET /projects/${project.id}/jobs/${job}`)).body.status;

const notice = async (page: Page): Promise<string> => (await page.getByRole('status').textContent()) ?? '';

const signedIn = async (page: Page): Promise<void> => {
  await web.signIn(page, login);
  await page.waitForURL('/');
};

test('exposed artifacts are linked from the pipeline', { skip }, async () => {
  const { path, one } = await seeded();
  await web.withPage(async (page) => {
    await signedIn(page);
    await page.goto(path);
    await page.getByRole('heading', { name: 'Exposed artifacts' }).waitFor();
    await page.getByRole('link', { name: 'The whole site' }).click();
    assert.equal(pathOf(page), `${base}/jobs/${one}/artifacts/browse/site`);
    await page.getByRole('link', { name: 'index.html' }).waitFor();
  }, withoutScripts);
});

test('a manual job asks for confirmation, from its pipeline and from its own page', { skip }, async () => {
  const first = await seeded();
  const second = await seeded();
  await web.withPage(async (page) => {
    await signedIn(page);
    await page.goto(first.path);
    await page.getByRole('button', { name: 'Start ship' }).first().click();
    await page.getByText('Ship all of it?').waitFor();
    await page.getByRole('link', { name: 'Back' }).click();
    assert.equal(await statusOf(first.ship), 'manual');
    await page.getByRole('button', { name: 'Start ship' }).first().click();
    await page.getByRole('button', { name: 'Yes, start ship' }).click();
    assert.match(await notice(page), /The job was started/);
    assert.equal(await statusOf(first.ship), 'pending');
    await page.goto(`${base}/jobs/${second.ship}`);
    await page.getByText('Run with variables').click();
    const row = page.getByRole('group', { name: 'Variable 1' });
    await row.getByLabel('Name').fill('WHERE');
    await row.getByLabel('Value').fill('here\nand there');
    await page.getByRole('button', { name: 'Run job' }).click();
    await page.getByRole('button', { name: 'Yes, start ship' }).click();
    assert.match(await notice(page), /The job was started/);
    assert.equal(await statusOf(second.ship), 'pending');
  }, withoutScripts);
});

test('neither page has a serious fault', { skip }, async () => {
  const { path } = await seeded();
  await web.withPage(async (page) => {
    await signedIn(page);
    await page.goto(path);
    await page.getByRole('heading', { name: 'Exposed artifacts' }).waitFor();
    await web.assertFine(page);
    await page.getByRole('button', { name: 'Start ship' }).first().click();
    await page.getByText('Ship all of it?').waitFor();
    await web.assertFine(page);
  });
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the job token allow list is shown on a page, in ${colorScheme}`, { skip }, async () => {
    const other = await seedProject(web.gantry, { visibility: 'private' });
    const group = await seedGroup(web.gantry, { visibility: 'private' });
    const viewport = colorScheme === 'light' ? { width: 360, height: 700 } : { width: 1280, height: 800 };
    await web.withPage(
      async (page) => {
        await signedIn(page);
        await page.goto(`${base}/pipelines`);
        await page.getByRole('link', { name: 'Settings' }).click();
        await page.getByRole('link', { name: 'Job tokens' }).click();
        await page.getByRole('textbox', { name: 'Project' }).fill('no/such/project');
        await page.getByRole('button', { name: 'Add project' }).click();
        await page.getByText('Project was not found').waitFor();
        await web.assertFine(page);
        await page.getByRole('textbox', { name: 'Project' }).fill(other.full_path);
        await page.getByRole('button', { name: 'Add project' }).click();
        assert.match(await notice(page), /have access/);
        await page.getByRole('textbox', { name: 'Group' }).fill(group.full_path);
        await page.getByRole('button', { name: 'Add group' }).click();
        await page.getByRole('row', { name: group.full_path }).waitFor();
        await page.getByLabel('Limit access to the projects and groups listed below').uncheck();
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByText('the lists below have no effect').waitFor();
        await web.assertFine(page);
        const width = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
        assert.equal(await page.evaluate(width), 0);
        await page.getByLabel('Limit access to the projects and groups listed below').check();
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByRole('button', { name: `Remove ${other.full_path}` }).click();
        await page.getByRole('button', { name: `Remove ${group.full_path}` }).click();
        assert.match(await notice(page), /The group was removed from the list/);
        await page.getByText('No groups').waitFor();
      },
      { colorScheme, viewport },
    );
  });
}
