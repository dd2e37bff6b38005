/** Tests the authorization code flow: authorize, consent, code, token. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import {
  type Form,
  type TestApplication,
  basic,
  callback,
  makeApplication,
  makePkce,
  postForm,
} from '../../../test/support/oauth_client.ts';
import { unique } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { type Seen, type Visitor, openVisitor } from '../../../test/support/visitor.ts';

const password = 'Correct-horse-9';

let gantry: TestService;
let app: TestApplication;
let visitor: Visitor;
let user: { id: number; username: string };

const makeUser = async (attributes: object = {}): Promise<{ id: number; username: string }> => {
  const username = unique('human');
  const { body } = await gantry.api('POST /users', {
    json: { username, name: 'Human', email: `${username}@example.com`, password, ...attributes },
  });
  return { id: body.id, username };
};

const signedIn = async (username: string): Promise<Visitor> => {
  const made = openVisitor(gantry);
  await made.signIn(username, password);
  return made;
};

before(async () => {
  gantry = await startTestService();
  app = await makeApplication(gantry);
  user = await makeUser();
  visitor = await signedIn(user.username);
});
after(async () => await gantry.close());
afterEach(() => gantry.setTime(null));

const urlOf = (params: { [name: string]: string | null } = {}, client = app): string => {
  const all = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: callback,
    scope: 'api',
    state: 'st&te=1',
    ...params,
  };
  const pairs = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== null);
  return `/oauth/authorize?${new URLSearchParams(pairs).toString()}`;
};

/** Fields of the page's form, with this decision. */
const consent = ({ text }: Seen, decision: 'allow' | 'deny'): Form => ({
  ...Object.fromEntries(
    [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)]
      .filter(([, name]) => name !== 'authenticity_token')
      .map(([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')]),
  ),
  decision,
});

const answerOf = (seen: Seen): URLSearchParams => {
  assert.ok([302, 303].includes(seen.status), seen.text);
  const url = new URL(seen.location ?? '');
  assert.equal(url.origin + url.pathname, callback);
  return url.searchParams;
};

const ask = async (params: { [name: string]: string | null }, client = app): Promise<Seen> =>
  await visitor.get(urlOf(params, client));

test("issues a token after the user's consent, with PKCE", async () => {
  const { verifier, challenge } = makePkce();
  const path = urlOf({ code_challenge: challenge, code_challenge_method: 'S256', scope: 'api read_user' });
  const stranger = openVisitor(gantry);
  const sent = await stranger.get(path);
  assert.equal(sent.status, 302);
  assert.equal(sent.location, `/users/sign_in?return_to=${encodeURIComponent(path)}`);
  await stranger.get(sent.location ?? '');
  const back = await stranger.post('/users/sign_in', { login: user.username, password, return_to: path });
  assert.equal(back.location, path);

  const page = await stranger.get(path);
  assert.equal(page.status, 200);
  assert.match(page.text, /<h1>Authorize Robot\?<\/h1>/);
  assert.match(page.text, /app\.example\.com/);
  assert.match(
    page.headers.get('content-security-policy') ?? '',
    /form-action 'self'[^;]* https:\/\/app\.example\.com/,
  );
  const told = answerOf(await stranger.post('/oauth/authorize', consent(page, 'allow')));
  assert.equal(told.get('state'), 'st&te=1');
  assert.equal(told.get('iss'), gantry.url);
  assert.match(told.get('code') ?? '', /^gntoac-[\w-]{34}$/);

  const { status, body } = await postForm(
    gantry,
    '/oauth/token',
    {
      grant_type: 'authorization_code',
      code: told.get('code') ?? '',
      redirect_uri: callback,
      code_verifier: verifier,
    },
    basic(app),
  );
  assert.equal(status, 200);
  assert.equal(body.scope, 'api read_user');
  const headers = { authorization: `Bearer ${body.access_token}` };
  assert.equal((await gantry.api('GET /user', { as: null, headers })).body.id, user.id);
});

test('skips consent for the same scopes, and asks for more scopes', async () => {
  const mine = await makeApplication(gantry);
  const page = await ask({ scope: 'read_user' }, mine);
  const first = answerOf(await visitor.post('/oauth/authorize', consent(page, 'allow')));
  const form = { grant_type: 'authorization_code', code: first.get('code') ?? '', redirect_uri: callback };
  await postForm(gantry, '/oauth/token', form, basic(mine));
  assert.ok(answerOf(await ask({ scope: 'read_user' }, mine)).get('code'));
  assert.equal((await ask({ scope: 'api' }, mine)).status, 200);
});

test('reports a denial to the application, without a code', async () => {
  const page = await ask({}, await makeApplication(gantry));
  const told = answerOf(await visitor.post('/oauth/authorize', consent(page, 'deny')));
  assert.equal(told.get('error'), 'access_denied');
  assert.equal(told.get('code'), null);
  assert.equal(told.get('state'), 'st&te=1');
});

test("refuses a consent without the page's CSRF token", async () => {
  const form = consent(await ask({}, await makeApplication(gantry)), 'allow');
  const seen = await visitor.post('/oauth/authorize', { ...form, authenticity_token: null });
  assert.equal(seen.status, 422);
});

test('skips consent for a trusted application', async () => {
  const trusted = await makeApplication(gantry, { trusted: true });
  assert.ok(answerOf(await ask({}, trusted)).get('code'));
});

test('redirects to registered addresses only', async () => {
  for (const redirect_uri of [
    `${callback}/`,
    `${callback}?x=1`,
    `${callback}@evil.example`,
    'https://app.example.com/Callback',
    'https://evil.example/callback',
    'javascript:alert(1)',
    null,
  ]) {
    const seen = await ask({ redirect_uri });
    assert.equal(seen.status, 400, redirect_uri ?? 'none');
    assert.equal(seen.location, null);
    assert.match(seen.text, /redirect URI/);
  }
  for (const client_id of ['unknown', null]) {
    const seen = await ask({ client_id });
    assert.deepEqual([seen.status, seen.location], [400, null]);
  }
});

test('reports other invalid parameters to the application', async () => {
  const { challenge } = makePkce();
  const wrong: [params: { [name: string]: string | null }, error: string][] = [
    [{ response_type: null }, 'invalid_request'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ response_mode: 'fragment' }, 'invalid_request'],
    [{ scope: 'api openid' }, 'invalid_scope'],
    [{ scope: 'read_api' }, 'invalid_scope'],
    [{ code_challenge: challenge }, 'invalid_request'],
    [{ code_challenge: challenge, code_challenge_method: 'plain' }, 'invalid_request'],
    [{ code_challenge: 'short', code_challenge_method: 'S256' }, 'invalid_request'],
  ];
  for (const [params, error] of wrong) {
    const told = answerOf(await ask(params));
    assert.equal(told.get('error'), error, JSON.stringify(params));
    assert.equal(told.get('state'), 'st&te=1');
    assert.ok(told.get('error_description'));
  }
  const twice = answerOf(await visitor.get(`${urlOf()}&scope=read_user`));
  assert.equal(twice.get('error'), 'invalid_request');
});

test('a public application must use PKCE and asks for consent each time', async () => {
  const open = await makeApplication(gantry, { confidential: false, redirect_uri: 'myapp:/done' });
  const params = { redirect_uri: 'myapp:/done' };
  const refused = await ask(params, open);
  assert.match(refused.location ?? '', /^myapp:\/done\?error=invalid_request/);
  const { verifier, challenge } = makePkce();
  const pkce = { ...params, code_challenge: challenge, code_challenge_method: 'S256' };
  const page = await ask(pkce, open);
  assert.match(page.headers.get('content-security-policy') ?? '', /form-action 'self'[^;]* myapp:/);
  const { location } = await visitor.post('/oauth/authorize', consent(page, 'allow'));
  const code = new URL(location ?? '').searchParams.get('code') ?? '';
  const form = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: 'myapp:/done',
    code_verifier: verifier,
  };
  const { client_id } = open;
  assert.equal((await postForm(gantry, '/oauth/token', { ...form, client_id })).status, 200);
  assert.equal((await ask(pkce, open)).status, 200);
});

test('refuses the scope sudo for users who are no administrators', async () => {
  const mighty = await makeApplication(gantry, { scopes: 'api sudo' });
  const page = await ask({ scope: 'api sudo' }, mighty);
  assert.equal(consent(page, 'allow')['scope'], 'api');
  assert.equal(answerOf(await ask({ scope: 'sudo' }, mighty)).get('error'), 'invalid_scope');
});

/* ---- the pages of applications ---- */

const applicationForm = { name: 'My own', redirect_uri: callback, scopes: 'read_user', confidential: '1' };

const secretsIn = ({ text }: Seen): string[] =>
  [...text.matchAll(/<code class="secret">([^<]+)</g)].map(([, one = '']) => one);

test('a user registers an application, sees its secret once, and deletes it', async () => {
  await visitor.get('/profile/applications');
  const made = await visitor.post('/profile/applications', applicationForm);
  assert.equal(made.status, 200);
  const [uid = '', secret = ''] = secretsIn(made);
  assert.match(secret, /^gntoas-/);
  const list = await visitor.get('/profile/applications');
  assert.ok(list.text.includes(uid) && !list.text.includes(secret));

  const stranger = await signedIn((await makeUser()).username);
  assert.ok(!(await stranger.get('/profile/applications')).text.includes(uid));
  const [, id = ''] = /\/profile\/applications\/(\d+)\/delete/.exec(list.text) ?? [];
  assert.equal((await stranger.post(`/profile/applications/${id}/delete`)).status, 404);
  const page = await visitor.get(urlOf({ scope: 'read_user', client_id: uid }));
  assert.match(page.text, new RegExp(`${user.username}</strong> registered it`));
  await visitor.get('/profile/applications');
  assert.equal((await visitor.post(`/profile/applications/${id}/delete`)).status, 303);
  assert.ok(!(await visitor.get('/profile/applications')).text.includes(uid));
});

test('shows problems of a new application at their fields', async () => {
  await visitor.get('/profile/applications');
  const seen = await visitor.post('/profile/applications', {
    ...applicationForm,
    name: '',
    redirect_uri: 'javascript:alert(1)',
    scopes: '',
  });
  assert.equal(seen.status, 422);
  assert.match(seen.text, /id="name_error">Name can&#39;t be blank/);
  assert.match(seen.text, /is forbidden by the server/);
  assert.match(seen.text, /Scopes can&#39;t be blank/);
});

test('user_oauth_applications takes effect at once', async () => {
  const set = async (on: boolean) =>
    await gantry.api('PUT /application/settings', { json: { user_oauth_applications: on } });
  await set(false);
  const page = await visitor.get('/profile/applications');
  assert.ok(!page.text.includes('name="redirect_uri"'));
  assert.equal((await visitor.post('/profile/applications', applicationForm)).status, 403);
  const admin = await signedIn((await makeUser({ admin: true })).username);
  await admin.get('/profile/applications');
  assert.equal((await admin.post('/profile/applications', applicationForm)).status, 200);
  await set(true);
  await visitor.get('/profile/applications');
  assert.equal((await visitor.post('/profile/applications', applicationForm)).status, 200);
});

test('a user lists and revokes authorized applications', async () => {
  const other = await makeUser();
  const owner = await signedIn(other.username);
  const page = await owner.get(urlOf({}));
  const told = answerOf(await owner.post('/oauth/authorize', consent(page, 'allow')));
  const code = told.get('code') ?? '';
  const form = { grant_type: 'authorization_code', code, redirect_uri: callback };
  const { body } = await postForm(gantry, '/oauth/token', form, basic(app));
  const byPassword = await postForm(gantry, '/oauth/token', {
    grant_type: 'password',
    username: other.username,
    password,
  });
  const whoIs = async (token: string): Promise<number> =>
    (await gantry.api('GET /user', { as: null, headers: { authorization: `Bearer ${token}` } })).status;
  assert.deepEqual([await whoIs(body.access_token), await whoIs(byPassword.body.access_token)], [200, 200]);

  const list = await owner.get('/profile/applications');
  assert.match(list.text, new RegExp(`authorized/${app.id}/revoke`));
  assert.equal((await owner.post(`/profile/applications/authorized/${app.id}/revoke`)).status, 303);
  assert.deepEqual([await whoIs(body.access_token), await whoIs(byPassword.body.access_token)], [401, 200]);
  await owner.post('/profile/applications/authorized/0/revoke');
  assert.equal(await whoIs(byPassword.body.access_token), 401);
  assert.ok(!(await owner.get('/profile/applications')).text.includes('/revoke'));
});
