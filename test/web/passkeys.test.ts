/** A passkey of the browser's own authenticator: added, used in place of a password, removed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Web, openWeb, password, pathOf, skip } from './web.ts';

let web: Web;
before(async () => {
  if (skip === false) web = await openWeb();
});
after(async () => {
  if (skip === false) await web.close();
});

/** Gives the page's browser a device that answers by itself. */
const plugInDevice = async (page: Page): Promise<void> => {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
};

const addPasskey = async (page: Page, name: string): Promise<void> => {
  await page.goto('/profile/passkeys');
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByLabel('Current password').fill(password);
  await page.getByRole('button', { name: 'Add passkey' }).click();
};

const isListed = ({ pathname }: URL): boolean => pathname === '/profile/passkeys';

/** Browsers offer passkeys at names only. */
const atName = (): { baseURL: string } => ({ baseURL: web.gantry.url.replace('127.0.0.1', 'localhost') });

test('a passkey is added and used by the buttons of the pages', { skip }, async () => {
  const login = await web.makeUser();
  await web.withPage(async (page) => {
    // The device would answer an offer in the field of the user name at once.
    await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false');
    await plugInDevice(page);
    await web.signIn(page, login);
    await addPasskey(page, 'This laptop');
    assert.equal(await page.getByRole('status').textContent(), 'The passkey was added.');
    await page.getByRole('rowheader', { name: 'This laptop' }).waitFor();
    await web.assertFine(page);
    await addPasskey(page, 'Again');
    await page.getByText('This device already has a passkey for the account.').waitFor();

    await page.context().clearCookies();
    await page.goto('/users/sign_in?return_to=/profile/passkeys');
    await web.assertFine(page);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.waitForURL(isListed);
    await page.getByRole('button', { name: 'Remove This laptop' }).click();
    await page.getByText('You have no passkey yet.').waitFor();

    await page.context().clearCookies();
    await page.goto('/users/sign_in');
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('This passkey is not known here.').waitFor();
    assert.equal(pathOf(page), '/users/sign_in/passkey');
  }, atName());
});

test('the browser offers passkeys in the field of the user name', { skip }, async () => {
  const login = await web.makeUser();
  await web.withPage(async (page) => {
    await plugInDevice(page);
    await web.signIn(page, login);
    await addPasskey(page, 'This laptop');
    await page.getByRole('rowheader', { name: 'This laptop' }).waitFor();
    await page.context().clearCookies();
    await page.goto('/users/sign_in?return_to=/profile/passkeys');
    await page.waitForURL(isListed);
  }, atName());
});

test(
  'without scripts, or at an address without a name, passwords are what is offered',
  { skip },
  async () => {
    const isOffered = async (options: object): Promise<boolean> => {
      let isVisible = true;
      await web.withPage(async (page) => {
        await page.goto('/users/sign_in');
        await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
        isVisible = await page.getByText('Sign in with a passkey').isVisible();
      }, options);
      return isVisible;
    };
    assert.deepEqual(
      [
        await isOffered(atName()),
        await isOffered({ ...atName(), javaScriptEnabled: false }),
        await isOffered({}),
      ],
      [true, false, false],
    );
  },
);
