/** The forms about code as a person fills them, with and without scripts; each answer is checked by the API. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type SeededUser, seedGroup, seedUser } from '../../support/seed.ts';
import { type Coded, seedBranch, seedCoded } from '../../support/seed_merge_requests.ts';
import { type Web, openWeb, password, seeNotice, skip } from '../web.ts';

let web: Web;
let user: SeededUser;

before(async () => {
  if (skip !== false) return;
  web = await openWeb();
  user = await seedUser(web.gantry, { password });
});
after(async () => {
  if (skip === false) await web.close();
});

const ask = async (path: string) => await web.gantry.api(`GET ${path}`, { as: user.token });
const read = async (path: string) => (await ask(path)).body;

const openMenu = async (page: Page, name: string): Promise<void> =>
  await page.locator('summary').filter({ hasText: name }).first().click();

/** Waits until a form marks a field as wrong. */
const seeWrong = async (page: Page, name: string): Promise<void> =>
  await page.locator(`[name="${name}"][aria-invalid=true]`).waitFor();

const branches = async (page: Page, project: Coded): Promise<void> => {
  const api = `/projects/${project.id}/repository/branches`;
  await page.goto(`/${project.full_path}`);
  await page.getByRole('link', { name: /^\d+ branch(es)?$/ }).click();
  await page.getByRole('link', { name: 'New branch' }).click();
  await page.getByLabel('Name', { exact: true }).fill('no..name');
  await page.getByRole('button', { name: 'Create branch' }).click();
  await seeWrong(page, 'branch');
  await page.getByLabel('Name', { exact: true }).fill('lines/next');
  await page.getByRole('button', { name: 'Create branch' }).click();
  await seeNotice(page, 'The branch lines/next was created.');
  assert.equal((await read(`${api}/lines%2Fnext`)).commit.id, project.first);
  await page.goto(`/${project.full_path}/-/branches`);
  await openMenu(page, 'Actions for lines/next');
  await page.getByRole('button', { name: 'Delete the branch lines/next' }).click();
  await seeNotice(page, 'The branch lines/next was deleted.');
  assert.equal((await ask(`${api}/lines%2Fnext`)).status, 404);
};

const comparison = async (page: Page, project: Coded): Promise<void> => {
  await seedBranch(web.gantry, project, 'topic');
  await page.goto(`/${project.full_path}/-/compare`);
  await page.getByLabel('Base').fill('main');
  await page.getByLabel('Compare', { exact: true }).fill('no-such');
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await seeWrong(page, 'to');
  await page.getByLabel('Compare', { exact: true }).fill('topic');
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await page.getByRole('link', { name: 'Create merge request' }).click();
  await page.getByLabel('Title').fill('From the comparison');
  await page.getByRole('button', { name: 'Create merge request' }).click();
  await page.waitForURL(/\/merge_requests\/\d+$/);
  const [{ title, source_branch, target_branch }] = await read(`/projects/${project.id}/merge_requests`);
  assert.deepEqual([title, source_branch, target_branch], ['From the comparison', 'topic', 'main']);
};

const tags = async (page: Page, project: Coded): Promise<void> => {
  const api = `/projects/${project.id}/repository/tags`;
  await page.goto(`/${project.full_path}`);
  await page.getByRole('link', { name: /^\d+ tags?$/ }).click();
  await page.getByRole('link', { name: 'New tag' }).click();
  await page.getByLabel('Name', { exact: true }).fill('v1');
  await page.getByLabel('Create from').fill('no-such');
  await page.getByRole('textbox', { name: 'Message' }).fill('First');
  await page.getByRole('button', { name: 'Create tag' }).click();
  await seeWrong(page, 'ref');
  await page.getByLabel('Create from').fill('main');
  await page.getByRole('button', { name: 'Create tag' }).click();
  await seeNotice(page, 'The tag v1 was created.');
  const { message, commit } = await read(`${api}/v1`);
  assert.deepEqual([message, commit.id], ['First', project.first]);
  await openMenu(page, 'More actions');
  await page.getByRole('button', { name: 'Delete tag' }).click();
  await seeNotice(page, 'The tag v1 was deleted.');
  assert.equal((await ask(`${api}/v1`)).status, 404);
};

const releases = async (page: Page, project: Coded): Promise<void> => {
  const api = `/projects/${project.id}/releases`;
  await page.goto(`/${project.full_path}`);
  await page.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: 'Releases' }).click();
  await page.getByRole('link', { name: 'New release' }).first().click();
  await page.getByLabel('Tag', { exact: true }).fill('v2');
  await page.getByLabel('Create the tag from').fill('no-such');
  await page.getByLabel('Title', { exact: true }).fill('Second');
  await page.getByRole('textbox', { name: 'Release notes' }).fill('Longer *spans*');
  const row = page.getByRole('group', { name: 'Link 1' });
  await row.getByLabel('Link title').fill('Plan');
  await row.getByLabel('URL').fill('https://example.com/plan.pdf');
  await page.getByRole('button', { name: 'Create release' }).click();
  await seeWrong(page, 'ref');
  await page.getByLabel('Create the tag from').fill('main');
  await page.getByRole('button', { name: 'Create release' }).click();
  await seeNotice(page, 'The release was created.');
  const release = await read(`${api}/v2`);
  assert.deepEqual(
    [release.name, release.description, release.commit.id, release.assets.links[0].name],
    ['Second', 'Longer *spans*', project.first, 'Plan'],
  );
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.getByLabel('Title', { exact: true }).fill('Second edition');
  await page.getByLabel('Release date').fill('2030-01-02');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await seeNotice(page, 'The release was saved.');
  const { name, released_at, upcoming_release } = await read(`${api}/v2`);
  assert.deepEqual(
    [name, released_at.slice(0, 10), upcoming_release],
    ['Second edition', '2030-01-02', true],
  );
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.getByRole('button', { name: 'Remove Plan' }).click();
  await seeNotice(page, 'The link was removed.');
  const links = page.getByRole('region', { name: 'Links to assets' });
  await links.getByLabel('Link title').fill('Loads');
  await links.getByLabel('URL').fill('https://example.com/loads.csv');
  await links.getByRole('button', { name: 'Add link' }).click();
  await seeNotice(page, 'The link was added.');
  const { assets } = await read(`${api}/v2`);
  assert.deepEqual(
    assets.links.map((link: { name: string }) => link.name),
    ['Loads'],
  );
  await page.getByRole('button', { name: 'Delete release' }).click();
  await seeNotice(page, 'The release v2 was deleted.');
  assert.equal((await ask(`${api}/v2`)).status, 404);
  assert.equal((await ask(`/projects/${project.id}/repository/tags/v2`)).status, 200);
};

const starAndWatch = async (page: Page, { id, full_path }: Coded): Promise<void> => {
  await page.goto(`/${full_path}`);
  for (const [button, notice, count] of [
    ['Star', 'The project was starred.', 1],
    ['Unstar', 'The star was removed.', 0],
  ] as const) {
    await page.getByRole('button', { name: button, exact: true }).click();
    await seeNotice(page, notice);
    assert.equal((await read(`/projects/${id}`)).star_count, count);
  }
  await openMenu(page, 'Watch');
  await page.getByRole('button', { name: 'On mention' }).click();
  await seeNotice(page, 'The notification level was changed.');
  assert.equal((await read(`/projects/${id}/notification_settings`)).level, 'mention');
  await page.locator('summary').filter({ hasText: 'On mention' }).waitFor();
};

const fork = async (page: Page, { id, path, full_path }: Coded): Promise<void> => {
  await page.goto(`/${full_path}`);
  await page.getByRole('link', { name: 'Fork', exact: true }).click();
  await page.getByRole('textbox', { name: 'Path' }).fill(path);
  await page.getByRole('button', { name: 'Fork project' }).click();
  await page.locator('[aria-invalid=true]').first().waitFor();
  await page.getByLabel('Name', { exact: true }).fill(`${path} two`);
  await page.getByRole('textbox', { name: 'Path' }).fill(`${path}-two`);
  await page.getByRole('radio', { name: 'Private' }).check();
  await page.getByRole('button', { name: 'Fork project' }).click();
  await seeNotice(page, 'The project was forked.');
  const [made] = await read(`/projects/${id}/forks`);
  assert.deepEqual(
    [made.path_with_namespace, made.name, made.visibility],
    [`${full_path}-two`, `${path} two`, 'private'],
  );
};

const files = async (page: Page, { id, full_path }: Coded): Promise<void> => {
  const commit = async (button: string, notice: string): Promise<void> => {
    await page.getByRole('button', { name: button }).click();
    await seeNotice(page, notice);
  };
  const raw = async (path: string) =>
    await ask(`/projects/${id}/repository/files/${encodeURIComponent(path)}/raw?ref=main`);
  await page.goto(`/${full_path}`);
  await openMenu(page, 'Add');
  await page.getByRole('link', { name: 'New folder' }).first().click();
  await page.getByLabel('Folder').fill('docs');
  await commit('Create folder', 'The folder was created.');
  assert.equal((await raw('docs/.gitkeep')).status, 200);
  await page.goto(`/${full_path}/-/blob/main/README.md`);
  await openMenu(page, 'More actions');
  await page.getByRole('link', { name: 'Rename or move' }).click();
  await page.getByLabel('Path', { exact: true }).fill('docs/read.md');
  await page.getByRole('textbox', { name: 'Commit message' }).fill('Move the text');
  await commit('Commit changes', 'The file was saved.');
  assert.equal((await raw('README.md')).status, 404);
  assert.equal((await raw('docs/read.md')).text, 'Read me\n');
  const [{ title }] = await read(`/projects/${id}/repository/commits?ref_name=main`);
  assert.equal(title, 'Move the text');
  await page.goto(`/${full_path}/-/blob/main/docs/read.md`);
  await openMenu(page, 'More actions');
  await page.getByRole('link', { name: 'Replace', exact: true }).click();
  await page
    .getByLabel('File', { exact: true })
    .setInputFiles({ name: 'other.md', mimeType: 'text/markdown', buffer: Buffer.from('Read on\n') });
  await commit('Replace docs/read.md', 'The file was uploaded.');
  assert.equal((await raw('docs/read.md')).text, 'Read on\n');
  await openMenu(page, 'More actions');
  await page.getByRole('link', { name: 'Delete', exact: true }).click();
  await commit('Delete file', 'The file docs/read.md was deleted.');
  assert.equal((await raw('docs/read.md')).status, 404);
};

const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Uploads a text, which is refused, then a picture. */
const upload = async (page: Page, notice: string): Promise<void> => {
  for (const [name, mimeType, buffer] of [
    ['picture.png', 'image/png', Buffer.from('no picture')],
    ['picture.png', 'image/png', picture],
  ] as const) {
    await page.getByLabel('Picture', { exact: true }).setInputFiles({ name, mimeType, buffer });
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    if (buffer === picture) await seeNotice(page, notice);
    else await seeWrong(page, 'avatar');
  }
};

const avatars = async (page: Page, project: Coded): Promise<void> => {
  const group = await seedGroup(web.gantry, { owner: user.id });
  const url = async (path: string) => (await read(path)).avatar_url;
  for (const [address, api, saved, removal, removed] of [
    [
      `/${project.full_path}/-/settings`,
      `/projects/${project.id}`,
      'The avatar was saved.',
      'Remove avatar',
      'The avatar was removed.',
    ],
    [`/groups/${group.full_path}/-/settings`, `/groups/${group.id}`, 'The avatar was saved.', null, ''],
    ['/profile', '/user', 'Your picture was saved.', 'Remove picture', 'Your picture was removed.'],
  ] as const) {
    await page.goto(address);
    await upload(page, saved);
    assert.match(await url(api), /\/uploads\//);
    const bytes = await page.request.get(await url(api));
    assert.deepEqual(await bytes.body(), picture);
    if (removal === null) continue;
    await page.getByRole('button', { name: removal }).click();
    await seeNotice(page, removed);
    assert.doesNotMatch(String(await url(api)), /\/uploads\//);
  }
};

const flows: Record<string, (page: Page, project: Coded) => Promise<void>> = {
  'a branch is created and deleted': branches,
  'a comparison leads to a merge request': comparison,
  'a tag is created and deleted': tags,
  'a release is created, edited and deleted': releases,
  'a project is starred and watched': starAndWatch,
  'a project is forked': fork,
  'a file is renamed, replaced and deleted, and a folder created': files,
  'a project, a group and an account get a picture': avatars,
};

for (const javaScriptEnabled of [true, false]) {
  for (const [name, flow] of Object.entries(flows)) {
    test(`${name} ${javaScriptEnabled ? 'with' : 'without'} scripts`, { skip }, async () => {
      const project = await seedCoded(web.gantry, { owner: user.id, visibility: 'internal' });
      await web.withPage(
        async (page) => {
          await web.signIn(page, user.username);
          await page.waitForURL('/');
          await flow(page, project);
        },
        { javaScriptEnabled },
      );
    });
  }
}
