/** The administrators' page about mail. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type MailingService, startMailingService } from '../../../../../../test/support/mail.ts';
import { seedMember, seedProject, seedUser, unique } from '../../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type Visitor, contentIn, openVisitor } from '../../../../../../test/support/visitor.ts';

const password = 'correct horse';
let gantry: MailingService;
let admin: Visitor;
let username: string;
before(async () => {
  gantry = await startMailingService();
  username = unique('admin');
  const json = { username, name: username, email: `${username}@example.com`, password, admin: true };
  await gantry.api('POST /users', { json });
  admin = openVisitor(gantry);
  await admin.signIn(username, password);
});
after(async () => await gantry.close());

it('sends a test mail to the administrator', async () => {
  const page = await admin.get('/admin/mail');
  assert.match(page.text, /Mail is sent through 127\.0\.0\.1:\d+ as Gantry &lt;gantry@example\.com&gt;/);
  const { status, location } = await admin.post('/admin/mail/test');
  assert.deepEqual([status, location], [303, '/admin/mail']);
  const [mail] = await gantry.mailsTo({ username });
  assert.equal(mail?.subject, 'Test mail');
  const shown = contentIn(await admin.get('/admin/mail'));
  assert.match(shown, /Test mail/);
  const [, path = ''] = /href="(\/admin\/mail\/\d+)"/.exec(shown) ?? [];
  assert.match((await admin.get(path)).text, /The mail settings work\./);
  assert.equal((await admin.get('/admin/mail/999999')).status, 404);
});

it('shows the HTML of a mail on a page of its own, where nothing runs', async () => {
  const reader = await seedUser(gantry);
  const { id } = await seedProject(gantry);
  await seedMember(gantry, { user: reader.id, project: id, access_level: 30 });
  const description = `@${reader.username} <script>alert(1)</script>${'x'.repeat(30_000)}`;
  await gantry.api(`POST /projects/${id}/issues`, { json: { title: 'With <b>', description } });
  assert.equal((await gantry.mailsTo(reader)).length, 1);
  const [, path = ''] =
    /href="(\/admin\/mail\/\d+)">[^<]*With &lt;b&gt;/.exec((await admin.get('/admin/mail')).text) ?? [];
  assert.ok((await admin.get(path)).text.includes(`href="${path}/html"`));
  const { status, text, headers } = await admin.get(`${path}/html`);
  assert.equal(status, 200);
  assert.match(text, /^<!DOCTYPE html>[^]*With &lt;b&gt;[^]*&lt;script&gt;alert/);
  assert.ok(text.length <= 20_000);
  const policy = headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'.*sandbox$/);
  assert.doesNotMatch(policy, /script|allow/);
  assert.equal((await admin.get('/admin/mail/999999/html')).status, 404);
  const stranger = await seedVisitor(gantry, { project: id, access_level: 30 });
  assert.equal((await stranger.visitor.get(`${path}/html`)).status, 404);
});

it('shows neither subjects nor texts of mails about confidential issues', async () => {
  const reader = await seedUser(gantry);
  const { id } = await seedProject(gantry);
  await seedMember(gantry, { user: reader.id, project: id, access_level: 30 });
  const addIssue = async (json: object): Promise<void> =>
    void (await gantry.api(`POST /projects/${id}/issues`, {
      json: { description: `@${reader.username}`, ...json },
    }));
  await addIssue({ title: 'Secret plan', confidential: true });
  await addIssue({ title: 'Public plan' });
  assert.equal((await gantry.mailsTo(reader)).length, 2);
  const list = contentIn(await admin.get('/admin/mail'));
  assert.match(list, /Public plan/);
  assert.doesNotMatch(list, /Secret plan/);
  const rows = await gantry.service.platform.store.db
    .selectFrom('mails')
    .selectAll()
    .where('user_id', '=', reader.id)
    .execute();
  assert.doesNotMatch(JSON.stringify(rows), /Secret/);
  const secret = rows.find(({ is_secret }) => is_secret === 1);
  assert.match((await admin.get(`/admin/mail/${secret?.id}`)).text, /confidential and was not stored/);
  assert.equal((await admin.get(`/admin/mail/${secret?.id}/html`)).status, 404);
});

it('shows why mails were not sent', async () => {
  const reader = await seedUser(gantry);
  const { id } = await seedProject(gantry);
  gantry.smtp.refuse(550);
  await gantry.api(`POST /projects/${id}/issues`, {
    json: { title: 'x', description: `@${reader.username}` },
  });
  await gantry.service.worker.drain();
  gantry.smtp.refuse(null);
  assert.match(contentIn(await admin.get('/admin/mail')), /Failed<\/td>[^]*550 refused by the test/);
});

it('removes the HTML of old mails, also of those without a text', async () => {
  const { store } = gantry.service.platform;
  const reader = await seedUser(gantry);
  const ids = await store.write(async ({ db, now }) => {
    const { last } = await db
      .selectFrom('mails')
      .select((is) => is.fn.max<number>('id').as('last'))
      .executeTakeFirstOrThrow();
    // The next mail removes old ones: its id is a multiple of ten.
    const count = 120 - ((last + 1) % 10);
    const rows = Array.from({ length: count }, (_one, at) => ({
      user_id: reader.id,
      kind: 'issue.created',
      event_key: `old-${at}`,
      reason: 'mentioned',
      target_type: 'Issue' as const,
      target_id: 1,
      state: 'sent' as const,
      next_attempt_at: now,
      html: '<p>Old</p>',
      created_at: now,
    }));
    return await db.insertInto('mails').values(rows).returning('id').execute();
  });
  const path = `/admin/mail/${ids[0]?.id}/html`;
  assert.equal((await admin.get(path)).status, 200);
  await admin.post('/admin/mail/test');
  await gantry.mailsTo({ username });
  assert.equal((await admin.get(path)).status, 404);
});
