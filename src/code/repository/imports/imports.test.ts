/** Imports over the API, from a server that runs git's own `http-backend`. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { after, afterEach, before, test } from 'node:test';
import { localUrls } from '../../../../test/support/local_urls.ts';
import { git, repositoryUrl, tryGit } from '../../../../test/support/repositories/git.ts';
import { seedMember, seedProject, seedUser, unique } from '../../../../test/support/seed.ts';
import { type GitServer, startGitServer } from '../../../../test/support/servers/git_server.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import { openRemote } from './remote_repository.ts';

let gantry: TestService;
let server: GitServer;
before(async () => {
  gantry = await startTestService({ GANTRY_IMPORT_LIMIT: '1' });
  server = await startGitServer();
  await allowLocal(true);
});
afterEach(() => {
  server.protect(null);
  server.intercept(null);
});
after(async () => {
  await server.close();
  await gantry.close();
});

const allowLocal = async (isAllowed: boolean, hosts: string[] = []): Promise<void> => {
  const json = {
    allow_local_requests_from_hooks_and_services: isAllowed,
    outbound_local_requests_whitelist: hosts,
  };
  assert.equal((await gantry.api('PUT /application/settings', { json })).status, 200);
};

const create = async (import_url: string, more: object = {}) =>
  await gantry.api('POST /projects', { json: { name: unique('imported'), import_url, ...more } });

const show = async (id: number) => (await gantry.api(`GET /projects/${id}`)).body;

/** Creates a project by an import and waits for its end. */
const imported = async (import_url: string) => {
  const { status, body } = await create(import_url);
  assert.equal(status, 201, JSON.stringify(body));
  await gantry.service.worker.drain();
  return await show(body.id);
};

const failureOf = async (url: string): Promise<string> => {
  const project = await imported(url);
  assert.deepEqual([project.import_status, project.empty_repo], ['failed', true]);
  const { body } = await gantry.api(`GET /projects/${project.id}/import`);
  assert.deepEqual([body.import_status, body.import_error], ['failed', project.import_error]);
  return project.import_error;
};

const names = (body: { name: string }[]): string[] => body.map(({ name }) => name).toSorted();

test('imports branches and tags, and nothing else', async () => {
  const dir = await server.create('whole.git');
  const tip = await git(dir, 'rev-parse', 'main');
  await git(dir, 'update-ref', 'refs/heads/topic/one', tip);
  await git(dir, 'tag', '--annotate', '--message', 'One', 'v1', tip);
  for (const ref of ['refs/heads/--bad', `refs/heads/${tip}`, 'refs/pull/1/head', 'refs/keep-around/x'])
    await git(dir, 'update-ref', ref, tip);
  const { status, body } = await create(`${server.url}/whole.git`);
  const { import_status, import_url, import_type, import_error, empty_repo } = body;
  assert.deepEqual(
    [status, import_url, import_type, import_error, empty_repo],
    [201, `${server.url}/whole.git`, 'git', null, true],
  );
  // The import may begin before the answer is read.
  assert.match(import_status, /^(?:scheduled|started)$/);
  await gantry.service.worker.drain();
  const project = await show(body.id);
  assert.deepEqual(
    [project.import_status, project.default_branch, project.empty_repo],
    ['finished', 'main', false],
  );
  const path = `/projects/${body.id}/repository`;
  const branches = (await gantry.api(`GET ${path}/branches`)).body;
  assert.deepEqual(names(branches), ['main', 'topic/one']);
  assert.equal(branches[0].commit.id, tip);
  assert.deepEqual(names((await gantry.api(`GET ${path}/tags`)).body), ['v1']);
  const main = (await gantry.api(`GET ${path}/branches/main`)).body;
  assert.equal(main.protected, true, 'the first branch is protected as after a push');
  const pipelines = await gantry.api(`GET /projects/${body.id}/pipelines`);
  assert.deepEqual(pipelines.body, []);
  const { stdout } = await tryGit('/', [
    'ls-remote',
    repositoryUrl(gantry.url, project.path_with_namespace, 'root-token-of-the-tests'),
  ]);
  assert.match(stdout, /refs\/heads\/topic\/one/);
  assert.doesNotMatch(stdout, /bad|pull|keep-around/);
});

test('takes the default branch from HEAD of the server', async () => {
  const dir = await server.create('other_head.git');
  await git(dir, 'branch', 'trunk', 'main');
  await git(dir, 'symbolic-ref', 'HEAD', 'refs/heads/trunk');
  assert.equal((await imported(`${server.url}/other_head.git`)).default_branch, 'trunk');
  await git(dir, 'update-ref', '--no-deref', 'HEAD', await git(dir, 'rev-parse', 'main'));
  assert.equal((await imported(`${server.url}/other_head.git`)).default_branch, 'main');
});

test('takes a usual name or the first where HEAD names no branch of the server', async () => {
  const dir = await server.create('no_head.git');
  await git(dir, 'branch', 'a', 'main');
  await git(dir, 'symbolic-ref', 'HEAD', 'refs/heads/gone');
  assert.equal((await imported(`${server.url}/no_head.git`)).default_branch, 'main');
  await git(dir, 'update-ref', '-d', 'refs/heads/main');
  assert.equal((await imported(`${server.url}/no_head.git`)).default_branch, 'a');
});

test('imports an empty repository, and one that has only tags', async () => {
  const dir = await server.create('tags.git');
  await git(dir, 'tag', 'v1', 'main');
  await git(dir, 'update-ref', '-d', 'refs/heads/main');
  const project = await imported(`${server.url}/tags.git`);
  assert.deepEqual([project.import_status, project.default_branch], ['finished', null]);
  const tags = await gantry.api(`GET /projects/${project.id}/repository/tags`);
  assert.deepEqual(names(tags.body), ['v1']);
  await git(dir, 'update-ref', '-d', 'refs/tags/v1');
  const empty = await imported(`${server.url}/tags.git`);
  assert.deepEqual([empty.import_status, empty.empty_repo], ['finished', true]);
});

test('sends the user name and password, and neither shows nor keeps them', async () => {
  await server.create('secret.git');
  server.protect({ username: 'ada', password: 'p@ss:w/rd' });
  const { host } = new URL(server.url);
  const { body } = await create(`http://ada:p%40ss%3Aw%2Frd@${host}/secret.git`);
  assert.equal(body.import_url, `${server.url}/secret.git`);
  const { store } = gantry.service.platform;
  const load = async () =>
    await store.db.selectFrom('project_imports').selectAll().where('project_id', '=', body.id).execute();
  assert.doesNotMatch(JSON.stringify(await load()), /p@ss|p%40ss/);
  await gantry.service.worker.drain();
  assert.equal((await show(body.id)).import_status, 'finished');
  assert.equal((await load())[0]?.sealed_credentials, null);
});

test('a failed import says what was wrong', async () => {
  await server.create('private.git');
  server.protect({ username: 'ada', password: 'right' });
  const { host, port } = new URL(server.url);
  assert.equal(
    await failureOf(`${server.url}/private.git`),
    'The repository asks for a user name and a password.',
  );
  assert.equal(
    await failureOf(`http://ada:wrong@${host}/private.git`),
    'The server refuses the user name and password.',
  );
  server.protect(null);
  assert.equal(await failureOf(`${server.url}/missing.git`), 'No git repository found at this address.');
  server.intercept((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>');
    return true;
  });
  assert.equal(await failureOf(`${server.url}/page`), 'No git repository found at this address.');
  assert.equal(
    await failureOf(`http://127.0.0.1:${Number(port) === 1 ? 2 : 1}/x.git`),
    'The server refuses connections.',
  );
  assert.equal(await failureOf('http://no-such-host.invalid/x.git').then((text) => /host/.test(text)), true);
});

test('refuses addresses that are none of a repository on the web', async () => {
  const problem = async (url: string) => (await create(url)).body.message;
  for (const url of [
    'ssh://git@example.com/x.git',
    'file:///etc/passwd',
    'git://example.com/x',
    'ext::sh -c x',
  ])
    assert.ok('import_url' in (await problem(url)), url);
  for (const url of [
    'not a url',
    'http://',
    'https://example.com/x?y=z',
    'https://example.com/x#y',
    'http://a b/',
  ])
    assert.ok('import_url' in (await problem(url)), url);
  const { status } = await create(`${server.url}/x.git`, { initialize_with_readme: true });
  assert.equal(status, 400);
  assert.equal((await create('')).body.import_status, 'none');
});

test('imports nothing from the local network unless the settings allow it', async () => {
  await server.create('local.git');
  const { host } = new URL(server.url);
  await allowLocal(false);
  try {
    for (const url of localUrls) {
      const { status, body } = await create(url);
      if (status === 201) assert.fail(`${url} was taken: ${body.import_url}`);
      assert.ok('import_url' in body.message, url);
    }
    const { body } = await create('http://localhost.localdomain/x.git');
    await gantry.service.worker.drain();
    if (body.id !== undefined) assert.equal((await show(body.id)).import_status, 'failed');
    await allowLocal(false, [host]);
    assert.equal((await imported(`http://${host}/local.git`)).import_status, 'finished');
    await allowLocal(false, ['10.0.0.1:443']);
    assert.equal(
      (await create('https://10.0.0.1/x.git', { path: 'a b' })).body.message.import_url,
      undefined,
    );
  } finally {
    await allowLocal(true);
  }
});

test('checks the address again when the import runs, and after each redirect', async () => {
  await server.create('moved.git');
  const { host } = new URL(server.url);
  const blocked = 'The address is in the local network, which the settings do not allow.';
  await allowLocal(false, [host]);
  server.intercept((_request, response) => {
    response.writeHead(302, { location: `${gantry.url}/x.git/info/refs?service=git-upload-pack` }).end();
    return true;
  });
  assert.equal(await failureOf(`http://${host}/moved.git`), blocked);
  server.intercept(null);
  const { body } = await create(`http://${host}/moved.git`);
  await allowLocal(false);
  await gantry.service.worker.drain();
  const { import_status, import_error } = await show(body.id);
  await allowLocal(true);
  // The worker may have been faster than the change of the settings.
  if (import_status === 'failed') assert.equal(import_error, blocked);
});

test('follows redirects of the same server with credentials, of others without', async () => {
  await server.create('here.git');
  server.protect({ username: 'ada', password: 'right' });
  const { port, host } = new URL(server.url);
  const redirectTo = (base: string) =>
    server.intercept(({ url }, response) => {
      if (url?.startsWith('/old') !== true) return false;
      response.writeHead(301, { location: `${base}/here.git/info/refs?service=git-upload-pack` }).end();
      return true;
    });
  redirectTo('');
  assert.equal((await imported(`http://ada:right@${host}/old`)).import_status, 'finished');
  redirectTo(`http://localhost:${port}`);
  server.requests.length = 0;
  assert.equal(
    await failureOf(`http://ada:right@${host}/old`),
    'The repository asks for a user name and a password.',
  );
  assert.equal(server.requests.at(-1)?.authorization, undefined);
  for (const location of [
    '/users/sign_in',
    'file:///etc/passwd',
    'ssh://x/info/refs?service=git-upload-pack',
  ]) {
    server.intercept((_request, response) => {
      response.writeHead(302, { location }).end();
      return true;
    });
    assert.equal(
      await failureOf(`${server.url}/old`),
      'The address redirects to one that is not of a git repository.',
    );
  }
  redirectTo(`${server.url}/old`);
  server.intercept(({ url }, response) => {
    response.writeHead(302, { location: url ?? '' }).end();
    return true;
  });
  assert.equal(await failureOf(`${server.url}/old`), 'The address redirects too often.');
});

test('refuses a repository beyond the limit, and broken objects', async () => {
  const dir = await server.create('large.git');
  await writeFile(`${dir}/bytes`, randomBytes(2 * 2 ** 20));
  const blob = await git(dir, 'hash-object', '-w', 'bytes');
  await git(dir, 'tag', 'large', blob);
  assert.equal(await failureOf(`${server.url}/large.git`), 'The repository is larger than 1 MiB.');
  const broken = await server.create('broken.git');
  const text = `tree ${await git(broken, 'rev-parse', 'main^{tree}')}\nauthor x <x> 1 +0000\ncommitter x 1 +0000\n\nx\n`;
  await writeFile(`${broken}/text`, text);
  const bad = await git(broken, 'hash-object', '-t', 'commit', '-w', '--literally', 'text');
  await git(broken, 'update-ref', 'refs/heads/main', bad);
  assert.match(
    await failureOf(`${server.url}/broken.git`),
    new RegExp(`^git refuses the object ${bad} of the repository \\(\\w+\\)\\.$`),
  );
});

test('answers of other kinds fail with a reason', async () => {
  const type = 'application/x-git-upload-pack-advertisement';
  const answerWith = (text: string, status = 200) =>
    server.intercept((_request, response) => {
      response.writeHead(status, { 'content-type': type }).end(text);
      return true;
    });
  const service = '001e# service=git-upload-pack\n0000';
  const id = 'a'.repeat(40);
  const line = (content: string): string => (content.length + 4).toString(16).padStart(4, '0') + content;
  const cases: [string, string][] = [
    ['', 'No git repository found at this address.'],
    [`${service}00`, 'The server stopped in the middle of its answer.'],
    [`${service}zzzz`, 'The answer of the server is not one of git.'],
    [`${service}${line('nonsense\n')}0000`, 'The answer of the server is not one of git.'],
    [`${service}${line(`${id} refs/heads/main\0side-band\n`)}0000`, 'The git of the server is too old.'],
    [`${service}${line('ERR secret text\n')}0000`, 'The server reports an error.'],
    [
      `${service}${line(`${id} refs/heads/main\0side-band-64k\n`)}${line(`shallow ${id}`)}0000`,
      'The repository is a shallow clone: a part of its history is missing.',
    ],
  ];
  for (const [text, reason] of cases) {
    answerWith(text);
    assert.equal(await failureOf(`${server.url}/x.git`), reason);
  }
  answerWith('', 503);
  assert.equal(await failureOf(`${server.url}/x.git`), 'The server answered with the status 503.');
});

test('refuses changes of the repository while the import runs, and forgets a removed project', async () => {
  await server.create('slow.git');
  const waiting = Promise.withResolvers<() => void>();
  server.intercept((_request, response) => {
    waiting.resolve(() => void response.writeHead(503).end());
    return true;
  });
  const { body } = await create(`${server.url}/slow.git`);
  const answer = await waiting.promise;
  assert.equal((await show(body.id)).import_status, 'started');
  const commit = await gantry.api(`POST /projects/${body.id}/repository/commits`, {
    json: {
      branch: 'main',
      commit_message: 'x',
      actions: [{ action: 'create', file_path: 'a', content: 'a' }],
    },
  });
  assert.deepEqual(
    [commit.status, commit.body.message],
    [503, 'The repository is being imported and is read-only meanwhile.'],
  );
  const pushed = await tryGit(server.root, [
    '--git-dir',
    `${server.root}/slow.git`,
    'push',
    repositoryUrl(gantry.url, body.path_with_namespace, 'root-token-of-the-tests'),
    'main',
  ]);
  assert.match(pushed.stderr, /being imported/);
  assert.equal((await gantry.api(`DELETE /projects/${body.id}`)).status, 202);
  answer();
  await gantry.service.worker.drain();
  assert.equal((await gantry.api(`GET /projects/${body.id}`)).status, 404);
});

test('ends when its time is over while the name of the host is resolved', async () => {
  const time = new AbortController();
  const why = new Error('too long');
  const { port } = new URL(server.url);
  const source = { url: `http://host.invalid:${port}/missing.git`, credentials: null };
  await assert.rejects(
    openRemote(source, {
      rules: { isLocalAllowed: true, allowedHosts: [] },
      signal: time.signal,
      lookup: async () => {
        time.abort(why);
        return [{ address: '127.0.0.1', family: 4 }];
      },
    }),
    why,
  );
});

test('is for users who may create the project, and shows address and problem to those who may change it', async () => {
  await server.create('shown.git');
  const user = await seedUser(gantry);
  const other = await seedProject(gantry);
  const refused = await gantry.api('POST /projects', {
    json: { name: unique('x'), namespace_id: other.namespace_id, import_url: `${server.url}/shown.git` },
    as: user.token,
  });
  assert.equal(refused.status, 400);
  assert.equal((await create(`${server.url}/shown.git`)).status, 201);
  const made = await gantry.api(`POST /projects/user/${user.id}`, {
    json: { name: unique('for'), import_url: `${server.url}/shown.git`, visibility: 'internal' },
  });
  assert.deepEqual([made.status, made.body.import_status], [201, 'scheduled']);
  await gantry.service.worker.drain();
  const seen = async (token: string) =>
    (await gantry.api(`GET /projects/${made.body.id}`, { as: token })).body;
  assert.equal((await seen(user.token)).import_url, `${server.url}/shown.git`);
  const reader = await seedUser(gantry);
  await seedMember(gantry, { user: reader.id, project: made.body.id, access_level: 30 });
  const { import_status, import_url, import_error } = await seen(reader.token);
  assert.deepEqual([import_status, import_url, import_error], ['finished', undefined, undefined]);
  const { status, body } = await gantry.api(`GET /projects/${made.body.id}/import`, { as: reader.token });
  assert.deepEqual([status, body.import_status, body.import_type], [200, 'finished', 'git']);
  const failed = await gantry.api(`POST /projects/user/${user.id}`, {
    json: { name: unique('for'), import_url: `${server.url}/missing.git`, visibility: 'internal' },
  });
  await gantry.service.worker.drain();
  const errorFor = async (as: string): Promise<string | null> =>
    (await gantry.api(`GET /projects/${failed.body.id}/import`, { as })).body.import_error;
  assert.deepEqual(
    [await errorFor(user.token), await errorFor(reader.token)],
    ['No git repository found at this address.', null],
  );
});

test('limits the unfinished imports of a user', async () => {
  const gate = Promise.withResolvers<void>();
  server.intercept((_request, response) => {
    void gate.promise.then(() => response.writeHead(404).end());
    return true;
  });
  const user = await seedUser(gantry);
  const begin = async () =>
    await gantry.api('POST /projects', {
      json: { name: unique('many'), import_url: `${server.url}/x.git` },
      as: user.token,
    });
  for (let count = 0; count < 20; count += 1) assert.equal((await begin()).status, 201);
  const { status, body } = await begin();
  assert.deepEqual(
    [status, body.message],
    [400, { base: ['Maximum number of unfinished imports (20) exceeded'] }],
  );
  gate.resolve();
  await gantry.service.worker.drain();
  assert.equal((await begin()).status, 201);
});

test('an import that runs does not hold up the stop of the service, and runs again', async () => {
  const asked = Promise.withResolvers<void>();
  server.intercept(() => {
    asked.resolve();
    return true;
  });
  const own = await startTestService();
  const json = { allow_local_requests_from_hooks_and_services: true };
  assert.equal((await own.api('PUT /application/settings', { json })).status, 200);
  const { body } = await own.api('POST /projects', {
    json: { name: 'stopped', import_url: `${server.url}/x.git` },
  });
  await asked.promise;
  await own.service.worker.stop();
  const { body: project } = await own.api(`GET /projects/${body.id}`);
  assert.equal(project.import_status, 'started');
  const { store } = own.service.platform;
  const work = await store.db
    .selectFrom('work')
    .selectAll()
    .where('name', '=', 'repository.import')
    .execute();
  assert.deepEqual(
    work.map(({ excused_attempts, locked_until }) => [excused_attempts, locked_until]),
    [[1, null]],
  );
  await own.close();
});
