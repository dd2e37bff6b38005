/** Records that refer to each other reveal no more than the reader may see. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type SeededProject,
  type SeededUser,
  seedGroup,
  seedIssue,
  seedMember,
  seedProject,
  seedUser,
  unique,
} from '../support/seed.ts';
import { type Reply, type TestService, startTestService } from '../support/service.ts';

let gantry: TestService;
let stranger: SeededUser;
before(async () => {
  gantry = await startTestService();
  stranger = await seedUser(gantry);
});
after(async () => await gantry.close());

const must = async (line: string, options: { as?: string; json?: object } = {}): Promise<Reply> => {
  const reply = await gantry.api(line, options);
  assert.ok(reply.status < 300, `${line}: ${reply.status} ${reply.text}`);
  return reply;
};

type Issue = { id: number; iid: number; project_id: number };

const issuePath = ({ project_id, iid }: Issue): string => `/projects/${project_id}/issues/${iid}`;

const create = async (project: { id: number }, json: object = {}, as?: string): Promise<Issue> =>
  (
    await must(`POST /projects/${project.id}/issues`, {
      json: { title: 'An issue', ...json },
      ...(as !== undefined && { as }),
    })
  ).body;

const move = async (issue: Issue, to: { id: number }): Promise<Issue> =>
  (await must(`POST ${issuePath(issue)}/move`, { json: { to_project_id: to.id } })).body;

type BodyOf = { body: string };

const notesOf = async (issue: Issue, as: string): Promise<string[]> =>
  (await must(`GET ${issuePath(issue)}/notes?per_page=100&sort=asc`, { as })).body.map(
    ({ body }: BodyOf) => body,
  );

/** Everything that a reader can learn of an issue. */
const everythingOf = async (issue: Issue, as: string): Promise<string> => {
  const path = issuePath(issue);
  const notes = (await must(`GET ${path}/notes?per_page=100`, { as })).body as { id: number }[];
  const lines = [
    `GET ${path}`,
    `GET ${path}/notes`,
    `GET ${path}/notes?activity_filter=only_activity`,
    ...notes.map(({ id }) => `GET ${path}/notes/${id}`),
    `GET ${path}/award_emoji`,
    `GET ${path}/closed_by`,
    `GET ${path}/participants`,
    `GET ${path}/time_stats`,
    `GET /projects/${issue.project_id}/issues`,
    `GET /projects/${issue.project_id}/labels`,
    `GET /projects/${issue.project_id}/milestones`,
    'GET /issues?scope=all&per_page=100',
    'GET /todos',
    'GET /todos?state=done',
    `POST ${path}/todo`,
    `POST ${path}/subscribe`,
    `POST ${path}/unsubscribe`,
    `POST ${path}/notes?body=Said`,
  ];
  const replies: string[] = [];
  for (const line of lines) {
    const { status, text, headers } = await gantry.api(line, { as });
    assert.ok(status < 400, `${line}: ${status}`);
    replies.push(text, ...headers.values());
  }
  return replies.join('\n');
};

/** A private project whose next issue has an iid that does not occur by chance. */
const vaultWithIid = async (): Promise<{ vault: SeededProject; iid: number; group: { path: string } }> => {
  const group = await seedGroup(gantry, { visibility: 'private' });
  const vault = await seedProject(gantry, { visibility: 'private', namespace: group.id });
  const last = 7_654_320;
  await gantry.service.platform.store.write(async ({ db }) => {
    await db.insertInto('iid_sequences').values({ project_id: vault.id, kind: 'issue', last }).execute();
  });
  return { vault, iid: last + 1, group };
};

test('a move to a private project names neither it nor the new issue', async () => {
  const open = await seedProject(gantry);
  const { vault, iid, group } = await vaultWithIid();
  const issue = await create(open, { labels: 'bug' });
  const moved = await move(issue, vault);
  assert.equal(moved.iid, iid);
  const told = await everythingOf(issue, stranger.token);
  for (const secret of [vault.path, group.path, String(iid), vault.full_path])
    assert.ok(!told.includes(secret), secret);
  assert.ok((await notesOf(issue, stranger.token)).includes('moved to another project'));
  assert.ok((await notesOf(issue, 'root-token-of-the-tests')).includes(`moved to ${vault.full_path}#${iid}`));
});

test('a move from a private project names neither it nor the old issue', async () => {
  const open = await seedProject(gantry);
  const { vault, iid, group } = await vaultWithIid();
  const issue = await create(vault);
  const moved = await move(issue, open);
  const told = await everythingOf(moved, stranger.token);
  for (const secret of [vault.path, group.path, String(iid)]) assert.ok(!told.includes(secret), secret);
  assert.ok((await notesOf(moved, stranger.token)).includes('moved from another project'));
});

test('a move through a private project leaves no trace of it', async () => {
  const [one, other] = [await seedProject(gantry), await seedProject(gantry)];
  const { vault, iid, group } = await vaultWithIid();
  const first = await create(one);
  const last = await move(await move(first, vault), other);
  for (const issue of [first, last]) {
    const told = await everythingOf(issue, stranger.token);
    for (const secret of [vault.path, group.path, String(iid)]) assert.ok(!told.includes(secret), secret);
  }
  assert.deepEqual(
    (await notesOf(last, stranger.token)).filter((body) => body.startsWith('moved from')),
    [`moved from ${one.full_path}#${first.iid}`, 'moved from another project'],
  );
});

test('the text of a move changes with the reader’s access', async () => {
  const open = await seedProject(gantry);
  const { vault, iid } = await vaultWithIid();
  const member = await seedUser(gantry);
  await seedMember(gantry, { user: member.id, project: vault.id, access_level: 10 });
  const issue = await create(open);
  await move(issue, vault);
  const told = async (): Promise<string | undefined> =>
    (await notesOf(issue, member.token)).find((body) => body.startsWith('moved'));
  assert.equal(await told(), `moved to ${vault.full_path}#${iid}`);
  await must(`PUT /projects/${vault.id}/issues/${iid}`, { json: { confidential: true } });
  assert.equal(await told(), 'moved to another project');
  await must(`PUT /projects/${vault.id}/issues/${iid}`, { json: { confidential: false } });
  assert.equal(await told(), `moved to ${vault.full_path}#${iid}`);
  await must(`PUT /projects/${vault.id}`, { json: { issues_enabled: false } });
  assert.equal(await told(), 'moved to another project');
  await must(`PUT /projects/${vault.id}`, { json: { issues_enabled: true } });
  await must(`DELETE /projects/${vault.id}/issues/${iid}`);
  assert.equal(await told(), 'moved to another project');
});

test('the reused path of a private project does not reveal what moved there', async () => {
  const open = await seedProject(gantry);
  const heir = await seedUser(gantry);
  const group = await seedGroup(gantry);
  const path = unique('vault');
  const vault = await seedProject(gantry, { path, visibility: 'private', namespace: group.id });
  const issue = await create(open);
  const moved = await move(issue, vault);
  await must(`DELETE /projects/${vault.id}`);
  await seedMember(gantry, { user: heir.id, group: group.id, access_level: 40 });
  const again = await must('POST /projects', {
    as: heir.token,
    json: { name: path, path, namespace_id: group.id, visibility: 'public' },
  });
  const other = await create(again.body, {}, heir.token);
  assert.equal(other.iid, moved.iid);
  for (const as of [stranger.token, heir.token]) {
    assert.deepEqual(
      (await notesOf(issue, as)).filter((body) => body.startsWith('moved')),
      ['moved to another project'],
    );
  }
});

test('a comment that looks like a move stays as it was written', async () => {
  const issue = await create(await seedProject(gantry));
  const body = 'moved to some/where#3';
  await must(`POST ${issuePath(issue)}/notes`, { json: { body } });
  assert.deepEqual(await notesOf(issue, stranger.token), [body]);
});

test('merge requests that close an issue are counted only if they are visible', async () => {
  const issue = await create(await seedProject(gantry));
  await gantry.service.platform.store.write(async ({ db }) => {
    const rows = [1, 2, 3].map((merge_request_id) => ({ merge_request_id, issue_id: issue.id }));
    await db.insertInto('merge_requests_closing_issues').values(rows).execute();
  });
  for (const query of ['', '?per_page=1', '?page=2&per_page=1', '?per_page=1&page=3']) {
    const { body, headers } = await must(`GET ${issuePath(issue)}/closed_by${query}`, { as: stranger.token });
    assert.deepEqual([body, headers.get('x-total'), headers.get('x-total-pages')], [[], '0', '1'], query);
  }
});

test('an issue mentioned by a confidential one does not reveal it', async () => {
  const project = await seedProject(gantry);
  const open = await create(project);
  const secret = unique('secret');
  const before_ = await everythingOf(open, stranger.token);
  const hidden = await create(project, {
    title: `${secret} #${open.iid}`,
    description: `Closes #${open.iid}, ${secret}`,
    confidential: true,
  });
  await must(`POST ${issuePath(hidden)}/notes`, { json: { body: `see #${open.iid} @${stranger.username}` } });
  const after_ = await everythingOf(open, stranger.token);
  assert.ok(!after_.includes(secret));
  assert.ok(before_.length > 0 && !after_.includes(`#${hidden.iid}"`));
  assert.deepEqual(
    (await notesOf(open, stranger.token)).filter((body) => body !== 'Said'),
    [],
  );
  // A user mentioned there is not notified, either.
  const todos = await must('GET /todos', { as: stranger.token });
  assert.ok(todos.body.every(({ target }: { target: Issue }) => target.id !== hidden.id));
});

test('a project with members-only issues reveals nothing of them to others', async () => {
  const project = await seedProject(gantry, { issues_access_level: 'private' });
  const member = await seedUser(gantry);
  await seedMember(gantry, { user: member.id, project: project.id, access_level: 10 });
  await create(project, { labels: 'bug' });
  const seen = (await must(`GET /projects/${project.id}`, { as: stranger.token })).body;
  assert.deepEqual(
    [seen.issues_enabled, seen._links.issues, seen.open_issues_count],
    [false, undefined, undefined],
  );
  const own = (await must(`GET /projects/${project.id}`, { as: member.token })).body;
  assert.deepEqual(
    [own.issues_enabled, typeof own._links.issues, own.open_issues_count],
    [true, 'string', 1],
  );
  const label = await must(`GET /projects/${project.id}/labels/bug`, { as: stranger.token });
  assert.deepEqual([label.body.open_issues_count, label.body.closed_issues_count], [0, 0]);
  for (const list of [`/projects/${project.id}/issues`, '/issues?scope=all&labels=bug&search=issue']) {
    const { body, headers } = await must(`GET ${list}`, { as: stranger.token });
    assert.deepEqual(
      [
        body.filter((one: Issue) => one.project_id === project.id),
        headers.get('x-total') === '0' || list.startsWith('/issues'),
      ],
      [[], true],
    );
  }
});

test('an e-mail address is visible to its owner and to administrators', async () => {
  const project = await seedProject(gantry);
  const author = await seedUser(gantry);
  const reader = await seedUser(gantry);
  for (const user of [author, reader])
    await seedMember(gantry, { user: user.id, project: project.id, access_level: 20 });
  const issue = await create(project, { assignee_ids: [author.id] }, author.token);
  await must(`POST ${issuePath(issue)}/notes`, {
    as: author.token,
    json: { body: `@${reader.username} look` },
  });
  await must(`POST ${issuePath(issue)}/award_emoji`, { as: author.token, json: { name: 'heart' } });
  const lines = [
    '/users',
    `/users/${author.id}`,
    `/users?search=${encodeURIComponent(`${author.username}@example.com`)}`,
    `/users?username=${author.username}`,
    '/todos',
    '/issues?scope=all',
    issuePath(issue),
    `${issuePath(issue)}/notes`,
    `${issuePath(issue)}/award_emoji`,
    `/projects/${project.id}`,
    `/projects/${project.id}/members`,
    `/projects/${project.id}/members/all`,
    `/projects/${project.id}/members/${author.id}`,
    '/projects',
    `/users/${author.username}/projects`,
  ];
  for (const line of lines) {
    const { text } = await must(`GET ${line}`, { as: reader.token });
    assert.ok(!text.replaceAll(encodeURIComponent('@example.com'), '').includes('@example.com'), line);
  }
  assert.deepEqual(
    (
      await must(`GET /users?search=${encodeURIComponent(`${author.username}@example.com`)}`, {
        as: reader.token,
      })
    ).body,
    [],
  );
  assert.equal((await must('GET /user', { as: reader.token })).body.email, `${reader.username}@example.com`);
  assert.equal((await must(`GET /users/${author.id}`)).body.email, `${author.username}@example.com`);
});

test('the host name of one reader does not appear in responses to another', async () => {
  const project = await seedProject(gantry);
  const issue = await seedIssue(gantry, { project: project.id });
  const paths = [
    issuePath(issue),
    `/projects/${project.id}/issues`,
    '/issues?scope=all',
    `/projects/${project.id}`,
    `${issuePath(issue)}/notes`,
    '/projects',
    '/user',
    '/openapi.json',
    '/todos',
  ];
  await must(`POST ${issuePath(issue)}/todo`, { as: stranger.token });
  const http = await import('node:http');
  const { hostname, port } = new URL(gantry.url);
  const withHost = async (path: string, host: string): Promise<void> =>
    await new Promise((resolve, reject) => {
      const headers = { host, 'private-token': stranger.token };
      http
        .get({ hostname, port, path: `/api/v4${path}`, headers }, (response) =>
          response.resume().on('end', resolve),
        )
        .on('error', reject);
    });
  for (let round = 0; round < 2; round += 1) {
    for (const path of paths) {
      await withHost(path, 'evil.example');
      const { text, headers } = await must(`GET ${path}`, { as: stranger.token });
      assert.ok(![text, ...headers.values()].join('\n').includes('evil.example'), path);
    }
  }
});
