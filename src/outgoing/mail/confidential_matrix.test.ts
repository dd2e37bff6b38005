/** Who gets mails about confidential issues and internal comments: each role by each kind of text. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type MailingService, startMailingService } from '../../../test/support/mail.ts';
import {
  type SeededProject,
  type SeededUser,
  seedMember,
  seedProject,
  seedUser,
} from '../../../test/support/seed.ts';

let gantry: MailingService;
let project: SeededProject;
let author: SeededUser;
/** Those who are named in each text and watch the project, by their role. */
let people: Map<string, SeededUser>;

const roles = { stranger: 0, guest: 10, 'assigned guest': 10, reporter: 20, developer: 30, owner: 50 };
const everyone = Object.keys(roles);
const atLeastReporter = ['reporter', 'developer', 'owner'];

// oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
const send = async (line: string, json: object, as = author.token): Promise<any> => {
  const { status, body, text } = await gantry.api(line, { as, json });
  assert.ok(status < 300, `${line}: ${status} ${text}`);
  return body;
};

before(async () => {
  gantry = await startMailingService({});
  project = await seedProject(gantry, { visibility: 'public' });
  author = await seedUser(gantry);
  await seedMember(gantry, { user: author.id, project: project.id, access_level: 40 });
  people = new Map();
  for (const [role, access_level] of Object.entries(roles)) {
    const user = await seedUser(gantry);
    people.set(role, user);
    if (access_level > 0) await seedMember(gantry, { user: user.id, project: project.id, access_level });
    const settings = `PUT /projects/${project.id}/notification_settings`;
    await send(settings, { level: 'watch' }, user.token);
  }
});
after(async () => await gantry.close());

/** Roles whose user got a mail since the last look. */
const receivers = async (): Promise<string[]> => {
  const got: string[] = [];
  for (const [role, user] of people) if ((await gantry.mailsTo(user)).length > 0) got.push(role);
  gantry.smtp.clear();
  return got;
};

const naming = (text: string): string =>
  `${text} ${[...people.values()].map(({ username }) => `@${username}`).join(' ')}`;

const open = async (json: object): Promise<{ path: string; told: string[] }> => {
  const assigned = people.get('assigned guest')?.id;
  const { iid } = await send(`POST /projects/${project.id}/issues`, {
    title: 'Report',
    description: naming('See'),
    assignee_ids: [assigned],
    ...json,
  });
  return { path: `/projects/${project.id}/issues/${iid}`, told: await receivers() };
};

const comment = async (path: string, json: object = {}): Promise<string[]> => {
  await send(`POST ${path}/notes`, { body: naming('Look'), ...json });
  return await receivers();
};

test('an open issue and its comments reach everybody', async () => {
  const { path, told } = await open({});
  assert.deepEqual([told, await comment(path)], [everyone, everyone]);
});

test('a confidential issue and its comments reach those who may read it', async () => {
  const { path, told } = await open({ confidential: true });
  const may = ['assigned guest', ...atLeastReporter];
  assert.deepEqual([told, await comment(path)], [may, may]);
});

test('an internal comment reaches those who may read it, also on an open issue', async () => {
  const { path } = await open({});
  assert.deepEqual(await comment(path, { internal: true }), atLeastReporter);
});

test('an issue that becomes confidential reaches nobody else from then on', async () => {
  const { path } = await open({});
  await send(`PUT ${path}`, { confidential: true });
  await receivers();
  assert.deepEqual(await comment(path), ['assigned guest', ...atLeastReporter]);
});
