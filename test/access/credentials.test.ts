/** Each call of the API document, with each kind of credential. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deriveCsrfToken } from '../../src/core/access/credentials/session_token.ts';
import { hashToken } from '../../src/core/access/credentials/token_text.ts';
import { startSession } from '../../src/identity/sessions/start_session.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { type Row, rows, wordFor } from './expected.ts';
import type { Cell } from './makers/makers.ts';
import { prepare } from './matrix.ts';
import { type Person, moreToken } from './people.ts';
import { pathOf, recipes } from './recipes/recipes.ts';
import {
  type Received,
  type Sent,
  type Wire,
  failWith,
  forEachAtOnce,
  openWire,
} from './pipelined_requests.ts';
import { type World, makePlace, makeWorld } from './world.ts';

let gantry: TestService;
let world: World;
let wire: Wire;
/** Tokens of the administrator, by kind. */
let tokens: Record<
  'good' | 'oauth' | 'revoked' | 'expired' | 'read_api' | 'read_user' | 'sudo' | 'none' | 'git',
  string
>;

/** Session cookies of the administrator. */
let sessions: { own: string; other: string; ended: string; sleeping: string };

const newSession = async (user_id: number): Promise<string> => {
  const source = { ip: '127.0.0.1', userAgent: 'a test' };
  return await startSession(gantry.service.platform, { user_id, provider: null, source, replaced: null });
};

before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'error' });
  world = await makeWorld(gantry);
  wire = openWire(gantry.url);
  const more = async (options: Parameters<typeof moreToken>[2] = {}) =>
    await moreToken(gantry, admin().user_id ?? 0, options);
  tokens = {
    good: await more(),
    oauth: await more({ kind: 'oauth' }),
    revoked: await more({ revoked: true }),
    expired: await more({ expires_at: new Date().toISOString().slice(0, 10) }),
    read_api: await more({ scopes: ['read_api'] }),
    read_user: await more({ scopes: ['read_user'] }),
    sudo: await more({ scopes: ['sudo'] }),
    none: await more({ scopes: [] }),
    git: await more({ scopes: ['read_repository', 'write_repository'] }),
  };
  const id = admin().user_id ?? 0;
  const [own, other, ended, sleeping] = [
    await newSession(id),
    await newSession(id),
    await newSession(id),
    await newSession(id),
  ];
  sessions = { own, other, ended, sleeping };
  await gantry.service.platform.store.write(async ({ db, now }) => {
    await db.deleteFrom('sessions').where('token_hash', '=', hashToken(ended)).execute();
    const last_seen_at = now - 10_081 * 60_000;
    await db
      .updateTable('sessions')
      .set({ last_seen_at })
      .where('token_hash', '=', hashToken(sleeping))
      .execute();
  });
});
after(async () => {
  wire.close();
  await gantry.close();
});

const admin = (): Person => {
  const found = world.people.all.get('admin');
  assert.ok(found);
  return found;
};

/** The calls of the API document's tables of issues and settings. */
const contract = [
  'GET /issues',
  'GET /groups/:id/issues',
  'GET /projects/:id/issues',
  'GET /projects/:id/issues/:issue_iid',
  'POST /projects/:id/issues',
  'PUT /projects/:id/issues/:issue_iid {title}',
  'DELETE /projects/:id/issues/:issue_iid',
  'POST /projects/:id/issues/:issue_iid/move {to a project as reporter}',
  'POST /projects/:id/issues/:issue_iid/subscribe',
  'POST /projects/:id/issues/:issue_iid/unsubscribe',
  'POST /projects/:id/issues/:issue_iid/todo',
  'POST /projects/:id/issues/:issue_iid/time_estimate',
  'POST /projects/:id/issues/:issue_iid/reset_time_estimate',
  'POST /projects/:id/issues/:issue_iid/add_spent_time',
  'POST /projects/:id/issues/:issue_iid/reset_spent_time',
  'GET /projects/:id/issues/:issue_iid/time_stats',
  'GET /projects/:id/issues/:issue_iid/closed_by',
  'GET /projects/:id/issues/:issue_iid/user_agent_detail',
  'GET /application/settings',
  'PUT /application/settings',
].map((name): Row => {
  const row = rows.find((one) => one.name === name);
  assert.ok(row, name);
  return row;
});

/** The credential of a request. */
type Carried = {
  headers?: Record<string, string>;
  query?: string;
  json?: Record<string, unknown>;
  form?: string;
};

type Channel = {
  name: string;
  carry: () => Carried;
  /** `ok`: as the table says for an administrator. `{ read, write }`: for reading and for writing calls. */
  answer: string | { read: string; write: string };
};

const channel = (name: string, answer: Channel['answer'], carry: () => Carried): Channel => ({
  name,
  answer,
  carry,
});
const header = (name: string, value: string): Carried => ({ headers: { [name]: value } });
const bearer = (value: string): Carried => header('Authorization', `Bearer ${value}`);
const query = (name: string, value: string): Carried => ({
  query: `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
});
const both = (...all: Carried[]): Carried => ({
  headers: Object.assign({}, ...all.map(({ headers }) => headers)) as Record<string, string>,
  query: all.flatMap((one) => one.query ?? []).join('&'),
  json: Object.assign({}, ...all.map(({ json }) => json)) as Record<string, unknown>,
});

const unknown = 'gntpat-of-nobody';

const good: Channel[] = [
  channel('PRIVATE-TOKEN', 'ok', () => header('PRIVATE-TOKEN', tokens.good)),
  channel('private-token', 'ok', () => header('private-token', tokens.good)),
  channel('pRiVaTe-ToKeN', 'ok', () => header('pRiVaTe-ToKeN', tokens.good)),
  channel('private_token in the query', 'ok', () => query('private_token', tokens.good)),
  channel('Bearer', 'ok', () => bearer(tokens.good)),
  channel('bEARER and blanks', 'ok', () => header('aUTHORIZATION', `bEARER   ${tokens.good}`)),
  channel('access_token in the query', 'ok', () => query('access_token', tokens.good)),
  channel('bearer_token in the query', 'ok', () => query('bearer_token', tokens.good)),
  channel('OAuth as Bearer', 'ok', () => bearer(tokens.oauth)),
  channel('OAuth in the query', 'ok', () => query('access_token', tokens.oauth)),
];

/** Only calls with a body. */
const inBody: Channel[] = [
  channel('private_token in a form', 'ok', () => ({ form: `private_token=${tokens.good}` })),
  channel('private_token in JSON', 'ok', () => ({ json: { private_token: tokens.good } })),
  channel('access_token in a form', 'ok', () => ({ form: `access_token=${tokens.good}` })),
  channel('access_token in JSON', 'ok', () => ({ json: { access_token: tokens.good } })),
  channel('the body wins over the query', 'ok', () =>
    both(query('private_token', unknown), { json: { private_token: tokens.good } }),
  ),
  channel('the body wins over the query, too, when it is wrong', '401', () =>
    both(query('private_token', tokens.good), { json: { private_token: unknown } }),
  ),
  channel('Bearer and access_token in JSON', '400', () =>
    both(bearer(tokens.good), { json: { access_token: tokens.good } }),
  ),
  ...[0, 1, true, false, [], {}, { $gt: '' }, { length: 10 }].flatMap((value) => [
    channel(`private_token ${JSON.stringify(value)}`, '401', () => ({ json: { private_token: value } })),
    channel(`access_token ${JSON.stringify(value)}`, '401', () => ({ json: { access_token: value } })),
    channel(`private_token ${JSON.stringify(value)} beside a good header`, '401', () =>
      both(header('PRIVATE-TOKEN', tokens.good), { json: { private_token: value } }),
    ),
  ]),
  channel('private_token null', '401', () => ({ json: { private_token: null } })),
  channel('private_token [the token]', '401', () => ({ json: { private_token: [tokens.good] } })),
];

const bad: Channel[] = [
  channel('nothing', '401', () => ({})),
  channel('an empty header', '401', () => header('PRIVATE-TOKEN', '')),
  channel('an empty parameter', '401', () => query('private_token', '')),
  channel('an unknown header', '401', () => header('PRIVATE-TOKEN', unknown)),
  channel('an unknown parameter', '401', () => query('private_token', unknown)),
  channel('an unknown Bearer', '401', () => bearer(unknown)),
  channel('a name as token', '401', () => header('PRIVATE-TOKEN', 'root')),
  channel('the token twice', '401', () => ({
    query: `private_token=${tokens.good}&private_token=${tokens.good}`,
  })),
  channel('private_token[]', '401', () => query('private_token[]', tokens.good)),
  channel('private_token[x]', '401', () => query('private_token[x]', tokens.good)),
  channel('access_token[]', '401', () => query('access_token[]', tokens.good)),
  channel('Authorization without a scheme', '401', () => header('Authorization', tokens.good)),
  channel('Authorization: Token', '401', () => header('Authorization', `Token ${tokens.good}`)),
  channel('Authorization: Basic', '401', () =>
    header('Authorization', `Basic ${Buffer.from(`root:${tokens.good}`).toString('base64')}`),
  ),
  channel('Authorization: Bearer and two tokens', '401', () => bearer(`${tokens.good} ${tokens.good}`)),
  channel('X-Private-Token', '401', () => header('X-Private-Token', tokens.good)),
  channel('JOB-TOKEN', '401', () => header('JOB-TOKEN', tokens.good)),
  channel('job_token', '401', () => query('job_token', tokens.good)),
  channel('a cookie', '401', () => header('Cookie', `_service_session=${tokens.good}`)),
  channel('OAuth as private token', '401', () => header('PRIVATE-TOKEN', tokens.oauth)),
  ...(['revoked', 'expired'] as const).flatMap((kind) => [
    channel(`${kind}, PRIVATE-TOKEN`, '401', () => header('PRIVATE-TOKEN', tokens[kind])),
    channel(`${kind}, private_token`, '401', () => query('private_token', tokens[kind])),
    channel(`${kind}, Bearer`, '401', () => bearer(tokens[kind])),
    channel(`${kind}, access_token`, '401', () => query('access_token', tokens[kind])),
  ]),
];

const two: Channel[] = [
  channel('the parameter wins', 'ok', () =>
    both(header('PRIVATE-TOKEN', unknown), query('private_token', tokens.good)),
  ),
  channel('the parameter wins, too, when it is wrong', '401', () =>
    both(header('PRIVATE-TOKEN', tokens.good), query('private_token', unknown)),
  ),
  channel('private before Bearer', 'ok', () => both(header('PRIVATE-TOKEN', tokens.good), bearer(unknown))),
  channel('private before Bearer, too, when it is wrong', '401', () =>
    both(header('PRIVATE-TOKEN', unknown), bearer(tokens.good)),
  ),
  channel('private before access_token', 'ok', () =>
    both(header('PRIVATE-TOKEN', tokens.good), query('access_token', unknown)),
  ),
  channel('access_token before bearer_token', '401', () =>
    both(query('access_token', unknown), query('bearer_token', tokens.good)),
  ),
  channel('Bearer and access_token', '400', () =>
    both(bearer(tokens.good), query('access_token', tokens.good)),
  ),
  channel('Bearer and access_token, both wrong', '400', () =>
    both(bearer(unknown), query('access_token', unknown)),
  ),
];

const scoped: Channel[] = [
  channel('read_api', { read: 'ok', write: '403S' }, () => header('PRIVATE-TOKEN', tokens.read_api)),
  channel('read_api as Bearer', { read: 'ok', write: '403S' }, () => bearer(tokens.read_api)),
  channel('read_api in the query', { read: 'ok', write: '403S' }, () =>
    query('private_token', tokens.read_api),
  ),
  ...(['read_user', 'sudo', 'none', 'git'] as const).flatMap((kind) => [
    channel(kind, '403S', () => header('PRIVATE-TOKEN', tokens[kind])),
    channel(`${kind} as Bearer`, '403S', () => bearer(tokens[kind])),
    channel(`${kind} in the query`, '403S', () => query('access_token', tokens[kind])),
  ]),
];

const cookie = (secret: string): Carried => header('Cookie', `_service_session=${secret}`);
const csrf = (secret: string): Carried => header('X-CSRF-Token', deriveCsrfToken(secret));
const onlyReads = { read: 'ok', write: '401' };

const cookies: Channel[] = [
  channel('a cookie', onlyReads, () => cookie(sessions.own)),
  channel('a cookie with its token', 'ok', () => both(cookie(sessions.own), csrf(sessions.own))),
  channel('a cookie with its token in the query', 'ok', () =>
    both(cookie(sessions.own), query('authenticity_token', deriveCsrfToken(sessions.own))),
  ),
  channel('a cookie with the token of another session', onlyReads, () =>
    both(cookie(sessions.own), csrf(sessions.other)),
  ),
  channel('a cookie with an empty token', onlyReads, () =>
    both(cookie(sessions.own), header('X-CSRF-Token', '')),
  ),
  channel('a cookie with itself as the token', onlyReads, () =>
    both(cookie(sessions.own), header('X-CSRF-Token', sessions.own)),
  ),
  channel('a token without the cookie', '401', () => csrf(sessions.own)),
  ...['https://evil.example', 'null', 'http://127.0.0.1', 'http://127.0.0.1.evil.example'].map((origin) =>
    channel(`a cookie with its token from ${origin}`, '401', () =>
      both(cookie(sessions.own), csrf(sessions.own), header('Origin', origin)),
    ),
  ),
  channel('a cookie with its token from our own page', 'ok', () =>
    both(cookie(sessions.own), csrf(sessions.own), header('Origin', new URL(gantry.url).origin)),
  ),
  ...['cross-site', 'same-site'].map((site) =>
    channel(`a cookie with its token, ${site}`, '401', () =>
      both(cookie(sessions.own), csrf(sessions.own), header('Sec-Fetch-Site', site)),
    ),
  ),
  channel('the cookie of a session that ended', '401', () =>
    both(cookie(sessions.ended), csrf(sessions.ended)),
  ),
  channel('the cookie of a session that slept too long', '401', () =>
    both(cookie(sessions.sleeping), csrf(sessions.sleeping)),
  ),
  channel('a cookie beside a good token', 'ok', () =>
    both(cookie(sessions.other), header('PRIVATE-TOKEN', tokens.good)),
  ),
  channel('a cookie with its token beside a bad token', '401', () =>
    both(cookie(sessions.own), csrf(sessions.own), header('PRIVATE-TOKEN', unknown)),
  ),
  channel('a cookie with its token beside a bad Bearer', '401', () =>
    both(cookie(sessions.own), csrf(sessions.own), bearer(unknown)),
  ),
  channel('the secret of a session as a token', '401', () => header('PRIVATE-TOKEN', sessions.own)),
  channel('the secret of a session as Bearer', '401', () => bearer(sessions.own)),
];

const sentBy = (cell: Cell, { headers = {}, query: more = '', json = {}, form }: Carried): Sent => {
  const { row, names } = cell;
  const path = `/api/v4${pathOf(cell)}`;
  const usual = (recipes[row.name]?.body?.(names, cell) ?? {}) as Record<string, string>;
  const all = { ...usual, ...json };
  const asForm =
    form === undefined ? undefined : [new URLSearchParams(usual).toString(), form].filter(Boolean).join('&');
  const body = Object.keys(all).length === 0 ? undefined : all;
  return {
    method: row.method,
    path: more === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${more}`,
    headers,
    body: asForm ?? body,
  };
};

const bothBody = {
  error: 'invalid_request',
  error_description: 'Both Authorization header and payload includes access token.',
};

const worded = (received: Received): string => {
  if (received.status === 400)
    return JSON.stringify(received.body) === JSON.stringify(bothBody) ? '400' : `400 ${received.text}`;
  return wordFor(received, null);
};

const dueTo = ({ answer }: Channel, row: Row): string => {
  const word = typeof answer === 'string' ? answer : answer[row.method === 'GET' ? 'read' : 'write'];
  return word === 'ok' ? (row.answers.get('admin') ?? '').replace('+', '') : word;
};

const checkAll = async (of: Row[], channels: Channel[]): Promise<void> => {
  const place = await makePlace(world, { visibility: 'private', issues: 'enabled' });
  const pairs = of.flatMap((row) =>
    channels.map((one) => {
      const names = { ...place.names, ...place.issues.get('plain')?.usual };
      return { one, cell: { row, person: admin(), place, state: 'plain' as const, names } };
    }),
  );
  await prepare(
    world,
    pairs.map(({ cell }) => cell),
  );
  const wrong: string[] = [];
  await forEachAtOnce(pairs, async ({ one, cell }) => {
    const told = worded(await wire.send(sentBy(cell, one.carry())));
    const due = dueTo(one, cell.row);
    if (told !== due) wrong.push(`${cell.row.name} | ${one.name}: expected ${due}, got ${told}`);
  });
  failWith(wrong, pairs.length);
};

test('accepts a valid token in every place', async () => await checkAll(contract, good));

test('accepts a token in the body', async () =>
  await checkAll(
    contract.filter(({ method }) => method !== 'GET'),
    inBody,
  ));

test('refuses a missing or invalid token', async () => await checkAll(contract, bad));

test('resolves two credentials at once', async () => await checkAll(contract, two));

test('refuses an insufficient scope', async () => await checkAll(contract, scoped));

test('handles browser sessions', async () => await checkAll(contract, cookies));

test('names an expired or revoked token in a header, and no more in the body than for any other', async () => {
  for (const [kind, reason] of [
    ['revoked', 'Token was revoked. You have to re-authorize from the user.'],
    ['expired', 'Token is expired. You can either do re-authorization or token refresh.'],
  ] as const) {
    const { headers, text } = await wire.send({
      method: 'GET',
      path: '/api/v4/issues',
      headers: { 'private-token': tokens[kind] },
    });
    const due = `Bearer realm="Protected by OAuth 2.0", error="invalid_token", error_description="${reason}"`;
    assert.deepEqual([headers['www-authenticate'], text], [due, '{"message":"401 Unauthorized"}']);
  }
});

test('names the sufficient scope when a scope is insufficient', async () => {
  const send = async (method: string, path: string): Promise<unknown> =>
    (await wire.send({ method, path: `/api/v4${path}`, headers: { 'private-token': tokens.git } })).body
      .scope;
  assert.equal(await send('GET', '/issues'), 'api read_api');
  assert.equal(await send('GET', '/user'), 'api read_api read_user');
  assert.equal(await send('POST', '/groups'), 'api');
});

test('refuses a token as soon as it is revoked or its owner is blocked', async () => {
  const id = world.people.idOf('developer');
  const [one, third] = [await moreToken(gantry, id), await moreToken(gantry, id)];
  // Application tokens end permanently when their owner is blocked.
  const other = await moreToken(gantry, id, { kind: 'oauth' });
  const status = async (as: Record<string, string>): Promise<number> =>
    (await wire.send({ method: 'GET', path: '/api/v4/issues', headers: as })).status;
  assert.deepEqual(
    [await status({ 'private-token': one }), await status({ authorization: `Bearer ${other}` })],
    [200, 200],
  );
  await wire.send({
    method: 'DELETE',
    path: '/api/v4/personal_access_tokens/self',
    headers: { 'private-token': one },
  });
  assert.deepEqual(
    [await status({ 'private-token': one }), await status({ authorization: `Bearer ${other}` })],
    [401, 200],
  );
  await gantry.api(`POST /users/${id}/block`);
  assert.deepEqual(
    [await status({ 'private-token': third }), await status({ authorization: `Bearer ${other}` })],
    [403, 401],
  );
  await gantry.api(`POST /users/${id}/unblock`);
  assert.deepEqual(
    [await status({ 'private-token': third }), await status({ authorization: `Bearer ${other}` })],
    [200, 401],
  );
});
