/** Forms that reach other systems or end their access, with and without scripts: imports, webhooks, tokens, pipelines. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedPipeline } from '../../support/ci/jobs.ts';
import { type SeededUser, seedUser, unique } from '../../support/seed.ts';
import { type Coded, seedCoded } from '../../support/seed_merge_requests.ts';
import { type GitServer, startGitServer } from '../../support/servers/git_server.ts';
import { type HookReceiver, startHookReceiver } from '../../support/servers/hook_receiver.ts';
import { type Web, openWeb, password, seeNotice, skip } from '../web.ts';

let web: Web;
let server: GitServer;
let receiver: HookReceiver;
let user: SeededUser;

before(async () => {
  if (skip !== false) return;
  [web, server, receiver] = await Promise.all([openWeb(), startGitServer(), startHookReceiver()]);
  await server.create('bridge.git');
  const json = { allow_local_requests_from_hooks_and_services: true };
  assert.equal((await web.gantry.api('PUT /application/settings', { json })).status, 200);
  user = await seedUser(web.gantry, { password });
});
after(async () => {
  if (skip !== false) return;
  await web.close();
  await server.close();
  await receiver.close();
});

// oxlint-disable-next-line typescript/no-explicit-any -- an answer of the API
const read = async (path: string): Promise<any> =>
  (await web.gantry.api(`GET ${path}`, { as: user.token })).body;

const press = async (page: Page, button: string): Promise<void> =>
  await page.getByRole('button', { name: button, exact: true }).click();

const seeAlert = async (page: Page, text: string): Promise<void> =>
  await page.getByRole('alert').filter({ hasText: text }).first().waitFor();

const importByUrl = async (page: Page): Promise<void> => {
  const path = unique('bridge');
  await page.goto('/projects/new');
  await page.getByRole('link', { name: 'Import' }).first().click();
  await page.getByLabel('Git repository URL').fill('https://example.com/?not-a-repository');
  await page.getByLabel('Password or token').fill('secret');
  await press(page, 'Import project');
  await page.locator('[name=import_url][aria-invalid=true]').waitFor();
  assert.equal(await page.getByLabel('Password or token').inputValue(), '');
  await page.getByLabel('Git repository URL').fill(`${server.url}/bridge.git`);
  await page.getByLabel('Project name').fill(path);
  await page.getByLabel('Path').fill(path);
  await press(page, 'Import project');
  await page.waitForURL(`/${user.username}/${path}`);
  await web.gantry.service.worker.drain();
  const project = await read(`/projects/${encodeURIComponent(`${user.username}/${path}`)}`);
  assert.deepEqual([project.import_status, project.default_branch], ['finished', 'main']);
  await page.goto(`/${user.username}/${path}`);
  await page.getByRole('link', { name: '1 branch' }).waitFor();
};

const webhook = async (page: Page, project: Coded): Promise<void> => {
  receiver.clear();
  await page.goto(`/${project.full_path}/-/hooks`);
  await page.getByRole('link', { name: 'New webhook' }).first().click();
  await page.getByLabel('URL', { exact: true }).fill(`${receiver.url}/hook`);
  await page.getByLabel('Secret token').fill('hush');
  await press(page, 'Create webhook');
  await seeNotice(page, 'The webhook was created.');
  await page.getByLabel('Event', { exact: true }).selectOption({ label: 'Pushes to branches' });
  await press(page, 'Send test');
  await seeNotice(page, 'Sent. The receiver answered');
  receiver.answer((_request, response) => void response.writeHead(503).end('busy'));
  await page.getByRole('region', { name: 'Deliveries' }).first().getByRole('link').first().click();
  await press(page, 'Send again');
  await seeAlert(page, 'The delivery failed');
  await page.getByRole('region', { name: 'Deliveries' }).first().getByRole('link').first().click();
  await page.getByText('busy').waitFor();
  const [first, again] = receiver.received;
  assert.deepEqual(
    [first?.path, first?.headers['x-gitlab-token'], first?.body.object_kind],
    ['/hook', 'hush', 'push'],
  );
  assert.deepEqual(again?.body, first?.body);
};

const tokens = async (page: Page): Promise<void> => {
  const name = unique('robot');
  await page.goto('/profile/personal_access_tokens');
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByLabel('read_user', { exact: true }).check();
  await press(page, 'Create token');
  const secret = page.locator('code.secret');
  const first = (await secret.textContent()) ?? '';
  await page.getByRole('link', { name: 'I have copied it' }).click();
  const own = page.getByRole('row', { name }).filter({ has: page.getByRole('button', { name: 'Rotate' }) });
  await own.getByRole('button', { name: 'Rotate' }).click();
  const second = (await secret.textContent()) ?? '';
  const status = async (token: string): Promise<number> =>
    (await web.gantry.api('GET /user', { as: token })).status;
  assert.deepEqual([await status(first), await status(second)], [401, 200]);
  await page.getByRole('link', { name: 'I have copied it' }).click();
  await own.getByRole('button', { name: 'Revoke' }).click();
  await seeNotice(page, `The token ${name} was revoked.`);
  assert.equal(await status(second), 401);
};

const projectTokens = async (page: Page, project: Coded): Promise<void> => {
  await page.goto(`/${project.full_path}/-/settings/access_tokens`);
  await page.getByLabel('Name', { exact: true }).fill('deploys');
  await page.getByLabel('read_api', { exact: true }).check();
  await press(page, 'Create token');
  const token = (await page.locator('code.secret').textContent()) ?? '';
  assert.equal((await web.gantry.api(`GET /projects/${project.id}`, { as: token })).status, 200);
  await page.getByRole('link', { name: 'I have copied it' }).click();
  await page.getByRole('row', { name: 'deploys' }).getByRole('button', { name: 'Revoke' }).click();
  await seeNotice(page, 'deploys');
  assert.equal((await web.gantry.api('GET /user', { as: token })).status, 401);
};

const file = `
one: { script: x }
hand: { script: x, when: manual, allow_failure: true }
`;

const pipeline = async (page: Page, project: Coded): Promise<void> => {
  const made = await seedPipeline(web.gantry, { project: project.id, file, user: user.id });
  const of = `/projects/${project.id}/pipelines/${made.id}`;
  const jobs = async (): Promise<Record<string, string>> =>
    Object.fromEntries(
      (await read(`${of}/jobs?include_retried=false`)).map(
        ({ name, status }: { name: string; status: string }) => [name, status],
      ),
    );
  await page.goto(`/${project.full_path}/-/pipelines/${made.id}`);
  await press(page, 'Cancel the pipeline');
  await page.getByRole('button', { name: 'Retry failed jobs' }).waitFor();
  assert.equal((await jobs())['one'], 'canceled');
  assert.equal((await read(of)).status, 'canceled');
  await press(page, 'Retry failed jobs');
  await page.getByRole('button', { name: 'Cancel the pipeline' }).waitFor();
  assert.equal((await jobs())['one'], 'pending');
  await page.getByRole('button', { name: 'Start hand' }).first().click();
  await seeNotice(page, 'The job was started.');
  assert.equal((await jobs())['hand'], 'pending');
  await page.getByRole('button', { name: 'Cancel hand' }).first().click();
  await seeNotice(page, 'The job was canceled.');
  assert.deepEqual(await jobs(), { one: 'pending', hand: 'canceled' });
};

const watching = async (page: Page, project: Coded): Promise<void> => {
  await page.goto(`/${project.full_path}`);
  const watchers = page.locator('summary .count');
  assert.equal((await watchers.textContent())?.trim(), '0 users watch this project');
  await page.locator('summary').filter({ hasText: 'Watch' }).first().click();
  await page.getByRole('button', { name: 'Watch All activity' }).click();
  await seeNotice(page, 'The notification level was changed.');
  assert.equal((await watchers.textContent())?.trim(), '1 user watches this project');
  assert.equal((await read(`/projects/${project.id}/notification_settings`)).level, 'watch');
};

const flows: Record<string, (page: Page, project: Coded) => Promise<void>> = {
  'a repository is imported by its URL': importByUrl,
  'a webhook is added, tested and sent again': webhook,
  'a token is created, rotated and revoked': tokens,
  'a token of a project is created and revoked': projectTokens,
  'a pipeline is canceled and retried, its manual job started and canceled': pipeline,
  'a project is watched, which its page counts': watching,
};

for (const javaScriptEnabled of [true, false]) {
  for (const [name, flow] of Object.entries(flows)) {
    test(`${name} ${javaScriptEnabled ? 'with' : 'without'} scripts`, { skip }, async () => {
      const project = await seedCoded(web.gantry, { owner: user.id, visibility: 'private' });
      await web.withPage(
        async (page) => {
          await web.signIn(page, user.username);
          await page.waitForURL('/');
          await flow(page, project);
        },
        { javaScriptEnabled },
      );
    });
  }
}
