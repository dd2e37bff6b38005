import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDrawn } from '../support/run/sample.ts';
import { gantry } from './gantry.ts';

type Help = { path: string; stdout: string };

const required = ['serve', 'migrate', 'doctor', 'version', 'config show', 'admin token create'];

/** Whether the help of a command is read: one in six, and what lists the required commands. */
const isRead = (path: string): boolean =>
  isDrawn(path, 6) || required.some((one) => one.startsWith(`${path} `)) || path === 'admin user';

/** Reads help from the top. Returns the names of all commands that it lists, and what was read. */
const readHelp = async (path: string): Promise<{ names: string[]; read: Help[] }> => {
  const { code, stdout, stderr } = await gantry(`${path} --help`.trim());
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, path);
  const list = /\nCommands:\n([^]*?)\n\n/.exec(stdout)?.[1] ?? '';
  const names = [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name]) => `${path} ${name}`.trim());
  const below = await Promise.all(names.filter(isRead).map(readHelp));
  return {
    names: [...names, ...below.flatMap((one) => one.names)],
    read: [{ path, stdout }, ...below.flatMap(({ read }) => read)],
  };
};

test('every command, at every level, has help with examples', async () => {
  const { names, read } = await readHelp('');
  for (const expected of required) assert.ok(names.includes(expected), expected);
  const verbs = ['create', 'list', 'block', 'unblock', 'reset-password', 'disable-two-factor'];
  assert.deepEqual(
    names.filter((path) => path.startsWith('admin user ')),
    verbs.map((verb) => `admin user ${verb}`),
  );
  for (const { path, stdout } of read) {
    assert.match(stdout, new RegExp(`^Usage: gantry ?${path}`), path);
    assert.match(stdout, /\nExamples:\n {2}\S/, path);
    const isAction = !stdout.includes('\nCommands:\n');
    assert.equal(stdout.includes('--json'), isAction, `${path} --json`);
  }
  for (const { path, stdout } of read.filter((one) => isDrawn(`-h ${one.path}`, 6)))
    assert.equal((await gantry(`${path} -h`.trim())).stdout, stdout, path);
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
