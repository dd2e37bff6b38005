/** Shell blocks of the documents, as they stand but for paths and addresses, against a service. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { startS3 } from '../support/servers/s3.ts';
import { type Place, type Running, engine, newPlace, newUsedPlace } from './gantry.ts';

const root = join(import.meta.dirname, '../..');
const token = 'token-of-the-documents';
const home = mkdtempSync(join(tmpdir(), 'gantry-documents-'));
let place: Place;
let service: Running;

/** What the shell finds in its path. */
const programs = { gantry: `exec '${process.execPath}' '${root}/bin/gantry' "$@"` };

/** The code of a document that begins with, or has, some words. */
const blockOf = (file: string, words: string): string => {
  const text = readFileSync(join(root, 'docs', file), 'utf8');
  const blocks = [...text.matchAll(/^ *```(?:sh|console)\n([^]*?)^ *```/gm)].map(([, code = '']) => code);
  const block = blocks.find((one) => one.includes(words));
  assert.ok(block !== undefined, `${file} has no block with ${words}`);
  return block.replaceAll(/^ *\$ /gm, '');
};

type Shell = { env?: Record<string, string> };

/** Runs a script as one shell, in which a command that fails ends it. */
const run = async (script: string, { env = {} }: Shell = {}): Promise<string> => {
  const local = script
    .replaceAll('/var/lib/gantry', place.data)
    .replaceAll('https://gantry.example.com', service.url);
  const child = spawn('bash', ['-euo', 'pipefail', '-c', local], {
    cwd: home,
    env: { PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}`, ...place.env, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => void (output += part));
  const [code] = await once(child, 'close');
  assert.equal(code, 0, `${local}\n${output}`);
  return output;
};

// oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
const api = async (line: string, json?: object): Promise<any> => {
  const [method = '', path = ''] = line.split(' ');
  const response = await fetch(`${service.url}/api/v4${path}`, {
    method,
    headers: { 'private-token': token, 'content-type': 'application/json' },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  assert.ok(response.ok, `${line}: ${response.status}`);
  return await response.json();
};

before(async () => {
  place = newPlace();
  mkdirSync(join(home, 'bin'));
  for (const [name, code] of Object.entries(programs)) {
    writeFileSync(join(home, 'bin', name), `#!/bin/bash\n${code}\n`);
    chmodSync(join(home, 'bin', name), 0o755);
  }
  place.env['GANTRY_REPOSITORY_STORAGES'] = 'default,fast';
  service = await place.serve('serve', { env: { GANTRY_ROOT_TOKEN: token } });
  const { id: namespace_id } = await api('POST /groups', { name: 'team', path: 'team' });
  await api('POST /projects', { name: 'site', namespace_id, initialize_with_readme: true });
});
after(async () => {
  await place.remove();
  rmSync(home, { recursive: true, force: true });
});

test('administration: users and tokens', async () => {
  const output = await run(blockOf('administration.md', 'gantry admin user create maria'));
  assert.match(output, /maria@example\.com/);
  const [maria] = await api('GET /users?username=maria');
  assert.deepEqual([maria.name, maria.state], ['Maria Silva', 'blocked']);
});

test('scaling: moves of repositories', async () => {
  const storageOf = async (): Promise<string> => (await api('GET /projects/team%2Fsite')).repository_storage;
  assert.equal(await storageOf(), 'default');
  const output = await run(blockOf('scaling.md', 'gantry storage move'));
  assert.match(output, /fast/);
  assert.equal(await storageOf(), 'fast');
});

test('mail: the settings', async () => {
  const shown = await run(`set -a\n${blockOf('mail.md', 'GANTRY_SMTP_URL')}\ngantry config show`);
  assert.match(shown, /Gantry <gantry@example\.com>/);
});

test('external CI: a status of a commit', async () => {
  const { id } = await api('GET /projects/team%2Fsite');
  const [commit] = await api(`GET /projects/${id}/repository/commits`);
  const env = { TOKEN: token, PROJECT_ID: String(id), SHA: commit.id as string };
  await run(`command -v curl > /dev/null || exit 0\n${blockOf('external_ci.md', 'curl')}`, { env });
  const [status] = await api(`GET /projects/${id}/repository/commits/${commit.id}/statuses`);
  assert.deepEqual([status.name, status.status], ['build', 'success']);
});

/** Why a block cannot run here; false: it can. */
const lacks = (...names: string[]): string | false => {
  const missing = names.find((name) => spawnSync(name, ['--version']).error !== undefined);
  return missing === undefined ? false : `${missing} is not installed`;
};

test('API: a list with a filter, and a new issue', { skip: lacks('curl') }, async () => {
  const { id: namespace_id } = await api('POST /groups', { name: 'workshop', path: 'workshop' });
  const { id } = await api('POST /projects', { name: 'bridge', namespace_id });
  const block = blockOf('api.md', '--json').replaceAll('/projects/4/', `/projects/${id}/`);
  await run(block, { env: { TOKEN: token, GANTRY: service.url } });
  const titles = (await api(`GET /projects/${id}/issues`)).map(({ title }: { title: string }) => title);
  assert.deepEqual(titles, ['It creaks']);
});

test('changes: the first page', { skip: lacks('curl') }, async () => {
  const block = blockOf('changes.md', 'api/v4/changes');
  const output = await run(block, { env: { TOKEN: token } });
  assert.match(output, /"next_after":\d+}/);
});

test('importing: over the API, and by a push', { skip: lacks('curl') }, async () => {
  await api('PUT /application/settings', { allow_local_requests_from_web_hooks_and_services: true });
  const { host } = new URL(service.url);
  const local = (script: string): string =>
    script
      .replaceAll('https://code.example.com', service.url)
      .replaceAll(
        'https://USER:PASSWORD@git.example.com/team/bridge.git',
        `http://x:${token}@${host}/team/site.git`,
      )
      .replaceAll('git@git.example.com:team/bridge.git', `http://x:${token}@${host}/team/site.git bridge.git`)
      .replaceAll(`push ${service.url}/team/bridge.git`, `push http://x:${token}@${host}/team/pushed.git`)
      .replaceAll('/projects/ID/', '/projects/root%2Fbridge/');
  const env = { TOKEN: token };
  const output = await run(local(blockOf('importing.md', 'import_url=')), { env });
  assert.match(output, /"import_status":"(?:scheduled|started|finished)"/);
  const namespace = await api('GET /groups/team');
  await api('POST /projects', { name: 'pushed', namespace_id: namespace.id });
  await run(local(blockOf('importing.md', '--mirror')), { env });
  const branches = await api('GET /projects/team%2Fpushed/repository/branches');
  assert.deepEqual(
    branches.map(({ name }: { name: string }) => name),
    ['main'],
  );
});

/** Runs a block that goes on until it is ended, up to what it prints. */
const runUntil = async (
  script: string,
  printed: RegExp,
  options: { cwd: string; env: object },
): Promise<void> => {
  const child = spawn('bash', ['-euc', script], {
    ...options,
    env: { ...process.env, ...options.env },
    detached: true,
  });
  const closed = once(child, 'close');
  let output = '';
  const seen = Promise.withResolvers<boolean>();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      output += part;
      if (printed.test(output)) seen.resolve(true);
    });
  void closed.then(() => seen.resolve(false));
  const isSeen = await seen.promise;
  if (isSeen) process.kill(-(child.pid ?? 0), 'SIGTERM');
  await closed;
  assert.ok(isSeen, `${script}\n${output}`);
};

test('installation: npm start with another folder and address', { skip: lacks('npm') }, async () => {
  const block = blockOf('installation.md', 'npm start -- --data')
    .replace('/srv/gantry', join(home, 'started'))
    .replace(':9000', ':0');
  await runUntil(block, /"listening"/, { cwd: root, env: { GANTRY_RUNNER_EXECUTOR: 'none' } });
  assert.ok(existsSync(join(home, 'started')));
});

test('installation: artifacts and uploads to a bucket', async () => {
  const used = await newUsedPlace();
  const s3 = await startS3();
  try {
    const block = blockOf('installation.md', 'storage copy-blobs').replace('/var/lib/gantry', used.data);
    const output = await run(block, { env: { ...used.env, ...s3.environment } });
    assert.match(output, /bucket/);
  } finally {
    await used.remove();
    await s3.close();
  }
});

test('runners: one on another machine', { skip: lacks('bwrap') }, async () => {
  const made = await api('POST /user/runners', { runner_type: 'instance_type' });
  const block = blockOf('runners.md', 'gantry runner --url')
    .replace('glrt-...', made.token)
    .replace('https://code.example.com', service.url);
  const env = { PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}` };
  await runUntil(block, /The runner accepts jobs of/, { cwd: home, env });
});

test(
  'debugging: the background work in the database',
  { skip: engine === 'postgres' && 'a file' },
  async () => {
    const block = blockOf('debugging.md', 'DatabaseSync').replace(
      'data/gantry.sqlite',
      join(place.data, 'gantry.sqlite'),
    );
    const output = await run(`npx() { "$@"; }\n${block}`, {
      env: { PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` },
    });
    assert.match(output, /\(index\)/);
  },
);

test('README: a token', { skip: lacks('curl', 'npm') }, async () => {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  const [, block = ''] = /^```sh\n(TOKEN=[^]*?)^```/m.exec(text) ?? [];
  const local = block.replace('http://127.0.0.1:8080', service.url);
  assert.match(await run(`cd '${root}'\n${local}`), /"username":"root"/);
});

/** The commands of the tour, and what it shows after each. */
const tour = (): { commands: string; shown: string[] } => {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  const [, block = ''] = /^```console\n([^]*?)^```/m.exec(text) ?? [];
  const lines = block.trim().split('\n');
  const isCommand = (line: string): boolean => line.startsWith('$ ');
  return {
    commands: lines
      .filter(isCommand)
      .map((line) => line.slice(2))
      .join('\n'),
    shown: lines.filter((line) => !isCommand(line)),
  };
};

test('the tour of the README, in an empty instance', { skip: lacks('curl', 'jq') }, async () => {
  const empty = newPlace();
  const env = { GANTRY_ROOT_TOKEN: 'my-first-token', GANTRY_RUNNER_EXECUTOR: 'shell' };
  const { url } = await empty.serve('serve', { env });
  const { port } = new URL(url);
  try {
    const { commands, shown } = tour();
    assert.ok(shown.length > 5);
    const identity =
      'export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=Me GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=me@example.com';
    const local = commands.replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`);
    mkdirSync(join(home, 'tour'));
    const output = await run(`cd tour\n${identity}\n${local}`);
    const printed = output.split('\n').filter((line) => shown.includes(line));
    assert.deepEqual(printed, shown, output);
  } finally {
    await empty.remove();
  }
});
