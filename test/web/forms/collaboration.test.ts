/** How people work together, with and without scripts: invitations, boards, to-do items; each answer is checked by the API. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  type SeededGroup,
  type SeededIssue,
  type SeededProject,
  type SeededUser,
  seedGroup,
  seedIssue,
  seedMember,
  seedProject,
  seedUser,
  unique,
} from '../../support/seed.ts';
import { type TestSmtp, startSmtp } from '../../support/servers/smtp.ts';
import { type Web, openWeb, password, seeNotice, skip } from '../web.ts';

let web: Web;
let smtp: TestSmtp;
let user: SeededUser;

before(async () => {
  if (skip !== false) return;
  smtp = await startSmtp();
  web = await openWeb({ GANTRY_SMTP_URL: smtp.url, GANTRY_MAIL_FROM: 'Gantry <gantry@example.com>' });
  user = await seedUser(web.gantry, { password });
});
after(async () => {
  if (skip !== false) return;
  await web.close();
  await smtp.close();
});

// oxlint-disable-next-line typescript/no-explicit-any -- an answer of the API
const read = async (path: string, as = user.token): Promise<any> =>
  (await web.gantry.api(`GET ${path}`, { as })).body;

const press = async (page: Page, button: string): Promise<void> =>
  await page.getByRole('button', { name: button, exact: true }).click();

type Place = { group: SeededGroup; project: SeededProject; hasScripts: boolean };

/** Returns the path of the link in the mail to an address. */
const findLink = async (email: string): Promise<string> => {
  await web.gantry.service.worker.drain();
  const mail = smtp.received.find(({ to }) => to.includes(email));
  const url = /https?:\S+\?token=\S+/.exec(mail?.text ?? '')?.[0] ?? '';
  assert.ok(url.startsWith(web.gantry.url), mail?.text ?? 'no mail');
  return url.slice(web.gantry.url.length);
};

const invitation = async (page: Page, { project }: Place): Promise<void> => {
  const username = unique('invited');
  const email = `${username}@example.com`;
  await page.goto(`/${project.full_path}/-/project_members`);
  const invite = page.getByRole('region', { name: 'Invite by e-mail' });
  await invite.getByLabel('E-mail addresses').fill(`${email}, ${unique('other')}@example.com`);
  await invite.getByLabel('Role').selectOption({ label: 'Reporter' });
  await invite.getByRole('button', { name: 'Invite' }).click();
  await seeNotice(page, 'The invitations were created.');
  const link = await findLink(email);
  await web.withPage(async (other) => {
    await other.goto(link);
    await other.getByText(`invited ${email} to the project ${project.full_path}`).waitFor();
    await other.getByRole('link', { name: 'Sign up' }).last().click();
    assert.equal(await other.getByLabel('E-mail').inputValue(), email);
    await other.getByLabel('Name', { exact: true }).fill('Invited');
    await other.getByLabel('User name').fill(username);
    await other.getByLabel('Password').fill(password);
    await press(other, 'Sign up');
    await other.waitForURL('/');
    await other.goto(`/${project.full_path}`);
    await other.getByRole('navigation', { name: 'Project' }).waitFor();
  });
  const [member] = await read(`/projects/${project.id}/members?query=${username}`);
  assert.deepEqual([member.username, member.access_level], [username, 20]);
  await page.reload();
  const pending = page.getByRole('region', { name: 'Pending invitations' });
  assert.equal(await pending.getByText(email).count(), 0);
  await pending.getByRole('button', { name: 'Withdraw the invitation of' }).click();
  await seeNotice(page, 'The invitation was withdrawn.');
  assert.deepEqual(await read(`/projects/${project.id}/invitations`), []);
};

const promotion = async (page: Page, { group, project }: Place): Promise<void> => {
  const own = `/projects/${project.id}`;
  const label = await web.gantry.api(`POST ${own}/labels`, {
    json: { name: unique('rust'), color: '#112233' },
  });
  const milestone = await web.gantry.api(`POST ${own}/milestones`, { json: { title: unique('spring') } });
  await page.goto(`/${project.full_path}/-/labels`);
  await page.getByRole('link', { name: `Edit ${label.body.name}` }).click();
  await press(page, 'Promote label');
  await seeNotice(page, `The label ${label.body.name} was promoted to the group.`);
  await page.goto(`/${project.full_path}/-/milestones/${milestone.body.iid}/edit`);
  await press(page, 'Promote milestone');
  await seeNotice(page, `The milestone ${milestone.body.title} was promoted to the group.`);
  const names = (await read(`/groups/${group.id}/labels`)).map(({ name }: { name: string }) => name);
  const titles = (await read(`/groups/${group.id}/milestones`)).map(({ title }: { title: string }) => title);
  assert.deepEqual([names, titles], [[label.body.name], [milestone.body.title]]);
};

const todos = async (page: Page, { project }: Place): Promise<void> => {
  for (const title of ['First', 'Second']) {
    const { iid } = await seedIssue(web.gantry, {
      project: project.id,
      title: `${title} of ${project.path}`,
    });
    await web.gantry.api(`POST /projects/${project.id}/issues/${iid}/todo`, { as: user.token });
  }
  const pending = async (): Promise<string[]> =>
    (await read('/todos')).map(({ target }: { target: { title: string } }) => target.title);
  assert.equal((await pending()).length, 2);
  await page.goto('/dashboard/todos');
  await press(page, 'Mark all done');
  await seeNotice(page, 'All to-do items were marked as done.');
  await page.getByText('Nothing to do').waitFor();
  assert.deepEqual(await pending(), []);
  await page.getByRole('link', { name: /^Done/ }).click();
  await press(page, `Undo: First of ${project.path}`);
  await seeNotice(page, 'The to-do item is pending again.');
  assert.deepEqual(await pending(), [`First of ${project.path}`]);
  await web.gantry.api('POST /todos/mark_as_done', { as: user.token });
};

const board = async (page: Page, { project, hasScripts }: Place): Promise<void> => {
  const issue = await seedIssue(web.gantry, { project: project.id, title: 'Paint the span' });
  for (const name of ['todo', 'doing'])
    await web.gantry.api(`POST /projects/${project.id}/labels`, { json: { name, color: '#112233' } });
  await page.goto(`/${project.full_path}/-/boards`);
  await press(page, 'Create board');
  await page.getByRole('heading', { name: 'Add a list' }).waitFor();
  await page.getByLabel('Label', { exact: true }).fill('nothing');
  await press(page, 'Add label list');
  await page.locator('[name=label][aria-invalid=true]').waitFor();
  for (const name of ['todo', 'doing']) {
    await page.getByLabel('Label', { exact: true }).fill(name);
    await press(page, 'Add label list');
    await page.getByRole('rowheader', { name }).waitFor();
  }
  await page.getByRole('row', { name: 'doing' }).getByRole('button', { name: 'Left: doing' }).click();
  await seeNotice(page, 'The list was saved.');
  await page.getByRole('spinbutton', { name: 'Limit of todo' }).fill('3');
  await press(page, 'Set the limit of todo');
  await page.locator('input[name=max_issue_count][value="3"]').waitFor();
  const [made] = await read(`/projects/${project.id}/boards`);
  assert.deepEqual(
    made.lists.map((list: { label: { name: string }; max_issue_count: number }) => [
      list.label.name,
      list.max_issue_count,
    ]),
    [
      ['doing', 0],
      ['todo', 3],
    ],
  );
  await page.goto(`/${project.full_path}/-/boards/${made.id}`);
  const card = page.locator('.board-card', { hasText: 'Paint the span' });
  if (hasScripts) {
    await card.locator('[data-row]').focus();
    await page.keyboard.press('Alt+ArrowRight');
    await page.getByText('Moved to doing').waitFor({ state: 'attached' });
  } else {
    await card.locator('summary').click();
    await card.getByRole('button', { name: 'doing', exact: true }).click();
    await page.locator(`[data-list="${made.lists[0].id}"] .board-card`).waitFor();
  }
  assert.deepEqual((await read(`/projects/${project.id}/issues/${issue.iid}`)).labels, ['doing']);
};

const csv = async (page: Page, { project }: Place): Promise<void> => {
  const open = { project: project.id, title: 'Rust, "red"' };
  const issue: SeededIssue = await seedIssue(web.gantry, open);
  await seedIssue(web.gantry, { project: project.id, title: 'Done', state: 'closed' });
  await page.goto(`/${project.full_path}/issues`);
  await page.locator('summary[title="Feeds and exports"]').click();
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'CSV file' }).click();
  const file = await readFile(await (await download).path(), 'utf8');
  const [head = '', line = '', ...others] = file.trimEnd().split('\r\n');
  assert.ok(head.includes('Title'), head);
  assert.ok(line.includes('"Rust, ""red"""') && line.includes(String(issue.iid)), line);
  assert.deepEqual(others, []);
};

/** Two people edit one label: the second sees what the first saved, and decides. */
const conflict = async (page: Page, { project }: Place): Promise<void> => {
  const { body } = await web.gantry.api(`POST /projects/${project.id}/labels`, {
    json: { name: 'rust', color: '#112233' },
  });
  const stored = async (): Promise<string> =>
    (await read(`/projects/${project.id}/labels/${body.id}`)).description;
  const description = page.getByRole('textbox', { name: 'Description' });
  const edit = async (mine: string, theirs: string): Promise<void> => {
    await page.goto(`/${project.full_path}/-/labels/${body.id}/edit`);
    await description.fill(mine);
    const sent = { json: { description: theirs } };
    assert.equal((await web.gantry.api(`PUT /projects/${project.id}/labels/${body.id}`, sent)).status, 200);
    await press(page, 'Save changes');
    await page.getByRole('region', { name: 'Saved meanwhile' }).getByText(theirs).waitFor();
    await page.getByRole('alert').filter({ hasText: 'Somebody edited this label meanwhile' }).waitFor();
    assert.equal(await description.inputValue(), mine);
    assert.equal(await stored(), theirs);
  };
  await edit('Mine', 'Theirs');
  await web.assertFine(page);
  await press(page, 'Overwrite with my version');
  await seeNotice(page, 'The label was saved.');
  assert.equal(await stored(), 'Mine');
  await edit('Mine again', 'Theirs again');
  await page.getByRole('link', { name: 'Discard mine, continue with this' }).click();
  await page.getByRole('button', { name: 'Save changes' }).waitFor();
  assert.equal(await description.inputValue(), 'Theirs again');
};

const flows: Record<string, (page: Page, place: Place) => Promise<void>> = {
  'somebody is invited by e-mail, and joins': invitation,
  'a label and a milestone are promoted to the group': promotion,
  'all to-do items are done, and one is pending again': todos,
  'a board gets its lists, and a card moves': board,
  'a list of issues is exported': csv,
  'an edit shows what somebody else saved': conflict,
};

for (const javaScriptEnabled of [true, false]) {
  for (const [name, flow] of Object.entries(flows)) {
    // axe needs scripts, as the check of accessibility does.
    const isChecked = name === 'an edit shows what somebody else saved';
    if (isChecked && !javaScriptEnabled) continue;
    test(`${name} ${javaScriptEnabled ? 'with' : 'without'} scripts`, { skip }, async () => {
      const group = await seedGroup(web.gantry, { owner: user.id, visibility: 'private' });
      const project = await seedProject(web.gantry, { namespace: group.id, visibility: 'private' });
      await seedMember(web.gantry, { user: user.id, project: project.id, access_level: 50 });
      await web.withPage(
        async (page) => {
          await web.signIn(page, user.username);
          await page.waitForURL('/');
          await flow(page, { group, project, hasScripts: javaScriptEnabled });
        },
        { javaScriptEnabled },
      );
    });
  }
}
