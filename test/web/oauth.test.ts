/** Applications and sign-in providers, as a person meets them in a browser. */
import assert from 'node:assert/strict';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { makeApplication, makePkce } from '../support/oauth_client.ts';
import { freePort } from '../support/servers/free_port.ts';
import { type TestProvider, startProvider } from '../support/servers/oidc_provider.ts';
import { unique } from '../support/seed.ts';
import { type Web, openWeb, pathOf, skip } from './web.ts';

let web: Web;
let provider: TestProvider;
/** Where an application waits for its answer: on another origin. */
let application: Server;
let callback: string;

before(async () => {
  if (skip !== false) return;
  application = createServer((_request, response) => response.end('Thank you.'));
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
  callback = `http://localhost:${(application.address() as AddressInfo).port}/callback`;
  const port = await freePort();
  provider = await startProvider([`http://127.0.0.1:${port}/users/auth/corp/callback`]);
  const { issuer, client_id, client_secret } = provider;
  web = await openWeb({
    GANTRY_LISTEN: `127.0.0.1:${port}`,
    GANTRY_SIGN_IN_PROVIDERS: JSON.stringify([
      { name: 'corp', label: 'Corp', issuer, client_id, client_secret },
    ]),
  });
});
after(async () => {
  if (skip !== false) return;
  await web.close();
  await provider.close();
  application.closeAllConnections();
  application.close();
});

const authorizeUrl = (client_id: string): string => {
  const { challenge } = makePkce();
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
  const asked = {
    response_type: 'code',
    client_id,
    redirect_uri: callback,
    scope: 'api',
    state: 'x',
    ...pkce,
  };
  return `/oauth/authorize?${new URLSearchParams(asked).toString()}`;
};

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with scripts' : 'without scripts';

  test(`an application is authorized, and denied, ${how}`, { skip }, async () => {
    const login = await web.makeUser();
    const { client_id } = await makeApplication(web.gantry, { redirect_uri: callback });
    await web.withPage(
      async (page) => {
        await page.goto(authorizeUrl(client_id));
        assert.equal(pathOf(page), '/users/sign_in');
        await page.getByLabel('User name or e-mail').fill(login);
        await page.getByLabel('Password').fill('correct horse');
        await page.getByRole('button', { name: 'Sign in', exact: true }).click();
        assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Authorize Robot?');
        if (javaScriptEnabled) await web.assertFine(page);
        await page.getByRole('button', { name: 'Deny' }).click();
        await page.waitForURL(/error=access_denied/);
        await page.goto(authorizeUrl(client_id));
        await page.getByRole('button', { name: 'Authorize' }).click();
        await page.waitForURL(/[?&]code=gntoac-.*state=x/);
        assert.ok(page.url().startsWith(callback));
      },
      { javaScriptEnabled },
    );
  });

  test(`somebody signs in by a provider, ${how}`, { skip }, async () => {
    const name = unique('somebody');
    provider.person = {
      sub: name,
      email: `${name}@example.com`,
      email_verified: true,
      name: 'Some Body',
      preferred_username: name,
    };
    await web.withPage(
      async (page) => {
        await page.goto('/users/sign_in?return_to=%2Fprofile');
        await page.getByRole('button', { name: 'Sign in with Corp' }).click();
        await page.waitForURL('**/profile');
        await page.getByText(name).first().waitFor({ state: 'attached' });
      },
      { javaScriptEnabled },
    );
  });
}

test('an account is linked, and the link is taken back', { skip }, async () => {
  const login = await web.makeUser();
  const sub = unique('linked');
  provider.person = { sub };
  await web.withPage(async (page) => {
    await web.signIn(page, login);
    await page.goto('/profile/identities');
    await page.getByRole('button', { name: 'Link', exact: true }).click();
    await page.getByText('You can now sign in with Corp.').waitFor();
    await page.getByRole('cell', { name: sub }).waitFor();
    await web.assertFine(page);
    await page.getByRole('button', { name: 'Unlink' }).click();
    await page.getByText('The account was unlinked.').waitFor();
  });
});

test('an application is registered, its secret shown once, and deleted', { skip }, async () => {
  const login = await web.makeUser();
  await web.withPage(
    async (page) => {
      await web.signIn(page, login);
      await page.goto('/profile/applications');
      await web.assertFine(page);
      await page.getByLabel('Name', { exact: true }).fill('My own');
      await page.getByLabel('Callback URLs').fill(`${callback}\nmyapp:/done`);
      await page.getByRole('button', { name: 'Register' }).click();
      assert.match((await page.locator('main').textContent()) ?? '', /Scopes can't be blank/);
      await web.assertFine(page);
      await page.getByLabel('read_user', { exact: true }).check();
      await page.getByRole('button', { name: 'Register' }).click();
      await page.getByText('it is not shown again').waitFor();
      assert.match((await page.locator('code.secret').last().textContent()) ?? '', /^gntoas-/);
      await web.assertFine(page);
      await page.getByRole('link', { name: 'Back to your applications' }).click();
      const width = await page.evaluate('document.documentElement.scrollWidth');
      assert.ok(Number(width) <= 320, String(width));
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByText('My own was deleted.').waitFor();
    },
    { viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
  );
});
