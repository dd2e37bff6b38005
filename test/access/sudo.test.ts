/** An administrator acts as somebody else: who may, whom he becomes, and what is kept of it. */
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
/** Of `user`: private. */
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

type Given = { as?: string | null; sudo?: string; query?: string; json?: object };

const ask = async (line: string, { as = admin.token, sudo, query, json }: Given = {}): Promise<Reply> =>
  await gantry.api(query === undefined ? line : `${line}?${query}`, {
    as,
    ...(json !== undefined && { json }),
    ...(sudo !== undefined && { headers: { SUDO: sudo } }),
  });

/** Who one is, by his own account of it. */
const whoIs = async (given: Given): Promise<unknown> => {
  const { status, body } = await ask('GET /user', given);
  return status === 200 ? body.username : [status, body.message];
};

const notAdmin = [403, '403 Forbidden - Must be admin to use sudo'];
const noUser = (given: string) => [404, `404 Not Found: No user id or username for: ${given}`];

/** Some calls of each kind: open, for users, for administrators; reading and writing; of what is there and what is not. */
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

test('a target is named by id or by name, in the header or as a parameter', async () => {
  const named = [
    { sudo: String(user.id) },
    { sudo: user.username },
    { sudo: user.username.toUpperCase() },
    { query: `sudo=${user.id}` },
    { query: `sudo=${user.username.toLowerCase()}` },
  ];
  for (const given of named) assert.equal(await whoIs(given), user.username, JSON.stringify(given));
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

test('the parameter wins over the header', async () => {
  assert.equal(await whoIs({ sudo: user.username, query: `sudo=${other.id}` }), other.username);
  assert.deepEqual(await whoIs({ sudo: user.username, query: 'sudo=nobody' }), noUser('nobody'));
});

test('digits are an id, never a name', async () => {
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
  for (const given of far)
    assert.deepEqual(await whoIs({ query: `sudo=${encodeURIComponent(given)}` }), noUser(given), given);
});

test('an empty target is none', async () => {
  assert.equal(await whoIs({ query: 'sudo=' }), admin.username);
  assert.equal(await whoIs({ sudo: '' }), admin.username);
});

test('without a credential that is good, sudo is not looked at', async () => {
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

/** What differs from one request to the next. */
const steady = ({ status, headers, text }: Reply): string => {
  const kept = [...headers].filter(([name]) => !['date', 'x-request-id', 'x-runtime', 'etag'].includes(name));
  return JSON.stringify([status, kept, text]);
};

test('one who is no administrator is refused, and learns not whether the user exists', async () => {
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

test('a user who does not exist is said not to', async () => {
  for (const line of calls()) {
    for (const given of ['nobody', '999999999', `${user.username}x`, '"<b>', 'ü']) {
      const { status, body } = await ask(line, { query: `sudo=${encodeURIComponent(given)}` });
      assert.deepEqual([status, body], [404, { message: noUser(given)[1] }], line);
    }
  }
});

test('a target that is no text is refused', async () => {
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

test('the target’s permissions are the only ones', async () => {
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
    // Only who acts for himself is active, which is noted behind the request.
    const shown = ({ body }: Reply) =>
      'last_activity_on' in body ? { ...body, last_activity_on: null } : body;
    assert.deepEqual([acted.status, shown(acted)], [itself.status, shown(itself)], line);
  }
  const list = await ask('GET /issues', { ...asStranger, query: 'scope=all' });
  assert.deepEqual([list.body, list.headers.get('x-total')], [[], '0']);
});

test('an administrator may become another one, himself, and one who is blocked', async () => {
  assert.equal(await whoIs({ sudo: other.username }), other.username);
  assert.equal((await ask('POST /users', { sudo: other.username, json: {} })).status, 400);
  assert.equal(await whoIs({ sudo: String(admin.id) }), admin.username);
  assert.equal(await whoIs({ sudo: blocked.username }), blocked.username);
  assert.deepEqual(await whoIs({ as: blocked.token, sudo: user.username }), [
    403,
    '403 Forbidden - Your account has been blocked.',
  ]);
});

test('any token of an administrator will do that has the scope', async () => {
  const tokens: [given: Parameters<typeof moreToken>[2], due: unknown][] = [
    [{ scopes: ['api'] }, user.username],
    [{ scopes: ['api'], kind: 'oauth' }, user.username],
    [{ scopes: ['read_api', 'sudo'] }, user.username],
    [{ scopes: ['read_user', 'sudo'] }, user.username],
    [
      { scopes: ['read_api'] },
      [403, '403 Forbidden - Must be authenticated using an OAuth or personal access token to use sudo'],
    ],
  ];
  for (const [given, due] of tokens) {
    const token = await moreToken(gantry, admin.id, given);
    const reply = await gantry.api('GET /user', {
      as: null,
      headers: { Authorization: `Bearer ${token}`, SUDO: user.username },
    });
    assert.deepEqual(
      reply.status === 200 ? reply.body.username : [reply.status, reply.body.message],
      due,
      JSON.stringify(given),
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

test('what is done under sudo is kept with both of them', async () => {
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

test('sudo never comes back in a link', async () => {
  const { headers } = await ask('GET /issues', {
    query: `sudo=${user.username}&private_token=${admin.token}&scope=all&per_page=1`,
  });
  assert.ok(!headers.get('link')?.includes('sudo') && !headers.get('link')?.includes(user.username));
  assert.match(headers.get('link') ?? '', /scope=all/);
});
