/** Git over SSH, with OpenSSH as the client. Skipped where there is none. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { accessSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import ssh2 from 'ssh2';
import { type WorkTree, newWorkTree, tryGit } from '../support/repositories/git.ts';
import { type SeededProject, seedMember, seedProject, seedUser, unique } from '../support/seed.ts';
import { seedVisitor } from '../support/seed_visitor.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';

const isThere = (file: string): boolean => {
  try {
    accessSync(file);
    return true;
  } catch {
    return false;
  }
};
const hasSsh = (process.env['PATH'] ?? '').split(delimiter).some((one) => isThere(join(one, 'ssh')));
const skip = hasSsh ? false : 'there is no ssh';

let gantry: TestService;
let folder: string;
let tree: WorkTree;
before(async () => {
  gantry = await startTestService({ GANTRY_SSH_LISTEN: '127.0.0.1:0', GANTRY_LOG_LEVEL: 'info' });
  folder = await mkdtemp(join(tmpdir(), 'gantry-ssh-'));
  tree = await newWorkTree();
  await tree.commit('First', { 'a.txt': 'a\n' });
});
after(async () => {
  await gantry.close();
  await tree.remove();
  await rm(folder, { recursive: true, force: true });
});

type Key = { file: string; text: string };

const newKey = async (): Promise<Key> => {
  const pair = ssh2.utils.generateKeyPairSync('ed25519', { comment: 'test@example.com' });
  const file = join(folder, unique('key'));
  await writeFile(file, pair.private, { mode: 0o600 });
  return { file, text: pair.public };
};

const sshArgs = ({ file }: Key): string[] => [
  '-F',
  '/dev/null',
  '-i',
  file,
  '-p',
  String(gantry.service.ssh),
  '-o',
  'IdentitiesOnly=yes',
  '-o',
  'BatchMode=yes',
  '-o',
  'StrictHostKeyChecking=no',
  '-o',
  'UserKnownHostsFile=/dev/null',
  '-o',
  'LogLevel=ERROR',
];

const ssh = async (key: Key, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
  await new Promise((resolve) => {
    const all = [...sshArgs(key), 'git@127.0.0.1', ...args];
    execFile('ssh', all, { timeout: 30_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    }).stdin?.end();
  });

const gitOver = async (key: Key, cwd: string, ...args: string[]) =>
  await tryGit(cwd, args, { GIT_SSH_COMMAND: ['ssh', ...sshArgs(key)].join(' ') });

const urlOf = (project: SeededProject): string => `git@127.0.0.1:${project.full_path}.git`;

const userWithKey = async () => {
  const [user, key] = [await seedUser(gantry), await newKey()];
  const json = { title: 'test', key: key.text };
  const { status, body } = await gantry.api('POST /user/keys', { as: user.token, json });
  assert.equal(status, 201);
  return { user, key, id: body.id as number };
};

test('greets a user who connects without a command by name, without a shell', { skip }, async () => {
  const { user, key } = await userWithKey();
  const greeted = await ssh(key, '-T');
  assert.deepEqual([greeted.code, greeted.stdout], [0, `Welcome to Gantry, @${user.username}!\n`]);
  for (const command of [
    'ls',
    'sh -c id',
    'git-upload-archive x',
    "git-upload-pack 'a' 'b'",
    'git upload-pack "$(id)"',
  ]) {
    const { code, stdout, stderr } = await ssh(key, command);
    assert.deepEqual([code, stdout, stderr], [1, '', 'remote: Disallowed command\n'], command);
  }
});

test('pushes, clones and fetches with a key in every protocol version', { skip }, async () => {
  const { user, key } = await userWithKey();
  const project = await seedProject(gantry, { visibility: 'private', owner: user.id });
  const pushed = await gitOver(key, tree.path, 'push', urlOf(project), 'main', 'main:refs/heads/topic');
  assert.equal(pushed.code, 0, pushed.stderr);
  const json = { source_branch: 'topic', target_branch: 'main', title: 'Topic' };
  const made = await gantry.api(`POST /projects/${project.id}/merge_requests`, { as: user.token, json });
  assert.equal(made.status, 201);
  const later = await tree.git('commit-tree', '-p', 'main', '-m', 'Later', 'main^{tree}');
  const again = await gitOver(key, tree.path, 'push', urlOf(project), `${later}:refs/heads/topic`);
  assert.match(again.stderr, /remote: View merge request for topic:/);
  for (const version of ['0', '1', '2']) {
    const clone = join(folder, unique('clone'));
    const setting = ['-c', `protocol.version=${version}`];
    const { code, stderr } = await gitOver(
      key,
      folder,
      ...setting,
      'clone',
      '--quiet',
      urlOf(project),
      clone,
    );
    assert.equal(code, 0, stderr);
    const id = await tree.commit(`More ${version}`, {});
    assert.equal((await gitOver(key, tree.path, 'push', '--quiet', urlOf(project), 'main')).code, 0);
    assert.equal((await gitOver(key, clone, ...setting, 'fetch', '--quiet')).code, 0);
    assert.equal((await tryGit(clone, ['rev-parse', 'origin/main'])).stdout.trim(), id);
  }
  const { body } = await gantry.api('GET /user/keys', { as: user.token });
  assert.ok(body[0].last_used_at !== null);
  const { visitor: admin } = await seedVisitor(gantry, { admin: 1 });
  assert.match((await admin.get(`/admin/users/${user.id}/keys`)).text, />from 127\.0\.0\.1</);
});

/** The log lines of commands over SSH that concern a path. */
const linesOf = (path: string): Record<string, unknown>[] =>
  gantry
    .logged()
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line['method'] === 'SSH' && line['path'] === path);

test('logs and measures each command with its user, key and project', { skip }, async () => {
  const { user, key, id } = await userWithKey();
  const project = await seedProject(gantry, { visibility: 'private', owner: user.id });
  assert.equal((await gitOver(key, tree.path, 'push', '--quiet', urlOf(project), 'main')).code, 0);
  assert.equal((await gitOver(key, folder, 'ls-remote', urlOf(project))).code, 0);
  const other = await userWithKey();
  await gitOver(other.key, folder, 'ls-remote', urlOf(project));
  const lines = linesOf(project.full_path);
  assert.deepEqual(
    lines.map((line) => [line['route'], line['outcome'], line['exit_code'], line['user_id'], line['key_id']]),
    [
      ['git-receive-pack', 'ok', 0, user.id, id],
      ['git-upload-pack', 'ok', 0, user.id, id],
      ['git-upload-pack', 'refused', 1, other.user.id, other.id],
    ],
  );
  assert.deepEqual(
    lines.map((line) => line['project_id']),
    [project.id, project.id, undefined],
  );
  for (const line of lines) {
    assert.deepEqual([line['msg'], line['ip']], ['request', '127.0.0.1']);
    assert.ok(Number(line['ms']) > 0 && Number(line['statements']) > 0);
    assert.match(String(line['request_id']), /^[\da-f]{32}$/);
  }
  await ssh(key, 'a-secret-command');
  const text = gantry.logged().join('');
  assert.match(text, /"route":"unknown","outcome":"refused"/);
  assert.doesNotMatch(text, /a-secret-command/);
  const metrics = await (await fetch(`${gantry.url}/-/metrics`)).text();
  for (const labels of [
    'service="git-receive-pack",outcome="ok"',
    'service="git-upload-pack",outcome="ok"',
    'service="git-upload-pack",outcome="refused"',
  ])
    assert.match(metrics, new RegExp(`^gantry_ssh_command_duration_seconds_count\\{${labels}\\} [1-9]`, 'm'));
});

test('applies push options over SSH', { skip }, async () => {
  const { user, key } = await userWithKey();
  const project = await seedProject(gantry, { visibility: 'private', owner: user.id });
  assert.equal((await gitOver(key, tree.path, 'push', '--quiet', urlOf(project), 'main')).code, 0);
  const change = await tree.commit('Run jobs', { '.gitlab-ci.yml': 'test:\n  script: [test]\n' });
  const options = ['merge_request.create', 'merge_request.auto_merge', 'ci.variable=KEY=value'];
  const all = options.flatMap((option) => ['-o', option]);
  const pushed = await gitOver(key, tree.path, 'push', ...all, urlOf(project), `${change}:refs/heads/topic`);
  assert.equal(pushed.code, 0, pushed.stderr);
  assert.doesNotMatch(pushed.stderr, /WARNINGS/);
  await gantry.service.worker.drain();
  const path = `/projects/${project.id}`;
  const [request] = (await gantry.api(`GET ${path}/merge_requests`)).body;
  assert.deepEqual([request.author.id, request.merge_when_pipeline_succeeds], [user.id, true]);
  const [pipeline] = (await gantry.api(`GET ${path}/pipelines?ref=topic&source=push`)).body;
  const { body } = await gantry.api(`GET ${path}/pipelines/${pipeline.id}/variables`);
  assert.deepEqual([body[0].key, body[0].value], ['KEY', 'value']);
});

test('refuses over SSH what is refused over HTTP', { skip }, async () => {
  const { user, key } = await userWithKey();
  const project = await seedProject(gantry, { visibility: 'private' });
  const missing = /remote: The project you were looking for could not be found or you don't have permission/;
  const fetched = async () => (await gitOver(key, folder, 'ls-remote', urlOf(project))).stderr;
  assert.match(await fetched(), missing);
  assert.match((await gitOver(key, folder, 'ls-remote', 'git@127.0.0.1:no/such.git')).stderr, missing);
  await seedMember(gantry, { user: user.id, project: project.id, access_level: 10 });
  assert.match(await fetched(), /remote: You are not allowed to download code from this project\./);
  await gantry.service.platform.store.write(async ({ db }) => {
    await db.updateTable('members').set({ access_level: 20 }).where('user_id', '=', user.id).execute();
  });
  assert.equal(await fetched(), '');
  const pushed = await gitOver(key, tree.path, 'push', urlOf(project), 'main');
  assert.match(pushed.stderr, /remote: You are not allowed to push code to this project\./);
  const hidden = await tree.git('commit-tree', '-m', 'Nowhere', 'main^{tree}');
  const wanted = await gitOver(
    key,
    tree.path,
    'fetch',
    urlOf(project),
    hidden.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
  );
  assert.match(wanted.stderr, /not our ref/);
});

test('lets a deploy key reach its own project, and write where allowed', { skip }, async () => {
  const [reading, writing] = [await newKey(), await newKey()];
  const [project, other] = [
    await seedProject(gantry, { visibility: 'private' }),
    await seedProject(gantry, { visibility: 'private' }),
  ];
  for (const [key, can_push] of [
    [reading, false],
    [writing, true],
  ] as const) {
    const json = { title: 'deploy', key: key.text, can_push };
    const { status } = await gantry.api(`POST /projects/${project.id}/deploy_keys`, { json });
    assert.equal(status, 201);
  }
  assert.match(
    (await gitOver(reading, tree.path, 'push', urlOf(project), 'main:topic')).stderr,
    /does not have write access/,
  );
  assert.equal((await gitOver(writing, tree.path, 'push', urlOf(project), 'main')).code, 0);
  assert.equal((await gitOver(reading, folder, 'ls-remote', urlOf(project))).code, 0);
  assert.match((await gitOver(writing, folder, 'ls-remote', urlOf(other))).stderr, /could not be found/);
  // main is protected since its first push.
  await tree.commit('On protected', {});
  assert.match(
    (await gitOver(writing, tree.path, 'push', urlOf(project), 'main')).stderr,
    /protected branches/,
  );
  assert.equal((await gitOver(writing, tree.path, 'push', urlOf(project), 'main:refs/heads/free')).code, 0);
});

test(
  'refuses unknown, expired, deleted, forbidden and signing keys, and other user names',
  { skip },
  async () => {
    const { user, key, id } = await userWithKey();
    const denied = /Permission denied \(publickey\)/;
    assert.match((await ssh(await newKey(), '-T')).stderr, denied);
    const asRoot = await new Promise<string>((resolve) => {
      execFile('ssh', [...sshArgs(key), 'root@127.0.0.1', '-T'], (_error, _stdout, stderr) =>
        resolve(stderr),
      ).stdin?.end();
    });
    assert.match(asRoot, denied);
    const set = async (ed25519_key_restriction: number) =>
      await gantry.api('PUT /application/settings', { json: { ed25519_key_restriction } });
    await set(-1);
    assert.match((await ssh(key, '-T')).stderr, denied);
    await set(0);
    assert.equal((await ssh(key, '-T')).code, 0);
    const signing = await newKey();
    for (const usage_type of ['signing', 'auth'] as const) {
      const json = { title: 'x', key: signing.text, usage_type };
      const { status, body } = await gantry.api('POST /user/keys', { as: user.token, json });
      assert.deepEqual([status, body.usage_type], [201, usage_type]);
      if (usage_type === 'auth') assert.equal((await ssh(signing, '-T')).code, 0);
      else assert.match((await ssh(signing, '-T')).stderr, denied);
      await gantry.api(`DELETE /user/keys/${body.id}`, { as: user.token });
    }
    await gantry.service.platform.store.write(async ({ db }) => {
      await db
        .updateTable('keys')
        .set({ expires_at: Date.now() - 1000 })
        .where('id', '=', id)
        .execute();
    });
    assert.match((await ssh(key, '-T')).stderr, denied);
    assert.equal((await gantry.api(`DELETE /user/keys/${id}`, { as: user.token })).status, 204);
    assert.match((await ssh(key, '-T')).stderr, denied);
  },
);

test('refuses a public key without its private key', async () => {
  const { key } = await userWithKey();
  const parse = (text: string): ssh2.ParsedKey => {
    const parsed = ssh2.utils.parseKey(text);
    assert.ok(!(parsed instanceof Error));
    return parsed;
  };
  const [theirs, own] = [parse(key.text), parse(ssh2.utils.generateKeyPairSync('ed25519').private)];
  /** Offers another user's key and signs with its own. */
  class LyingAgent extends ssh2.BaseAgent<ssh2.ParsedKey> {
    override getIdentities(done: (error: undefined, keys: ssh2.ParsedKey[]) => void): void {
      done(undefined, [theirs]);
    }
    override sign(_key: ssh2.ParsedKey, data: Buffer, ...rest: unknown[]): void {
      const done = rest.at(-1) as (error: null, signature: Buffer) => void;
      done(null, own.sign(data));
    }
  }
  const client = new ssh2.Client();
  const { promise, resolve } = Promise.withResolvers<string>();
  client.on('ready', () => resolve('signed in')).on('error', (error) => resolve(error.message));
  const place = { host: '127.0.0.1', port: gantry.service.ssh ?? 0, username: 'git' };
  client.connect({ ...place, agent: new LyingAgent() });
  assert.match(await promise, /authentication methods failed/);
  client.end();
});

test('tells a blocked user the reason, and says so when only HTTP is enabled', { skip }, async () => {
  const { user, key } = await userWithKey();
  const project = await seedProject(gantry, { owner: user.id });
  await gantry.api('PUT /application/settings', { json: { enabled_git_access_protocol: 'http' } });
  assert.match(
    (await gitOver(key, folder, 'ls-remote', urlOf(project))).stderr,
    /Git access over SSH is not allowed/,
  );
  await gantry.api('PUT /application/settings', { json: { enabled_git_access_protocol: null } });
  assert.equal((await gitOver(key, folder, 'ls-remote', urlOf(project))).code, 0);
  assert.equal((await gantry.api(`POST /users/${user.id}/block`)).status, 201);
  assert.match(
    (await gitOver(key, folder, 'ls-remote', urlOf(project))).stderr,
    /Your account has been blocked\./,
  );
});

test('shows the SSH port in the address of a project', async () => {
  const { sshPrefix } = await import('../../src/projects/projects/ssh_url.ts');
  const none = { ssh_listen: null, ssh_external: null };
  assert.equal(sshPrefix('https://git.example.com', none), 'git@git.example.com:');
  const listening = { host: '0.0.0.0', port: 2222 };
  assert.equal(
    sshPrefix('https://git.example.com', { ...none, ssh_listen: listening }),
    'ssh://git@git.example.com:2222/',
  );
  const external = { host: 'ssh.example.com', port: 22 };
  assert.equal(
    sshPrefix('https://git.example.com', { ssh_listen: listening, ssh_external: external }),
    'git@ssh.example.com:',
  );
  const project = await seedProject(gantry);
  const { body } = await gantry.api(`GET /projects/${project.id}`, { as: rootToken });
  assert.match(body.ssh_url_to_repo, /^ssh:\/\/git@127\.0\.0\.1:\d+\/.+\.git$/);
});

test('finds the project by an old path, and prints the new one', { skip }, async () => {
  const { user, key } = await userWithKey();
  const project = await seedProject(gantry, { visibility: 'private', owner: user.id });
  assert.equal((await gitOver(key, tree.path, 'push', '--quiet', urlOf(project), 'main')).code, 0);
  const path = unique('moved');
  assert.equal(
    (await gantry.api(`PUT /projects/${project.id}`, { as: user.token, json: { path } })).status,
    200,
  );
  const clone = join(folder, unique('clone'));
  const cloned = await gitOver(key, folder, 'clone', urlOf(project), clone);
  assert.equal(cloned.code, 0, cloned.stderr);
  const told = /remote: Project '.*' was moved to '.*'\.[^]*git remote set-url origin ssh:\/\/git@/;
  assert.match(cloned.stderr, told);
  await tree.commit('After it moved', {});
  const pushed = await gitOver(key, tree.path, 'push', urlOf(project), 'main');
  assert.equal(pushed.code, 0, pushed.stderr);
  assert.match(pushed.stderr, told);
});
