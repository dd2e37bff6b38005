/** The forms of administrators, with and without scripts; each answer is checked by the API. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { never } from '../../../src/platform/queue/leases.ts';
import { seedUser, unique } from '../../support/seed.ts';
import { type Web, noticeOn, openWeb, seeNotice, skip } from '../web.ts';

let web: Web;
let login: string;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  login = await web.makeUser({ admin: true });
});
after(async () => {
  if (skip === false) await web.close();
});

const read = async (path: string) => (await web.gantry.api(`GET ${path}`)).body;

const goTo = async (page: Page, name: string): Promise<void> =>
  await page
    .getByRole('navigation', { name: 'Administration' })
    .getByRole('link', { name, exact: true })
    .click();

/** Creates a user, edits, blocks and unblocks them, resets the password, and deletes them. */
const users = async (page: Page): Promise<void> => {
  const username = unique('ada');
  await goTo(page, 'Users');
  await page.getByRole('link', { name: 'New user' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Ada');
  await page.getByLabel('User name').fill(login);
  await page.getByLabel('E-mail').fill(`${username}@example.com`);
  await page.getByRole('button', { name: 'Create user' }).click();
  assert.equal(await page.getByLabel('User name').getAttribute('aria-invalid'), 'true');
  await page.getByLabel('User name').fill(username);
  await page.getByRole('button', { name: 'Create user' }).click();
  assert.equal(await noticeOn(page), `${username} was created.`);
  const [{ id }] = await read(`/users?username=${username}`);
  await page.getByRole('navigation', { name: 'User' }).getByRole('link', { name: 'Edit' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Ada L.');
  await page.getByLabel('Can create groups').uncheck();
  await page.getByLabel('Maximum number of personal projects').fill('7');
  await page.getByLabel('Note').fill('Plans bridges');
  await page.getByRole('button', { name: 'Save changes' }).click();
  assert.equal(await noticeOn(page), 'The changes were saved.');
  const user = await read(`/users/${id}`);
  assert.deepEqual(
    [user.name, user.can_create_group, user.projects_limit, user.note],
    ['Ada L.', false, 7, 'Plans bridges'],
  );
  await page.getByRole('button', { name: 'Block', exact: true }).click();
  assert.equal((await read(`/users/${id}`)).state, 'blocked');
  await page.getByRole('button', { name: 'Unblock' }).click();
  assert.equal((await read(`/users/${id}`)).state, 'active');
  await page.getByRole('button', { name: 'Reset password' }).click();
  const word = (await page.locator('code.secret').textContent()) ?? '';
  await web.withPage(async (other) => {
    await web.signIn(other, username, word);
    await other.waitForURL('/');
  });
  await page.getByRole('link', { name: 'Back to Ada L.' }).click();
  await page.getByRole('link', { name: 'Delete…' }).click();
  await page.getByLabel(`To confirm, type ${username}`).fill(username);
  await page.getByRole('button', { name: 'Delete user' }).click();
  assert.equal(await noticeOn(page), `${username} was deleted.`);
  assert.deepEqual(await read(`/users?username=${username}`), []);
};

const settings = async (page: Page, size: string): Promise<void> => {
  await goTo(page, 'Settings');
  const before = (await read('/application/settings')).max_attachment_size;
  await page.getByLabel('Largest attachment').fill(size);
  await page.getByRole('button', { name: 'Review changes' }).click();
  const review = page.getByRole('region', { name: 'Not saved yet' });
  assert.match((await review.textContent()) ?? '', new RegExp(`: ${before} .*${size}`));
  assert.equal((await read('/application/settings')).max_attachment_size, before);
  await page.getByRole('button', { name: 'Save changes' }).first().click();
  assert.match(await noticeOn(page), /^Saved: max_attachment_size/);
  assert.equal((await read('/application/settings')).max_attachment_size, Number(size));
};

const messages = async (page: Page): Promise<void> => {
  await goTo(page, 'Broadcast messages');
  await page.getByRole('link', { name: 'New message' }).first().click();
  await page.getByLabel('Message', { exact: true }).fill('Down **tonight**');
  await page.getByLabel('End (UTC)').fill('tomorrow');
  await page.getByRole('button', { name: 'Create message' }).click();
  assert.equal(await page.getByLabel('End (UTC)').getAttribute('aria-invalid'), 'true');
  await page.getByLabel('End (UTC)').fill('2100-01-01T00:00:00Z');
  await page.getByLabel('Show only on pages of this path').fill('/no-such-group/*');
  await page.getByRole('button', { name: 'Create message' }).click();
  assert.equal(await noticeOn(page), 'The message was saved.');
  const [{ id, message, target_path }] = await read('/broadcast_messages');
  assert.deepEqual([message, target_path], ['Down **tonight**', '/no-such-group/*']);
  await page.getByRole('button', { name: `Delete message ${id}` }).click();
  assert.equal(await noticeOn(page), 'The message was deleted.');
  assert.deepEqual(await read('/broadcast_messages'), []);
};

const applications = async (page: Page): Promise<void> => {
  await goTo(page, 'Applications');
  await page.getByRole('link', { name: 'New application' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('Planner');
  await page.getByLabel('Callback URLs').fill('https://planner.example.com/callback');
  await page.getByLabel('read_user').check();
  await page.getByRole('button', { name: 'Create application' }).click();
  await page.getByRole('heading', { name: 'Application created' }).waitFor();
  const [{ application_name, callback_url, confidential }] = await read('/applications');
  assert.deepEqual(
    [application_name, callback_url, confidential],
    ['Planner', 'https://planner.example.com/callback', true],
  );
  await page.getByRole('link', { name: 'Back to the applications' }).click();
  await page.getByRole('button', { name: 'Delete Planner' }).click();
  assert.match(await noticeOn(page), /^Planner was deleted/);
  assert.deepEqual(await read('/applications'), []);
};

const hooks = async (page: Page): Promise<void> => {
  await goTo(page, 'System hooks');
  await page.getByRole('link', { name: 'New system hook' }).first().click();
  await page.getByLabel('URL', { exact: true }).fill('https://hooks.example.com/all');
  await page.getByLabel('Secret token').fill('hush');
  await page.getByLabel('Pushes to branches').check();
  await page.getByRole('button', { name: 'Create system hook' }).click();
  await page.waitForURL(/\/admin\/hooks\/\d+$/);
  const [{ url, push_events }] = await read('/hooks');
  assert.deepEqual([url, push_events], ['https://hooks.example.com/all', true]);
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.getByLabel('Pushes to branches').uncheck();
  await page.getByRole('button', { name: 'Save changes' }).click();
  assert.equal(await noticeOn(page), 'The changes were saved.');
  assert.equal((await read('/hooks'))[0].push_events, false);
  await page.getByRole('button', { name: 'Delete https://hooks.example.com/all' }).click();
  await page.waitForURL(/\/admin\/hooks$/);
  assert.deepEqual(await read('/hooks'), []);
};

const impersonation = async (page: Page): Promise<void> => {
  const { id, username } = await seedUser(web.gantry);
  const banner = page.getByRole('complementary', { name: 'Impersonation' });
  await page.goto(`/admin/users/${id}`);
  await page.getByRole('button', { name: 'Impersonate' }).click();
  await banner.getByText(`You act as Name of ${username} (@${username}).`).waitFor();
  await page.goto(`/${username}`);
  await banner.waitFor();
  assert.equal((await page.request.get('/admin')).status(), 404);
  await banner.getByRole('button', { name: 'Stop impersonating' }).click();
  await seeNotice(page, `You stopped impersonating ${username}.`);
  assert.equal(new URL(page.url()).pathname, `/admin/users/${id}`);
  assert.equal(await banner.count(), 0);
};

/** Users who lost their second factor. */
const secondFactor = async (page: Page): Promise<void> => {
  const { id, username } = await seedUser(web.gantry);
  await web.gantry.service.platform.store.write(
    async ({ db }) =>
      await db.updateTable('users').set({ two_factor_enabled: 1 }).where('id', '=', id).execute(),
  );
  await page.goto(`/admin/users/${id}`);
  await page.getByRole('button', { name: 'Turn off', exact: true }).click();
  await seeNotice(page, `${username} now signs in with only the password.`);
  assert.equal((await read(`/users/${id}`)).two_factor_enabled, false);
};

/** The API has no background work: the queue shows what was retried. */
const retry = async (page: Page): Promise<void> => {
  const { store } = web.gantry.service.platform;
  const name = unique('no_such_work');
  await store.write(
    async ({ db }) =>
      await sql`insert into work (name, payload, attempts, run_at, created_at, last_error)
        values (${name}, '{}', 9, ${never}, 1, 'Broken')`.execute(db),
  );
  await page.goto(`/admin/background_work?kind=${name}&state=failed`);
  await page.getByRole('button', { name: 'Retry', exact: true }).click();
  await seeNotice(page, 'Retrying 1 failed task.');
  const waiting = await store.db.selectFrom('work').select('run_at').where('name', '=', name).execute();
  assert.ok(waiting.every(({ run_at }) => run_at < never));
};

const topics = async (page: Page): Promise<void> => {
  const [name, other] = [unique('bridges'), unique('spans')];
  await goTo(page, 'Topics');
  for (const each of [other, name]) {
    await page.getByRole('link', { name: 'New topic' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill(each);
    await page.getByRole('button', { name: 'Create topic' }).click();
    await seeNotice(page, `The topic ${each} was created.`);
  }
  await page.getByRole('link', { name, exact: true }).first().click();
  await page.getByLabel('Title (optional)').fill('Bridges');
  await page.getByLabel('Description (optional)').fill('Over *water*');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await seeNotice(page, 'The topic was saved.');
  const [{ id, title, description }] = await read(`/topics?search=${name}`);
  assert.deepEqual([title, description], ['Bridges', 'Over *water*']);
  await page.goto(`/admin/topics/${id}/edit`);
  await page.getByLabel('Into the topic').fill('no-such-topic');
  await page.getByRole('button', { name: 'Merge topic' }).click();
  await page.locator('[name=target][aria-invalid=true]').waitFor();
  await page.getByLabel('Into the topic').fill(other);
  await page.getByRole('button', { name: 'Merge topic' }).click();
  await seeNotice(page, `The topic ${name} was merged into ${other}.`);
  assert.deepEqual(await read(`/topics?search=${name}`), []);
  await page.getByRole('link', { name: other, exact: true }).first().click();
  await page.getByRole('button', { name: 'Delete topic' }).click();
  await seeNotice(page, `The topic ${other} was deleted.`);
  assert.deepEqual(await read(`/topics?search=${other}`), []);
};

for (const javaScriptEnabled of [true, false]) {
  const way = javaScriptEnabled ? 'with' : 'without';
  test(
    `an administrator manages users, settings, messages, applications and hooks ${way} scripts`,
    { skip },
    async () => {
      await web.withPage(
        async (page) => {
          await web.signIn(page, login);
          await page.waitForURL('/');
          await page.goto('/admin');
          await users(page);
          await settings(page, javaScriptEnabled ? '20' : '30');
          await messages(page);
          await applications(page);
          await hooks(page);
        },
        { javaScriptEnabled },
      );
    },
  );
  for (const [name, flow] of Object.entries({
    'impersonates a user': impersonation,
    'turns off the second factor of a user': secondFactor,
    'retries background work': retry,
    'manages topics': topics,
  })) {
    test(`an administrator ${name} ${way} scripts`, { skip }, async () => {
      await web.withPage(
        async (page) => {
          await web.signIn(page, login);
          await page.waitForURL('/');
          await page.goto('/admin');
          await flow(page);
        },
        { javaScriptEnabled },
      );
    });
  }
}
