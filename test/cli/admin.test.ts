import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isPassword } from '../../src/identity/users/password.ts';
import { type Place, type Running, newPlace } from './gantry.ts';

let place: Place;
let service: Running;
before(async () => {
  place = newPlace();
  service = await place.serve();
});
after(async () => await place.remove());

const json = async (line: string, input?: string) => {
  const { code, stdout, stderr } = await place.run(`${line} --json`, input === undefined ? {} : { input });
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  return JSON.parse(stdout);
};

const statusWith = async (token: string, path = '/version'): Promise<number> =>
  (await fetch(`${service.url}/api/v4${path}`, { headers: { 'private-token': token } })).status;

const hasPassword = async (username: string, password: string): Promise<boolean> =>
  await place.store(async ({ db }) => {
    const query = db.selectFrom('users').select('password_hash').where('username', '=', username);
    return await isPassword(password, (await query.executeTakeFirstOrThrow()).password_hash);
  });

const fails = async (line: string, message: RegExp, input?: string, code = 1): Promise<void> => {
  const ended = await place.run(line, input === undefined ? {} : { input });
  assert.equal(ended.code, code, ended.stderr);
  assert.match(ended.stderr, /^gantry: [^\n]+\n$/);
  assert.match(ended.stderr, message);
};

test('creates a user while the service runs, and prints the password once', async () => {
  const { code, stdout } = await place.run('admin user create maria --email Maria@Example.com --name Maria');
  assert.equal(code, 0);
  const [, password = ''] =
    /^Created the user "maria" \(id \d+\)\.\nPassword: (\S{20,})\n$/.exec(stdout) ?? [];
  assert.ok(await hasPassword('maria', password), stdout);
  const listed = await json('admin user list');
  assert.deepEqual(
    listed.map((user: { username: string; email: string; admin: boolean }) => [
      user.username,
      user.email,
      user.admin,
    ]),
    [
      ['root', 'admin@example.com', true],
      ['maria', 'maria@example.com', false],
    ],
  );
  assert.match(
    (await place.run('admin user list --search mar')).stdout,
    /^id +username .*\n\d+ +maria +active +user +maria@example\.com +Maria\n$/,
  );
});

test('reads a password from standard input and does not print it', async () => {
  const made = await json(
    'admin user create ops --email ops@example.com --admin --password-stdin',
    'correct horse battery\n',
  );
  assert.deepEqual(Object.keys(made), ['id', 'username', 'email', 'name', 'admin', 'external']);
  assert.ok(await hasPassword('ops', 'correct horse battery'));
  const text = await place.run('admin user reset-password ops --password-stdin', {
    input: 'another good one',
  });
  assert.doesNotMatch(text.stdout, /another/);
  assert.ok(await hasPassword('ops', 'another good one'));
});

test('resets a password and prints it once', async () => {
  const { password } = await json('admin user reset-password maria');
  assert.ok(await hasPassword('maria', password));
});

test('disables the second factor of a user', async () => {
  const isOn = async (): Promise<boolean> =>
    await place.store(async ({ db }) => {
      const query = db.selectFrom('users').select('two_factor_enabled').where('username', '=', 'maria');
      return (await query.executeTakeFirstOrThrow()).two_factor_enabled === 1;
    });
  await place.store(async ({ write }) => {
    await write(async ({ db }) => {
      await db.updateTable('users').set({ two_factor_enabled: 1 }).where('username', '=', 'maria').execute();
    });
  });
  assert.ok(await isOn());
  const said = await place.run('admin user disable-two-factor maria');
  assert.equal(said.stdout, '"maria" now signs in with only the password.\n');
  assert.ok(!(await isOn()));
});

test('creates a token that works at once, fails while its user is blocked, and works again', async () => {
  const { stdout } = await place.run('admin token create --user maria');
  assert.match(stdout, /^gntpat-\S+\n$/);
  const token = stdout.trim();
  assert.equal(await statusWith(token), 200);
  assert.deepEqual((await json('admin user block maria')).state, 'blocked');
  assert.equal(await statusWith(token), 403);
  assert.deepEqual(
    (await json('admin user list --blocked')).map((user: { username: string }) => user.username),
    ['maria'],
  );
  assert.deepEqual((await json('admin user unblock maria')).state, 'active');
  assert.equal(await statusWith(token), 200);
});

test('gives a token the requested scopes and expiry', async () => {
  const made = await json(
    'admin token create --user root --name ci --scopes read_user --expires-at 2999-12-31',
  );
  assert.deepEqual(
    { ...made, id: 0, token: '' },
    {
      id: 0,
      token: '',
      user: 'root',
      name: 'ci',
      scopes: ['read_user'],
      expires_at: '2999-12-31',
    },
  );
  assert.equal(await statusWith(made.token), 200);
  assert.equal(await statusWith(made.token, '/issues'), 403);
});

test('records each action in the audit log', async () => {
  const kinds = await place.store(async ({ db }) => {
    const rows = await db.selectFrom('events').select('kind').where('actor_id', 'is', null).execute();
    return new Set(rows.map(({ kind }) => kind));
  });
  for (const kind of ['user.created', 'user.blocked', 'user.unblocked', 'token.created']) {
    assert.ok(kinds.has(kind), kind);
  }
});

test('refuses what the API refuses, and says what to do', async () => {
  await fails('admin user create maria --email other@example.com', /Username has already been taken/);
  await fails('admin user create other --email maria@example.com', /Email has already been taken/);
  await fails('admin user create -- -x --email x@example.com', /./, undefined, 2);
  await fails('admin user create other --email nowhere', /email is invalid/);
  await fails(
    'admin user create other --email o@example.com --password-stdin',
    /password is too short/,
    'short',
  );
  await fails('admin user create other --email o@example.com --password-stdin', /expects one line/, '', 2);
  await fails(
    'admin user block nobody',
    /user "nobody" not found; list the users with "gantry admin user list"/,
  );
  await fails('admin token create --user nobody', /user "nobody" not found/);
  await fails('admin token create --user maria --scopes sudo', /scopes can only contain available scopes/);
  await fails(
    'admin token create --user root --scopes all',
    /--scopes has "all"; there are api, /,
    undefined,
    2,
  );
  await fails('admin token create --user root --expires-at soon', /--expires-at/, undefined, 2);
});
