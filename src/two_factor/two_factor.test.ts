import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { TOTP } from 'otpauth';
import { type TestService, startTestService } from '../../test/support/service.ts';
import { unique } from '../../test/support/seed.ts';
import { type Seen, type Visitor, openVisitor } from '../../test/support/visitor.ts';

let gantry: TestService;
before(async () => void (gantry = await startTestService({ GANTRY_TRUSTED_PROXIES: '127.0.0.1' })));
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

// Time stands still but for what a test moves: a code is of a step of 30 seconds.
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

const codeOf = (secret: string, steps = 0): string =>
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
  const done = await browser.post(path, { code: codeOf(key) });
  assert.equal(done.status, 200);
  pass(60);
  return { person, browser, key, codes: codesIn(done) };
};

/** As far as the second question. */
const askedFor = async ({ username }: Person): Promise<{ browser: Visitor; challenge: string }> => {
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

const statusOf = async (token: string): Promise<number> =>
  (await gantry.api('GET /user', { as: null, headers: { authorization: `Bearer ${token}` } })).status;

const isSignedIn = async (browser: Visitor): Promise<boolean> =>
  (await browser.get('/profile')).status === 200;

describe('setting it up', () => {
  it('asks for the password, then for a code of the new key, and shows ten recovery codes once', async () => {
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
    const done = await browser.post(path, { code: codeOf(key) });
    assert.equal(new Set(codesIn(done)).size, 10);
    assert.equal((await gantry.api(`GET /users/${person.id}`)).body.two_factor_enabled, true);
    const later = await browser.get(path);
    assert.deepEqual([codesIn(later), keyIn(later)], [[], '']);
    assert.match(later.text, /10 recovery codes are left/);
  });

  it('keeps neither the key nor a code where a copy of the database shows it', async () => {
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
  it('ends what the password alone had opened, but for this browser and tokens of other kinds', async () => {
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
    assert.deepEqual([await isSignedIn(other), await statusOf(token)], [true, 200]);
    assert.equal((await browser.post(path, { code: codeOf(key) })).status, 200);
    assert.deepEqual([await isSignedIn(other), await statusOf(token)], [false, 401]);
    assert.deepEqual([await isSignedIn(browser), await statusOf(own.body.token)], [true, 200]);
  });
});

describe('signing in', () => {
  it('asks for a code after the right password, and is nobody until then', async () => {
    const { person, key } = await enrol();
    const asked = await askedFor(person);
    assert.equal(await isSignedIn(asked.browser), false);
    const { status, location } = await answer(asked, codeOf(key));
    assert.deepEqual([status, location], [303, '/']);
    assert.equal(await isSignedIn(asked.browser), true);
  });

  it('takes the code in the browser alone that gave the password', async () => {
    const { person, key } = await enrol();
    const asked = await askedFor(person);
    const other = openVisitor(gantry);
    await other.get('/users/sign_in');
    const elsewhere = await answer({ browser: other, challenge: asked.challenge }, codeOf(key));
    assert.deepEqual([elsewhere.status, elsewhere.location], [303, '/users/sign_in']);
    assert.equal(await isSignedIn(other), false);
    assert.equal((await answer(asked, codeOf(key))).location, '/');
  });

  it('leads back to where one wanted to go', async () => {
    const { person, key } = await enrol();
    const browser = openVisitor(gantry);
    await browser.get('/users/sign_in');
    const form = { login: person.username, password, return_to: '/profile/sessions' };
    const seen = await browser.post('/users/sign_in', form);
    const sent = { challenge: challengeIn(seen), code: codeOf(key), return_to: '/profile/sessions' };
    assert.equal((await browser.post('/users/sign_in/second_factor', sent)).location, '/profile/sessions');
  });

  it('takes a code of the step before and of the step after, and of none further off', async () => {
    const { person, key } = await enrol();
    for (const [steps, status] of [
      [-3, 422],
      [3, 422],
      [-1, 303],
      [1, 303],
    ] as const) {
      pass(90);
      assert.equal((await answer(await askedFor(person), codeOf(key, steps))).status, status, `${steps}`);
    }
  });

  it('takes no code twice, nor one from before the last', async () => {
    const { person, key } = await enrol();
    const code = codeOf(key);
    assert.equal((await answer(await askedFor(person), code)).status, 303);
    assert.equal((await answer(await askedFor(person), code)).status, 422);
    assert.equal((await answer(await askedFor(person), codeOf(key, -1))).status, 422);
    pass(30);
    assert.equal((await answer(await askedFor(person), codeOf(key))).status, 303);
  });

  it('of two who answer with one code at once, lets one in', async () => {
    const { person, key } = await enrol();
    const both = [await askedFor(person), await askedFor(person)];
    const code = codeOf(key);
    const statuses = (await Promise.all(both.map((one) => answer(one, code)))).map(({ status }) => status);
    assert.deepEqual(
      statuses.toSorted((a, b) => a - b),
      [303, 422],
    );
  });

  it('takes a recovery code once, and another user’s never', async () => {
    const first = await enrol();
    const second = await enrol();
    const [mine = '', spare = ''] = first.codes;
    assert.equal((await answer(await askedFor(second.person), mine)).status, 422);
    assert.equal((await answer(await askedFor(first.person), mine.toUpperCase())).status, 303);
    assert.equal((await answer(await askedFor(first.person), mine)).status, 422);
    assert.equal((await answer(await askedFor(first.person), spare.replace('-', ''))).status, 303);
  });

  it('after ten minutes begins anew', async () => {
    const { person, key } = await enrol();
    const asked = await askedFor(person);
    pass(601);
    const { status, location } = await answer(asked, codeOf(key));
    assert.deepEqual([status, location], [303, '/users/sign_in']);
    assert.equal(await isSignedIn(asked.browser), false);
  });

  it('an answered question is over', async () => {
    const { person, key } = await enrol();
    const asked = await askedFor(person);
    await answer(asked, codeOf(key));
    pass(60);
    const again = { browser: openVisitor(gantry), challenge: asked.challenge };
    await again.browser.get('/users/sign_in');
    assert.equal((await answer(again, codeOf(key))).location, '/users/sign_in');
  });

  it('refuses an address after ten wrong codes, with Retry-After', async () => {
    const { person, key } = await enrol();
    const asked = await askedFor(person);
    for (let tries = 0; tries < 10; tries += 1) {
      assert.equal((await answer(asked, '000000')).status, 422);
    }
    const refused = await answer(asked, codeOf(key));
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    assert.equal(await isSignedIn(asked.browser), false);
    pass(3 * 3600); // for the tests that follow
  });

  it('refuses an account after ten wrong codes within an hour, whatever addresses they come from', async () => {
    const [other, { person, key }] = [await enrol(), await enrol()];
    const asked = await askedFor(person);
    for (let tries = 0; tries < 10; tries += 1) {
      pass(30);
      assert.equal((await answer(asked, '000000', `203.0.113.${tries}`)).status, 422);
    }
    assert.equal((await answer(await askedFor(person), codeOf(key), '203.0.113.99')).status, 429);
    assert.equal((await answer(await askedFor(other.person), codeOf(other.key))).status, 303);
    pass(61);
    assert.equal((await answer(await askedFor(person), codeOf(key))).status, 303);
  });

  it('counts wrong codes that are sent at once as if they came in turn', async () => {
    const { person } = await enrol();
    const asked = await askedFor(person);
    const tries = Array.from(
      { length: 24 },
      async (_, at) => await answer(asked, '000000', `198.51.100.${at}`),
    );
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 422).length, 10);
    pass(3 * 3600);
  });

  it('a question asked for the old password ends with it', async () => {
    const { person, key } = await enrol();
    const asked = await askedFor(person);
    await gantry.api(`PUT /users/${person.id}`, { json: { password: 'another horse battery' } });
    assert.equal((await answer(asked, codeOf(key))).location, '/users/sign_in');
    assert.equal(await isSignedIn(asked.browser), false);
  });

  it('a password alone opens nothing else either', async () => {
    const { person } = await enrol();
    const form = new URLSearchParams({ grant_type: 'password', username: person.username, password });
    const response = await fetch(`${gantry.url}/oauth/token`, { method: 'POST', body: form });
    assert.equal(response.status, 400);
    assert.equal(((await response.json()) as { error: string }).error, 'invalid_grant');
  });
});

describe('later', () => {
  it('new recovery codes, for the password, end the old ones', async () => {
    const { person, browser, codes } = await enrol();
    await browser.get(path);
    const post = `${path}/recovery_codes`;
    assert.equal((await browser.post(post, { current_password: 'wrong' })).status, 422);
    const fresh = codesIn(await browser.post(post, { current_password: password }));
    assert.equal(new Set([...fresh, ...codes]).size, 20);
    assert.equal((await answer(await askedFor(person), codes[0] ?? '')).status, 422);
    assert.equal((await answer(await askedFor(person), fresh[0] ?? '')).status, 303);
  });

  it('is turned off with the password: then that is enough again', async () => {
    const { person, browser } = await enrol();
    await browser.get(path);
    assert.equal((await browser.post(`${path}/disable`, { current_password: 'wrong' })).status, 422);
    assert.equal((await browser.post(`${path}/disable`, { current_password: password })).status, 303);
    await openVisitor(gantry).signIn(person.username, password);
    assert.equal((await gantry.api(`GET /users/${person.id}`)).body.two_factor_enabled, false);
  });

  it('is told in the audit log', async () => {
    const { person } = await enrol();
    const { body } = await gantry.api(`GET /audit_events?kind=two_factor.enabled&actor_id=${person.id}`);
    assert.deepEqual([body.length, body[0].target_id], [1, person.id]);
  });

  it('goes with its user', async () => {
    const { person } = await enrol();
    assert.equal((await gantry.api(`DELETE /users/${person.id}`)).status, 204);
  });
});
