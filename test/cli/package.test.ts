/** The package of `npm pack`: it serves with the packages of the lock file, and with those few of the image. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { listUnbundledPackages } from '../../tools/copy_unbundled_packages.ts';
import { exercisePackages } from '../support/exercise_packages.ts';
import { freePort } from '../support/servers/free_port.ts';
import { listProductionPackages } from '../support/production_packages.ts';

const root = join(import.meta.dirname, '../..');
const home = mkdtempSync(join(tmpdir(), 'gantry-package-'));
const folder = join(home, 'package');
after(() => rmSync(home, { recursive: true, force: true }));

/** Without scripts: they would build `dist/`, which other tests run from. */
const pack = (): void => {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', home];
  const [packed] = JSON.parse(
    execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  ) as [{ filename: string }];
  execFileSync('tar', ['-xzf', join(home, packed.filename), '-C', home]);
};

/** Copies what `npm ci --omit=dev` would install; the Node of the tests stands for the one that it brings. */
const install = (): void => {
  for (const name of listProductionPackages()) {
    if (!existsSync(join(root, name)) || name.startsWith('node_modules/node/')) continue;
    const isNode = name === 'node_modules/node';
    const filter = (path: string): boolean => !isNode || !path.endsWith('/bin/node');
    cpSync(join(root, name), join(folder, name), { recursive: true, filter });
  }
};

before(() => {
  pack();
  install();
});

const has = (path: string): boolean => existsSync(join(folder, path));

test('has the program, pages of help and samples, and neither sources nor tests', () => {
  const wanted = [
    'dist/cli/main.mjs',
    'dist/help/content.json',
    'dist/help/index.html',
    'bin/launch',
    'docs/operations.md',
    'deploy/compose.yml',
    'templates',
  ];
  assert.deepEqual(
    wanted.filter((path) => !has(path)),
    [],
  );
  const unwanted = ['src', 'test', 'data', '.git', 'docs/openapi.json', 'node_modules/typescript'];
  assert.deepEqual(unwanted.filter(has), []);
});

const serves = async (data: string): Promise<void> => {
  const listen = `127.0.0.1:${await freePort()}`;
  const env = {
    PATH: `${join(process.execPath, '..')}:/usr/bin:/bin`,
    HOME: home,
    GANTRY_DATA: join(home, data),
    GANTRY_LISTEN: listen,
    GANTRY_RUNNER_EXECUTOR: 'none',
    GANTRY_SSH_LISTEN: '127.0.0.1:0',
    GANTRY_ROOT_TOKEN: 'token-of-the-package',
    GANTRY_ROOT_PASSWORD: 'password of the package',
    // Browsers offer passkeys only under a name with TLS, which a proxy would end.
    GANTRY_EXTERNAL_URL: 'https://code.example.com',
    GANTRY_TRUSTED_PROXIES: '127.0.0.1',
  };
  const child = spawn(join(folder, 'bin/launch'), ['serve', '--json'], { env, cwd: home });
  const closed = once(child, 'close');
  const url = `http://${listen}`;
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (output += text));
  for await (const text of child.stdout.setEncoding('utf8')) {
    output += String(text);
    if (output.includes('"listening"')) break;
  }
  assert.ok(output.includes('"listening"'), output);
  try {
    const { GANTRY_ROOT_TOKEN: token, GANTRY_ROOT_PASSWORD: password, GANTRY_EXTERNAL_URL: origin } = env;
    await exercisePackages({ url, origin, token, password });
  } finally {
    child.kill('SIGTERM');
    await closed;
  }
};

test('its install scripts need nothing that it lacks', () => {
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    scripts: { prepare: string };
  };
  execFileSync('sh', ['-c', scripts.prepare], { cwd: folder });
});

test('serves the API, highlighted code and templates without development dependencies', async () => {
  await serves('data');
});

test('serves with the packages of the image alone', async () => {
  const kept = new Set(listUnbundledPackages());
  assert.ok(kept.size > 4);
  const others = listProductionPackages().filter((name) => !kept.has(name) && name !== 'node_modules/node');
  for (const name of others) rmSync(join(folder, name), { recursive: true, force: true });
  await serves('data-of-image');
});
