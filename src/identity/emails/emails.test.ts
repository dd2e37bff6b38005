/** Further addresses of users: the API, mails through a real SMTP server, and pages. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { type MailingService, startMailingService } from '../../../test/support/mail.ts';
import { type SeededUser, seedProject, seedUser, unique } from '../../../test/support/seed.ts';
import type { ReceivedMail } from '../../../test/support/servers/smtp.ts';
import { engine } from '../../../test/support/service.ts';
import { openVisitor } from '../../../test/support/visitor.ts';

let gantry: MailingService;
let user: SeededUser;
let other: SeededUser;
const password = 'correct horse battery';

before(async () => void (gantry = await startMailingService({})));
after(async () => await gantry.close());
beforeEach(async () => {
  gantry.setTime(null);
  [user, other] = [await seedUser(gantry, { password }), await seedUser(gantry)];
  await gantry.service.worker.drain();
  gantry.smtp.clear();
});

const fresh = (): string => `${unique('further')}@example.com`;

const add = async (email: string, { token: as } = user) =>
  await gantry.api('POST /user/emails', { as, json: { email } });

const linkTo = async (email: string): Promise<string> => {
  await gantry.service.worker.drain();
  // Not an invitation, which may go out at the same time.
  const asksForConfirmation = ({ to, text }: ReceivedMail): boolean =>
    to.includes(email) && !text.includes('/users/invitation?');
  const mail = gantry.smtp.received.findLast(asksForConfirmation);
  const url = /https?:\S+\?token=\S+/.exec(mail?.text ?? '')?.[0] ?? '';
  assert.ok(url.startsWith(gantry.url), mail?.text ?? 'no mail');
  return url.slice(gantry.url.length);
};

const confirm = async (link: string) => {
  const visitor = openVisitor(gantry);
  const shown = await visitor.get(link);
  const token = new URLSearchParams(link.split('?')[1]).get('token') ?? '';
  return { shown, done: await visitor.post('/users/emails/confirmation', { token }) };
};

const addConfirmed = async (by = user): Promise<{ id: number; email: string }> => {
  const email = fresh();
  const { id } = (await add(email, by)).body;
  assert.equal((await confirm(await linkTo(email))).done.status, 303);
  return { id, email };
};

/** On PostgreSQL, waits until a transaction waits for a lock. On SQLite, one transaction waits for the other anyway. */
const untilBlocked = async (): Promise<void> => {
  if (engine !== 'postgres') return;
  const { db } = gantry.service.platform.store;
  for (let tries = 0; tries < 200; tries += 1) {
    const { rows } = await sql`select 1 from pg_locks where not granted`.execute(db);
    if (rows.length > 0) return;
    await wait(20);
  }
};

test('an address is added, listed, confirmed by its mail, and deleted', async () => {
  const email = fresh();
  const made = await add(` ${email.toUpperCase()} `);
  assert.deepEqual([made.status, made.body], [201, { id: made.body.id, email, confirmed_at: null }]);
  const one = `/user/emails/${made.body.id}`;
  assert.deepEqual((await gantry.api('GET /user/emails', { as: user.token })).body, [made.body]);
  assert.deepEqual((await gantry.api(`GET ${one}`, { as: user.token })).body, made.body);
  const link = await linkTo(email);
  assert.deepEqual(gantry.smtp.received.length, 1);
  const { shown, done } = await confirm(link);
  assert.ok(shown.text.includes(`Confirm that ${email} is yours`));
  assert.equal(done.location, '/users/sign_in');
  const confirmed = (await gantry.api(`GET ${one}`, { as: user.token })).body;
  assert.match(confirmed.confirmed_at, /^\d{4}-/);
  assert.equal((await confirm(link)).done.status, 422);
  for (const [line, as] of [
    [`GET ${one}`, other.token],
    [`DELETE ${one}`, other.token],
  ] as const) {
    const { status, body } = await gantry.api(line, { as });
    assert.deepEqual([status, body], [404, { message: '404 Email Not Found' }]);
  }
  assert.equal((await gantry.api(`DELETE ${one}`, { as: user.token })).status, 204);
  assert.deepEqual((await gantry.api('GET /user/emails', { as: user.token })).body, []);
});

test('an address belongs to one user', async () => {
  const { email } = await addConfirmed();
  const taken = { message: { email: ['has already been taken'] } };
  for (const used of [email, `${user.username}@example.com`, `${other.username}@example.com`]) {
    const { status, body } = await add(used, other);
    assert.deepEqual([status, body], [400, taken], used);
  }
  const json = { username: unique('new'), name: 'New', password, email };
  assert.equal((await gantry.api('POST /users', { json })).status, 409);
  assert.equal((await gantry.api(`PUT /users/${other.id}`, { json: { email } })).status, 409);
  for (const [bad, why] of [
    ['', "can't be blank"],
    ['nobody', 'is invalid'],
    ['x'.repeat(300), 'is too long (maximum is 255 characters)'],
  ] as const) {
    const { status, body } = await add(bad);
    assert.deepEqual([status, body], [400, { message: { email: [why] } }]);
  }
});

test('an unconfirmed address keeps nobody from their own', async () => {
  const [pending, later] = [fresh(), fresh()];
  const first = await add(pending);
  await add(later);
  assert.equal((await add(later, other)).status, 400);
  const json = { username: unique('new'), name: 'New', password, email: pending };
  const { status, text } = await gantry.api('POST /users', { json });
  assert.equal(status, 201, text);
  assert.equal((await gantry.api(`GET /user/emails/${first.body.id}`, { as: user.token })).status, 404);
  gantry.setTime(Date.now() + 3 * 86_400_000 + 1_000);
  assert.equal((await add(later, other)).status, 201);
});

test('simultaneous additions of an address have one winner', async () => {
  const email = fresh();
  const made = await Promise.all([user, other, user].map(async (by) => (await add(email, by)).status));
  assert.deepEqual(
    made.toSorted((a, b) => a - b),
    [201, 400, 400],
  );
});

test('a link works for three days, for its address, and not for an address that an account took', async () => {
  const email = fresh();
  await add(email);
  const link = await linkTo(email);
  const own = openVisitor(gantry);
  for (const wrong of [`${link}x`, link.replace(/token=\d+/, 'token=1'), '/users/emails/confirmation'])
    assert.equal((await own.get(wrong)).status, 422, wrong);
  gantry.setTime(Date.now() + 3 * 86_400_000 + 1_000);
  assert.equal((await confirm(link)).done.status, 422);
});

test('users have at most twenty addresses, and request ten mails in ten minutes', async () => {
  const statuses: number[] = [];
  for (let at = 0; at < 11; at += 1) statuses.push((await add(fresh())).status);
  assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 201), 429]);
  for (let at = 0; at < 10; at += 1) {
    const json = { email: fresh(), skip_confirmation: true };
    assert.equal((await gantry.api(`POST /users/${user.id}/emails`, { json })).status, 201);
  }
  const full = await gantry.api(`POST /users/${user.id}/emails`, { json: { email: fresh() } });
  assert.deepEqual(
    [full.status, full.body.message.base],
    [400, ['Maximum number of e-mail addresses (20) exceeded']],
  );
});

test('administrators list, add and delete the addresses of users', async () => {
  const [email, pending] = [fresh(), fresh()];
  const path = `/users/${user.id}/emails`;
  const made = await gantry.api(`POST ${path}`, { json: { email, skip_confirmation: true } });
  assert.equal(made.status, 201);
  assert.match(made.body.confirmed_at, /^\d{4}-/);
  const second = await gantry.api(`POST ${path}`, { json: { email: pending } });
  assert.equal(second.body.confirmed_at, null);
  await linkTo(pending);
  assert.equal(gantry.smtp.received.length, 1);
  assert.deepEqual((await gantry.api(`GET ${path}`)).body, [made.body, second.body]);
  assert.deepEqual((await gantry.api(`GET ${path}/${made.body.id}`)).body, made.body);
  for (const line of [`GET ${path}`, `POST ${path}`, `DELETE ${path}/${made.body.id}`])
    assert.equal(
      (await gantry.api(line, { as: user.token, ...(line.startsWith('POST') && { json: { email } }) }))
        .status,
      403,
    );
  assert.equal((await gantry.api(`DELETE ${path}/${made.body.id}`)).status, 204);
  assert.equal((await gantry.api('GET /users/999999/emails')).status, 404);
});

test('a confirmed address signs in, takes invitations, and can be the public one and that of the account', async () => {
  const unconfirmed = fresh();
  await add(unconfirmed);
  const { id, email } = await addConfirmed();
  const visitor = openVisitor(gantry);
  await visitor.get('/users/sign_in');
  assert.equal((await visitor.post('/users/sign_in', { login: unconfirmed, password })).status, 422);
  assert.equal((await visitor.post('/users/sign_in', { login: email, password })).status, 303);
  const project = await seedProject(gantry);
  const invited = fresh();
  await gantry.api(`POST /projects/${project.id}/invitations`, {
    json: { email: invited, access_level: 30 },
  });
  await add(invited);
  await gantry.service.worker.drain();
  await confirm(await linkTo(invited));
  assert.equal((await gantry.api(`GET /projects/${project.id}/members/${user.id}`)).body.access_level, 30);
  const set = async (json: object) => await gantry.api(`PUT /users/${user.id}`, { json });
  assert.equal((await set({ public_email: unconfirmed })).status, 400);
  assert.equal((await set({ public_email: email })).body.public_email, email);
  assert.equal((await gantry.api(`DELETE /user/emails/${id}`, { as: user.token })).status, 204);
  assert.equal((await gantry.api(`GET /users/${user.id}`)).body.public_email, null);
  const next = await addConfirmed();
  assert.equal((await set({ email: next.email })).body.email, next.email);
  assert.equal((await gantry.api(`GET /user/emails/${next.id}`, { as: user.token })).status, 404);
});

test('the page adds, resends and deletes addresses', async () => {
  const visitor = openVisitor(gantry);
  await visitor.signIn(user.username, password);
  const email = fresh();
  await visitor.get('/profile/emails');
  assert.equal(
    (await visitor.post('/profile/emails', { email: 'nobody', current_password: password })).status,
    422,
  );
  assert.equal(
    (await visitor.post('/profile/emails', { email, current_password: password })).location,
    '/profile/emails',
  );
  const first = await linkTo(email);
  const shown = await visitor.get('/profile/emails');
  assert.ok(shown.text.includes(email) && shown.text.includes('Not confirmed'));
  const [, id = ''] = /\/profile\/emails\/(\d+)\/resend/.exec(shown.text) ?? [];
  gantry.setTime(Date.now() + 1_000);
  await visitor.post(`/profile/emails/${id}/resend`);
  const second = await linkTo(email);
  assert.notEqual(second, first);
  await confirm(second);
  const confirmed = await visitor.get('/profile/emails');
  assert.ok(confirmed.text.includes('Confirmed') && !confirmed.text.includes('/resend'));
  assert.equal((await visitor.post(`/profile/emails/${id}/delete`)).location, '/profile/emails');
  assert.ok(!(await visitor.get('/profile/emails')).text.includes(email));
});

test('an invitation of a confirmed address makes its account a member at once', async () => {
  const { email } = await addConfirmed();
  const project = await seedProject(gantry);
  await gantry.api(`POST /projects/${project.id}/invitations`, { json: { email, access_level: 30 } });
  assert.equal((await gantry.api(`GET /projects/${project.id}/members/${user.id}`)).body.access_level, 30);
});

test('a confirmed address resets the password, which proves no other address', async () => {
  const { id, email } = await addConfirmed();
  const pending = fresh();
  await add(pending);
  await gantry.service.worker.drain();
  const { store } = gantry.service.platform;
  await store.write(
    async ({ db }) =>
      await db.updateTable('users').set({ email_unchecked: 1 }).where('id', '=', user.id).execute(),
  );
  gantry.smtp.clear();
  const visitor = openVisitor(gantry);
  await visitor.get('/users/password/new');
  for (const address of [pending, email, email]) await visitor.post('/users/password', { email: address });
  const link = await linkTo(email);
  assert.deepEqual(
    gantry.smtp.received.map(({ to }) => to),
    [[email]],
  );
  const token = new URLSearchParams(link.split('?')[1]).get('token') ?? '';
  const set = async (word: string) => {
    await visitor.get('/users/password/new');
    return await visitor.post('/users/password/edit', { token, password: word });
  };
  assert.equal((await set('battery staple')).location, '/users/sign_in');
  assert.equal((await set(password)).status, 422);
  await openVisitor(gantry).signIn(user.username, 'battery staple');
  const { email_unchecked } = await store.db
    .selectFrom('users')
    .select('email_unchecked')
    .where('id', '=', user.id)
    .executeTakeFirstOrThrow();
  assert.equal(email_unchecked, 1);
  gantry.setTime(Date.now() + 300_000);
  await visitor.get('/users/password/new');
  await visitor.post('/users/password', { email });
  const second = await linkTo(email);
  await gantry.api(`DELETE /user/emails/${id}`, { as: user.token });
  assert.equal((await visitor.get(second)).status, 422);
});

test('the address of the account learns of another one', async () => {
  const { email } = await addConfirmed();
  await gantry.service.worker.drain();
  const mail = gantry.smtp.received.findLast(({ to }) => to.includes(`${user.username}@example.com`));
  assert.match(mail?.text ?? '', new RegExp(`${email} was added to your account`));
});

test('the page needs the password, and the profile keeps the address that is shown', async () => {
  const visitor = openVisitor(gantry);
  await visitor.signIn(user.username, password);
  await visitor.get('/profile/emails');
  for (const current_password of ['', 'wrong'])
    assert.equal((await visitor.post('/profile/emails', { email: fresh(), current_password })).status, 422);
  assert.deepEqual((await gantry.api('GET /user/emails', { as: user.token })).body, []);
  const { email } = await addConfirmed();
  await gantry.api(`PUT /users/${user.id}`, { json: { public_email: email } });
  await visitor.get('/profile');
  const profile = {
    name: 'Renamed',
    email: `${user.username}@example.com`,
    bio: '',
    location: '',
    organization: '',
    website_url: '',
  };
  const saved = await visitor.post('/profile', { ...profile, show_email: '1' });
  assert.equal(saved.status, 303, saved.text);
  const { body } = await gantry.api(`GET /users/${user.id}`);
  assert.deepEqual([body.name, body.public_email], ['Renamed', email]);
});

test('an address that is being confirmed is not taken by another account', async () => {
  const email = fresh();
  const { id } = (await add(email)).body;
  const { store } = gantry.service.platform;
  const { promise: isUpdated, resolve: onUpdated } = Promise.withResolvers<void>();
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  const confirming = store.write(async ({ db, now }) => {
    await db.updateTable('emails').set({ confirmed_at: now }).where('id', '=', id).execute();
    onUpdated();
    await isReleased;
  });
  await isUpdated;
  const taking = gantry.api(`PUT /users/${other.id}`, { json: { email } });
  await untilBlocked();
  release();
  await confirming;
  assert.equal((await taking).status, 409);
});
