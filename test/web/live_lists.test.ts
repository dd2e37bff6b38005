/** The lists of pipelines and jobs update themselves while something runs. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline, setJob, setPipeline } from '../support/ci/jobs.ts';
import { seedMember, seedProject } from '../support/seed.ts';
import { type Web, openWeb, skip } from './web.ts';

let web: Web;
before(async () => {
  if (skip === false) web = await openWeb();
});
after(async () => await web?.close());

test('show a new status, with times relative to now', { skip }, async () => {
  const { gantry } = web;
  const project = await seedProject(gantry);
  const login = await web.makeUser();
  const [user] = (await gantry.api(`GET /users?username=${login}`)).body;
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 30 });
  const { id, jobs } = await seedPipeline(gantry, { project: project.id, file: 'unit: { script: x }' });
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    await page.goto(`/${project.full_path}/-/pipelines`);
    const row = page.getByRole('row').filter({ hasText: `#${id}` });
    await row.getByText('Pending').waitFor();
    await page.getByLabel('Name').fill('typed');
    await setPipeline(gantry, id, { status: 'failed' });
    await row.getByText('Failed').waitFor();
    const time = row.locator('time[data-relative]');
    assert.doesNotMatch((await time.textContent()) ?? '', /UTC/);
    assert.equal(await page.getByLabel('Name').inputValue(), 'typed');
    await page.goto(`/${project.full_path}/-/jobs`);
    const job = page.getByRole('row').filter({ hasText: 'unit' });
    await job.getByText('Pending').waitFor();
    await setJob(gantry, jobs['unit'] ?? 0, { status: 'success' });
    await job.getByText('Passed').waitFor();
    await web.assertFine(page);
  });
});
