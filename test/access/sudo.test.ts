/** Administrators act as other users: permission, resulting identity, and records. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type SeededIssue,
  type SeededProject,
  type SeededUser,
  seedIssue,
  seedProject,
  seedUser,
  unique,
} from '../support/seed.ts';
import { type Reply, type TestService, rootToken, startTestService } from '../support/service.ts';
import { moreToken } from './people.ts';

let gantry: TestService;
let admin: SeededUser;
let other: SeededUser;
let user: SeededUser;
let blocked: SeededUser;
/** Ids of a private project of `user`. */
let project: SeededProject;
let issue: SeededIssue;

before(async () => {
  gantry = await startTestService();
  admin = await seedUser(gantry, { admin: 1 });
  other = await seedUser(gantry, { admin: 1 });
  user = await seedUser(gantry, { username: unique('Somebody') });
  blocked = await seedUser(gantry, { state: 'blocked' });
  project = await seedProject(gantry, { owner: user.id, visibility: 'private' });
  issue = await seedIssue(gantry, { project: project.id, author: user.id });
});
after(async () => await gantry.close());

type SudoRequest = { as?: string | null; sudo?: string; query?: string; json?: object };

const ask = async (line: string, { as = admin.token, sudo, query, json }: SudoRequest = {}): Promise<Reply> =>
  await gantry.api(query === undefined ? line : `${line}?${query}`, {
    as,
    ...(json !== undefined && { json }),
    ...(sudo !== undefined && { headers: { SUDO: sudo } }),
  });

/** The identity that the API reports. */
const whoIs = async (request: SudoRequest): Promise<unknown> => {
  const { status, body } = await ask('GET /user', request);
  return status === 200 ? body.username : [status, body.message];
};

const notAdmin = [403, '403 Forbidden - Must be admin to use sudo'];
const noUser = (name: string) => [404, `404 Not Found: No user id or username for: ${name}`];

/** Calls of each kind: public, for users, for administrators; reading and writing; existing and missing records. */
const calls = (): string[] => [
  'GET /projects',
  'GET /issues',
  'GET /projects/999999999',
  `GET /projects/${project.id}`,
  `GET /projects/${project.id}/issues/${issue.iid}`,
  `PUT /projects/${project.id}/issues/${issue.iid}`,
  `POST /projects/${project.id}/issues`,
  `DELETE /projects/${project.id}/issues/${issue.iid}`,
  `GET /projects/${project.id}/issues/${issue.iid}/user_agent_detail`,
  'POST /users',
  'GET /user',
  'POST /user/personal_access_tokens',
];

test('finds a target by id or by name, in the header or as a parameter', async () => {
  const named = [
    { sudo: String(user.id) },
    { sudo: user.username },
    { sudo: user.username.toUpperCase() },
    { query: `sudo=${user.id}` },
    { query: `sudo=${user.username.toLowerCase()}` },
  ];
  for (const request of named) assert.equal(await whoIs(request), user.username, JSON.stringify(request));
  const made = await ask(`POST /projects/${project.id}/issues`, {
    json: { title: 'By the body', sudo: user.id },
  });
  assert.deepEqual([made.status, made.body.author.id], [201, user.id]);
  const form = await gantry.api(`POST /projects/${project.id}/issues`, {
    as: admin.token,
    form: `title=x&sudo=${user.username}`,
  });
  assert.deepEqual([form.status, form.body.author.id], [201, user.id]);
});

test('prefers the parameter to the header', async () => {
  assert.equal(await whoIs({ sudo: user.username, query: `sudo=${other.id}` }), other.username);
  assert.deepEqual(await whoIs({ sudo: user.username, query: 'sudo=nobody' }), noUser('nobody'));
});

test('treats digits as an id, never a name', async () => {
  const digits = '20300405';
  await seedUser(gantry, { username: digits });
  assert.deepEqual(await whoIs({ sudo: digits }), noUser(digits));
  const far = [
    '0',
    '99999999999999999999',
    `${'0'.repeat(14)}199999`,
    `${user.id}${'0'.repeat(20)}`,
    '9007199254740993',
    '-1',
    '+1',
    '1.0',
    '0x1',
  ];
  for (const name of far)
    assert.deepEqual(await whoIs({ query: `sudo=${encodeURIComponent(name)}` }), noUser(name), name);
});

test('ignores an empty target', async () => {
  assert.equal(await whoIs({ query: 'sudo=' }), admin.username);
  assert.equal(await whoIs({ sudo: '' }), admin.username);
});

test('ignores sudo without a valid credential', async () => {
  const dead = [
    null,
    'gntpat-of-nobody',
    await moreToken(gantry, admin.id, { revoked: true }),
    await moreToken(gantry, admin.id, { expires_at: '2017-01-01' }),
  ];
  for (const as of dead) {
    for (const sudo of [user.username, 'nobody', '[]']) {
      assert.deepEqual(await whoIs({ as, sudo }), [401, '401 Unauthorized']);
      assert.deepEqual(await whoIs({ as, query: `sudo[]=${sudo}` }), [401, '401 Unauthorized']);
    }
  }
  assert.equal((await ask('GET /projects', { as: null, sudo: user.username })).status, 200);
});

/** Headers that differ between any two requests. */
const steady = ({ status, headers, text }: Reply): string => {
  const kept = [...headers].filter(([name]) => !['date', 'x-request-id', 'x-runtime', 'etag'].includes(name));
  return JSON.stringify([status, kept, text]);
};

test('refuses a user who is no administrator, and does not reveal whether the target exists', async () => {
  const targets = [
    String(user.id),
    user.username,
    admin.username,
    'root',
    '1',
    '999999999',
    'nobody',
    "' or 1=1 --",
    blocked.username,
  ];
  const own = await moreToken(gantry, user.id, { scopes: ['api', 'sudo'] });
  for (const line of calls()) {
    for (const as of [user.token, own]) {
      const answers = await Promise.all(
        targets.flatMap((target) => [
          ask(line, { as, sudo: target }),
          ask(line, { as, query: `sudo=${encodeURIComponent(target)}` }),
        ]),
      );
      assert.equal(new Set(answers.map(steady)).size, 1, line);
      assert.deepEqual([answers[0]?.status, answers[0]?.body.message], notAdmin, line);
    }
  }
});

test('reports a missing user', async () => {
  for (const line of calls()) {
    for (const name of ['nobody', '999999999', `${user.username}x`, '"<b>', 'ü']) {
      const { status, body } = await ask(line, { query: `sudo=${encodeURIComponent(name)}` });
      assert.deepEqual([status, body], [404, { message: noUser(name)[1] }], line);
    }
  }
});

test('refuses a target that is not text', async () => {
  for (const line of calls()) {
    for (const query of [
      'sudo[]=1',
      `sudo=${user.id}&sudo=${other.id}`,
      `sudo=${user.id}&sudo=${user.id}`,
      `sudo[id]=${user.id}`,
    ]) {
      const { status, body } = await ask(line, { query });
      assert.deepEqual([status, body], [400, { message: { sudo: ['is invalid'] } }], `${line} ${query}`);
    }
  }
  for (const sudo of [[user.id], { id: user.id }, true]) {
    const { status } = await ask(`POST /projects/${project.id}/issues`, { json: { title: 'x', sudo } });
    assert.equal(status, 400);
  }
});

test('applies only the target’s permissions', async () => {
  const stranger = await seedUser(gantry);
  const asStranger = { sudo: stranger.username };
  const due: [line: string, status: number][] = [
    ['GET /user', 200],
    [`GET /projects/${project.id}`, 404],
    [`GET /projects/${project.id}/issues/${issue.iid}`, 404],
    [`DELETE /projects/${project.id}/issues/${issue.iid}`, 404],
    [`GET /projects/${project.id}/issues/${issue.iid}/user_agent_detail`, 403],
    ['POST /users', 403],
    [`GET /users/${user.id}/impersonation_tokens`, 403],
    [`POST /users/${user.id}/block`, 403],
    [`GET /personal_access_tokens?user_id=${user.id}`, 401],
  ];
  for (const [line, status] of due) assert.equal((await ask(line, asStranger)).status, status, line);
  for (const [line] of due) {
    const itself = await ask(line, { as: stranger.token });
    const acted = await ask(line, asStranger);
    // Only users who act for themselves count as active, which is recorded after the request.
    const shown = ({ body }: Reply) =>
      'last_activity_on' in body ? { ...body, last_activity_on: null } : body;
    assert.deepEqual([acted.status, shown(acted)], [itself.status, shown(itself)], line);
  }
  const list = await ask('GET /issues', { ...asStranger, query: 'scope=all' });
  assert.deepEqual([list.body, list.headers.get('x-total')], [[], '0']);
});

test('lets an administrator become another administrator, themselves, or a blocked user', async () => {
  assert.equal(await whoIs({ sudo: other.username }), other.username);
  assert.equal((await ask('POST /users', { sudo: other.username, json: {} })).status, 400);
  assert.equal(await whoIs({ sudo: String(admin.id) }), admin.username);
  assert.equal(await whoIs({ sudo: blocked.username }), blocked.username);
  assert.deepEqual(await whoIs({ as: blocked.token, sudo: user.username }), [
    403,
    '403 Forbidden - Your account has been blocked.',
  ]);
});

test('accepts any administrator token with the scope', async () => {
  const tokens: [options: Parameters<typeof moreToken>[2], due: unknown][] = [
    [{ scopes: ['api'] }, user.username],
    [{ scopes: ['api'], kind: 'oauth' }, user.username],
    [{ scopes: ['read_api', 'sudo'] }, user.username],
    [{ scopes: ['read_user', 'sudo'] }, user.username],
    [
      { scopes: ['read_api'] },
      [403, '403 Forbidden - Must be authenticated using an OAuth or personal access token to use sudo'],
    ],
  ];
  for (const [options, due] of tokens) {
    const token = await moreToken(gantry, admin.id, options);
    const reply = await gantry.api('GET /user', {
      as: null,
      headers: { Authorization: `Bearer ${token}`, SUDO: user.username },
    });
    assert.deepEqual(
      reply.status === 200 ? reply.body.username : [reply.status, reply.body.message],
      due,
      JSON.stringify(options),
    );
  }
  const reading = await moreToken(gantry, admin.id, { scopes: ['read_api', 'sudo'] });
  assert.equal(
    (
      await ask(`POST /projects/${project.id}/issues`, {
        as: reading,
        sudo: user.username,
        json: { title: 'x' },
      })
    ).status,
    403,
  );
  assert.equal((await ask('GET /user', { as: rootToken, sudo: user.username })).body.id, user.id);
});

test('records both users for an action under sudo', async () => {
  const made = await ask(`POST /projects/${project.id}/issues`, {
    sudo: user.username,
    json: { title: 'Acted' },
  });
  assert.deepEqual([made.status, made.body.author.id], [201, user.id]);
  await ask(`PUT /projects/${project.id}/issues/${made.body.iid}`, {
    sudo: String(user.id),
    json: { state_event: 'close' },
  });
  await ask(`POST /projects/${project.id}/issues/${made.body.iid}/notes`, {
    query: `sudo=${user.id}`,
    json: { body: 'Said' },
  });
  await ask(`PUT /projects/${project.id}/issues/${made.body.iid}`, { json: { state_event: 'reopen' } });
  const { db } = gantry.service.platform.store;
  const events = await db
    .selectFrom('events')
    .select(['kind', 'actor_id', 'sudo_by_id'])
    .where('project_id', '=', project.id)
    .orderBy('id', 'desc')
    .limit(4)
    .execute();
  assert.deepEqual(
    events.toReversed().map((row) => ({ ...row })),
    [
      { kind: 'issue.created', actor_id: user.id, sudo_by_id: admin.id },
      { kind: 'issue.closed', actor_id: user.id, sudo_by_id: admin.id },
      { kind: 'note.created', actor_id: user.id, sudo_by_id: admin.id },
      { kind: 'issue.reopened', actor_id: admin.id, sudo_by_id: null },
    ],
  );
  const notes = await db
    .selectFrom('notes')
    .select('author_id')
    .where('target_id', '=', made.body.id)
    .execute();
  assert.ok(notes.every(({ author_id }) => [user.id, admin.id].includes(author_id)));
});

test('never repeats sudo in a link', async () => {
  const { headers } = await ask('GET /issues', {
    query: `sudo=${user.username}&private_token=${admin.token}&scope=all&per_page=1`,
  });
  assert.ok(!headers.get('link')?.includes('sudo') && !headers.get('link')?.includes(user.username));
  assert.match(headers.get('link') ?? '', /scope=all/);
});
