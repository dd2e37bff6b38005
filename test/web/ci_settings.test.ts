/** What people do by pages around CI: pipelines by hand, variables, schedules, triggers, environments, logs searched. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedTrace } from '../support/ci/artifacts.ts';
import { seedCommit } from '../support/repositories/seed_commits.ts';
import { seedPipeline, setJob } from '../support/ci/jobs.ts';
import { settle } from '../support/seed_merge_requests.ts';
import { seedGroup, seedProject } from '../support/seed.ts';
import { type Web, noticeOn, openWeb, pathOf, skip } from './web.ts';

let web: Web;
let group: { id: number; full_path: string };
let project: { id: number; full_path: string };
let login: string;
let base: string;

const config = `
variables:
  TARGET: { value: staging, description: Where it goes, options: [staging, production] }
  NOTE: { value: "", description: What it is for }
one: { script: x }
hand: { script: x, when: manual }
`;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  login = await web.makeUser({ admin: true });
  group = await seedGroup(web.gantry, { visibility: 'private' });
  project = await seedProject(web.gantry, { namespace: group.id, visibility: 'private' });
  base = `/${project.full_path}/-`;
  await seedCommit(web.gantry, project.id, { '.gitlab-ci.yml': config });
  await settle(web.gantry);
});
after(async () => {
  if (skip === false) await web.close();
});

const signedIn = async (page: Page): Promise<void> => {
  await web.signIn(page, login);
  await page.waitForURL('/');
};

const withoutScripts = { javaScriptEnabled: false };

test('a pipeline is run by hand with variables, and its manual job with others', { skip }, async () => {
  await web.withPage(async (page) => {
    await signedIn(page);
    await page.goto(`${base}/pipelines`);
    await page.getByRole('link', { name: 'Run pipeline' }).click();
    await page.getByLabel('TARGET').selectOption('production');
    await page.getByLabel('NOTE').fill('by hand');
    const third = page.getByRole('group', { name: 'Variable 3' });
    await third.getByLabel('Name').fill('EXTRA');
    await third.getByLabel('Value').fill('two\nlines');
    await page.getByRole('button', { name: 'Add rows' }).click();
    assert.equal(await page.getByLabel('TARGET').inputValue(), 'production');
    assert.equal(await third.getByLabel('Value').inputValue(), 'two\nlines');
    await page.getByRole('button', { name: 'Run pipeline' }).click();
    await page.getByRole('heading', { level: 1, name: 'Pipeline #' }).waitFor();
    const pipeline = Number(pathOf(page).split('/').at(-1));
    const { body } = await web.gantry.api(`GET /projects/${project.id}/pipelines/${pipeline}/variables`);
    assert.deepEqual(
      body.map((one: { key: string; value: string }) => [one.key, one.value]),
      [
        ['EXTRA', 'two\nlines'],
        ['NOTE', 'by hand'],
        ['TARGET', 'production'],
      ],
    );
    await page.getByRole('link', { name: 'hand', exact: true }).click();
    await page.getByText('Run with variables').click();
    const first = page.getByRole('group', { name: 'Variable 1' });
    await first.getByLabel('Name').fill('WHERE');
    await first.getByLabel('Value').fill('here');
    await page.getByRole('button', { name: 'Run job' }).click();
    assert.match(await noticeOn(page), /The job was started/);
  }, withoutScripts);
});

test('a log is searched, and what is found leads to its line', { skip }, async () => {
  const { jobs } = await seedPipeline(web.gantry, { project: project.id, file: 'one: { script: x }' });
  const id = jobs['one'] ?? 0;
  const lines = Array.from({ length: 9_000 }, (_one, at) =>
    at === 4_321 ? 'the \x1b[31mneedle\x1b[0m' : `hay ${at} ${'.'.repeat(60)}`,
  );
  await seedTrace(web.gantry, { id, project_id: project.id }, `${lines.join('\n')}\n`);
  await setJob(web.gantry, id, { status: 'success', started_at: 1_000, finished_at: 2_000 });
  await web.withPage(async (page) => {
    await signedIn(page);
    await page.goto(`${base}/jobs`);
    await page.getByRole('link', { name: `#${id} one` }).click();
    await page.getByLabel('Search in the log').fill('NEEDLE');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    assert.match(await noticeOn(page), /1 line with NEEDLE/);
    await page.getByRole('link', { name: 'Line 4322' }).click();
    assert.match(page.url(), /\?line=4322#L4322$/);
    assert.equal(await page.locator('#L4322 > span').textContent(), 'the needle');
  }, withoutScripts);
});

test('variables, schedules, triggers and environments are added, changed and deleted', { skip }, async () => {
  await web.withPage(async (page) => {
    await signedIn(page);
    for (const path of [`${base}/variables`, `/groups/${group.full_path}/-/variables`, '/admin/variables']) {
      await page.goto(path);
      await page.getByLabel('Key').fill('TOKEN');
      await page.getByLabel('Value', { exact: true }).fill('of no interest');
      await page.getByRole('button', { name: 'Create variable' }).click();
      assert.match(await noticeOn(page), /TOKEN was created/);
      await page.getByRole('link', { name: 'Edit TOKEN' }).click();
      await page.getByLabel('Only for protected').check();
      await page.getByRole('button', { name: 'Save' }).click();
      const row = page.getByRole('row', { name: 'TOKEN' });
      assert.match((await row.textContent()) ?? '', /Protected/);
      await row.getByRole('button', { name: 'Delete TOKEN' }).click();
      assert.match(await noticeOn(page), /was deleted/);
    }
    await page.getByRole('link', { name: 'Gantry', exact: true }).click();
    await page.goto(`${base}/pipeline_schedules`);
    await page.getByLabel('Description').fill('nightly');
    await page.getByRole('button', { name: 'Create schedule' }).click();
    await page.getByRole('button', { name: 'Run now: nightly' }).click();
    await page.getByRole('heading', { level: 1, name: 'Pipeline #' }).waitFor();
    const trail = page.getByRole('navigation', { name: 'Breadcrumb' });
    await trail.getByRole('link', { name: 'Pipelines' }).click();
    await page.getByRole('link', { name: 'Schedules' }).click();
    await page.getByRole('button', { name: 'Delete: nightly' }).click();
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('link', { name: 'Triggers' }).click();
    await page.getByLabel('Description').fill('site');
    await page.getByRole('button', { name: 'Create trigger' }).click();
    await page.getByText('Show', { exact: true }).click();
    assert.match((await page.locator('code.secret').textContent()) ?? '', /^glptt-/);
    await page.getByRole('button', { name: 'Delete site' }).click();
    await page.getByRole('link', { name: 'Pipelines' }).first().click();
    await page.getByRole('link', { name: 'Environments' }).click();
    await page.getByLabel('Name', { exact: true }).fill('live');
    await page.getByRole('button', { name: 'Create environment' }).click();
    await page.getByRole('link', { name: 'live' }).click();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    assert.match(await noticeOn(page), /The environment was deleted/);
  }, withoutScripts);
});

/** One of each, with long names. */
const fill = async (): Promise<string[]> => {
  const word = 'x'.repeat(60);
  const of = `/projects/${project.id}`;
  const post = async (path: string, json: object) => {
    const { status, body } = await web.gantry.api(`POST ${path}`, { json });
    assert.ok(status < 300 || status === 400, JSON.stringify(body));
    return body;
  };
  const variable = {
    key: word,
    value: 'some value',
    description: word,
    environment_scope: 'review/*',
    masked: false,
  };
  for (const path of [`${of}/variables`, `/groups/${group.id}/variables`, '/admin/ci/variables']) {
    await post(path, variable);
  }
  const { id: schedule } = await post(`${of}/pipeline_schedules`, {
    description: word,
    ref: 'main',
    cron: '0 4 * * *',
  });
  await post(`${of}/pipeline_schedules/${schedule}/variables`, { key: word, value: 'x' });
  await post(`${of}/triggers`, { description: word });
  const sha = (await web.gantry.api(`GET ${of}/repository/commits/main`)).body.id;
  const deployment = {
    environment: `review/${unique(word)}`,
    sha,
    ref: 'main',
    tag: false,
    status: 'success',
  };
  const { environment } = await post(`${of}/deployments`, deployment);
  const { body: runner } = await web.gantry.api('POST /user/runners', {
    json: { runner_type: 'group_type', group_id: group.id, description: word, tag_list: ['a', 'b'] },
  });
  const { jobs } = await seedPipeline(web.gantry, { project: project.id, file: config });
  await seedTrace(web.gantry, { id: jobs['one'] ?? 0, project_id: project.id }, `a needle ${word}\n`);
  const edit = `?scope=${encodeURIComponent('review/*')}`;
  return [
    `${base}/jobs`,
    `${base}/jobs?scope=manual`,
    `${base}/jobs/${jobs['hand']}`,
    `${base}/jobs/${jobs['one']}?search=needle`,
    `${base}/pipelines/new`,
    `${base}/pipelines/new?ref=nowhere`,
    `${base}/variables`,
    `${base}/variables/${word}${edit}`,
    `/groups/${group.full_path}/-/variables`,
    '/admin/variables',
    `/admin/variables/${word}${edit}`,
    `${base}/pipeline_schedules`,
    `${base}/pipeline_schedules/${schedule}`,
    `${base}/triggers`,
    `${base}/environments`,
    `${base}/environments/${environment.id}`,
    `/groups/${group.full_path}/-/runners`,
    `/groups/${group.full_path}/-/runners/${runner.id}`,
  ];
};

const unique = (word: string): string => `${word}${Math.random().toString(36).slice(2)}`;

const assertFits = async (page: Page, path: string): Promise<void> => {
  assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1, path);
  await web.assertFine(page);
  const width = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  assert.equal(width, 0, path);
};

for (const colorScheme of ['light', 'dark'] as const) {
  test(`none of these pages has a serious fault, in ${colorScheme}`, { skip }, async () => {
    const paths = await fill();
    const viewport = colorScheme === 'light' ? { width: 360, height: 700 } : { width: 1280, height: 800 };
    await web.withPage(
      async (page) => {
        await signedIn(page);
        for (const path of paths) {
          const answer = await page.goto(path);
          assert.equal(answer?.status(), 200, path);
          for (const summary of await page.locator('main summary').all()) await summary.click();
          await assertFits(page, path);
        }
        await page.goto(`${base}/variables`);
        await page.getByLabel('Key').fill('a b');
        await page.getByRole('button', { name: 'Create variable' }).click();
        await page.getByRole('alert').waitFor();
        await assertFits(page, 'a form that was refused');
      },
      { colorScheme, viewport },
    );
  });
}
