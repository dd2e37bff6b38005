import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { TOTP } from 'otpauth';
import { type MailingService, startMailingService } from '../../../test/support/mail.ts';
import { unique } from '../../../test/support/seed.ts';
import { type Seen, type Visitor, openVisitor } from '../../../test/support/visitor.ts';

let gantry: MailingService;
before(async () => void (gantry = await startMailingService({ GANTRY_TRUSTED_PROXIES: '127.0.0.1' })));
after(async () => await gantry.close());

const password = 'correct horse battery';
const path = '/profile/two_factor';

type Person = { id: number; username: string };

const newPerson = async (): Promise<Person> => {
  const username = unique('two');
  const json = { username, name: username, email: `${username}@example.com`, password };
  const { status, body } = await gantry.api('POST /users', { json });
  assert.equal(status, 201);
  return body;
};

// Time moves only when a test advances it, for a code belongs to a step of 30 seconds.
let now = Date.now();
beforeEach(() => {
  now += 10 * 60_000;
  gantry.setTime(now);
});
afterEach(() => gantry.setTime(null));
const pass = (seconds: number): void => {
  now += seconds * 1000;
  gantry.setTime(now);
};

const makeCode = (secret: string, steps = 0): string =>
  new TOTP({ secret }).generate({ timestamp: now + steps * 30_000 });

const keyIn = ({ text }: Seen): string =>
  (/<code class="secret">([A-Z2-7 ]+)<\/code>/.exec(text)?.[1] ?? '').replaceAll(' ', '');
const codesIn = ({ text }: Seen): string[] =>
  [...text.matchAll(/<code class="secret">([a-z2-7]{5}-[a-z2-7]{5})<\/code>/g)].map(([, code]) => code ?? '');
const challengeIn = ({ text }: Seen): string => /name="challenge" value="([^"]+)"/.exec(text)?.[1] ?? '';

type Enrolled = { person: Person; browser: Visitor; key: string; codes: string[] };

const enrol = async (): Promise<Enrolled> => {
  const person = await newPerson();
  const browser = openVisitor(gantry);
  await browser.signIn(person.username, password);
  await browser.get(path);
  assert.equal((await browser.post(`${path}/begin`, { current_password: password })).location, path);
  const key = keyIn(await browser.get(path));
  const done = await browser.post(path, { code: makeCode(key) });
  assert.equal(done.status, 200);
  pass(60);
  return { person, browser, key, codes: codesIn(done) };
};

/** Signs in with the password, up to the challenge. */
const startSignIn = async ({ username }: Person): Promise<{ browser: Visitor; challenge: string }> => {
  const browser = openVisitor(gantry);
  await browser.get('/users/sign_in');
  const seen = await browser.post('/users/sign_in', { login: username, password });
  assert.equal(seen.status, 200);
  return { browser, challenge: challengeIn(seen) };
};

const answer = async (
  { browser, challenge }: { browser: Visitor; challenge: string },
  code: string,
  ip = '192.0.2.1',
): Promise<Seen> =>
  await browser.post('/users/sign_in/second_factor', { challenge, code }, { 'x-forwarded-for': ip });

const tokenForPassword = async ({ username }: Person): Promise<string> => {
  const body = new URLSearchParams({ grant_type: 'password', username, password });
  const response = await fetch(`${gantry.url}/oauth/token`, { method: 'POST', body });
  assert.equal(response.status, 200);
  return ((await response.json()) as { access_token: string }).access_token;
};

const getStatus = async (token: string): Promise<number> =>
  (await gantry.api('GET /user', { as: null, headers: { authorization: `Bearer ${token}` } })).status;

const isSignedIn = async (browser: Visitor): Promise<boolean> =>
  (await browser.get('/profile')).status === 200;

describe('setting it up', () => {
  it('requires the password and a code, and shows ten recovery codes once', async () => {
    const person = await newPerson();
    const browser = openVisitor(gantry);
    await browser.signIn(person.username, password);
    await browser.get(path);
    const refused = await browser.post(`${path}/begin`, { current_password: 'wrong' });
    assert.equal(refused.status, 422);
    assert.match(refused.text, /Current password is invalid/);
    await browser.post(`${path}/begin`, { current_password: password });
    const shown = await browser.get(path);
    const key = keyIn(shown);
    assert.match(key, /^[A-Z2-7]{32}$/);
    assert.match(shown.text, /<svg class="qr"/);
    const wrong = await browser.post(path, { code: '000000' });
    assert.deepEqual([wrong.status, keyIn(wrong)], [422, key]);
    assert.equal((await gantry.api(`GET /users/${person.id}`)).body.two_factor_enabled, false);
    const done = await browser.post(path, { code: makeCode(key) });
    assert.equal(new Set(codesIn(done)).size, 10);
    assert.equal((await gantry.api(`GET /users/${person.id}`)).body.two_factor_enabled, true);
    const later = await browser.get(path);
    assert.deepEqual([codesIn(later), keyIn(later)], [[], '']);
    assert.match(later.text, /10 recovery codes are left/);
  });

  it('stores neither the key nor codes in readable form', async () => {
    const { person, key, codes } = await enrol();
    const { db } = gantry.service.platform.store;
    const rows = [
      await db.selectFrom('two_factors').selectAll().execute(),
      await db.selectFrom('recovery_codes').selectAll().execute(),
    ];
    const text = JSON.stringify(rows);
    for (const secret of [key, ...codes, ...codes.map((code) => code.replace('-', ''))]) {
      assert.ok(!text.includes(secret));
    }
    const plain = (codes[0] ?? '').replace('-', '');
    for (const guess of [
      plain,
      codes[0] ?? '',
      `${person.id} ${plain}`,
      `recovery code ${person.id} ${plain}`,
    ]) {
      assert.ok(!text.includes(hash('sha256', guess, 'hex')), 'found by trying codes');
    }
  });
});

describe('turning it on', () => {
  it('revokes what the password alone granted, except this browser and other tokens', async () => {
    const person = await newPerson();
    const [browser, other] = [openVisitor(gantry), openVisitor(gantry)];
    await browser.signIn(person.username, password);
    await other.signIn(person.username, password);
    const token = await tokenForPassword(person);
    const json = { name: 'kept', scopes: ['api'] };
    const own = await gantry.api(`POST /users/${person.id}/impersonation_tokens`, { json });
    await browser.get(path);
    await browser.post(`${path}/begin`, { current_password: password });
    const key = keyIn(await browser.get(path));
    assert.deepEqual([await isSignedIn(other), await getStatus(token)], [true, 200]);
    assert.equal((await browser.post(path, { code: makeCode(key) })).status, 200);
    assert.deepEqual([await isSignedIn(other), await getStatus(token)], [false, 401]);
    assert.deepEqual([await isSignedIn(browser), await getStatus(own.body.token)], [true, 200]);
  });
});

describe('signing in', () => {
  it('requires a code after the right password and is anonymous until then', async () => {
    const { person, key } = await enrol();
    const asked = await startSignIn(person);
    assert.equal(await isSignedIn(asked.browser), false);
    const { status, location } = await answer(asked, makeCode(key));
    assert.deepEqual([status, location], [303, '/']);
    assert.equal(await isSignedIn(asked.browser), true);
  });

  it('accepts the code only from the browser that sent the password', async () => {
    const { person, key } = await enrol();
    const asked = await startSignIn(person);
    const other = openVisitor(gantry);
    await other.get('/users/sign_in');
    const elsewhere = await answer({ browser: other, challenge: asked.challenge }, makeCode(key));
    assert.deepEqual([elsewhere.status, elsewhere.location], [303, '/users/sign_in']);
    assert.equal(await isSignedIn(other), false);
    assert.equal((await answer(asked, makeCode(key))).location, '/');
  });

  it('redirects to the page requested first', async () => {
    const { person, key } = await enrol();
    const browser = openVisitor(gantry);
    await browser.get('/users/sign_in');
    const form = { login: person.username, password, return_to: '/profile/sessions' };
    const seen = await browser.post('/users/sign_in', form);
    const sent = { challenge: challengeIn(seen), code: makeCode(key), return_to: '/profile/sessions' };
    assert.equal((await browser.post('/users/sign_in/second_factor', sent)).location, '/profile/sessions');
  });

  it('accepts codes of the previous and next step only', async () => {
    const { person, key } = await enrol();
    for (const [steps, status] of [
      [-3, 422],
      [3, 422],
      [-1, 303],
      [1, 303],
    ] as const) {
      pass(90);
      assert.equal(
        (await answer(await startSignIn(person), makeCode(key, steps))).status,
        status,
        `${steps}`,
      );
    }
  });

  it('refuses used codes and earlier ones', async () => {
    const { person, key } = await enrol();
    const code = makeCode(key);
    assert.equal((await answer(await startSignIn(person), code)).status, 303);
    assert.equal((await answer(await startSignIn(person), code)).status, 422);
    assert.equal((await answer(await startSignIn(person), makeCode(key, -1))).status, 422);
    pass(30);
    assert.equal((await answer(await startSignIn(person), makeCode(key))).status, 303);
  });

  it('accepts one of two concurrent uses of a code', async () => {
    const { person, key } = await enrol();
    const both = [await startSignIn(person), await startSignIn(person)];
    const code = makeCode(key);
    const statuses = (await Promise.all(both.map((one) => answer(one, code)))).map(({ status }) => status);
    assert.deepEqual(
      statuses.toSorted((a, b) => a - b),
      [303, 422],
    );
  });

  it('accepts a recovery code once, and never another user’s', async () => {
    const first = await enrol();
    const second = await enrol();
    const [mine = '', spare = ''] = first.codes;
    assert.equal((await answer(await startSignIn(second.person), mine)).status, 422);
    assert.equal((await answer(await startSignIn(first.person), mine.toUpperCase())).status, 303);
    assert.equal((await answer(await startSignIn(first.person), mine)).status, 422);
    assert.equal((await answer(await startSignIn(first.person), spare.replace('-', ''))).status, 303);
  });

  it('a sign-in without its second factor starts over after ten minutes', async () => {
    const { person, key } = await enrol();
    const asked = await startSignIn(person);
    pass(601);
    const { status, location } = await answer(asked, makeCode(key));
    assert.deepEqual([status, location], [303, '/users/sign_in']);
    assert.equal(await isSignedIn(asked.browser), false);
  });

  it('accepts an answer to a challenge only once', async () => {
    const { person, key } = await enrol();
    const asked = await startSignIn(person);
    await answer(asked, makeCode(key));
    pass(60);
    const again = { browser: openVisitor(gantry), challenge: asked.challenge };
    await again.browser.get('/users/sign_in');
    assert.equal((await answer(again, makeCode(key))).location, '/users/sign_in');
  });

  it('refuses an address after ten wrong codes, with Retry-After', async () => {
    const { person, key } = await enrol();
    const asked = await startSignIn(person);
    for (let tries = 0; tries < 10; tries += 1) {
      assert.equal((await answer(asked, '000000')).status, 422);
    }
    const refused = await answer(asked, makeCode(key));
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    assert.equal(await isSignedIn(asked.browser), false);
    pass(3 * 3600); // for the tests that follow
  });

  it('refuses an account after ten wrong codes within an hour from any addresses', async () => {
    const [other, { person, key }] = [await enrol(), await enrol()];
    const asked = await startSignIn(person);
    for (let tries = 0; tries < 10; tries += 1) {
      pass(30);
      assert.equal((await answer(asked, '000000', `203.0.113.${tries}`)).status, 422);
    }
    assert.equal((await answer(await startSignIn(person), makeCode(key), '203.0.113.99')).status, 429);
    assert.equal((await answer(await startSignIn(other.person), makeCode(other.key))).status, 303);
    pass(61);
    assert.equal((await answer(await startSignIn(person), makeCode(key))).status, 303);
  });

  it('counts concurrent wrong codes like sequential ones', async () => {
    const { person } = await enrol();
    const asked = await startSignIn(person);
    const tries = Array.from(
      { length: 24 },
      async (_, at) => await answer(asked, '000000', `198.51.100.${at}`),
    );
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 422).length, 10);
    pass(3 * 3600);
  });

  it('a new password ends pending challenges', async () => {
    const { person, key } = await enrol();
    const asked = await startSignIn(person);
    await gantry.api(`PUT /users/${person.id}`, { json: { password: 'another horse battery' } });
    assert.equal((await answer(asked, makeCode(key))).location, '/users/sign_in');
    assert.equal(await isSignedIn(asked.browser), false);
  });

  it('refuses the password alone everywhere else', async () => {
    const { person } = await enrol();
    const form = new URLSearchParams({ grant_type: 'password', username: person.username, password });
    const response = await fetch(`${gantry.url}/oauth/token`, { method: 'POST', body: form });
    assert.equal(response.status, 400);
    assert.equal(((await response.json()) as { error: string }).error, 'invalid_grant');
  });
});

describe('later', () => {
  it('new recovery codes replace the old ones', async () => {
    const { person, browser, codes } = await enrol();
    await browser.get(path);
    const post = `${path}/recovery_codes`;
    assert.equal((await browser.post(post, { current_password: 'wrong' })).status, 422);
    const fresh = codesIn(await browser.post(post, { current_password: password }));
    assert.equal(new Set([...fresh, ...codes]).size, 20);
    const [mail] = await gantry.mailsTo(person);
    assert.equal(mail?.subject, 'Your recovery codes were replaced');
    assert.equal((await answer(await startSignIn(person), codes[0] ?? '')).status, 422);
    assert.equal((await answer(await startSignIn(person), fresh[0] ?? '')).status, 303);
  });

  it('disabling it with the password makes the password sufficient again', async () => {
    const { person, browser } = await enrol();
    await browser.get(path);
    assert.equal((await browser.post(`${path}/disable`, { current_password: 'wrong' })).status, 422);
    assert.equal((await browser.post(`${path}/disable`, { current_password: password })).status, 303);
    await openVisitor(gantry).signIn(person.username, password);
    assert.equal((await gantry.api(`GET /users/${person.id}`)).body.two_factor_enabled, false);
    const [mail] = await gantry.mailsTo(person);
    assert.equal(mail?.subject, 'Two-factor authentication was turned off');
  });

  it('turning on the second factor is recorded in the audit log', async () => {
    const { person } = await enrol();
    const { body } = await gantry.api(`GET /audit_events?kind=two_factor.enabled&actor_id=${person.id}`);
    assert.deepEqual([body.length, body[0].target_id], [1, person.id]);
  });

  it('the second factor is deleted with its user', async () => {
    const { person } = await enrol();
    assert.equal((await gantry.api(`DELETE /users/${person.id}`)).status, 204);
  });
});
