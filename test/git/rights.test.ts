/** Who may clone, fetch and push, and the refusals for everyone else. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type WorkTree, newWorkTree, repositoryUrl, tryGit } from '../support/repositories/git.ts';
import { seedGroup, seedMember, seedProject, seedUser } from '../support/seed.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';
import { insertToken } from '../../src/identity/tokens/create.ts';
import { generateTokenText } from '../../src/core/access/credentials/token_text.ts';
import { randomBytes } from 'node:crypto';

let gantry: TestService;
let tree: WorkTree;
before(async () => {
  gantry = await startTestService();
  tree = await newWorkTree();
  await tree.commit('First', { 'a.txt': 'a\n' });
});
after(async () => {
  await gantry.close();
  await tree.remove();
});

const basic = (password: string, login = 'anybody'): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`,
});

type Service = 'git-upload-pack' | 'git-receive-pack';

const ask = async (path: string, service: Service, headers: Record<string, string> = {}) => {
  const response = await fetch(`${gantry.url}/${path}/info/refs?service=${service}`, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

/** Statuses of a fetch and of a push. */
const both = async (path: string, headers: Record<string, string> = {}): Promise<[number, number]> => [
  (await ask(path, 'git-upload-pack', headers)).status,
  (await ask(path, 'git-receive-pack', headers)).status,
];

const tokenOf = async (user_id: number, scopes: string[]): Promise<string> => {
  const text = generateTokenText(randomBytes);
  const token = { user_id, kind: 'personal' as const, name: 'more', scopes, expires_at: null };
  await gantry.service.platform.store.write(async (tx) => await insertToken(tx, null, token, text));
  return text;
};

const put = async (json: object): Promise<void> => {
  assert.equal((await gantry.api('PUT /application/settings', { json })).status, 200);
};

test('lets each role fetch and push as documented', async () => {
  const group = await seedGroup(gantry);
  const place = { namespace: group.id };
  const projects = {
    public: await seedProject(gantry, { ...place, visibility: 'public' }),
    internal: await seedProject(gantry, { ...place, visibility: 'internal' }),
    private: await seedProject(gantry, { ...place, visibility: 'private' }),
  };
  const tokens: Record<string, string | null> = { anonymous: null, admin: rootToken };
  const roles = { none: 0, guest: 10, reporter: 20, developer: 30, master: 40, owner: 50 };
  for (const [role, access_level] of Object.entries(roles)) {
    const user = await seedUser(gantry);
    tokens[role] = user.token;
    if (access_level > 0) await seedMember(gantry, { user: user.id, group: group.id, access_level });
  }
  tokens['external'] = (await seedUser(gantry, { external: 1 })).token;
  const expected: Record<string, [[number, number], [number, number], [number, number]]> = {
    anonymous: [
      [200, 401],
      [401, 401],
      [401, 401],
    ],
    external: [
      [200, 403],
      [404, 404],
      [404, 404],
    ],
    none: [
      [200, 403],
      [200, 403],
      [404, 404],
    ],
    guest: [
      [200, 403],
      [200, 403],
      [403, 403],
    ],
    reporter: [
      [200, 403],
      [200, 403],
      [200, 403],
    ],
    developer: [
      [200, 200],
      [200, 200],
      [200, 200],
    ],
    master: [
      [200, 200],
      [200, 200],
      [200, 200],
    ],
    owner: [
      [200, 200],
      [200, 200],
      [200, 200],
    ],
    admin: [
      [200, 200],
      [200, 200],
      [200, 200],
    ],
  };
  for (const [name, wanted] of Object.entries(expected)) {
    const token = tokens[name];
    const headers = token === null || token === undefined ? {} : basic(token);
    const found = [];
    for (const { full_path } of Object.values(projects)) found.push(await both(`${full_path}.git`, headers));
    assert.deepEqual(found, wanted, name);
  }
});

test('does not reveal a hidden project by any response', async () => {
  const hidden = await seedProject(gantry, { visibility: 'private' });
  const { token } = await seedUser(gantry);
  const missing = hidden.full_path.replace(hidden.path, 'there-is-none');
  for (const headers of [{}, basic(token), basic('wrong')]) {
    for (const service of ['git-upload-pack', 'git-receive-pack'] as const) {
      const answers = [];
      for (const path of [hidden.full_path, missing]) {
        const request = {
          method: 'POST',
          headers: { ...headers, 'content-type': `application/x-${service}-request` },
          body: '0000',
        };
        const response = await fetch(`${gantry.url}/${path}.git/${service}`, request);
        const { status, headers: shown, text } = await ask(`${path}.git`, service, headers);
        const told = (all: Headers) =>
          [...all].filter(([name]) => !['date', 'x-request-id', 'x-runtime'].includes(name));
        answers.push([
          status,
          text,
          told(shown),
          response.status,
          await response.text(),
          told(response.headers),
        ]);
      }
      assert.deepEqual(answers[0], answers[1]);
    }
  }
});

test('challenges an anonymous request, and challenges again after wrong credentials', async () => {
  const project = await seedProject(gantry, { visibility: 'private' });
  const user = await seedUser(gantry);
  const revoked = await seedUser(gantry);
  await gantry.service.platform.store.write(async ({ db }) => {
    await db.updateTable('tokens').set({ revoked: 1 }).where('user_id', '=', revoked.id).execute();
  });
  const wrong = [
    {},
    basic('wrong', user.username),
    basic(revoked.token),
    { authorization: 'Basic' },
    { authorization: 'Basic !!!' },
    { authorization: `Basic ${Buffer.from('no colon').toString('base64')}` },
    { authorization: `Bearer ${user.token}` },
  ] as Record<string, string>[];
  for (const headers of wrong) {
    const { status, headers: shown } = await ask(`${project.full_path}.git`, 'git-upload-pack', headers);
    assert.equal(status, 401);
    assert.equal(shown.get('www-authenticate'), 'Basic realm="Gantry"');
    assert.match(shown.get('cache-control') ?? '', /no-cache/);
  }
});

test('accepts tokens by scope, with any user name', async () => {
  const project = await seedProject(gantry, { visibility: 'private' });
  const user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 30 });
  const expected = {
    api: [200, 200],
    read_repository: [200, 403],
    write_repository: [200, 200],
    read_user: [403, 403],
  };
  for (const [scope, wanted] of Object.entries(expected)) {
    const token = await tokenOf(user.id, [scope]);
    for (const login of ['oauth2', 'gitlab-ci-token', user.username, ''])
      assert.deepEqual(await both(`${project.full_path}.git`, basic(token, login)), wanted, scope);
  }
});

test('accepts a password until its owner has a second factor, then says what to use', async () => {
  const [username, password] = ['git-user', 'correct horse battery'];
  const json = { username, password, name: 'Git', email: 'git@example.com' };
  const { body } = await gantry.api('POST /users', { json });
  const project = await seedProject(gantry, { visibility: 'private', owner: body.id });
  // Users whose failed attempts of other tests count.
  await gantry.service.platform.store.write(
    async ({ db }) => void (await db.deleteFrom('sign_in_failures').execute()),
  );
  const path = `${project.full_path}.git`;
  assert.deepEqual(await both(path, basic(password, username)), [200, 200]);
  const { store } = gantry.service.platform;
  const setFactor = async (two_factor_enabled: 0 | 1): Promise<void> =>
    await store.write(async ({ db }) => {
      await db.updateTable('users').set({ two_factor_enabled }).where('id', '=', body.id).execute();
    });
  await setFactor(1);
  const { status, text, headers } = await ask(path, 'git-upload-pack', basic(password, username));
  assert.equal(status, 401);
  assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.match(text, /second factor.*\n.*personal access token/);
  assert.deepEqual(await both(path, basic(await tokenOf(body.id, ['api']), username)), [200, 200]);
  await setFactor(0);
  await put({ password_authentication_enabled: false });
  assert.equal((await ask(path, 'git-upload-pack', basic(password, username))).status, 403);
  await put({ password_authentication_enabled: true });
});

test('refuses a blocked user and says so', async () => {
  const project = await seedProject(gantry);
  const user = await seedUser(gantry, { state: 'blocked' });
  const { status, text } = await ask(`${project.full_path}.git`, 'git-upload-pack', basic(user.token));
  assert.deepEqual([status, text], [403, 'Your account has been blocked.\n']);
});

test('authorizes by the called path, whatever the service parameter says', async () => {
  const project = await seedProject(gantry);
  const reporter = await seedUser(gantry);
  await seedMember(gantry, { user: reporter.id, project: project.id, access_level: 20 });
  const response = await fetch(
    `${gantry.url}/${project.full_path}.git/git-receive-pack?service=git-upload-pack`,
    {
      method: 'POST',
      headers: { ...basic(reporter.token), 'content-type': 'application/x-git-receive-pack-request' },
      body: '0000',
    },
  );
  assert.equal(response.status, 403);
});

test('lets users fetch from an archived project, and refuses pushes', async () => {
  const project = await seedProject(gantry, { archived: 1 });
  assert.deepEqual(await both(`${project.full_path}.git`, basic(rootToken)), [200, 403]);
  const url = repositoryUrl(gantry.url, project.full_path, rootToken);
  const { code, stderr } = await tryGit(tree.path, ['push', url, 'main']);
  assert.notEqual(code, 0);
  assert.match(stderr, /archived/);
});

test('applies the switch and visibility of the repository to git', async () => {
  const project = await seedProject(gantry);
  const member = await seedUser(gantry);
  const other = await seedUser(gantry);
  await seedMember(gantry, { user: member.id, project: project.id, access_level: 20 });
  const path = `${project.full_path}.git`;
  const fetches = async () => [
    (await ask(path, 'git-upload-pack')).status,
    (await ask(path, 'git-upload-pack', basic(other.token))).status,
    (await ask(path, 'git-upload-pack', basic(member.token))).status,
  ];
  assert.deepEqual(await fetches(), [200, 200, 200]);
  const set = async (repository_access_level: 'private' | 'disabled'): Promise<void> =>
    await gantry.service.platform.store.write(async ({ db }) => {
      await db
        .updateTable('projects')
        .set({ repository_access_level })
        .where('id', '=', project.id)
        .execute();
    });
  await set('private');
  assert.deepEqual(await fetches(), [401, 403, 200]);
  await set('disabled');
  assert.deepEqual(await fetches(), [401, 403, 403]);
});

test('refuses HTTP with a message when only SSH is enabled', async () => {
  const project = await seedProject(gantry);
  await put({ enabled_git_access_protocol: 'ssh' });
  const { status, text } = await ask(`${project.full_path}.git`, 'git-upload-pack', basic(rootToken));
  await put({ enabled_git_access_protocol: null });
  assert.deepEqual([status, text], [403, 'Git access over HTTP is not allowed\n']);
});

test('accepts the path without .git and in any case, and refuses the dumb protocol', async () => {
  const project = await seedProject(gantry);
  for (const path of [project.full_path, `${project.full_path.toUpperCase()}.git`])
    assert.equal((await ask(path, 'git-upload-pack')).status, 200, path);
  for (const rest of ['info/refs', 'info/refs?service=git-upload-archive', 'HEAD', 'objects/info/packs']) {
    const response = await fetch(`${gantry.url}/${project.full_path}.git/${rest}`);
    assert.equal(response.status, 403, rest);
  }
  const odd = await fetch(`${gantry.url}/${project.full_path}.git/git-upload-pack`, {
    method: 'POST',
    body: '0000',
  });
  assert.equal(odd.status, 415);
});

test('tells git to retry when the storage is missing', async () => {
  const project = await seedProject(gantry);
  await gantry.service.platform.store.write(async ({ db }) => {
    const set = { repository_storage: 'elsewhere' };
    await db.updateTable('projects').set(set).where('id', '=', project.id).execute();
  });
  const { status, text, headers } = await ask(`${project.full_path}.git`, 'git-upload-pack');
  assert.deepEqual([status, headers.get('retry-after')], [503, '5']);
  assert.match(text, /is not available at the moment/);
});
