/** The forms of groups as a person fills them, with and without scripts; each answer is checked by the API. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedUser, unique } from '../../support/seed.ts';
import { type Web, noticeOn, openWeb, pathOf, seeNotice, skip } from '../web.ts';

let web: Web;
let login: string;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  login = await web.makeUser();
});
after(async () => {
  if (skip === false) await web.close();
});

const load = async (path: string) => (await web.gantry.api(`GET /groups/${encodeURIComponent(path)}`)).body;

for (const javaScriptEnabled of [true, false]) {
  const way = javaScriptEnabled ? 'with' : 'without';
  test(`groups are created, set up, moved and deleted ${way} scripts`, { skip }, async () => {
    const [outer, other] = [unique('outer'), unique('other')];
    const { id: memberId, username } = await seedUser(web.gantry);
    await web.withPage(
      async (page) => {
        const save = async (section: string, button = 'Save changes'): Promise<void> =>
          await page.getByRole('region', { name: section }).getByRole('button', { name: button }).click();
        await web.signIn(page, login);
        await page.waitForURL('/');
        for (const name of [other, outer]) {
          await page.goto('/dashboard/groups');
          await page.getByRole('link', { name: 'New group' }).first().click();
          await page.getByLabel('Name', { exact: true }).fill(name);
          await page.getByRole('radio', { name: 'Internal' }).check();
          await page.getByRole('button', { name: 'Create group' }).click();
          assert.equal(await noticeOn(page), `The group ${name} was created.`);
        }
        await page.getByRole('link', { name: 'New subgroup' }).first().click();
        await page.getByLabel('Name', { exact: true }).fill('Inner works');
        assert.equal(await page.getByRole('radio', { name: 'Public' }).isDisabled(), true);
        await page.getByRole('button', { name: 'Create subgroup' }).click();
        await page.waitForURL(`/groups/${outer}/inner-works`);
        const { parent_id, visibility } = await load(`${outer}/inner-works`);
        assert.deepEqual([parent_id, visibility], [(await load(outer)).id, 'private']);

        await page.getByRole('navigation', { name: 'Group' }).getByRole('link', { name: 'Settings' }).click();
        await page.getByRole('textbox', { name: 'Description' }).fill('Gears and *belts*');
        await save('Name and description');
        assert.equal(await noticeOn(page), 'The settings were saved.');
        await page.getByRole('radio', { name: 'Internal' }).check();
        await save('Who can see the group');
        await page.getByLabel('Roles that may create projects').selectOption({ label: 'Owners' });
        await page.getByLabel('Prevent adding members to projects').check();
        await save('Permissions');
        const path = page.getByRole('textbox', { name: 'Path', exact: true });
        await path.fill('in ner');
        await save('Path', 'Change path');
        assert.equal(await path.getAttribute('aria-invalid'), 'true');
        await path.fill('inner');
        await save('Path', 'Change path');
        await page.waitForURL(`/groups/${outer}/inner/-/settings`);
        const group = await load(`${outer}/inner`);
        assert.deepEqual(
          [group.description, group.visibility, group.project_creation_level, group.membership_lock],
          ['Gears and *belts*', 'internal', 'owner', true],
        );

        await page.getByRole('navigation', { name: 'Group' }).getByRole('link', { name: 'Members' }).click();
        const add = page.getByRole('region', { name: 'Add a member' });
        await add.getByLabel('User').fill(username);
        await add.getByLabel('Role').selectOption({ label: 'Developer' });
        await add.getByRole('button', { name: 'Add member' }).click();
        const member = await web.gantry.api(`GET /groups/${group.id}/members/${memberId}`);
        assert.equal(member.body.access_level, 30);

        const invite = page.getByRole('region', { name: 'Invite a group' });
        await invite.getByLabel('Group', { exact: true }).fill('no/such');
        await invite.getByRole('button', { name: 'Invite group' }).click();
        await page.locator('[name=shared_group][aria-invalid=true]').waitFor();
        await invite.getByLabel('Group', { exact: true }).fill(other);
        await invite.getByLabel('Role at most').selectOption({ label: 'Reporter' });
        await invite.getByRole('button', { name: 'Invite group' }).click();
        await seeNotice(page, `The group ${other} was invited.`);
        const [share] = (await load(`${outer}/inner`)).shared_with_groups;
        assert.deepEqual([share.group_full_path, share.group_access_level], [other, 20]);
        await page
          .locator('summary')
          .filter({ hasText: `Edit ${other}` })
          .click();
        await page.getByRole('button', { name: `Stop sharing with ${other}` }).click();
        await seeNotice(page, 'The group was removed.');
        assert.deepEqual((await load(`${outer}/inner`)).shared_with_groups, []);

        await page.goto(`/groups/${outer}/inner/-/settings`);
        await page.getByLabel('New parent group').fill('no/such');
        await page.getByRole('button', { name: 'Transfer group' }).click();
        assert.equal(await page.getByLabel('New parent group').getAttribute('aria-invalid'), 'true');
        await page.getByLabel('New parent group').fill(other);
        await page.getByRole('button', { name: 'Transfer group' }).click();
        await page.waitForURL(new RegExp(`/${other}/inner`));
        assert.equal((await load(`${other}/inner`)).id, group.id);
        await page.goto(`/groups/${other}/inner/-/settings`);
        await page.getByLabel(/^Type .* to confirm$/).fill(`${other}/inner`);
        await page.getByRole('button', { name: 'Delete group' }).click();
        await page.waitForURL((url) => !url.pathname.endsWith('/delete'));
        assert.doesNotMatch(pathOf(page), /inner/);
        assert.equal((await web.gantry.api(`GET /groups/${group.id}`)).status, 404);
      },
      { javaScriptEnabled },
    );
  });
}
