import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gantry } from './gantry.ts';

/** Lists every command by reading the help from the top. */
const commandsBelow = async (path: string): Promise<string[]> => {
  const { stdout } = await gantry(`${path} --help`.trim());
  const list = /\nCommands:\n([^]*?)\n\n/.exec(stdout)?.[1] ?? '';
  const names = [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name]) => `${path} ${name}`.trim());
  const below = await Promise.all(names.map(commandsBelow));
  return [path, ...below.flat()];
};

test('every command, at every level, has help with examples', async () => {
  const all = await commandsBelow('');
  for (const expected of ['serve', 'migrate', 'doctor', 'version', 'config show', 'admin token create']) {
    assert.ok(all.includes(expected), expected);
  }
  const verbs = ['create', 'list', 'block', 'unblock', 'reset-password', 'disable-two-factor'];
  assert.deepEqual(
    all.filter((path) => path.startsWith('admin user ')),
    verbs.map((verb) => `admin user ${verb}`),
  );
  for (const path of all) {
    const { code, stdout, stderr } = await gantry(`${path} -h`.trim());
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, path);
    assert.match(stdout, new RegExp(`^Usage: gantry ?${path}`), path);
    assert.match(stdout, /\nExamples:\n {2}\S/, path);
    const isAction = !stdout.includes('\nCommands:\n');
    assert.equal(stdout.includes('--json'), isAction, `${path} --json`);
  }
});

test('the program and its groups print their help if called without a command', async () => {
  for (const path of ['', 'admin', 'admin user', 'config']) {
    const [alone, asked] = [await gantry(path), await gantry(`${path} --help`.trim())];
    assert.deepEqual(alone, asked);
  }
});

test('the version is printed for people and for programs', async () => {
  assert.match((await gantry('--version')).stdout, /^10\.0\.\d+\n$/);
  assert.match((await gantry('version')).stdout, /^gantry 10\.0\.\d+ \(revision [0-9a-z]+, Node 26\./);
  const { version, revision, node, sqlite } = JSON.parse((await gantry('version --json')).stdout);
  assert.match(`${version} ${node} ${sqlite}`, /^10\.0\.\d+ 26\.\S+ 3\.\S+$/);
  assert.match(revision, /^([0-9a-f]{11}|unknown)$/);
});
