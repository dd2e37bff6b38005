/** Setting up the second factor and signing in with it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { TOTP } from 'otpauth';
import { type Web, openWeb, password, pathOf, skip } from './web.ts';

let web: Web;
before(async () => {
  if (skip === false) web = await openWeb();
});
after(async () => {
  if (skip === false) await web.close();
});

test('a second factor is set up, required at sign-in, and disabled again', { skip }, async () => {
  const login = await web.makeUser();
  const now = Date.now();
  const codeAt = (secret: string, later: number): string => {
    web.gantry.setTime(now + later);
    return new TOTP({ secret }).generate({ timestamp: now + later });
  };
  let key = '';
  let spare = '';
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    await page.goto('/profile/two_factor');
    await web.assertFine(page);
    await page.getByLabel('Current password').fill(password);
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.getByRole('img', { name: 'QR code of the key' }).waitFor();
    await web.assertFine(page);
    key = ((await page.locator('code.secret').textContent()) ?? '').replaceAll(' ', '');
    await page.getByRole('textbox', { name: 'Code' }).fill(codeAt(key, 0));
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('heading', { name: 'Recovery codes' }).waitFor();
    assert.equal(await page.locator('code.secret').count(), 10);
    spare = (await page.locator('code.secret').first().textContent()) ?? '';
    await web.assertFine(page);
  });
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    await page.getByRole('heading', { name: 'Second factor' }).waitFor();
    await web.assertFine(page);
    await page.getByRole('textbox', { name: 'Code' }).fill('000000');
    await page.keyboard.press('Enter');
    await page.getByText('Code is wrong, or was used before').waitFor();
    await page.getByRole('textbox', { name: 'Code' }).fill(codeAt(key, 60_000));
    await page.keyboard.press('Enter');
    await page.waitForURL('/');
  });
  await web.withPage(
    async (page) => {
      await web.signIn(page, login);
      await page.getByRole('textbox', { name: 'Code' }).fill(spare);
      await page.getByRole('button', { name: 'Sign in' }).click();
      assert.equal(pathOf(page), '/');
      await page.goto('/profile/two_factor');
      await page.getByText('9 recovery codes are left').waitFor();
      await page.getByLabel('Current password').last().fill(password);
      await page.getByRole('button', { name: 'Turn off' }).click();
      assert.equal(await page.getByRole('status').textContent(), 'Two-factor sign-in was turned off.');
    },
    { javaScriptEnabled: false },
  );
  web.gantry.setTime(null);
});
