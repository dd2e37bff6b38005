/**
 * What `npm run screenshots` runs: pictures of pages of a seeded instance, for review.
 *
 *   npm run screenshots                       into screenshots/
 *   npm run screenshots -- --only issue,home  some of them
 *   npm run screenshots -- --into FOLDER
 *   npm run screenshots -- --readme           only docs/gantry.webp, the picture of the README
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContextOptions, type Page, chromium as driver } from 'playwright-core';
import { openApi } from './seed/client.ts';
import { fill } from './seed/fill.ts';
import { root, startService } from './start_service.ts';

/** Addresses by the name of their picture. */
const shown: Record<string, string> = {
  dashboard: '/',
  explore: '/explore',
  home: '/workshop/bridge',
  file: '/workshop/bridge/-/blob/main/src/span.js',
  commits: '/workshop/bridge/-/commits/main',
  branches: '/workshop/bridge/-/branches',
  releases: '/workshop/bridge/-/releases',
  issues: '/workshop/bridge/-/issues',
  issue: '/workshop/bridge/-/issues/1',
  merge_requests: '/workshop/bridge/-/merge_requests',
  merge_request: '/workshop/bridge/-/merge_requests/1',
  merge_request_merged: '/workshop/bridge/-/merge_requests/2',
  merge_request_pipelines: '/workshop/bridge/-/merge_requests/1/pipelines',
  merge_request_new:
    '/workshop/bridge/-/merge_requests/new?merge_request[source_branch]=handrails&merge_request[target_branch]=wider-deck',
  changes: '/workshop/bridge/merge_requests/1/diffs',
  settings: '/workshop/bridge/-/settings',
  webhooks: '/workshop/bridge/-/hooks',
  webhook: '/workshop/bridge/-/hooks/1',
  webhook_edit: '/workshop/bridge/-/hooks/1/edit',
  webhook_delivery: '/workshop/bridge/-/hooks/1/deliveries/1',
  group: '/groups/workshop',
  new_project: '/projects/new',
  board: '/workshop/bridge/-/boards',
  milestones: '/workshop/bridge/-/milestones',
  labels: '/workshop/bridge/-/labels',
  members: '/workshop/bridge/-/project_members',
  group_issues: '/groups/workshop/-/issues',
  issue_new: '/workshop/bridge/-/issues/new',
  todos: '/dashboard/todos',
  search: '/search?search=bridge',
  preferences: '/profile/preferences',
  tokens: '/profile/personal_access_tokens',
  admin: '/admin',
  admin_users: '/admin/users',
  admin_user: '/admin/users/2',
  admin_settings: '/admin/application_settings',
  admin_background_work: '/admin/background_work',
  admin_applications: '/admin/applications',
  pipelines: '/workshop/bridge/-/pipelines',
  pipeline: '/workshop/bridge/-/pipelines/8',
  new_release: '/workshop/bridge/-/releases/new',
  profile: '/ada',
  help: '/help',
  help_topic: '/help/operations',
};

/** Variants of each picture: wide in light and dark, and a phone. */
const variants: Record<string, BrowserContextOptions> = {
  light: { viewport: { width: 1280, height: 860 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 860 }, colorScheme: 'dark' },
  phone: { viewport: { width: 375, height: 812 }, colorScheme: 'light' },
};

/** Returns who opens a page: administration is missing for everybody else. */
const loginFor = (name: string): string => (shown[name]?.startsWith('/admin') === true ? 'root' : 'ada');

const signIn = async (page: Page, login: string, password: string): Promise<void> => {
  await page.goto('/users/sign_in');
  await page.locator('input[name=login]').fill(login);
  await page.locator('input[name=password]').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL('/');
};

type Site = { browser: Browser; url: string; password: string; into: string };

type Shot = { variant: string; login: string };

/** Takes the pictures of one variant that one user opens. */
const takeVariant = async (site: Site, { variant, login }: Shot, names: string[]): Promise<void> => {
  if (names.length === 0) return;
  const context = await site.browser.newContext({ baseURL: site.url, ...variants[variant] });
  const page = await context.newPage();
  await signIn(page, login, site.password);
  for (const name of names) {
    const answer = await page.goto(shown[name] ?? '/');
    const file = join(site.into, `${name}_${variant}.png`);
    await page.screenshot({ path: file });
    if (answer?.ok() !== true) throw new Error(`${shown[name]} answered ${answer?.status()}`);
    console.log(file);
  }
  await context.close();
};

const takePictures = async (site: Site, names: string[]): Promise<void> => {
  for (const variant of Object.keys(variants))
    for (const login of ['ada', 'root']) {
      const own = names.filter((name) => loginFor(name) === login);
      await takeVariant(site, { variant, login }, own);
    }
};

/** Maximum bytes of the picture of the README. */
const maxReadmeBytes = 80_000;

/** Loads the page until the last pipeline has passed, for half a minute at most. */
const waitForPipeline = async (page: Page): Promise<void> => {
  for (let round = 0; round < 30; round += 1) {
    if ((await page.locator('.last-commit .status.ok').count()) > 0) return;
    await page.waitForTimeout(1_000);
    await page.reload();
  }
};

/** Takes the picture of the README as WebP, which Playwright does not write itself. */
const takeReadmePicture = async ({ browser, url, password }: Site): Promise<void> => {
  const viewport = { width: 1180, height: 720 };
  const context = await browser.newContext({ baseURL: url, viewport, colorScheme: 'light' });
  const page = await context.newPage();
  await signIn(page, 'ada', password);
  await page.goto(shown['home'] ?? '/');
  await waitForPipeline(page);
  const devtools = await context.newCDPSession(page);
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 82 });
  const content = Buffer.from(data, 'base64');
  if (content.length > maxReadmeBytes) throw new Error(`the picture has ${content.length} bytes`);
  const file = join(root, 'docs/gantry.webp');
  writeFileSync(file, content);
  console.log(`${content.length}  ${file}`);
  await context.close();
};

/** Adds a hook with a failed delivery: nothing answers at its URL. */
const addHook = async (url: string, token: string): Promise<void> => {
  const api = openApi(url, token);
  const path = '/projects/workshop%2Fbridge/hooks';
  const hook = {
    name: 'Builds',
    issues_events: true,
    token: 'x',
    custom_headers: [{ key: 'X-Site', value: 'x' }],
  };
  await api(`POST ${path}`, { json: { ...hook, url: 'https://builds.invalid/hooks/gantry' } });
  await api(`POST ${path}/1/test/push_events`).catch(() => undefined);
};

/** Adds a board with a column for each label. */
const addBoard = async (url: string, token: string): Promise<void> => {
  const api = openApi(url, token);
  const path = '/projects/workshop%2Fbridge';
  const board = await api<{ id: number }>(`POST ${path}/boards`, { json: { name: 'Work' } });
  const labels = await api<{ id: number }[]>(`GET ${path}/labels`);
  for (const { id } of labels) await api(`POST ${path}/boards/${board.id}/lists`, { json: { label_id: id } });
};

const main = async (): Promise<void> => {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: { into: text, only: text, readme: { type: 'boolean', default: false } },
  });
  const into = resolve(values.into ?? join(root, 'screenshots'));
  const names = values.only?.split(',') ?? Object.keys(shown);
  const data = mkdtempSync(join(tmpdir(), 'gantry-screenshots-'));
  const [token, password] = [randomBytes(15).toString('base64url'), randomBytes(9).toString('base64url')];
  if (!values.readme) mkdirSync(into, { recursive: true });
  const service = await startService({
    env: {
      GANTRY_DATA: data,
      GANTRY_LISTEN: '127.0.0.1:0',
      GANTRY_ROOT_TOKEN: token,
      GANTRY_ROOT_PASSWORD: password,
      GANTRY_RUNNER_EXECUTOR: 'shell',
    },
    print: () => undefined,
  });
  try {
    await fill({ url: service.url, token, password });
    await addHook(service.url, token);
    await addBoard(service.url, token);
    const executablePath = await chromium.executablePath();
    const browser = await driver.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
    const site = { browser, url: service.url, password, into };
    if (values.readme) await takeReadmePicture(site);
    else await takePictures(site, names);
    await browser.close();
  } finally {
    await service.stop();
    rmSync(data, { recursive: true, force: true });
  }
};

await main();
