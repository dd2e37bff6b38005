/** The forms of projects as a person fills them, with and without scripts; each answer is checked by the API. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { seedGroup, seedUser, unique } from '../../support/seed.ts';
import { type Web, noticeOn, openWeb, pathOf, seeNotice, skip } from '../web.ts';

let web: Web;
let login: string;
let group: { id: number; full_path: string };

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  login = await web.makeUser();
  const [{ id }] = (await web.gantry.api(`GET /users?username=${login}`)).body;
  group = await seedGroup(web.gantry, { owner: id, visibility: 'public' });
});
after(async () => {
  if (skip === false) await web.close();
});

const load = async (path: string) => (await web.gantry.api(`GET /projects/${encodeURIComponent(path)}`)).body;

const list = async (id: number, what: string) => (await web.gantry.api(`GET /projects/${id}/${what}`)).body;

/** A public key as `ssh-keygen` prints it. */
const makeSshKey = (): string => {
  const { publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
  const part = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes]);
  const blob = Buffer.concat([part(Buffer.from('ssh-ed25519')), part(raw)]);
  return `ssh-ed25519 ${blob.toString('base64')} deploy@example.com`;
};

const save = async (page: Page, section: string, button = 'Save changes'): Promise<void> =>
  await page.getByRole('region', { name: section }).getByRole('button', { name: button }).click();

const setUp = async (page: Page): Promise<void> => {
  const settings = page.getByRole('navigation', { name: 'Settings' });
  await page.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('textbox', { name: 'Description' }).fill('Plans *spans*');
  await page.getByLabel('Topics').fill('bridges, steel');
  await save(page, 'Name and description');
  assert.equal(await noticeOn(page), 'The settings were saved.');
  await page.getByRole('radio', { name: 'Internal' }).check();
  await save(page, 'Who can see the project');
  assert.equal(await noticeOn(page), 'The visibility was saved.');
  await page.getByLabel('Snippets').selectOption({ label: 'Disabled' });
  await page.getByRole('region', { name: 'Features' }).getByRole('button').click();
  await settings.getByRole('link', { name: 'CI/CD' }).click();
  await page.getByLabel('Public pipelines').uncheck();
  await save(page, 'Pipelines');
  await settings.getByRole('link', { name: 'Merge requests' }).click();
  await page.getByRole('radio', { name: 'Fast-forward merge' }).check();
  await page.getByLabel('Squash commits when merging').selectOption({ label: 'Always' });
  await save(page, 'Merge method');
  await page.getByLabel('Pipelines must succeed').check();
  await save(page, 'Merge checks');
  assert.equal(await noticeOn(page), 'The merge checks were saved.');
};

const protectBranches = async (page: Page): Promise<void> => {
  const settings = page.getByRole('navigation', { name: 'Settings' });
  await settings.getByRole('link', { name: 'Protected branches' }).click();
  await page.getByLabel('Branch', { exact: true }).fill('release/*');
  const add = page.getByRole('region', { name: 'Protect a branch' });
  await add.getByLabel('Allowed to push').selectOption({ label: 'Nobody' });
  await add.getByLabel('Allowed to merge').selectOption({ label: 'Developers and maintainers' });
  await add.getByRole('button', { name: 'Protect' }).click();
  assert.equal(await noticeOn(page), 'release/* was protected.');
};

const protectTags = async (page: Page): Promise<void> => {
  const settings = page.getByRole('navigation', { name: 'Settings' });
  await settings.getByRole('link', { name: 'Protected tags' }).click();
  const add = page.getByRole('region', { name: 'Protect a tag' });
  for (const name of ['v*', 'old']) {
    await add.getByLabel('Tag', { exact: true }).fill(name);
    await add.getByLabel('Allowed to create').selectOption({ label: 'Nobody' });
    await add.getByRole('button', { name: 'Protect' }).click();
    await seeNotice(page, `${name} was protected.`);
  }
  await page.locator('summary').filter({ hasText: /old$/ }).click();
  await page.getByRole('button', { name: 'Unprotect old' }).click();
  await seeNotice(page, 'old was unprotected.');
};

const connectTracker = async (page: Page, id: number): Promise<void> => {
  const settings = page.getByRole('navigation', { name: 'Settings' });
  for (const [address, what] of [
    ['https://jira.example.com', 'was saved.'],
    ['', 'was removed.'],
  ] as const) {
    await settings.getByRole('link', { name: 'Integrations' }).click();
    await page.getByRole('link', { name: 'Jira' }).click();
    if (address === '') {
      await page.getByRole('button', { name: 'Remove integration' }).click();
    } else {
      await page.getByLabel('Web address').fill(address);
      await page.getByLabel('Password or token').fill('secret');
      await page.getByRole('button', { name: 'Save changes' }).click();
    }
    await seeNotice(page, what);
    const found = await list(id, 'integrations');
    assert.deepEqual(
      found.map((one: { slug: string; active: boolean }) => [one.slug, one.active]),
      address === '' ? [] : [['jira', true]],
    );
  }
};

const addDeployKey = async (page: Page): Promise<void> => {
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Deploy keys' }).click();
  await page.getByLabel('Key', { exact: true }).fill('not a key');
  await page.getByRole('button', { name: 'Add key' }).click();
  assert.equal(await page.getByLabel('Key', { exact: true }).getAttribute('aria-invalid'), 'true');
  await page.getByLabel('Key', { exact: true }).fill(makeSshKey());
  await page.getByLabel('Title (optional)').fill('Mirror');
  await page.getByLabel('Allow pushing').check();
  await page.getByRole('button', { name: 'Add key' }).click();
  assert.equal(await noticeOn(page), 'The deploy key was added.');
};

/** Adds a member by their full name, changes the role, and removes the member. */
const changeMembers = async (page: Page, projectId: number): Promise<void> => {
  const { id, username } = await seedUser(web.gantry);
  const role = async (): Promise<number | undefined> => (await list(projectId, `members/${id}`)).access_level;
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Members' }).click();
  const add = page.getByRole('region', { name: 'Add a member' });
  await add.getByLabel('User').fill(`Name of ${username}`);
  await add.getByLabel('Role').selectOption({ label: 'Reporter' });
  await add.getByRole('button', { name: 'Add member' }).click();
  await page.getByLabel(`(@${username})`).check();
  await page.getByRole('button', { name: 'Add member' }).click();
  await page.getByRole('status').waitFor();
  assert.equal(await role(), 20);
  const row = page.getByRole('listitem').filter({ hasText: `@${username}` });
  await row.getByText('Edit').click();
  await row.getByLabel('Role').selectOption({ label: 'Maintainer' });
  await row.getByRole('button', { name: /^Save/ }).click();
  assert.equal(await noticeOn(page), 'The membership was saved.');
  assert.equal(await role(), 40);
  await row.getByText('Edit').click();
  await row.getByRole('button', { name: /^Remove/ }).click();
  assert.equal(await noticeOn(page), 'The member was removed.');
  assert.equal(await role(), undefined);
};

/** Archives a project, moves it to its owner, and deletes it. */
const moveAndDelete = async (page: Page, id: number, path: string): Promise<void> => {
  await page.goto(`/${path}/-/settings`);
  await page.getByRole('button', { name: 'Archive project' }).click();
  assert.equal(await noticeOn(page), 'The project was archived.');
  assert.equal((await load(String(id))).archived, true);
  await page.getByRole('button', { name: 'Unarchive project' }).click();
  await page.getByLabel('New namespace').fill(login);
  await page.getByRole('button', { name: 'Transfer project' }).click();
  const moved = `${login}/${path.split('/').at(-1)}`;
  await page.waitForURL(`/${moved}`);
  assert.equal((await load(String(id))).path_with_namespace, moved);
  await page.goto(`/${moved}/-/settings`);
  const confirm = page.getByLabel(/^Type .* to confirm$/);
  await confirm.fill('something else');
  await page.getByRole('button', { name: 'Delete project' }).click();
  assert.match((await page.locator('#confirm_error').textContent()) ?? '', /full path/);
  await confirm.fill(moved);
  await page.getByRole('button', { name: 'Delete project' }).click();
  assert.equal(await noticeOn(page), `The project ${moved} was deleted.`);
  assert.equal(pathOf(page), '/');
  assert.equal((await web.gantry.api(`GET /projects/${id}`)).status, 404);
};

for (const javaScriptEnabled of [true, false]) {
  const way = javaScriptEnabled ? 'with' : 'without';
  test(`a project is created, set up, moved and deleted ${way} scripts`, { skip }, async () => {
    const name = unique('span');
    await web.withPage(
      async (page) => {
        await web.signIn(page, login);
        await page.waitForURL('/');
        await page.getByRole('link', { name: 'New project' }).first().click();
        await page.getByLabel('Project name').fill(name);
        await page.getByLabel('Group or user').selectOption(String(group.id));
        await page.getByRole('radio', { name: 'Public' }).check();
        await page.getByLabel('License').selectOption({ label: 'MIT License' });
        await page.getByRole('button', { name: 'Create project' }).click();
        await page.waitForURL(`/${group.full_path}/${name}`);
        const { id, visibility } = await load(`${group.full_path}/${name}`);
        assert.equal(visibility, 'public');
        const files = (await list(id, 'repository/tree')) as { name: string }[];
        assert.deepEqual(
          files.map((file) => file.name),
          ['LICENSE', 'README.md'],
        );

        await setUp(page);
        await protectBranches(page);
        await protectTags(page);
        await addDeployKey(page);
        await connectTracker(page, id);
        const project = await load(String(id));
        assert.deepEqual(
          [project.description, project.topics, project.visibility, project.public_jobs],
          ['Plans *spans*', ['bridges', 'steel'], 'internal', false],
        );
        assert.deepEqual(
          [project.merge_method, project.squash_option, project.only_allow_merge_if_pipeline_succeeds],
          ['ff', 'always', true],
        );
        assert.equal(project.snippets_access_level, 'disabled');
        const rule = await list(id, 'protected_branches/release%2F%2A');
        assert.deepEqual(
          [rule.push_access_levels[0].access_level, rule.merge_access_levels[0].access_level],
          [0, 30],
        );
        const [tag, ...others] = await list(id, 'protected_tags');
        assert.deepEqual([tag.name, tag.create_access_levels[0].access_level, others], ['v*', 0, []]);
        const [key] = await list(id, 'deploy_keys');
        assert.deepEqual([key.title, key.can_push], ['Mirror', true]);
        await changeMembers(page, id);
        await moveAndDelete(page, id, `${group.full_path}/${name}`);
      },
      { javaScriptEnabled },
    );
  });
}
