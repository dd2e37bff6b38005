/** What administrators and users do on the pages of settings, tokens and keys, in a browser. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { unique } from '../support/seed.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { sampleKeys } from '../support/repositories/ssh_keys.ts';
import { openBrowser, releaseBrowser, seriousFaults } from './chromium.ts';
import { password, pageTimeout, skip } from './web.ts';

const settingsPath = '/admin/application_settings';
const tokensPath = '/profile/personal_access_tokens';

let gantry: TestService;
let browser: Browser;
before(async () => {
  if (skip !== false) return;
  gantry = await startTestService();
  browser = await openBrowser();
});
after(async () => {
  if (skip !== false) return;
  releaseBrowser();
  await gantry.close();
});

/** A browser of its own, in which a new administrator has signed in. */
const asAdmin = async (
  work: (page: Page, username: string) => Promise<void>,
  options: BrowserContextOptions = {},
): Promise<void> => {
  const username = unique('admin');
  const json = { username, name: 'An Admin', email: `${username}@example.com`, password, admin: true };
  assert.equal((await gantry.api('POST /users', { json })).status, 201);
  const context = await browser.newContext({ baseURL: gantry.url, ...options });
  try {
    context.setDefaultTimeout(pageTimeout);
    const page = await context.newPage();
    await page.goto('/users/sign_in');
    await page.getByLabel('User name or e-mail').fill(username);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('/');
    await work(page, username);
  } finally {
    await context.close();
  }
};

const settings = async () => (await gantry.api('GET /application/settings')).body;
const addKey = async (page: Page, key: string): Promise<void> => {
  await page.goto('/profile/keys');
  await page.getByLabel('Key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Add key' }).click();
};

test('an administrator changes settings, without scripts', { skip }, async () => {
  await asAdmin(
    async (page, username) => {
      await page.goto(settingsPath);
      await page.getByRole('link', { name: 'Limits' }).click();
      await page.getByLabel('Largest attachment').fill('20');
      await page.getByRole('checkbox', { name: 'Sign-up', exact: true }).uncheck();
      await page.getByRole('checkbox', { name: 'Web IDE' }).check();
      await page.getByLabel('E-mail domains that may sign up').fill('example.com\n*.example.org');
      await page.getByRole('group', { name: 'Restricted visibility levels' }).getByLabel('Public').check();
      await page.getByRole('button', { name: 'Save changes' }).click();

      assert.equal(
        await page.getByRole('alert').textContent(),
        'Nothing was saved: 1 setting has an invalid value.',
      );
      await page.getByRole('link', { name: "Address of the IDE can't be blank" }).click();
      const url = page.getByLabel('Address of the IDE');
      assert.equal(await url.getAttribute('aria-invalid'), 'true');
      assert.equal(await page.getByLabel('Largest attachment').inputValue(), '20');
      assert.equal((await settings()).max_attachment_size, 10);

      await url.fill('https://ide.example.com');
      await page.keyboard.press('Enter');
      const told = (await page.getByRole('status').textContent()) ?? '';
      assert.match(told, /^Saved: .*max_attachment_size 10 -> 20/);
      const body = await settings();
      assert.deepEqual([body.max_attachment_size, body.signup_enabled, body.ide_enabled], [20, false, true]);
      assert.deepEqual(body.domain_whitelist, ['example.com', '*.example.org']);
      assert.deepEqual(body.restricted_visibility_levels, ['public']);
      assert.match(
        (await page.locator('.setting', { hasText: 'max_attachment_size' }).textContent()) ?? '',
        new RegExp(username),
      );

      await page.getByRole('button', { name: 'Save changes' }).click();
      assert.equal(await page.getByRole('status').textContent(), 'Nothing was changed.');
    },
    { javaScriptEnabled: false },
  );
});

test('a setting is changed with the keyboard alone', { skip }, async () => {
  await asAdmin(async (page) => {
    await page.goto(settingsPath);
    await page.getByLabel('Longest terminal session').focus();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('90');
    await page.keyboard.press('Enter');
    assert.match((await page.getByRole('status').textContent()) ?? '', /terminal_max_session_time \d+ -> 90/);
  });
});

test('a user makes a token, which is shown once and works until it is revoked', { skip }, async () => {
  await asAdmin(
    async (page, username) => {
      await page.goto(tokensPath);
      await page.getByLabel('Name', { exact: true }).fill('robot');
      await page.getByRole('button', { name: 'Create token' }).click();
      await page.getByText("Scopes can't be blank").waitFor();
      await page.getByLabel('read_user', { exact: true }).check();
      await page.getByLabel('read_api', { exact: true }).check();
      await page.getByLabel('Expires').selectOption('90');
      await page.getByRole('button', { name: 'Create token' }).click();
      const token = (await page.locator('code.secret').textContent()) ?? '';
      assert.equal((await gantry.api('GET /user', { as: token })).body.username, username);
      await page.getByRole('link', { name: 'I have copied it' }).click();
      const row = page.getByRole('row', { name: 'robot' });
      assert.match((await row.textContent()) ?? '', /read_(?:user|api) read_(?:user|api)/);
      assert.ok(!(await page.content()).includes(token));
      await row.getByRole('button', { name: 'Revoke' }).click();
      assert.equal(await page.getByRole('status').textContent(), 'The token robot was revoked.');
      assert.equal((await gantry.api('GET /user', { as: token })).status, 401);
    },
    { javaScriptEnabled: false },
  );
});

test('a user adds a key and deletes it', { skip }, async () => {
  await asAdmin(async (page) => {
    await addKey(page, sampleKeys.ecdsa256.text);
    await page
      .getByRole('cell', { name: `SHA256:${sampleKeys.ecdsa256.sha256}` })
      .or(page.getByRole('rowheader', { name: `SHA256:${sampleKeys.ecdsa256.sha256}` }))
      .waitFor();
    await addKey(page, sampleKeys.ecdsa256.text);
    await page.getByText('Key has already been added').waitFor();
    await page.goto('/profile/keys');
    await page.getByRole('button', { name: 'Delete' }).click();
    assert.equal(await page.getByRole('status').textContent(), 'The key was deleted.');
  });
});

/** Every page with something on it: those with mistakes, too. */
const visitAll = async (page: Page, check: (where: string) => Promise<void>): Promise<void> => {
  await addKey(page, 'no key');
  await check('a refused key');
  await addKey(page, sampleKeys.ed25519.text);
  await check('keys');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.goto(tokensPath);
  await page.getByLabel('Name', { exact: true }).fill('a-name-of-one-word-'.repeat(10));
  await page.getByRole('button', { name: 'Create token' }).click();
  await check('a refused token');
  await page.getByLabel('api', { exact: true }).check();
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.locator('code.secret').waitFor();
  await check('a new token');
  for (const path of [tokensPath, '/admin', settingsPath, '/admin/audit_events']) {
    await page.goto(path);
    await check(path);
  }
  await page.goto(settingsPath);
  await page.getByLabel('Home page').fill('nowhere');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await check('refused settings');
};

for (const colorScheme of ['light', 'dark'] as const) {
  test(
    `the pages of settings, tokens and keys have no serious fault, in ${colorScheme}`,
    { skip },
    async () => {
      await asAdmin(
        async (page) =>
          await visitAll(page, async (where) => {
            assert.deepEqual(await seriousFaults(page), [], where);
            assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1, where);
          }),
        { colorScheme },
      );
    },
  );
}

test('the pages of settings, tokens and keys fit a small screen', { skip }, async () => {
  await asAdmin(
    async (page) =>
      await visitAll(page, async (where) => {
        const width = await page.evaluate('document.documentElement.scrollWidth');
        assert.ok(Number(width) <= 360, `${where}: ${String(width)}`);
        assert.deepEqual(await seriousFaults(page), [], where);
      }),
    { viewport: { width: 360, height: 700 } },
  );
});
