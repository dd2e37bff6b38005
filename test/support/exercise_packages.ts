/** Uses what an installed service loads by name: packages that `build.ts` leaves out of the bundle, and files. */
import assert from 'node:assert/strict';
import { openAuthenticator } from './authenticator.ts';
import { openVisitor } from './visitor.ts';

/** The service has `origin` as its external address and trusts this test as its proxy. */
type Installed = { url: string; origin: string; token: string; password: string };

/** Adds a passkey to the account of the first administrator and signs in with it. */
const usePasskey = async ({ url, origin, password }: Installed): Promise<void> => {
  const device = openAuthenticator();
  const openPage = async (visitor: ReturnType<typeof openVisitor>, path: string) => {
    const { text } = await visitor.get(path);
    const json = /data-options="([^"]+)"/.exec(text)?.[1]?.replaceAll('&quot;', '"') ?? '{}';
    const { challenge } = JSON.parse(json) as { challenge: string };
    return { challenge, origin, rpId: new URL(origin).hostname };
  };
  const visitor = openVisitor({ url });
  await visitor.get('/users/sign_in');
  const signedIn = await visitor.post('/users/sign_in', { login: 'root', password }, { origin });
  assert.equal(signedIn.status, 303, signedIn.text);
  const passkey = device.create(await openPage(visitor, '/profile/passkeys'));
  const form = { name: 'Phone', current_password: password, passkey };
  const added = await visitor.post('/profile/passkeys', form, { origin });
  assert.equal(added.status, 303, added.text);
  const other = openVisitor({ url });
  const answer = device.get(await openPage(other, '/users/sign_in'));
  const entered = await other.post('/users/sign_in/passkey', { passkey: answer }, { origin });
  assert.equal(entered.status, 303, entered.text);
};

/** Asserts that an installed service answers requests that need its packages and files. */
export const exercisePackages = async (installed: Installed): Promise<void> => {
  const { url, token } = installed;
  const ask = async (path: string, body?: object): Promise<{ status: number; text: string }> => {
    const response = await fetch(`${url}/api/v4${path}`, {
      headers: { 'private-token': token, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  };
  assert.match((await ask('/version')).text, /"version":"10\./);
  const highlighted = await ask('/markdown', { text: '```js\nconst a = 1;\n```' });
  assert.match(highlighted.text, /hljs/, highlighted.text);
  const templates = await ask('/templates/gitignores');
  assert.equal(templates.status, 200);
  const help = await fetch(`${url}/help/installation`);
  assert.match(await help.text(), /gantry\.service/);
  await usePasskey(installed);
};
