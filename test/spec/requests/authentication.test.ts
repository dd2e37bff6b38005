/** API document, "Authentication" 1-9; behaviour book 1.4 and 1.5; client page 1, no. 10. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { hashToken, generateTokenText } from '../../../src/core/access/credentials/token_text.ts';
import { insertToken } from '../../../src/identity/tokens/create.ts';
import { randomBytes } from 'node:crypto';
import { type SeededUser, seedUser } from '../../support/seed.ts';
import { rootToken } from '../../support/service.ts';
import { type Reply, type Team, type World, answer, startWorld } from '../world.ts';

type Kind = 'personal' | 'impersonation' | 'private' | 'oauth';

let world: World;
let team: Team;
let list: string;
before(async () => {
  world = await startWorld();
  team = await world.team({ visibility: 'private' });
  await world.issue(team.id);
  list = `/projects/${team.id}/issues`;
});
after(async () => await world.close());

const unauthorized = [401, { message: '401 Unauthorized' }];

const token = async (
  user: number,
  options: { kind?: Kind; scopes?: string[]; expires_at?: string | null } = {},
) => {
  const text = generateTokenText(randomBytes);
  const { kind = 'personal', scopes = ['api'], expires_at = null } = options;
  await world.gantry.service.platform.store.write(async (tx) => {
    await insertToken(tx, null, { user_id: user, kind, name: 'spec', scopes, expires_at }, text);
  });
  return text;
};

/** Sends a request with only the given credentials. */
const bare = async (line: string, headers: Record<string, string> = {}, form?: string): Promise<Reply> =>
  await world.api(line, { as: null, headers, ...(form !== undefined && { form }) });

describe('1. most requests require authentication', () => {
  it('each issue endpoint answers 401 before any other check', async () => {
    for (const at of [`/projects/${team.id}/issues`, '/projects/999999/issues']) {
      const lines = [
        'GET /issues',
        'GET /groups/1/issues',
        `GET ${at}`,
        `GET ${at}?state=foo`,
        `POST ${at}`,
        `GET ${at}/1`,
        `GET ${at}/abc`,
        `PUT ${at}/1`,
        `DELETE ${at}/1`,
        ...['move', 'subscribe', 'unsubscribe', 'todo', 'time_estimate', 'reset_time_estimate'].map(
          (one) => `POST ${at}/1/${one}`,
        ),
        ...['add_spent_time', 'reset_spent_time'].map((one) => `POST ${at}/1/${one}`),
        ...['time_stats', 'closed_by', 'user_agent_detail'].map((one) => `GET ${at}/1/${one}`),
      ];
      for (const line of lines) assert.deepEqual(answer(await bare(line)), unauthorized, line);
    }
  });

  it('also in a public project', async () => {
    const open = await world.project();
    assert.deepEqual(answer(await bare(`GET /projects/${open.id}/issues`)), unauthorized);
  });

  it('a malformed body is reported only to authorized callers', async () => {
    const headers = { 'content-type': 'application/json' };
    const nobody = await world.raw(`POST /api/v4${list}`, { as: null, body: '{', headers });
    assert.deepEqual(answer(nobody), unauthorized);
    assert.equal((await world.raw(`POST /api/v4${list}`, { body: '{', headers })).status, 400);
  });
});

describe('2. private token and personal access token', () => {
  for (const kind of ['private', 'personal'] as const) {
    it(`${kind}: as private_token in the query, as PRIVATE-TOKEN in any case, in a body`, async () => {
      const text = await token(1, { kind });
      assert.equal((await bare(`GET ${list}?private_token=${text}`)).status, 200);
      for (const name of ['PRIVATE-TOKEN', 'private-token', 'Private-Token']) {
        assert.equal((await bare(`GET ${list}`, { [name]: text })).status, 200, name);
      }
      assert.equal((await bare(`POST ${list}`, {}, `title=x&private_token=${text}`)).status, 201);
      const json = await world.api(`POST ${list}`, { as: null, json: { title: 'x', private_token: text } });
      assert.equal(json.status, 201);
    });

    it(`${kind}: as Authorization: Bearer`, async () => {
      const text = await token(1, { kind });
      for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
        assert.equal((await bare(`GET ${list}`, { authorization: `${scheme} ${text}` })).status, 200);
      }
    });
  }

  it('a private token grants full access to the account', async () => {
    const text = await token(team.owner.id, { kind: 'private' });
    assert.equal(
      (await bare(`POST ${list}?title=x`, { 'private-token': text })).body.author.id,
      team.owner.id,
    );
  });

  it('the parameter takes precedence over the header', async () => {
    const [own, other] = [team.guest.token, team.reporter.token];
    const reply = await bare(`POST ${list}?title=x&private_token=${own}`, { 'private-token': other });
    assert.equal(reply.body.author.id, team.guest.id);
    assert.deepEqual(
      answer(await bare(`GET ${list}?private_token=wrong`, { 'private-token': other })),
      unauthorized,
    );
  });

  it('the private token takes precedence over OAuth', async () => {
    const oauth = await token(team.reporter.id, { kind: 'oauth' });
    const reply = await bare(`POST ${list}?title=x`, {
      'private-token': team.guest.token,
      authorization: `Bearer ${oauth}`,
    });
    assert.equal(reply.body.author.id, team.guest.id);
    const wrong = await bare(`GET ${list}`, { 'private-token': 'wrong', authorization: `Bearer ${oauth}` });
    assert.deepEqual(answer(wrong), unauthorized);
  });
});

describe('3. OAuth 2 token', () => {
  it('as access_token in the query, as Authorization: Bearer, in a body, as bearer_token', async () => {
    const text = await token(1, { kind: 'oauth' });
    assert.equal((await bare(`GET ${list}?access_token=${text}`)).status, 200);
    assert.equal((await bare(`GET ${list}`, { authorization: `Bearer ${text}` })).status, 200);
    assert.equal((await bare(`GET ${list}?bearer_token=${text}`)).status, 200);
    assert.equal((await bare(`POST ${list}`, {}, `title=x&access_token=${text}`)).status, 201);
  });

  it('access_token takes precedence over bearer_token', async () => {
    const [one, other] = [
      await token(team.guest.id, { kind: 'oauth' }),
      await token(team.owner.id, { kind: 'oauth' }),
    ];
    const reply = await bare(`POST ${list}?title=x&access_token=${one}&bearer_token=${other}`);
    assert.equal(reply.body.author.id, team.guest.id);
  });

  it('header and access_token together: 400', async () => {
    const text = await token(1, { kind: 'oauth' });
    const reply = await bare(`GET ${list}?access_token=${text}`, { authorization: `Bearer ${text}` });
    assert.deepEqual(answer(reply), [
      400,
      {
        error: 'invalid_request',
        error_description: 'Both Authorization header and payload includes access token.',
      },
    ]);
  });

  it('is no private token', async () => {
    const text = await token(1, { kind: 'oauth' });
    assert.deepEqual(answer(await bare(`GET ${list}`, { 'private-token': text })), unauthorized);
    assert.deepEqual(answer(await bare(`GET ${list}?private_token=${text}`)), unauthorized);
  });
});

describe('4. impersonation token', () => {
  it('is used exactly like a personal access token', async () => {
    const text = await token(team.guest.id, { kind: 'impersonation' });
    for (const headers of [{ 'private-token': text }, { authorization: `Bearer ${text}` }]) {
      assert.equal((await bare(`POST ${list}?title=x`, headers)).body.author.id, team.guest.id);
    }
    assert.equal((await bare(`GET ${list}?private_token=${text}`)).status, 200);
  });
});

describe('5. session cookie _service_session', () => {
  it('an unknown session is no credential', async () => {
    for (const value of ['', 'x', rootToken, '1']) {
      assert.deepEqual(
        answer(await bare(`GET ${list}`, { cookie: `_service_session=${value}` })),
        unauthorized,
      );
    }
  });
  it('does not prevent a token from being used', async () => {
    const reply = await bare(`GET ${list}`, { cookie: '_service_session=x', 'private-token': rootToken });
    assert.equal(reply.status, 200);
  });
});

describe('6. sudo', () => {
  let user: SeededUser;
  before(async () => {
    user = team.guest;
  });
  const author = (reply: Reply): number => {
    assert.equal(reply.status, 201, reply.text);
    return reply.body.author.id;
  };

  it('acts as the user, by numeric id or username, by query, header in any case, or body', async () => {
    const root = { 'private-token': rootToken };
    for (const word of [String(user.id), user.username, user.username.toUpperCase()]) {
      assert.equal(author(await bare(`POST ${list}?title=x&sudo=${word}`, root)), user.id);
      for (const name of ['SUDO', 'sudo', 'Sudo']) {
        assert.equal(author(await bare(`POST ${list}?title=x`, { ...root, [name]: word })), user.id);
      }
      assert.equal(author(await bare(`POST ${list}`, root, `title=x&sudo=${word}`)), user.id);
      assert.equal(author(await world.api(`POST ${list}`, { json: { title: 'x', sudo: word } })), user.id);
    }
    assert.equal(author(await world.api(`POST ${list}`, { json: { title: 'x', sudo: user.id } })), user.id);
  });

  it('applies to every method: GET, PUT, DELETE', async () => {
    assert.equal((await world.api(`GET ${list}/1?sudo=${user.id}`)).body.subscribed, false);
    assert.equal((await world.api(`PUT ${list}/1?title=x&sudo=${user.id}`)).status, 403);
    assert.equal((await world.api(`DELETE ${list}/1?sudo=${user.id}`)).status, 403);
  });

  it('the parameter takes precedence over the header', async () => {
    const reply = await world.api(`POST ${list}?title=x&sudo=${user.id}`, {
      headers: { sudo: String(team.reporter.id) },
    });
    assert.equal(author(reply), user.id);
  });

  it('the permissions are only those of the target', async () => {
    const stranger = team.stranger.id;
    assert.deepEqual(answer(await world.api(`GET ${list}?sudo=${stranger}`)), [
      404,
      { message: '404 Project Not Found' },
    ]);
    const json = { title: 'x', labels: 'a', created_at: '2001-01-01' };
    const { body } = await world.api(`POST ${list}?sudo=${user.id}`, { json });
    assert.deepEqual([body.labels, body.created_at > '2002'], [[], true]);
  });

  it('a token without administrator rights: 403, alike for existing and missing users', async () => {
    for (const word of ['root', '1', user.username, 'nobody-here', '999999']) {
      const reply = await world.api(`GET /issues?sudo=${word}`, { as: team.owner.token });
      assert.deepEqual(answer(reply), [403, { message: '403 Forbidden - Must be admin to use sudo' }], word);
    }
  });

  it('unknown user: 404', async () => {
    for (const word of ['nobody-here', '999999', '0', '-1', '1.5', 'root@example.com']) {
      const reply = await world.api(`GET /issues?sudo=${word}`);
      assert.deepEqual(answer(reply), [
        404,
        { message: `404 Not Found: No user id or username for: ${word}` },
      ]);
    }
  });

  it('digits are an id even if a user is named so', async () => {
    const named = await seedUser(world.gantry, { username: '4711471' });
    assert.equal((await world.api(`GET /issues?sudo=${named.username}`)).status, 404);
    assert.equal((await world.api(`GET /issues?sudo=${named.id}`)).status, 200);
  });

  it('no valid credential: 401, and sudo is ignored', async () => {
    for (const headers of [{}, { 'private-token': 'wrong' }]) {
      assert.deepEqual(answer(await bare('GET /issues?sudo=nobody', headers)), unauthorized);
    }
  });

  it('is checked before parameters: 404 of the user, not 400', async () => {
    assert.equal((await world.api('GET /issues?state=foo&sudo=nobody-here')).status, 404);
  });

  it('an empty value is ignored; an array, an object or two values are refused', async () => {
    assert.equal((await world.api('GET /user?sudo=')).body.username, 'root');
    for (const query of ['sudo[]=1', 'sudo[a]=1', 'sudo=1&sudo=2']) {
      assert.deepEqual(answer(await world.api(`GET /issues?${query}`)), [
        400,
        { message: { sudo: ['is invalid'] } },
      ]);
    }
  });

  it('needs scope api or sudo', async () => {
    const root = { sudo: String(user.id) };
    const withSudo = await token(1, { scopes: ['read_api', 'sudo'] });
    assert.equal((await bare('GET /issues', { ...root, 'private-token': withSudo })).status, 200);
    const without = await token(1, { scopes: ['read_api'] });
    assert.equal((await bare('GET /issues', { ...root, 'private-token': without })).status, 403);
    for (const kind of ['impersonation', 'private', 'oauth'] as const) {
      const text = await token(1, { kind });
      assert.equal(
        (await bare('GET /issues', { ...root, authorization: `Bearer ${text}` })).status,
        200,
        kind,
      );
    }
  });

  it('a blocked target is allowed', async () => {
    const blocked = await seedUser(world.gantry, { state: 'blocked' });
    assert.equal((await world.api(`GET /issues?sudo=${blocked.id}`)).status, 200);
  });

  it('the audit log records both users', async () => {
    const { body } = await world.api(`POST ${list}?title=x&sudo=${user.id}`);
    const { db } = world.gantry.service.platform.store;
    const row = await db
      .selectFrom('events')
      .select(['actor_id', 'sudo_by_id'])
      .where('target_type', '=', 'Issue')
      .where('target_id', '=', body.id)
      .executeTakeFirstOrThrow();
    assert.deepEqual({ ...row }, { actor_id: user.id, sudo_by_id: 1 });
  });
});

describe('7. missing or invalid credentials: 401 {"message": "401 Unauthorized"}', () => {
  const headers: [string, Record<string, string>][] = [
    ['nothing', {}],
    ['an unknown token', { 'private-token': 'nonsense' }],
    ['an empty token', { 'private-token': '' }],
    ['an unknown bearer', { authorization: 'Bearer nonsense' }],
    ['a bearer without a token', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: `Basic ${Buffer.from(`root:${rootToken}`).toString('base64')}` }],
    ['the bare token', { authorization: rootToken }],
    ['a token in another case', { 'private-token': rootToken.toUpperCase() }],
  ];
  for (const [name, sent] of headers) {
    it(name, async () => assert.deepEqual(answer(await bare(`GET ${list}`, sent)), unauthorized));
  }
  for (const query of [
    'private_token=',
    'private_token[]=x',
    'private_token[a]=x',
    'access_token=',
    'access_token[]=x',
  ]) {
    it(`?${query}`, async () => assert.deepEqual(answer(await bare(`GET ${list}?${query}`)), unauthorized));
  }
  for (const value of [0, true, null, [], {}, ['x'], { $gt: '' }]) {
    it(`private_token ${JSON.stringify(value)} in JSON`, async () => {
      for (const name of ['private_token', 'access_token']) {
        const reply = await world.api(`POST ${list}`, { as: null, json: { title: 'x', [name]: value } });
        assert.deepEqual(answer(reply), unauthorized, name);
      }
    });
  }

  it('revoked or expired (from 00:00 of the date): the header has the details', async () => {
    const revoked = await token(1);
    await world.gantry.service.platform.store.write(async (tx) => {
      await tx.db
        .updateTable('tokens')
        .set({ revoked: 1 })
        .where('token_hash', '=', hashToken(revoked))
        .execute();
    });
    const reply = await bare(`GET ${list}`, { 'private-token': revoked });
    assert.deepEqual(answer(reply), unauthorized);
    assert.match(
      reply.headers.get('www-authenticate') ?? '',
      /^Bearer realm="Protected by OAuth 2\.0", error="invalid_token"/,
    );
    const today = new Date().toISOString().slice(0, 10);
    for (const [day, status] of [
      [today, 401],
      ['2001-01-01', 401],
      ['9999-01-01', 200],
    ] as const) {
      const text = await token(1, { expires_at: day });
      assert.equal((await bare(`GET ${list}`, { 'private-token': text })).status, status, day);
    }
  });

  it('a blocked user: 403', async () => {
    const blocked = await seedUser(world.gantry, { state: 'blocked' });
    assert.deepEqual(answer(await bare('GET /issues', { 'private-token': blocked.token })), [
      403,
      { message: '403 Forbidden - Your account has been blocked.' },
    ]);
  });
});

describe('8. permission rules', () => {
  it('issue delete: admin or project owner', async () => {
    const { body } = await world.api(`POST ${list}?title=x`);
    assert.equal((await world.api(`DELETE ${list}/${body.iid}`, { as: team.master.token })).status, 403);
    assert.equal((await world.api(`DELETE ${list}/${body.iid}`, { as: team.owner.token })).status, 204);
  });
  it('created_at on create and updated_at on edit: admin or project owner', async () => {
    const day = '2001-01-01T00:00:00.000Z';
    for (const [who, taken] of [
      ['owner', true],
      ['master', false],
    ] as const) {
      const as = team[who].token;
      const { body } = await world.api(`POST ${list}`, { as, json: { title: 'x', created_at: day } });
      assert.equal(body.created_at === day, taken);
      const edited = await world.api(`PUT ${list}/${body.iid}`, {
        as,
        json: { title: 'y', updated_at: day },
      });
      assert.equal(edited.body.updated_at === day, taken);
    }
  });
  it('user agent detail: admin', async () => {
    assert.equal((await world.api(`GET ${list}/1/user_agent_detail`, { as: team.owner.token })).status, 403);
    assert.equal((await world.api(`GET ${list}/1/user_agent_detail`)).status, 200);
  });
});

describe('9. scopes (behaviour book 1.4)', () => {
  const insufficient = (scope: string) => [
    403,
    {
      error: 'insufficient_scope',
      error_description: 'The request requires higher privileges than provided by the access token.',
      scope,
    },
  ];
  for (const [scope, read, write] of [
    ['api', 200, 201],
    ['read_api', 200, 403],
    ['read_user', 403, 403],
    ['read_repository', 403, 403],
    ['sudo', 403, 403],
  ] as const) {
    for (const kind of ['personal', 'impersonation', 'oauth'] as const) {
      it(`${scope}, ${kind}: GET ${read}, POST ${write}`, async () => {
        const text = await token(1, { kind, scopes: [scope] });
        const headers = { authorization: `Bearer ${text}` };
        assert.equal((await bare(`GET ${list}`, headers)).status, read);
        assert.equal((await bare(`HEAD ${list}`, headers)).status, read);
        assert.equal((await bare(`POST ${list}?title=x`, headers)).status, write);
      });
    }
  }
  it('403 with insufficient_scope', async () => {
    const headers = { 'private-token': await token(1, { scopes: ['read_user'] }) };
    assert.deepEqual(answer(await bare(`GET ${list}`, headers)), insufficient('api read_api'));
    assert.deepEqual(answer(await bare(`DELETE ${list}/1`, headers)), insufficient('api'));
  });
});

it('credentials are in no Link, and in no error body', async () => {
  const secret = team.guest.token;
  const oauth = await token(team.guest.id, { kind: 'oauth' });
  for (const query of [`private_token=${secret}`, `access_token=${oauth}`, `bearer_token=${oauth}`]) {
    const reply = await bare(`GET ${list}?${query}&per_page=1`);
    assert.equal(reply.status, 200);
    const link = reply.headers.get('link') ?? '';
    assert.ok(!link.includes('token') && !link.includes(secret) && !link.includes(oauth), link);
    assert.ok(!(await bare(`GET ${list}?${query}&state=foo`)).text.includes('gntpat'));
  }
  const sudo = await world.api(`GET ${list}?sudo=root&per_page=1`);
  assert.ok(!(sudo.headers.get('link') ?? '').includes('sudo'));
});
