/** Tokens and passwords appear only where they belong: not in links, errors or the log. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { pino } from 'pino';
import { readConfig } from '../../src/platform/config/read_config.ts';
import { type Service, startService } from '../../src/app/main.ts';
import { onServer } from '../support/databases/store.ts';
import { openVisitor } from '../support/visitor.ts';
import { type Received, type Sent, type Wire, openWire } from './pipelined_requests.ts';

const engineUrl = process.env['GANTRY_TEST_DATABASE_URL'];
const schema = `test_${randomBytes(8).toString('hex')}`;
const rootToken = `gntpat-${randomBytes(25).toString('base64url')}`;
const password = `Correct-${randomBytes(12).toString('hex')}`;

let service: Service;
let data: string;
let wire: Wire;
let log = '';
/** All responses. */
let answered = '';

before(async () => {
  data = await mkdtemp(join(tmpdir(), 'gantry-test-'));
  const { config, origin: configOrigin } = readConfig(
    {},
    {
      GANTRY_DATA: data,
      GANTRY_LISTEN: '127.0.0.1:0',
      GANTRY_ROOT_TOKEN: rootToken,
      GANTRY_RUNNER_EXECUTOR: 'none',
      ...(engineUrl !== undefined && { GANTRY_DATABASE_URL: engineUrl, GANTRY_DATABASE_SCHEMA: schema }),
    },
  );
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      log += chunk.toString('utf8');
      done();
    },
  });
  service = await startService({
    config,
    configOrigin,
    clock: { now: Date.now },
    random: randomBytes,
    log: pino({ level: 'trace' }, stream),
    onFatal: (error) => {
      throw error;
    },
  });
  wire = openWire(service.url);
});
after(async () => {
  wire.close();
  await service.close();
  await rm(data, { recursive: true, force: true });
  if (engineUrl !== undefined) await onServer(`drop schema if exists ${schema} cascade`);
});

const send = async (sent: Sent): Promise<Received> => {
  const received = await wire.send(sent);
  answered += `${received.rawHeaders.flat().join('\n')}\n${received.text}\n`;
  return received;
};

const api = async (line: string, options: Omit<Sent, 'method' | 'path'> = {}): Promise<Received> => {
  const [method = '', path = ''] = line.split(/ (.*)/s);
  return await send({ method, path: `/api/v4${path}`, ...options });
};

const root = { 'private-token': rootToken };

/** The secret, and how a search would find it. */
const formsOf = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64'),
  Buffer.from(secret).toString('hex'),
];

const assertKept = (secrets: string[], text: string, where: string): void => {
  for (const [at, secret] of secrets.entries()) {
    for (const form of formsOf(secret)) assert.ok(!text.includes(form), `secret ${at} is in ${where}`);
  }
};

/** Successful and failing requests, each with a token in its place. */
const everyKind = async (
  place: (line: string) => [line: string, Omit<Sent, 'method' | 'path'>],
): Promise<void> => {
  const project = (
    await api('POST /projects', { headers: root, body: { name: `p-${randomBytes(6).toString('hex')}` } })
  ).body.id as number;
  for (let n = 0; n < 3; n += 1)
    await api(`POST /projects/${project}/issues`, { headers: root, body: { title: 'An issue' } });
  const lines = [
    'GET /user',
    'GET /issues?scope=all&per_page=1&page=2',
    `GET /projects/${project}/issues?per_page=1&page=2&labels=None`,
    `GET /projects/${project}/issues/1`,
    'GET /projects/999999/issues',
    'GET /no/such/route',
    'GET /issues?state=x',
    'GET /issues?per_page=0',
    'PATCH /issues',
    'GET /projects/%zz',
    'GET /users?per_page=1',
    'GET /groups?per_page=1',
    'GET /todos',
    'GET /openapi.json',
    `POST /projects/${project}/issues`,
    `POST /projects/${project}/issues/1/move`,
    `DELETE /projects/${project}/issues/999`,
    `GET /projects/${project}/issues/1/user_agent_detail`,
    `GET /personal_access_tokens?per_page=1`,
    'GET /personal_access_tokens/self',
    `GET /issues?sudo=nobody`,
    `GET /issues?x=${'y'.repeat(9000)}`,
  ];
  for (const line of lines) {
    const [placed, request] = place(line);
    await api(placed, request);
  }
};

const withQuery = (line: string, query: string): string => `${line}${line.includes('?') ? '&' : '?'}${query}`;

/** A token of each lifecycle. */
const makeTokens = async () => {
  const make = async (overrides: object = {}): Promise<{ id: number; token: string }> =>
    (
      await wire.send({
        method: 'POST',
        path: '/api/v4/user/personal_access_tokens',
        headers: root,
        body: { name: 'made', scopes: ['api'], ...overrides },
      })
    ).body;
  const [good, revoked, weak] = [await make(), await make(), await make({ scopes: ['read_user'] })];
  await api(`DELETE /personal_access_tokens/${revoked.id}`, { headers: root });
  return [good.token, revoked.token, weak.token, `gntpat-${randomBytes(25).toString('base64url')}`];
};

test('a token in a header, a query or a body is neither answered nor logged', async () => {
  const tokens = await makeTokens();
  for (const token of tokens) {
    await everyKind((line) => [line, { headers: { 'private-token': token } }]);
    await everyKind((line) => [line, { headers: { authorization: `Bearer ${token}` } }]);
    await everyKind((line) => [
      line,
      { headers: { authorization: `Basic ${Buffer.from(`oauth2:${token}`).toString('base64')}` } },
    ]);
    for (const name of ['private_token', 'access_token', 'bearer_token']) {
      await everyKind((line) => [withQuery(line, `${name}=${token}`), {}]);
    }
    await everyKind((line) => [
      line,
      line.startsWith('GET')
        ? { headers: { 'private-token': token } }
        : { body: { private_token: token, title: 7 } },
    ]);
    await everyKind((line) => [
      withQuery(line, `private_token=${token}&access_token=${token}`),
      { headers: { authorization: `Bearer ${token}` } },
    ]);
    for (const broken of [`{"private_token":"${token}"`, `private_token=${token}&title[]=1`]) {
      await api('POST /issues', { body: broken, headers: { 'content-type': 'application/json' } });
      await api('POST /projects/1/issues', { body: broken });
    }
    await send({ method: 'GET', path: `/-/docs/api?private_token=${token}` });
    await send({ method: 'GET', path: `/no/page?private_token=${token}` });
  }
  assertKept([...tokens, rootToken], answered, 'an answer');
  assertKept([...tokens, rootToken], log, 'the log');
  // The search is effective: there is a log line for each request.
  assert.ok(log.split('"msg":"request"').length > 500);
});

test('a link repeats the query without credentials', async () => {
  const [token = ''] = await makeTokens();
  const { headers } = await api(`GET /issues?scope=all&private_token=${token}&per_page=1&labels=None&x=1`);
  const bearer = await api(`GET /projects?access_token=${token}&per_page=1&sort=asc`);
  for (const link of [headers['link'] ?? '', bearer.headers['link'] ?? '']) {
    assert.match(link, /rel="first"/);
    assert.match(link, /(labels=None|sort=asc)/);
    assert.doesNotMatch(link, /token|gntpat/i);
  }
  assert.equal(headers['referrer-policy'], 'no-referrer');
});

test('an unexpected error appears only in the log, and there without a token', async () => {
  const [token = ''] = await makeTokens();
  const { store } = service.platform;
  const project = (await api('POST /projects', { headers: root, body: { name: 'broken' } })).body
    .id as number;
  await store.write(async ({ db }) => void (await sql`alter table labels rename to labels_away`.execute(db)));
  try {
    for (const line of [
      `GET /projects/${project}/labels?private_token=${token}`,
      `GET /projects/${project}/labels/x?access_token=${token}`,
    ]) {
      const { status, text } = await api(line);
      assert.deepEqual([status, text], [500, '{"message":"500 Internal Server Error"}']);
    }
    const { status } = await api(`POST /projects/${project}/labels`, {
      body: { private_token: token, name: 'x', color: '#FFF' },
    });
    assert.equal(status, 500);
  } finally {
    await store.write(
      async ({ db }) => void (await sql`alter table labels_away rename to labels`.execute(db)),
    );
  }
  assert.match(log, /unexpected error/);
  assertKept([token, rootToken], log, 'the log');
});

test('a password is neither answered nor logged nor stored', async () => {
  const user = { username: 'somebody', name: 'Somebody', email: 'somebody@example.com' };
  const made = await api('POST /users', { headers: root, body: { ...user, password } });
  assert.equal(made.status, 201);
  const other = `${password}-2`;
  const tries = [
    await api(`PUT /users/${made.body.id}`, { headers: root, body: { password: other } }),
    await api('POST /users', { headers: root, body: { ...user, password } }),
    await api(`POST /users?password=${password}`, { headers: root, body: { username: 'x' } }),
    await api('POST /users', {
      headers: root,
      body: { ...user, username: 'other', email: 'no address', password },
    }),
    await api('POST /users', { body: { ...user, password } }),
  ];
  assert.deepEqual(
    tries.map(({ status }) => status),
    [200, 409, 400, 400, 401],
  );
  assertKept([password, other], answered, 'an answer');
  assertKept([password, other], log, 'the log');
  const { db } = service.platform.store;
  const events = await db.selectFrom('events').select('data').execute();
  assertKept([password, other], JSON.stringify(events), 'the change log');
});

/** Checks that neither the database nor a file next to it contains one of them. */
const assertNotKept = async (secrets: string[]): Promise<void> => {
  const { store } = service.platform;
  const tables = await store.db.introspection.getTables();
  for (const { name } of tables.filter((one) => !/^(issue|merge_request)_search_index/.test(one.name))) {
    const { rows } = await sql`select * from ${sql.table(name)}`.execute(store.db);
    assertKept(secrets, JSON.stringify(rows), name);
  }
  for (const file of await readdir(data, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const bytes = await readFile(join(file.parentPath, file.name));
    assertKept(secrets, bytes.toString('latin1'), file.name);
  }
};

test('the store keeps no plain token or password', async () => {
  await assertNotKept([...(await makeTokens()), rootToken, password]);
});

test('secrets of browsers and applications are neither logged nor stored in plain text', async () => {
  const word = `Browsing-${randomBytes(12).toString('hex')}`;
  const body = { username: 'browser', name: 'B', email: 'browser@example.com', password: word };
  const made = await wire.send({ method: 'POST', path: '/api/v4/users', headers: root, body });
  assert.equal(made.status, 201);
  const browser = openVisitor(service);
  await browser.signIn('browser', word);
  const cookie = browser.cookies.get('_service_session') ?? '';
  const csrf = /name="authenticity_token" value="([^"]+)"/.exec((await browser.get('/profile')).text)?.[1];
  await browser.get('/profile/two_factor');
  await browser.post('/profile/two_factor/begin', { current_password: word });
  const shown = (await browser.get('/profile/two_factor')).text;
  const key = /class="secret">([A-Z2-7 ]+)</.exec(shown)?.[1]?.replaceAll(' ', '');
  const application = await wire.send({
    method: 'POST',
    path: '/api/v4/applications',
    headers: root,
    body: { name: 'Robot', redirect_uri: 'https://app.example.com/back', scopes: 'api' },
  });
  const grant = async (form: Record<string, string>) => {
    const credentials = {
      client_id: application.body.application_id,
      client_secret: application.body.secret,
    };
    const sent = { method: 'POST', body: new URLSearchParams({ ...credentials, ...form }) };
    const response = await fetch(`${service.url}/oauth/token`, sent);
    assert.equal(response.status, 200);
    return (await response.json()) as { access_token: string; refresh_token: string };
  };
  const first = await grant({ grant_type: 'password', username: 'browser', password: word });
  const second = await grant({ grant_type: 'refresh_token', refresh_token: first.refresh_token });
  const secrets = [word, cookie, csrf, key, application.body.secret, ...Object.values(first)];
  const all = [...secrets, second.access_token, second.refresh_token].filter(
    (one): one is string => typeof one === 'string' && one.length > 16,
  );
  assert.ok(all.length >= 9, `${all.length} secrets`);
  assertKept(all, log, 'the log');
  await assertNotKept(all);
});

test('a token’s text is shown on creation, and in no later response', async () => {
  const made = await wire.send({
    method: 'POST',
    path: '/api/v4/user/personal_access_tokens',
    headers: root,
    body: { name: 'shown once', scopes: ['api'] },
  });
  assert.match(made.body.token, /^gntpat-/);
  const before_ = answered.length;
  for (const line of [
    'GET /personal_access_tokens?per_page=100',
    `GET /personal_access_tokens/${made.body.id}`,
    'GET /personal_access_tokens/self',
    'GET /user',
    'GET /users/1/impersonation_tokens',
  ]) {
    const { status } = await api(line, { headers: { 'private-token': made.body.token } });
    assert.equal(status, 200, line);
  }
  assertKept([made.body.token], answered.slice(before_), 'an answer');
  assertKept([made.body.token], log, 'the log');
});
