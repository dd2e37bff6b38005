/** Links by mail, through pages and a real SMTP server: forgotten passwords, and the confirmation of addresses. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type MailingService, startMailingService } from '../../../test/support/mail.ts';
import { freshKey } from '../../../test/support/repositories/ssh_keys.ts';
import { unique } from '../../../test/support/seed.ts';
import { startTestService } from '../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../test/support/visitor.ts';

const [oldPassword, newPassword] = ['correct horse', 'battery staple'];
const sameAnswer = 'If an account has this address, it gets a mail with a link.';

let gantry: MailingService;
let user: { id: number; username: string };

const addUser = async (): Promise<typeof user> => {
  const username = unique('forgetful');
  const json = { username, name: 'Somebody', email: `${username}@example.com`, password: oldPassword };
  const { status, body, text } = await gantry.api('POST /users', { json });
  assert.equal(status, 201, text);
  return body;
};

const start = async (environment: Record<string, string>): Promise<void> =>
  void (gantry = await startMailingService(environment));

/** The path of the link in the last mail to a user. */
const lastLink = async (to: { username: string }): Promise<string> => {
  const mail = (await gantry.mailsTo(to)).at(-1);
  const url = /https?:\S+\?token=\S+/.exec(mail?.text ?? '')?.[0] ?? '';
  assert.ok(url.startsWith(gantry.url), mail?.text ?? 'no mail');
  return url.slice(gantry.url.length);
};

const requestReset = async (email: string, visitor = openVisitor(gantry)) => {
  await visitor.get('/users/password/new');
  return await visitor.post('/users/password', { email });
};

const tokenOf = (path: string): string => new URLSearchParams(path.split('?')[1]).get('token') ?? '';

const setPassword = async (path: string, password: string, visitor: Visitor = openVisitor(gantry)) => {
  await visitor.get('/users/password/new');
  return await visitor.post('/users/password/edit', { token: tokenOf(path), password });
};

const canSignIn = async (password: string, { username } = user): Promise<boolean> => {
  const visitor = openVisitor(gantry);
  await visitor.get('/users/sign_in');
  return (await visitor.post('/users/sign_in', { login: username, password })).status === 303;
};

describe('a forgotten password', () => {
  before(async () => await start({}));
  after(async () => await gantry.close());
  beforeEach(async () => {
    gantry.setTime(null);
    user = await addUser();
    gantry.smtp.clear();
  });

  it('is replaced by a link that works once, ends sessions, and is kept nowhere', async () => {
    const browser = openVisitor(gantry);
    await browser.signIn(user.username, oldPassword);
    assert.match((await browser.get('/users/sign_in')).text, /^/);
    assert.match((await openVisitor(gantry).get('/users/sign_in')).text, /href="\/users\/password\/new"/);
    await requestReset(`${user.username.toUpperCase()}@Example.com `);
    const link = await lastLink(user);
    const shown = await openVisitor(gantry).get(link);
    assert.equal(shown.status, 200);
    assert.match(shown.text, /<h1>Choose a new password<\/h1>/);
    assert.match(shown.text, /id="password_hint">8 to 128 characters; common passwords are refused\./);
    assert.match(
      shown.text,
      /id="password" name="password" type="password"[^>]* autocomplete="new-password"/,
    );
    assert.equal((await setPassword(link, 'short')).status, 422);
    const changed = await setPassword(link, newPassword);
    assert.deepEqual([changed.status, changed.location], [303, '/users/sign_in']);
    assert.deepEqual([await canSignIn(oldPassword), await canSignIn(newPassword)], [false, true]);
    assert.equal((await browser.get('/profile')).status, 302);
    assert.equal((await setPassword(link, oldPassword)).status, 422);
    assert.equal((await openVisitor(gantry).get(link)).status, 422);
    assert.equal(await canSignIn(newPassword), true);
    const { db } = gantry.service.platform.store;
    const stored = JSON.stringify([
      await db.selectFrom('mails').selectAll().execute(),
      await db.selectFrom('work').selectAll().execute(),
      await db.selectFrom('audit_events').selectAll().execute(),
    ]);
    assert.ok(!stored.includes(tokenOf(link)));
    assert.match(stored, /user\.password_reset/);
  });

  it('is mailed about once it is changed, as is an SSH key', async () => {
    await requestReset(`${user.username}@example.com`);
    await setPassword(await lastLink(user), newPassword);
    const browser = openVisitor(gantry);
    await browser.signIn(user.username, newPassword);
    await browser.get('/profile/password');
    const passwords = {
      current_password: newPassword,
      password: oldPassword,
      password_confirmation: oldPassword,
    };
    // All is sent before the clock moves, for work whose lease has expired runs again.
    assert.equal((await gantry.mailsTo(user)).length, 2);
    gantry.setTime(Date.now() + 120_000);
    assert.equal((await browser.post('/profile/password', passwords)).status, 303);
    const added = await gantry.api(`POST /users/${user.id}/keys`, {
      json: { title: 'laptop', key: freshKey() },
    });
    assert.equal(added.status, 201, added.text);
    const subjects = (await gantry.mailsTo(user)).map(({ subject }) => subject);
    assert.deepEqual(subjects.toSorted(), [
      'An SSH key was added to your account',
      'Reset your password',
      'Your password was changed',
      'Your password was changed',
    ]);
  });

  it('gives the same answer for an address without an account, and to blocked users', async () => {
    await gantry.api(`POST /users/${user.id}/block`);
    const answers = [
      await requestReset(`${user.username}@example.com`),
      await requestReset('nobody@example.com'),
    ];
    for (const { status, location } of answers) assert.deepEqual([status, location], [303, '/users/sign_in']);
    const visitor = openVisitor(gantry);
    await requestReset('nobody@example.com', visitor);
    assert.ok((await visitor.get('/users/sign_in')).text.includes(sameAnswer));
    await gantry.service.worker.drain();
    assert.deepEqual(gantry.smtp.received, []);
  });

  it('takes only links that are signed, of this user, and not expired', async () => {
    await requestReset(`${user.username}@example.com`);
    const link = await lastLink(user);
    const token = tokenOf(link);
    for (const wrong of ['', 'x', token.slice(1), `${token}x`, token.replace(/^\d+/, '1')])
      assert.equal((await setPassword(`?token=${wrong}`, newPassword)).status, 422, wrong);
    gantry.setTime(Date.now() + 2 * 3_600_000 + 1000);
    assert.equal((await setPassword(link, newPassword)).status, 422);
    gantry.setTime(null);
    await gantry.api(`PUT /users/${user.id}`, { json: { email: `other-${user.username}@example.com` } });
    assert.equal((await setPassword(link, newPassword)).status, 422);
    assert.equal(await canSignIn(oldPassword), true);
  });

  it('is changed by one of two simultaneous uses of a link', async () => {
    await requestReset(`${user.username}@example.com`);
    const link = await lastLink(user);
    const replies = await Promise.all(
      [newPassword, 'another battery'].map(async (word) => await setPassword(link, word)),
    );
    assert.deepEqual(
      replies.map(({ status }) => status).toSorted((a, b) => a - b),
      [303, 422],
    );
  });

  it('is mailed about at most once in five minutes, and asked for ten times by one address', async () => {
    const start = Math.ceil(Date.now() / 300_000) * 300_000;
    gantry.setTime(start + 3_600_000);
    const answers: number[] = [];
    for (let n = 0; n < 12; n += 1) answers.push((await requestReset(`${user.username}@example.com`)).status);
    assert.deepEqual([answers[0], answers.at(-1)], [303, 429]);
    assert.equal((await gantry.mailsTo(user)).length, 1);
    gantry.setTime(start + 7_200_000);
    const together = Array.from({ length: 30 }, async () => await requestReset('nobody@example.com'));
    const accepted = (await Promise.all(together)).filter(({ status }) => status === 303);
    assert.equal(accepted.length, 10);
    gantry.setTime(null);
  });
});

describe('an address', () => {
  before(async () => await start({ GANTRY_CONFIRM_ADDRESSES: 'true' }));
  after(async () => await gantry.close());
  beforeEach(() => gantry.smtp.clear());

  const signUp = async (): Promise<{ username: string; visitor: Visitor }> => {
    const [username, visitor] = [unique('newcomer'), openVisitor(gantry)];
    await visitor.get('/users/sign_up');
    const form = { name: username, username, email: `${username}@example.com`, password: oldPassword };
    const { status, location } = await visitor.post('/users/sign_up', form);
    assert.deepEqual([status, location], [303, '/users/sign_in']);
    return { username, visitor };
  };

  it('is confirmed by a link before the first sign-in', async () => {
    const { username, visitor } = await signUp();
    assert.ok((await visitor.get('/users/sign_in')).text.includes('Confirm your address'));
    await visitor.get('/users/sign_in');
    const refused = await visitor.post('/users/sign_in', { login: username, password: oldPassword });
    assert.equal(refused.status, 422);
    assert.match(refused.text, /Confirm your e-mail address/);
    const body = new URLSearchParams({ grant_type: 'password', username, password: oldPassword });
    assert.notEqual((await fetch(`${gantry.url}/oauth/token`, { method: 'POST', body })).status, 200);
    const link = await lastLink({ username });
    const shown = await visitor.get(link);
    assert.equal(shown.status, 200);
    const confirmed = await visitor.post('/users/confirmation/confirm', { token: tokenOf(link) });
    assert.deepEqual([confirmed.status, confirmed.location], [303, '/users/sign_in']);
    await openVisitor(gantry).signIn(username, oldPassword);
  });

  it('is mailed again on request, and gets no other mail before', async () => {
    const { username, visitor } = await signUp();
    await gantry.mailsTo({ username });
    gantry.smtp.clear();
    const { body: project } = await gantry.api('POST /projects', {
      json: { name: unique('open'), visibility: 'public' },
    });
    const json = { title: 'x', description: `@${username}` };
    await gantry.api(`POST /projects/${project.id}/issues`, { json });
    assert.deepEqual(await gantry.mailsTo({ username }), []);
    await visitor.get('/users/confirmation/new');
    await visitor.post('/users/confirmation', { email: `${username}@example.com` });
    assert.match(await lastLink({ username }), /^\/users\/confirmation\?token=/);
  });
});

describe('without a mail server', () => {
  it('without a mail server, the page says so and sends nothing', async () => {
    const silent = await startTestService();
    try {
      const visitor = openVisitor(silent);
      assert.doesNotMatch((await visitor.get('/users/sign_in')).text, /password\/new/);
      assert.match((await visitor.get('/users/password/new')).text, /sends no mail/);
      assert.equal((await visitor.post('/users/password', { email: 'root@example.com' })).status, 422);
      assert.deepEqual(await silent.service.platform.store.db.selectFrom('work').select('id').execute(), []);
    } finally {
      await silent.close();
    }
  });
});
