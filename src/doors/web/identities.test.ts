/** Tests sign-in through a real OpenID Connect provider. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { freePort } from '../../../test/support/servers/free_port.ts';
import {
  type Person,
  type TestProvider,
  startProvider,
} from '../../../test/support/servers/oidc_provider.ts';
import { startHookReceiver } from '../../../test/support/servers/hook_receiver.ts';
import { unique } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import { type Seen, type Visitor, openVisitor } from '../../../test/support/visitor.ts';

const password = 'Correct-horse-9';

let gantry: TestService;
let provider: TestProvider;

before(async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  provider = await startProvider([`${url}/users/auth/corp/callback`]);
  const { issuer, client_id, client_secret } = provider;
  const one = { name: 'corp', label: 'Corp', issuer, client_id, client_secret };
  const dead = { ...one, name: 'dead', label: 'Dead', issuer: 'http://127.0.0.1:9' };
  gantry = await startTestService({
    GANTRY_LISTEN: `127.0.0.1:${port}`,
    GANTRY_LOG_LEVEL: 'info',
    GANTRY_SIGN_IN_PROVIDERS: JSON.stringify([one, dead]),
  });
  assert.equal(gantry.url, url);
});
after(async () => {
  await gantry.close();
  await provider.close();
});
afterEach(async () => {
  gantry.setTime(null);
  // Otherwise deliberate failures of one test count against the next.
  await gantry.service.platform.store.write(async ({ db }) => db.deleteFrom('sign_in_failures').execute());
});

const somebody = (overrides: Partial<Person> = {}): Person => {
  const name = unique('somebody');
  return {
    sub: `sub-${name}`,
    email: `${name}@example.com`,
    email_verified: true,
    name: 'Some Body',
    preferred_username: name,
    ...overrides,
  };
};

const makeUser = async (): Promise<{ id: number; username: string; email: string }> => {
  const username = unique('human');
  const email = `${username}@example.com`;
  const { body } = await gantry.api('POST /users', { json: { username, name: 'Human', email, password } });
  return { id: body.id, username, email };
};

/** Goes from the button to the callback URL of the provider. */
const leave = async (visitor: Visitor, person: Person | null, form: { [name: string]: string } = {}) => {
  provider.person = person;
  await visitor.get('/users/sign_in');
  const page = await visitor.post('/users/auth/corp', form);
  assert.equal(page.status, 200, page.text);
  const [, url = ''] = /^0; url=(.+)$/.exec(page.headers.get('refresh') ?? '') ?? [];
  const back = await provider.signIn(url);
  assert.ok(back.startsWith(`${gantry.url}/users/auth/corp/callback?`));
  return { url, back: back.slice(gantry.url.length) };
};

const signIn = async (visitor: Visitor, person: Person | null, form = {}): Promise<Seen> =>
  await visitor.get((await leave(visitor, person, form)).back);

/** Returns the message of the page after a refusal. */
const said = async (visitor: Visitor, seen: Seen): Promise<string> => {
  assert.ok([302, 303].includes(seen.status), seen.text);
  const { text } = await visitor.get(seen.location ?? '');
  return /<p class="flash alert"[^>]*>([^<]*)</.exec(text)?.[1] ?? 'nothing';
};

const whoIs = async ({ cookies }: Visitor): Promise<number | undefined> => {
  const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
  return (await gantry.api('GET /user', { as: null, headers: { cookie } })).body?.id;
};

const assertIs = async (visitor: Visitor, username: string): Promise<void> => {
  const id = await whoIs(visitor);
  assert.notEqual(id, undefined);
  assert.equal(id, await idOf(username));
};

const idOf = async (username: string): Promise<number | undefined> =>
  (await gantry.api(`GET /users?username=${username}`)).body[0]?.id;

test('creates an account for a new person, and finds it the next time', async () => {
  const person = somebody();
  const visitor = openVisitor(gantry);
  const seen = await signIn(visitor, person, { return_to: '/profile' });
  assert.equal(seen.location, '/profile');
  const id = await whoIs(visitor);
  assert.equal(id, await idOf(person.preferred_username ?? ''));
  const { body } = await gantry.api(`GET /users/${id}`);
  assert.deepEqual(body.identities, [{ provider: 'corp', extern_uid: person.sub }]);
  assert.deepEqual([body.name, body.email], ['Some Body', person.email]);

  const other = openVisitor(gantry);
  await signIn(other, { ...person, email: 'changed@example.com', email_verified: false });
  assert.equal(await whoIs(other), id);
  const audit = await gantry.api(`GET /audit_events?actor_id=${id}`);
  assert.deepEqual(
    audit.body.map(({ kind }: { kind: string }) => kind),
    ['session.created', 'session.created', 'identity.created'],
  );
  assert.deepEqual(audit.body[0].details, { provider: 'corp' });
});

test('lets a user without a password set one, soon after signing in', async () => {
  const person = somebody();
  const visitor = openVisitor(gantry);
  await signIn(visitor, person);
  const { text } = await visitor.get('/profile/password');
  assert.doesNotMatch(text, /name="current_password"/);
  const form = { password, password_confirmation: password };
  gantry.setTime(Date.now() + 16 * 60_000);
  const late = await visitor.post('/profile/password', form);
  assert.equal(late.status, 422);
  assert.match(late.text, /within 15 minutes of a sign-in/);
  gantry.setTime(null);
  assert.equal((await visitor.post('/profile/password', form)).status, 303);
  await openVisitor(gantry).signIn(person.email ?? '', password);
  // From then on it is required.
  assert.match((await visitor.get('/profile/password')).text, /name="current_password"/);
  const blind = await visitor.post('/profile/password', { ...form, password_confirmation: password });
  assert.equal(blind.status, 422);
});

test("sends state, nonce and PKCE, and never the client's secret", async () => {
  const { url } = await leave(openVisitor(gantry), somebody());
  const query = new URL(url).searchParams;
  assert.equal(query.get('code_challenge_method'), 'S256');
  assert.equal(query.get('scope'), 'openid email profile');
  assert.equal(query.get('response_type'), 'code');
  for (const name of ['state', 'nonce', 'code_challenge'])
    assert.ok((query.get(name)?.length ?? 0) >= 43, name);
  assert.ok(!url.includes(provider.client_secret));
});

test('replaces a taken or invalid user name by a free one', async () => {
  const { username } = await makeUser();
  const visitor = openVisitor(gantry);
  await signIn(visitor, somebody({ preferred_username: username }));
  await assertIs(visitor, `${username}1`);
  const odd = openVisitor(gantry);
  const name = unique('Jose');
  await signIn(odd, somebody({ preferred_username: `../${name.replace('Jose', 'José')} x.git` }));
  await assertIs(odd, `${name}-x`);
});

test('links the account with the verified address', async () => {
  const user = await makeUser();
  const visitor = openVisitor(gantry);
  await signIn(visitor, somebody({ email: user.email.toUpperCase() }));
  assert.equal(await whoIs(visitor), user.id);
});

test("ignores an address that the account's user has not verified", async () => {
  const owner = openVisitor(gantry);
  const email = `${unique('victim')}@example.com`;
  const squatter = unique('squatter');
  await owner.get('/users/sign_up');
  const form = { name: 'Squatter', username: squatter, email, password };
  assert.equal((await owner.post('/users/sign_up', form)).status, 303);
  const mover = await makeUser();
  const moving = openVisitor(gantry);
  await moving.signIn(mover.username, password);
  await moving.get('/profile');
  const moved = `${unique('victim')}@example.com`;
  const blank = { bio: '', location: '', organization: '', website_url: '' };
  const profile = { ...blank, name: 'Human', email: moved, current_password: password };
  assert.equal((await moving.post('/profile', profile)).status, 303);
  for (const taken of [email, moved]) {
    const victim = openVisitor(gantry);
    const seen = await signIn(victim, somebody({ email: taken }));
    assert.match(await said(victim, seen), /Sign in to it here, then link/);
    assert.equal(await whoIs(victim), undefined);
  }
  const id = await idOf(squatter);
  assert.deepEqual((await gantry.api(`GET /users/${id}`)).body.identities, []);
  const changed = `${unique('changed')}@example.com`;
  assert.equal((await gantry.api(`PUT /users/${id}`, { json: { email: changed } })).status, 200);
  const known = openVisitor(gantry);
  await signIn(known, somebody({ email: changed }));
  assert.equal(await whoIs(known), id);
});

test('does not match addresses with lookalike letters', async () => {
  const username = unique('kelvin');
  const email = `${username}@example.com`;
  await gantry.api('POST /users', { json: { username, name: 'Human', email, password } });
  const visitor = openVisitor(gantry);
  await signIn(visitor, somebody({ email: email.replace('k', '\u212a') }));
  assert.equal(await whoIs(visitor), undefined);
});

test('neither links nor creates an account for an unverified address', async () => {
  const user = await makeUser();
  for (const email of [user.email, `${unique('new')}@example.com`]) {
    for (const email_verified of [false, undefined]) {
      const visitor = openVisitor(gantry);
      const { email_verified: _gone, ...person } = somebody({ email });
      const seen = await signIn(
        visitor,
        email_verified === undefined ? person : { ...person, email_verified },
      );
      assert.match(await said(visitor, seen), /has not verified your e-mail address/);
      assert.equal(await whoIs(visitor), undefined);
      assert.equal(await idOf(person.preferred_username ?? ''), undefined);
    }
  }
  const { body } = await gantry.api(`GET /users/${user.id}`);
  assert.deepEqual(body.identities, []);
  const audit = await gantry.api('GET /audit_events?kind=session.failed');
  assert.deepEqual(audit.body[0].details, { provider: 'corp' });
});

test('a second account at the provider does not replace a linked one', async () => {
  const user = await makeUser();
  await signIn(openVisitor(gantry), somebody({ email: user.email }));
  const visitor = openVisitor(gantry);
  const seen = await signIn(visitor, somebody({ email: user.email }));
  assert.match(await said(visitor, seen), /linked with another account at Corp/);
  assert.equal(await whoIs(visitor), undefined);
});

test('creates no account where sign-up is closed or the domain is refused', async () => {
  const put = async (json: object) => await gantry.api('PUT /application/settings', { json });
  const refused = async (): Promise<string> => {
    const person = somebody();
    const visitor = openVisitor(gantry);
    const text = await said(visitor, await signIn(visitor, person));
    assert.equal(await idOf(person.preferred_username ?? ''), undefined);
    return text;
  };
  await put({ signup_enabled: false });
  assert.match(await refused(), /sign-up is turned off/);
  await put({ signup_enabled: true, domain_whitelist: ['good.example'] });
  assert.match(await refused(), /may not be used to sign up/);
  await put({ domain_whitelist: [] });
});

test('creates no account for an invalid address', async () => {
  const visitor = openVisitor(gantry);
  const seen = await signIn(visitor, somebody({ email: 'two@signs@example.com' }));
  assert.match(await said(visitor, seen), /does not allow an account here/);
});

test('creates one account for two concurrent first sign-ins', async () => {
  const person = somebody();
  const visitors = [openVisitor(gantry), openVisitor(gantry), openVisitor(gantry)];
  const ways: { visitor: Visitor; back: string }[] = [];
  for (const visitor of visitors) ways.push({ visitor, back: (await leave(visitor, person)).back });
  await Promise.all(ways.map(async ({ visitor, back }) => await visitor.get(back)));
  for (const visitor of visitors) await assertIs(visitor, person.preferred_username ?? '');
});

test('finds the account of a confirmed further address', async () => {
  const user = await makeUser();
  const [email, pending] = [`${unique('further')}@example.com`, `${unique('pending')}@example.com`];
  const path = `POST /users/${user.id}/emails`;
  await gantry.api(path, { json: { email, skip_confirmation: true } });
  await gantry.api(path, { json: { email: pending } });
  const visitor = openVisitor(gantry);
  await signIn(visitor, somebody({ email }));
  assert.equal(await whoIs(visitor), user.id);
  const other = openVisitor(gantry);
  await signIn(other, somebody({ email: pending }));
  assert.notEqual(await whoIs(other), user.id);
});

test('refuses a blocked user', async () => {
  const person = somebody();
  const visitor = openVisitor(gantry);
  await signIn(visitor, person);
  await gantry.api(`POST /users/${await whoIs(visitor)}/block`);
  const receiver = await startHookReceiver();
  const json = { allow_local_requests_from_hooks_and_services: true };
  await gantry.api('PUT /application/settings', { json });
  await gantry.api('POST /hooks', { json: { url: receiver.url, push_events: false } });
  const again = openVisitor(gantry);
  assert.match(await said(again, await signIn(again, person)), /has been blocked/);
  assert.equal(again.cookies.get('_service_session'), undefined);
  await gantry.service.worker.drain();
  await receiver.close();
  assert.deepEqual(
    receiver.received.map(({ body }) => [body.event_name, body.username, body.state]),
    [['user_failed_login', person.preferred_username, 'blocked']],
  );
});

test('asks for the second factor after the provider', async () => {
  const person = somebody();
  const first = openVisitor(gantry);
  await signIn(first, person);
  const id = (await whoIs(first)) ?? 0;
  await gantry.service.platform.store.write(
    async ({ db }) =>
      await db.updateTable('users').set({ two_factor_enabled: 1 }).where('id', '=', id).execute(),
  );
  const visitor = openVisitor(gantry);
  const seen = await signIn(visitor, person);
  assert.equal(visitor.cookies.get('_service_session'), undefined, seen.text);
  assert.equal(await whoIs(visitor), undefined);
});

test('refuses a forged state, one of another browser, and an expired one', async () => {
  const victim = openVisitor(gantry);
  const { back } = await leave(victim, somebody());
  const thief = openVisitor(gantry);
  await thief.get('/users/sign_in');
  assert.match(await said(thief, await thief.get(back)), /started in another browser/);
  const forged = back.replace(/state=[^&]{10}/, 'state=AAAAAAAAAA');
  assert.match(await said(victim, await victim.get(forged)), /started in another browser/);
  const bare = back.replace(/state=[^&]+&?/, '');
  assert.match(await said(victim, await victim.get(bare)), /started in another browser/);
  gantry.setTime(Date.now() + 10 * 60_000 + 1);
  assert.match(await said(victim, await victim.get(back)), /sign-in expired/);
  assert.equal(await whoIs(victim), undefined);
});

test('refuses a code of another sign-in and a reused code', async () => {
  const visitor = openVisitor(gantry);
  const first = await leave(visitor, somebody());
  const second = await leave(visitor, somebody());
  const codeOf = ({ back }: { back: string }): string => /[?&]code=([^&]+)/.exec(back)?.[1] ?? '';
  const swapped = first.back.replace(codeOf(first), codeOf(second));
  assert.match(await said(visitor, await visitor.get(swapped)), /Corp did not sign you in/);
  const person = somebody();
  const good = await leave(visitor, person);
  await visitor.get(good.back);
  visitor.cookies.delete('_service_session');
  assert.notEqual(await said(visitor, await visitor.get(good.back)), 'nothing');
});

test('does not sign in a user who denies consent at the provider', async () => {
  const visitor = openVisitor(gantry);
  assert.match(await said(visitor, await signIn(visitor, null)), /Corp did not sign you in/);
});

test('stops calling the provider after ten failures within a minute', async () => {
  const visitor = openVisitor(gantry);
  const { back } = await leave(visitor, somebody());
  const { back: good } = await leave(visitor, somebody());
  const wrong = back.replace(/code=[^&]+/, 'code=none');
  for (let tries = 0; tries < 10; tries += 1) {
    assert.match(await said(visitor, await visitor.get(wrong)), /Corp did not sign you in/);
  }
  const refused = await visitor.get(good);
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '60']);
  assert.equal(await whoIs(visitor), undefined);
});

test('ignores a form of another site', async () => {
  const visitor = openVisitor(gantry);
  await visitor.get('/users/sign_in');
  assert.equal((await visitor.post('/users/auth/corp', { authenticity_token: null })).status, 422);
  assert.equal((await visitor.post('/users/auth/corp', {}, { origin: 'https://evil.example' })).status, 422);
  assert.equal((await visitor.get('/users/auth/corp')).status, 404);
});

test('reports a provider that does not answer, and 404 for an unknown one', async () => {
  const visitor = openVisitor(gantry);
  await visitor.get('/users/sign_in');
  assert.match(await said(visitor, await visitor.post('/users/auth/dead')), /Dead cannot be reached/);
  assert.equal((await visitor.post('/users/auth/nobody')).status, 404);
  assert.equal((await visitor.get('/users/auth/nobody/callback')).status, 404);
});

test('a disabled provider is off at once: no button, no redirect, no callback', async () => {
  const set = async (names: string[]) =>
    await gantry.api('PUT /application/settings', { json: { disabled_oauth_sign_in_sources: names } });
  const visitor = openVisitor(gantry);
  const { text } = await visitor.get('/users/sign_in');
  assert.ok(text.includes('action="/users/auth/corp"') && text.includes('Sign in with Corp'));
  const person = somebody();
  const { back } = await leave(visitor, person);
  assert.equal((await set(['corp'])).status, 200);
  const without = (await visitor.get('/users/sign_in')).text;
  assert.ok(!without.includes('/users/auth/corp') && without.includes('/users/auth/dead'));
  assert.match(await said(visitor, await visitor.post('/users/auth/corp')), /Corp is turned off/);
  assert.match(await said(visitor, await visitor.get(back)), /Corp is turned off/);
  assert.equal(await idOf(person.preferred_username ?? ''), undefined);
  await set([]);
  assert.ok((await visitor.get('/users/sign_in')).text.includes('/users/auth/corp'));
  assert.equal((await visitor.get(back)).location, '/');
});

test('a signed-in user links an account, signs in with it, and unlinks it', async () => {
  const user = await makeUser();
  const owner = openVisitor(gantry);
  await owner.signIn(user.username, password);
  const person = somebody({ email_verified: false });
  await owner.get('/profile/identities');
  provider.person = person;
  const page = await owner.post('/users/auth/corp');
  const [, url = ''] = /^0; url=(.+)$/.exec(page.headers.get('refresh') ?? '') ?? [];
  const seen = await owner.get((await provider.signIn(url)).slice(gantry.url.length));
  assert.equal(seen.location, '/profile/identities');
  assert.ok((await owner.get('/profile/identities')).text.includes(person.sub));

  const visitor = openVisitor(gantry);
  await signIn(visitor, person);
  assert.equal(await whoIs(visitor), user.id);

  const other = await makeUser();
  const thief = openVisitor(gantry);
  await thief.signIn(other.username, password);
  await thief.get('/profile/identities');
  const leaving = await thief.post('/users/auth/corp');
  const [, way = ''] = /^0; url=(.+)$/.exec(leaving.headers.get('refresh') ?? '') ?? [];
  const refused = await thief.get((await provider.signIn(way)).slice(gantry.url.length));
  assert.match(await said(thief, refused), /another user&#39;s/);

  await owner.get('/profile/identities');
  assert.equal((await owner.post('/profile/identities/corp/unlink')).status, 303);
  assert.deepEqual((await gantry.api(`GET /users/${user.id}`)).body.identities, []);
  const audit = await gantry.api(`GET /audit_events?kind=identity.deleted&target_id=${user.id}`);
  assert.deepEqual(audit.body[0].details, { provider: 'corp', extern_uid: person.sub });
});

test('logs no secrets of a sign-in', () => {
  const log = gantry.logged().join('\n');
  assert.match(log, /sign-in by a provider failed/);
  for (const secret of [provider.client_secret, 'code=', 'state=']) assert.ok(!log.includes(secret), secret);
});
