/**
 * The page of installation, step by step in a folder of its own: makes the package, installs it without development
 * dependencies as the page says, starts it by the unit, uses it, and uninstalls it.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { isWhole } from '../support/run/sample.ts';
import { freePort } from '../support/servers/free_port.ts';

const root = join(import.meta.dirname, '../..');
const home = mkdtempSync(join(tmpdir(), 'gantry-installation-'));
const clone = join(home, 'clone');
const page = readFileSync(join(root, 'docs/installation.md'), 'utf8');

after(() => {
  const pid = join(home, 'pid');
  if (existsSync(pid)) spawnSync('kill', ['-9', readFileSync(pid, 'utf8').trim()]);
  rmSync(home, { recursive: true, force: true });
});

/** The machine of the test: folders that stand for those of the page. */
const machine = join(home, 'machine');
const folders = ['/opt/gantry', '/usr/local/bin', '/etc/systemd/system', '/etc/gantry', '/var/lib/gantry'];
const onMachine = (text: string): string =>
  folders.reduce((whole, folder) => whole.replaceAll(folder, `${machine}${folder}`), text);

/**
 * Programs of the machine. `systemctl` starts what the unit names with what it sets, as systemd would; users are those
 * of files in the folder.
 */
const programs = {
  useradd: `exec /usr/sbin/useradd --prefix '${machine}' "$@"`,
  userdel: `exec /usr/sbin/userdel --prefix '${machine}' "$@"`,
  install: `
args=()
for one in "$@"; do if [ "$one" = -g ] || [ "$one" = gantry ]; then continue; fi; args+=("$one"); done
exec /usr/bin/install "\${args[@]}"`,
  systemctl: `
unit='${machine}/etc/systemd/system/gantry.service'
case "$*" in
  daemon-reload) ;;
  'enable --now gantry')
    settings=()
    while IFS= read -r line; do case "$line" in
      EnvironmentFile=*) file="\${line#*=}"; while IFS= read -r one; do settings+=("$one"); done < "\${file#-}" ;;
      Environment=*) settings+=("\${line#*=}") ;;
      ExecStart=*) command="\${line#*=}" ;;
    esac; done < "$unit"
    env -i PATH=/usr/bin:/bin "\${settings[@]}" $command > '${home}/log' 2>&1 < /dev/null &
    echo $! > '${home}/pid'
    until grep -q '"listening"' '${home}/log'; do kill -0 $! || { cat '${home}/log' >&2; exit 1; }; sleep 0.1; done ;;
  'disable --now gantry')
    kill "$(cat '${home}/pid')"
    while kill -0 "$(cat '${home}/pid')" 2> /dev/null; do sleep 0.1; done
    rm '${home}/pid' ;;
  *) echo "unknown: $*" >&2; exit 1 ;;
esac`,
};

/** The code of the page that has some words. */
const blockOf = (words: string): string => {
  const blocks = [...page.matchAll(/^ *```(?:sh|console)\n([^]*?)^ *```/gm)].map(([, code = '']) => code);
  const block = blocks.find((one) => one.includes(words));
  assert.ok(block !== undefined, `the page has no block with ${words}`);
  return block.replaceAll(/^ *\$ /gm, '');
};

/** Without settings of this program, and without those that npm gave to the tests. Certificates of registries stay. */
const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^GANTRY_|^npm_|^NODE_(?!EXTRA_CA_CERTS)/i.test(name)),
);

const run = async (script: string, cwd = home): Promise<string> => {
  const path = `${join(home, 'bin')}:${machine}/usr/local/bin:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const child = spawn('bash', ['-euo', 'pipefail', '-c', onMachine(script)], {
    cwd,
    env: { ...inherited, PATH: path, npm_config_prefer_offline: 'true' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => void (output += part));
  const [code] = await once(child, 'exit');
  assert.equal(code, 0, `${script}\n${output}`);
  return output;
};

/** A clone of what is here, committed or not; its packages are those of this one. */
const makeClone = (): void => {
  execFileSync('git', ['clone', '--quiet', '--shared', root, clone]);
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', list, { cwd: root, encoding: 'utf8', maxBuffer: 1e8 }).split('\0');
  for (const file of files.filter((one) => one !== '' && existsSync(join(root, one))))
    cpSync(join(root, file), join(clone, file));
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
};

const makeMachine = (): void => {
  mkdirSync(join(home, 'bin'));
  for (const [name, code] of Object.entries(programs)) {
    writeFileSync(join(home, 'bin', name), `#!/bin/bash\n${code}\n`);
    chmodSync(join(home, 'bin', name), 0o755);
  }
  for (const folder of [...folders.slice(1, 3), '/var/lib'])
    mkdirSync(`${machine}${folder}`, { recursive: true });
  for (const name of ['passwd', 'group', 'shadow', 'gshadow']) writeFileSync(`${machine}/etc/${name}`, '');
};

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

const reasonToSkip = (): string | false => {
  if (!isWhole) return 'takes minutes, and the registry of npm: run by npm run test:all';
  if (process.getuid?.() !== 0 || spawnSync('/usr/sbin/useradd', ['--help']).status !== 0)
    return 'needs root and useradd';
  const asked = spawnSync(
    'npm',
    ['view', 'node@26', 'version', '--fetch-retries=0', '--fetch-timeout=20000'],
    {
      cwd: root,
    },
  );
  return asked.status !== 0 && 'the registry of npm does not answer';
};

describe('installation from a package, with systemd', { skip: reasonToSkip() }, () => {
  let url = '';
  it('the package is built from a clone', async () => {
    makeClone();
    makeMachine();
    // `npm ci` would install what is linked already.
    const block = blockOf('npm pack');
    assert.match(block, /npm ci && npm pack/);
    await run(block.replace('npm ci && ', ''), clone);
    cpSync(join(clone, `gantry-${version}.tgz`), join(home, `gantry-${version}.tgz`));
    assert.equal(existsSync(join(clone, 'npm-shrinkwrap.json')), false);
  });

  it('installs it with its own Node, and without development dependencies', async () => {
    const output = await run(blockOf('--omit=dev'));
    assert.match(output, new RegExp(`gantry ${version.replaceAll('.', String.raw`\.`)}`));
    const has = (name: string): boolean => existsSync(`${machine}/opt/gantry/node_modules/${name}`);
    assert.deepEqual(
      [has('node/bin/node'), has('pg'), has('typescript'), has('playwright-core')],
      [true, true, false, false],
    );
    const revision = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' });
    assert.equal(readFileSync(`${machine}/opt/gantry/REVISION`, 'utf8'), revision);
  });

  it('starts it by its unit, as a user of the system', async () => {
    await run(blockOf('useradd'));
    assert.match(readFileSync(`${machine}/etc/passwd`, 'utf8'), /^gantry:.*nologin$/m);
    const listen = `127.0.0.1:${await freePort()}`;
    url = `http://${listen}`;
    writeFileSync(`${machine}/etc/gantry/gantry.env`, `GANTRY_LISTEN=${listen}\n`, { flag: 'a' });
    const unit = readFileSync(`${machine}/opt/gantry/deploy/systemd/gantry.service`, 'utf8');
    writeFileSync(`${machine}/etc/systemd/system/gantry.service`, onMachine(unit));
    const password = await run(blockOf('initial_root_password'));
    assert.match(password, /\S{12}/);
    const health = await fetch(`${url}/-/health`);
    assert.deepEqual([health.status, (await health.text()).trim()], [200, 'OK']);
  });

  it('serves git: a push, and a clone of it', async () => {
    const settings = 'GANTRY_DATA=/var/lib/gantry';
    const token = (await run(`env ${settings} gantry admin token create --user root`))
      .trim()
      .split('\n')
      .at(-1);
    const created = await fetch(`${url}/api/v4/projects`, {
      method: 'POST',
      headers: { 'private-token': token ?? '', 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'bridge' }),
    });
    assert.equal(created.status, 201);
    const address = `${url.replace('//', `//root:${token}@`)}/root/bridge.git`;
    const identity = '-c user.name=Me -c user.email=me@example.com';
    await run(`git init --quiet --initial-branch main tree && cd tree && echo plank > deck && git add . &&
      git ${identity} commit --quiet --message Deck && git push --quiet ${address} main
      cd .. && git clone --quiet ${address} copy && cmp tree/deck copy/deck`);
  });

  it('the package and its service are uninstalled', async () => {
    await run(blockOf('userdel'));
    const left = folders.filter((folder) => folder.includes('gantry') && existsSync(`${machine}${folder}`));
    assert.deepEqual(left, []);
    assert.equal(readFileSync(`${machine}/etc/passwd`, 'utf8'), '');
    await assert.rejects(fetch(`${url}/-/liveness`));
  });
});
