/** Invitations by e-mail, over the API, pages and a real SMTP server. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type MailingService, startMailingService } from '../../../../test/support/mail.ts';
import {
  type SeededUser,
  seedGroup,
  seedMember,
  seedProject,
  seedUser,
  unique,
} from '../../../../test/support/seed.ts';
import { openVisitor } from '../../../../test/support/visitor.ts';
import { sendInvitationWork } from '../../../core/mail/enqueue_mails.ts';
import { enqueue } from '../../../platform/queue/enqueue.ts';

const password = 'correct horse';

let gantry: MailingService;
let owner: SeededUser;
let project: { id: number; full_path: string };
let group: { id: number; full_path: string };

before(async () => void (gantry = await startMailingService({ GANTRY_CONFIRM_ADDRESSES: 'true' })));
after(async () => await gantry.close());
beforeEach(async () => {
  gantry.smtp.clear();
  owner = await seedUser(gantry);
  group = await seedGroup(gantry, { visibility: 'private' });
  project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  await seedMember(gantry, { user: owner.id, project: project.id, access_level: 40 });
  await seedMember(gantry, { user: owner.id, group: group.id, access_level: 50 });
});

const path = (): string => `/projects/${project.id}/invitations`;
const invite = async (json: object, as = owner.token, of = path()) =>
  await gantry.api(`POST ${of}`, { as, json: { access_level: 30, ...json } });
const list = async (query = '', of = path()) => await gantry.api(`GET ${of}?${query}`, { as: owner.token });
const roleOf = async (username: string): Promise<number | undefined> =>
  (await gantry.api(`GET /projects/${project.id}/members?query=${username}`)).body[0]?.access_level;

/** The path of the link in the mail to an address. */
const linkTo = async (username: string): Promise<string> => {
  const [mail] = await gantry.mailsTo({ username });
  const url = /https?:\S+\?token=\S+/.exec(mail?.text ?? '')?.[0] ?? '';
  assert.ok(url.startsWith(gantry.url), mail?.text ?? 'no mail');
  return url.slice(gantry.url.length);
};
const tokenOf = (link: string): string => new URLSearchParams(link.split('?')[1]).get('token') ?? '';

describe('the API', () => {
  it('invites addresses, lists, changes and withdraws', async () => {
    const [one, other] = [unique('one'), unique('other')];
    const email = `${one}@Example.com, ${other}@example.com,${one}@example.com`;
    const made = await invite({ email, expires_at: '2100-01-31' });
    assert.deepEqual([made.status, made.body], [201, { status: 'success' }]);
    const { body, headers } = await list('per_page=1');
    assert.deepEqual([body.length, headers.get('x-total')], [1, '2']);
    const found = (await list(`query=${one.toUpperCase()}`)).body;
    const { id, created_at, ...rest } = found[0];
    assert.deepEqual([typeof id, typeof created_at, found.length], ['number', 'string', 1]);
    assert.deepEqual(rest, {
      invite_email: `${one}@example.com`,
      access_level: 30,
      expires_at: '2100-01-31',
      user_name: null,
      created_by_name: (await gantry.api(`GET /users/${owner.id}`)).body.name,
    });
    const again = await invite({ email: `${one}@example.com,x@,${unique('third')}@example.com` });
    assert.deepEqual(again.body, {
      status: 'error',
      message: {
        'x@': 'Invite email is invalid',
        [`${one}@example.com`]: 'Invite email has already been taken',
      },
    });
    const line = `${path()}/${encodeURIComponent(`${one}@example.com`)}`;
    const changed = await gantry.api(`PUT ${line}`, {
      as: owner.token,
      json: { access_level: 20, expires_at: '' },
    });
    assert.deepEqual([changed.status, changed.body.access_level, changed.body.expires_at], [200, 20, null]);
    assert.equal((await gantry.api(`DELETE ${line}`, { as: owner.token })).status, 204);
    assert.equal((await gantry.api(`DELETE ${line}`, { as: owner.token })).status, 404);
    assert.equal((await gantry.api(`PUT ${line}`, { as: owner.token })).status, 404);
  });

  it('adds users by id, and accounts with a confirmed address, at once', async () => {
    const [byId, byEmail, member] = [await seedUser(gantry), await seedUser(gantry), await seedUser(gantry)];
    await seedMember(gantry, { user: member.id, project: project.id, access_level: 20 });
    const reply = await invite({
      user_id: `${byId.id},${member.id},999999`,
      email: `${byEmail.username}@example.com`,
    });
    assert.deepEqual(reply.body, {
      status: 'error',
      message: { [member.username]: 'User already exists in source', 999999: 'User not found' },
    });
    assert.deepEqual(
      [await roleOf(byId.username), await roleOf(byEmail.username), await roleOf(member.username)],
      [30, 30, 20],
    );
    assert.deepEqual((await list()).body, []);
  });

  it('refuses roles above the caller’s role, bad parameters, and callers who do not administer members', async () => {
    const email = `${unique('x')}@example.com`;
    assert.equal((await invite({ email, access_level: 50 })).status, 400);
    assert.equal((await invite({ email, access_level: 7 })).status, 400);
    assert.equal((await invite({ email, expires_at: '2001-01-01' })).status, 400);
    assert.equal((await invite({})).status, 400);
    assert.equal(
      (await invite({ email: Array.from({ length: 101 }, (_, at) => `a${at}@b.c`).join() })).status,
      400,
    );
    const master = await seedUser(gantry);
    await seedMember(gantry, { user: master.id, group: group.id, access_level: 40 });
    const ofGroup = `/groups/${group.id}/invitations`;
    assert.equal((await invite({ email }, master.token, ofGroup)).status, 403);
    assert.equal((await invite({ email, access_level: 50 }, owner.token, ofGroup)).status, 201);
    const developer = await seedUser(gantry);
    await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
    assert.equal((await invite({ email }, developer.token)).status, 403);
    assert.equal((await gantry.api(`GET ${path()}`, { as: developer.token })).status, 403);
    assert.equal((await invite({ email }, (await seedUser(gantry)).token)).status, 404);
    assert.deepEqual((await list()).body, []);
  });

  it('one address can be invited only so often', async () => {
    const username = unique('flooded');
    const email = `${username}@example.com`;
    const line = `${path()}/${encodeURIComponent(email)}`;
    for (let count = 0; count < 5; count += 1) {
      assert.equal((await invite({ email })).body.status, 'success');
      await gantry.api(`DELETE ${line}`, { as: owner.token });
    }
    assert.deepEqual((await invite({ email })).body, {
      status: 'error',
      message: { [email]: 'Invite email was invited too often' },
    });
  });

  it('one user can invite only so many addresses', async () => {
    const email = Array.from({ length: 100 }, (_, at) => `${at}@`).join();
    for (let count = 0; count < 3; count += 1) assert.equal((await invite({ email })).status, 201);
    const { status, headers } = await invite({ email });
    assert.equal(status, 429);
    assert.ok(Number(headers.get('retry-after')) > 3_000);
  });
});

describe('an invitation of somebody who may no longer invite', () => {
  const endings: [name: string, end: () => Promise<unknown>][] = [
    ['blocked', async () => await gantry.api(`POST /users/${owner.id}/block`)],
    ['deleted', async () => await gantry.api(`DELETE /users/${owner.id}`)],
    [
      'demoted',
      async () =>
        await gantry.api(`PUT /projects/${project.id}/members/${owner.id}`, { json: { access_level: 30 } }),
    ],
  ];
  for (const [name, end] of endings)
    it(`gives nothing, and sends no mail: ${name}`, async () => {
      const invited = await seedUser(gantry, { password });
      const setUnchecked = async (email_unchecked: 0 | 1): Promise<void> =>
        await gantry.service.platform.store.write(
          async ({ db }) =>
            void (await db
              .updateTable('users')
              .set({ email_unchecked })
              .where('id', '=', invited.id)
              .execute()),
        );
      const other = await seedUser(gantry);
      await seedMember(gantry, { user: other.id, group: group.id, access_level: 50 });
      await gantry.api(`DELETE /groups/${group.id}/members/${owner.id}`);
      await setUnchecked(1);
      await invite({ email: `${invited.username}@example.com` });
      const link = await linkTo(invited.username);
      await end();
      await gantry.service.platform.store.write(async (tx) => {
        const { id } = await tx.db
          .updateTable('invitations')
          .set({ mailed_at: null })
          .where('email', '=', `${invited.username}@example.com`)
          .returning('id')
          .executeTakeFirstOrThrow();
        await enqueue(tx, sendInvitationWork, { invitation_id: id });
      });
      gantry.smtp.clear();
      assert.deepEqual(await gantry.mailsTo(invited), []);
      await setUnchecked(0);
      const visitor = openVisitor(gantry);
      await visitor.signIn(invited.username, password);
      assert.equal(await roleOf(invited.username), undefined);
      await visitor.get('/');
      assert.equal((await visitor.post('/users/invitation/accept', { token: tokenOf(link) })).status, 422);
    });
});

describe('a link', () => {
  it('lets people sign up with a confirmed address, once', async () => {
    const username = unique('invited');
    await invite({ email: `${username}@example.com` });
    const link = await linkTo(username);
    const visitor = openVisitor(gantry);
    const shown = await visitor.get(link);
    assert.match(shown.text, new RegExp(`invited <strong>${username}@example.com</strong> to the project`));
    const form = await visitor.get(`/users/sign_up?invitation=${tokenOf(link)}`);
    assert.match(form.text, new RegExp(`value="${username}@example.com"`));
    const filled = { name: 'Invited', username, password, invitation: tokenOf(link) };
    const other = openVisitor(gantry);
    await other.get('/users/sign_up');
    const stolen = { ...filled, username: unique('thief'), email: `${unique('thief')}@example.com` };
    assert.equal((await other.post('/users/sign_up', stolen)).location, '/users/sign_in');
    assert.equal(await roleOf(stolen.username), undefined);
    const signedUp = await visitor.post('/users/sign_up', { ...filled, email: `${username}@example.com` });
    assert.deepEqual([signedUp.status, signedUp.location], [303, '/']);
    assert.equal(await roleOf(username), 30);
    assert.deepEqual((await list()).body, []);
    assert.equal((await openVisitor(gantry).get(link)).status, 422);
    const { db } = gantry.service.platform.store;
    const stored = JSON.stringify([
      await db.selectFrom('work').selectAll().execute(),
      await db.selectFrom('audit_events').selectAll().execute(),
    ]);
    assert.ok(!stored.includes(tokenOf(link)));
  });

  it('works only for the account that has the address, which it confirms', async () => {
    const username = unique('there');
    const email = `${username}@example.com`;
    await openVisitor(gantry).get('/users/sign_up');
    const { body } = await gantry.api('POST /users', { json: { username, name: 'There', email, password } });
    const setUnchecked = async (email_unchecked: 0 | 1): Promise<void> =>
      await gantry.service.platform.store.write(
        async ({ db }) =>
          void (await db.updateTable('users').set({ email_unchecked }).where('id', '=', body.id).execute()),
      );
    await setUnchecked(1);
    await invite({ email });
    assert.equal(await roleOf(username), undefined);
    const link = await linkTo(username);
    const stranger = await seedUser(gantry, { password });
    const wrong = openVisitor(gantry);
    await wrong.signIn(stranger.username, password);
    assert.match((await wrong.get(link)).text, /Your account has another address/);
    assert.equal((await wrong.post('/users/invitation/accept', { token: tokenOf(link) })).status, 422);
    await setUnchecked(0);
    const visitor = openVisitor(gantry);
    await visitor.signIn(username, password);
    // Signing in with a confirmed address accepts, too.
    assert.equal(await roleOf(username), 30);
    assert.equal((await visitor.get(link)).status, 422);
  });

  it('no longer works once the invitation is withdrawn, declined or over, or altered', async () => {
    const [one, other] = [unique('one'), unique('other')];
    await invite({ email: `${one}@example.com,${other}@example.com` });
    const [link, second] = [await linkTo(one), await linkTo(other)];
    assert.equal((await openVisitor(gantry).get(`${link}x`)).status, 422);
    const line = `${path()}/${encodeURIComponent(`${one}@example.com`)}`;
    await gantry.api(`DELETE ${line}`, { as: owner.token });
    assert.equal((await openVisitor(gantry).get(link)).status, 422);
    await invite({ email: `${one}@example.com` });
    assert.equal((await openVisitor(gantry).get(link)).status, 422, 'a later invitation has another link');
    const visitor = openVisitor(gantry);
    assert.equal((await visitor.get(second)).status, 200);
    await visitor.get('/users/sign_up');
    const declined = await visitor.post('/users/invitation/decline', { token: tokenOf(second) });
    assert.equal(declined.status, 303);
    assert.equal((await visitor.get(second)).status, 422);
  });
});

describe('the page of members', () => {
  it('the page of members invites addresses, lists and withdraws invitations', async () => {
    const member = await seedUser(gantry, { password });
    await seedMember(gantry, { user: member.id, project: project.id, access_level: 40 });
    const visitor = openVisitor(gantry);
    await visitor.signIn(member.username, password);
    const page = `/${project.full_path}/-/project_members`;
    await visitor.get(page);
    const email = `${unique('paged')}@example.com`;
    const sent = { email, access_level: '20', expires_at: '' };
    const invited = await visitor.post(`${page}/invitations`, sent);
    assert.deepEqual([invited.status, invited.location], [303, page]);
    const shown = await visitor.get(page);
    assert.match(shown.text, new RegExp(`${email}[\\s\\S]*Reporter[\\s\\S]*Withdraw`));
    const again = await visitor.post(`${page}/invitations`, sent);
    assert.equal(again.status, 422);
    assert.match(again.text, /Invite email has already been taken/);
    assert.equal((await visitor.post(`${page}/invitations`, { ...sent, email: '' })).status, 422);
    const withdrawn = await visitor.post(`${page}/invitations/remove`, { email });
    assert.deepEqual([withdrawn.status, withdrawn.location], [303, page]);
    assert.doesNotMatch((await visitor.get(page)).text, new RegExp(email));
  });
});
