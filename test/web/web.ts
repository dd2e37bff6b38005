/** A service and one real browser for a test file, and what a person does with them. */
import assert from 'node:assert/strict';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { unique } from '../support/seed.ts';
import { type TestService, engine, startTestService } from '../support/service.ts';
import { openBrowser, releaseBrowser, seriousFaults } from './chromium.ts';

/** For every test of a browser: `test('...', { skip }, ...)`. */
export const skip: string | false = engine === 'postgres' ? 'pages behave the same on both engines' : false;

export const password = 'correct horse';

/** Milliseconds that a page may take on a busy machine. */
export const pageTimeout = 120_000;

export type Web = {
  gantry: TestService;
  /** A page in a browser window without cookies; what the browser complains of fails the test. */
  withPage: (work: (page: Page) => Promise<void>, options?: BrowserContextOptions) => Promise<void>;
  /** The name of a new user, who has `password`. */
  makeUser: (attributes?: object) => Promise<string>;
  signIn: (page: Page, login: string, word?: string) => Promise<void>;
  /** Nothing serious or critical is wrong with how the page can be used. */
  assertFine: (page: Page) => Promise<void>;
  close: () => Promise<void>;
};

export const pathOf = (page: Page): string => new URL(page.url()).pathname;

/** Reads the notice that a form left. */
export const noticeOn = async (page: Page): Promise<string> =>
  (await page.getByRole('status').first().textContent()) ?? '';

/** Waits for the notice that a form leaves, also where the page before had another one. */
export const seeNotice = async (page: Page, text: string): Promise<void> =>
  await page.getByRole('status').filter({ hasText: text }).first().waitFor();

const signIn: Web['signIn'] = async (page, login, word = password) => {
  await page.goto('/users/sign_in');
  await page.getByLabel('User name or e-mail').fill(login);
  await page.getByLabel('Password').fill(word);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
};

/**
 * Loads the page again, and waits until it follows changes. Its timers of more than two seconds never end, so that only
 * the stream of changes updates it.
 */
export const followOnly = async (page: Page): Promise<void> => {
  await page.addInitScript(`{
    const { setTimeout: later } = window;
    window.setTimeout = (work, wait = 0, ...args) => (wait > 2000 ? 0 : later(work, wait, ...args));
    window.setInterval = () => 0;
  }`);
  const address = page.url();
  // Ends the connection of the page that is open.
  await page.goto('about:blank');
  const connected = page.waitForResponse((answer) => new URL(answer.url()).pathname === '/api/v4/changes');
  await page.goto(address);
  await connected;
};

export const openWeb = async (environment: Record<string, string> = {}): Promise<Web> => {
  const gantry = await startTestService(environment);
  const browser = await openBrowser();
  return {
    gantry,
    withPage: async (work, options = {}) => {
      const context = await browser.newContext({ baseURL: gantry.url, ...options });
      context.setDefaultTimeout(pageTimeout);
      const complaints: string[] = [];
      try {
        const page = await context.newPage();
        page.on('console', (message) => {
          // That an answer was a refusal is no complaint.
          const isOwn = !message.text().startsWith('Failed to load resource');
          if (message.type() === 'error' && isOwn) complaints.push(message.text());
        });
        await work(page);
      } finally {
        await context.close();
      }
      assert.deepEqual(complaints, []);
    },
    makeUser: async (attributes = {}) => {
      const username = unique('user');
      const json = { username, name: 'A User', email: `${username}@example.com`, password, ...attributes };
      assert.equal((await gantry.api('POST /users', { json })).status, 201);
      return username;
    },
    signIn,
    assertFine: async (page) => assert.deepEqual(await seriousFaults(page), [], page.url()),
    close: async () => {
      releaseBrowser();
      await gantry.close();
    },
  };
};
