/** Tests whom pages about commits name as their authors. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { openRequest } from '../../../../../test/support/seed_merge_requests.ts';
import { loggedRequest } from '../../../../../test/support/request_log.ts';
import { seedMember, seedProject, seedUser } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let viewer: Visitor;
let developer: Visitor;
let root: string;
/** A member, a user who publishes the address, and one who does neither. */
let member: string;
let publisher: string;
let stranger: string;
let shas: string[];

const emailOf = (username: string): string => `${username}@example.com`;

/** Commits a file with the address of a user. */
const commit = async (
  id: number,
  username: string,
  author_name: string,
  folder = username,
): Promise<string> => {
  const { status, body, text } = await gantry.api(`POST /projects/${id}/repository/commits`, {
    json: {
      branch: 'main',
      commit_message: `In ${folder}`,
      author_name,
      author_email: emailOf(username).toUpperCase(),
      actions: [{ action: 'create', file_path: `${folder}/file`, content: `${folder}\nsecond line\n` }],
    },
  });
  assert.equal(status, 201, text);
  return body.id;
};

before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'info' });
  ({ visitor: viewer } = await seedVisitor(gantry));
  const { id, full_path } = await seedProject(gantry, { visibility: 'public' });
  root = `/${full_path}`;
  const users = [await seedUser(gantry), await seedUser(gantry), await seedUser(gantry)];
  [member = '', publisher = '', stranger = ''] = users.map(({ username }) => username);
  await seedMember(gantry, { user: users[0]?.id ?? 0, project: id, access_level: 30 });
  const published = { json: { public_email: emailOf(publisher) } };
  assert.equal((await gantry.api(`PUT /users/${users[1]?.id}`, published)).status, 200);
  shas = [];
  const start = await seedCommit(gantry, id, { start: '' });
  await gantry.api(`POST /projects/${id}/repository/branches?branch=start&ref=${start}`);
  for (const [at, username] of [member, publisher, stranger].entries()) {
    const sha = await commit(id, username, `Signed ${at} <i>`, `${at}`);
    shas.push(sha);
    await gantry.api(`POST /projects/${id}/repository/branches?branch=b${at}&ref=${sha}`);
  }
  await openRequest(gantry, { id }, 'main', { target_branch: 'start' });
  ({ visitor: developer } = await seedVisitor(gantry, { project: id, access_level: 30 }));
});
after(async () => await gantry.close());

const authorPages = (): string[][] => [
  [
    `${root}/-/commits/main`,
    `${root}/-/graphs/main`,
    `${root}/compare/start...main`,
    `${root}/-/branches?state=all`,
    `${root}/merge_requests/1/commits`,
  ],
  ...shas.map((sha, at) => [
    `${root}/commit/${sha}`,
    `${root}/-/blame/main/${at}/file`,
    `${root}/-/blob/main/${at}/file`,
    `${root}/tree/main/${at}`,
    `${root}/tree/b${at}`,
  ]),
];

test('a member, and a user who publishes the address, are linked as authors; nobody else', async () => {
  const [lists = [], ...own] = authorPages();
  const linkOf = (username: string): string => `<a href="/${username}">Name of ${username}</a>`;
  for (const path of lists) {
    const { status, text } = await viewer.get(path);
    assert.equal(status, 200, path);
    assert.ok(text.includes(linkOf(member)) && text.includes(linkOf(publisher)), path);
    assert.ok(text.includes('Signed 2') && !text.includes(`/${stranger}"`), path);
    assert.ok(!text.includes('Signed 0'), 'a user has the name of the account');
  }
  for (const [at, username] of [member, publisher].entries())
    for (const path of own[at] ?? [])
      assert.ok((await viewer.get(path)).text.includes(linkOf(username)), path);
  for (const path of own[2] ?? []) {
    const { text } = await viewer.get(path);
    assert.ok(text.includes('Signed 2') && !text.includes(`/${stranger}"`), path);
  }
});

test('administrators are linked where they are members', async () => {
  const { id, full_path } = await seedProject(gantry, { visibility: 'public' });
  const [inside, outside] = [await seedUser(gantry, { admin: 1 }), await seedUser(gantry, { admin: 1 })];
  await seedMember(gantry, { user: inside.id, project: id, access_level: 30 });
  for (const { username } of [inside, outside]) await commit(id, username, `Signed ${username}`);
  const { text } = await viewer.get(`/${full_path}/-/commits/main`);
  assert.ok(text.includes(`<a href="/${inside.username}">`), inside.username);
  assert.ok(text.includes(`Signed ${outside.username}`) && !text.includes(`"/${outside.username}"`));
});

test('links the authors of the commits of a new merge request', async () => {
  const query = 'merge_request[source_branch]=main&merge_request[target_branch]=start';
  const { text } = await developer.get(`${root}/merge_requests/new?${query}`);
  for (const username of [member, publisher])
    assert.ok(text.includes(`<a href="/${username}">Name of ${username}</a> authored`), username);
});

test('visitors who have not signed in see the names in the commits alone', async () => {
  for (const path of authorPages().flat()) {
    const { status, text } = await openVisitor(gantry).get(path);
    assert.equal(status, 200, path);
    assert.ok(text.includes('Signed '), path);
    for (const username of [member, publisher, stranger]) assert.ok(!text.includes(`/${username}"`), path);
  }
});

test('more authors take no more statements', async () => {
  const statementsOf = async (path: string): Promise<number> => {
    await viewer.get(path);
    const { headers } = await viewer.get(path);
    return (await loggedRequest(gantry, headers)).statements;
  };
  const one = await statementsOf(`${root}/-/commits/main/0`);
  assert.equal(await statementsOf(`${root}/-/commits/main`), one);
});
