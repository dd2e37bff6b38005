/** Shell blocks of the documents, as they stand but for paths and addresses, against a service. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Place, type Running, newPlace } from './gantry.ts';

const root = join(import.meta.dirname, '../..');
const token = 'token-of-the-documents';
const home = mkdtempSync(join(tmpdir(), 'gantry-documents-'));
const settings = join(home, 'etc');
let place: Place;
let service: Running;

/** What the shell finds in its path. `systemd-run` runs the command with what the line names, and nothing else. */
const programs = {
  gantry: `exec '${process.execPath}' '${root}/bin/gantry' "$@"`,
  sudo: '[ "$1" = -u ] && shift 2; exec "$@"',
  'systemd-run': `
settings=()
while [ "\${1#--}" != "$1" ]; do
  case "$1" in
    --property=EnvironmentFile=*) while IFS= read -r line; do settings+=("$line"); done < "\${1#*=*=}" ;;
    --setenv=*) settings+=("\${1#--setenv=}") ;;
    --quiet|--pty|--uid=gantry) ;;
    *) echo "no option $1" >&2; exit 1 ;;
  esac
  shift
done
exec env -i PATH="$PATH" "\${settings[@]}" "$@"`,
};

/** The code of a document that begins with, or has, some words. */
const blockOf = (file: string, words: string): string => {
  const text = readFileSync(join(root, 'docs', file), 'utf8');
  const blocks = [...text.matchAll(/^ *```(?:sh|console)\n([^]*?)^ *```/gm)].map(([, code = '']) => code);
  const block = blocks.find((one) => one.includes(words));
  assert.ok(block !== undefined, `${file} has no block with ${words}`);
  return block.replaceAll(/^ *\$ /gm, '');
};

type Shell = { env?: Record<string, string>; isBare?: boolean };

/** Runs a script as one shell, in which a command that fails ends it. */
const run = async (script: string, { env = {}, isBare = false }: Shell = {}): Promise<string> => {
  const local = script
    .replaceAll('/var/lib/gantry', place.data)
    .replaceAll('/etc/gantry', settings)
    .replaceAll('https://gantry.example.com', service.url);
  const child = spawn('bash', ['-euo', 'pipefail', '-c', local], {
    cwd: home,
    env: { PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}`, ...(!isBare && place.env), ...env },
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

test('administration: commands with the settings of the unit', async () => {
  const { GANTRY_DATA: _data, ...others } = place.env;
  const sudo = await run(blockOf('administration.md', 'sudo -u gantry env'), { isBare: true, env: others });
  assert.match(sudo, /root/);
  const install = blockOf('installation.md', 'gantry.env').replace(/^ *useradd.*\n/m, '');
  await run(install);
  const file = join(settings, 'gantry.env');
  const installed = readFileSync(file, 'utf8');
  assert.match(installed, /^GANTRY_EXTERNAL_URL=https:\/\/code\.example\.com$/m);
  writeFileSync(
    file,
    `${installed}${Object.entries(others)
      .map(([name, value]) => `${name}=${value}\n`)
      .join('')}`,
  );
  const systemd = await run(blockOf('administration.md', 'systemd-run'), { isBare: true });
  assert.match(systemd, /root/);
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
