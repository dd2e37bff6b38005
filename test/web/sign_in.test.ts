/** Signing in, out and up in a browser. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { unique } from '../support/seed.ts';
import { startTestService } from '../support/service.ts';
import { type Web, openWeb, password, pathOf, skip } from './web.ts';

let web: Web;
before(async () => {
  if (skip === false) web = await openWeb();
});
after(async () => {
  if (skip === false) await web.close();
});

test('a user signs in and out without scripts', { skip }, async () => {
  const login = await web.makeUser();
  await web.withPage(
    async (page) => {
      await web.signIn(page, login);
      assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Your work');
      await page.locator('summary', { hasText: 'Account of' }).click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      assert.equal(pathOf(page), '/users/sign_in');
      assert.equal(await page.getByRole('status').textContent(), 'You are signed out.');
      await page.goto('/profile');
      assert.equal(pathOf(page), '/users/sign_in');
    },
    { javaScriptEnabled: false },
  );
});

test('a sign-out that was started by another site returns there', { skip }, async () => {
  const login = await web.makeUser();
  const elsewhere = await startTestService();
  const after_sign_out_path = `${elsewhere.url.replace('127.0.0.1', 'localhost')}/users/sign_up`;
  await web.gantry.api('PUT /application/settings', { json: { after_sign_out_path } });
  try {
    await web.withPage(async (page) => {
      await web.signIn(page, login);
      await page.locator('summary', { hasText: 'Account of' }).click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.waitForURL('**/users/sign_up');
      assert.equal(page.url(), after_sign_out_path);
    });
  } finally {
    await web.gantry.api('PUT /application/settings', { json: { after_sign_out_path: null } });
    await elsewhere.close();
  }
});

test('a user signs in with the keyboard alone, starting at the name', { skip }, async () => {
  const login = await web.makeUser();
  await web.withPage(async (page) => {
    await page.goto('/users/sign_in');
    await page.locator('#login:focus').waitFor();
    await page.keyboard.type(login);
    await page.keyboard.press('Tab');
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
    await page.waitForURL('/');
  });
});

test('a wrong password shows a message and keeps the name', { skip }, async () => {
  const login = await web.makeUser();
  await web.withPage(async (page) => {
    await web.signIn(page, login, 'wrong');
    assert.equal(await page.getByRole('alert').textContent(), 'Invalid user name or password.');
    assert.equal(await page.getByLabel('User name or e-mail').inputValue(), login);
    assert.equal(await page.getByLabel('Password').inputValue(), '');
    await web.assertFine(page);
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.waitForURL('/');
  });
});

test('a user signs up, with errors shown next to each field', { skip }, async () => {
  const username = unique('new');
  await web.withPage(async (page) => {
    await page.goto('/users/sign_in');
    await page.getByRole('link', { name: 'Sign up' }).click();
    await page.getByLabel('Name', { exact: true }).fill('New User');
    await page.getByLabel('User name').fill(username);
    await page.getByLabel('E-mail').fill(`${username}@example.com`);
    await page.getByLabel('Password').fill('short');
    await page.getByRole('button', { name: 'Sign up' }).click();
    const field = page.getByLabel('Password');
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    const [, error] = (await field.getAttribute('aria-describedby'))?.split(' ') ?? [];
    assert.match((await page.locator(`#${error}`).textContent()) ?? '', /^Password is too short/);
    await web.assertFine(page);
    await field.fill(password);
    await page.keyboard.press('Enter');
    await page.waitForURL('/');
    assert.equal(await page.getByRole('status').textContent(), 'Welcome to Gantry.');
  });
});

test('a user changes their profile, and ticks and unticks a box', { skip }, async () => {
  const login = await web.makeUser();
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    for (const tick of [true, false]) {
      await page.goto('/profile');
      await page.getByLabel('About me').fill('Line one\n\nLine two');
      await page.getByLabel('Show my e-mail').setChecked(tick);
      await page.getByRole('button', { name: 'Save' }).click();
      assert.equal(await page.getByRole('status').textContent(), 'Your profile was saved.');
      assert.equal(await page.getByLabel('Show my e-mail').isChecked(), tick);
      assert.equal(await page.getByLabel('About me').inputValue(), 'Line one\n\nLine two');
    }
  });
});

test('a user changes their password and ends a session', { skip }, async () => {
  const login = await web.makeUser();
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    await page.goto('/profile/password');
    await page.getByLabel('Current password').fill(password);
    await page.getByLabel('New password', { exact: true }).fill('another horse');
    await page.getByLabel('Confirm new password').fill('another horse');
    await page.getByRole('button', { name: 'Change password' }).click();
    assert.match((await page.getByRole('status').textContent()) ?? '', /Your password was changed/);
    await web.withPage(async (other) => await web.signIn(other, login, 'another horse'));
    await page.goto('/profile/sessions');
    await page.getByRole('table').getByRole('button', { name: 'Sign out' }).click();
    assert.equal(await page.getByRole('status').textContent(), 'The browser was signed out.');
  });
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`no page has a serious fault, in ${colorScheme}`, { skip }, async () => {
    const login = await web.makeUser();
    await web.gantry.api('POST /projects', { json: { name: unique('p') } });
    await web.withPage(
      async (page) => {
        for (const path of ['/users/sign_in', '/users/sign_up', '/no/such/page']) {
          await page.goto(path);
          await web.assertFine(page);
        }
        await web.signIn(page, login);
        for (const path of ['/', '/profile', '/profile/password', '/profile/sessions']) {
          await page.goto(path);
          await web.assertFine(page);
          assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1);
        }
      },
      { colorScheme },
    );
  });
}

test('a page fits a small screen', { skip }, async () => {
  const login = await web.makeUser();
  await web.withPage(
    async (page) => {
      await web.signIn(page, login);
      for (const path of ['/', '/profile', '/profile/sessions']) {
        await page.goto(path);
        const width = await page.evaluate('document.documentElement.scrollWidth');
        assert.ok(Number(width) <= 320, `${path}: ${String(width)}`);
      }
    },
    { viewport: { width: 320, height: 640 } },
  );
});
