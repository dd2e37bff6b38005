/** `gantry storage`: lists storages, and has the running service move repositories between them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Place, type Running, newPlace } from './gantry.ts';

const token = 'glpat-storage-0123456789';
let place: Place;
let service: Running;

const api = async (line: string, body?: object) => {
  const [method = '', path = ''] = line.split(' ');
  const response = await fetch(`${service.url}/api/v4${path}`, {
    method,
    headers: { 'private-token': token, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  assert.ok(response.ok, `${line}: ${response.status}`);
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
  return (await response.json()) as any;
};

before(async () => {
  place = newPlace();
  place.env['GANTRY_REPOSITORY_STORAGES'] = 'default,fast';
  service = await place.serve('serve', { env: { GANTRY_ROOT_TOKEN: token } });
  for (const name of ['one', 'two']) await api('POST /projects', { name, initialize_with_readme: true });
});
after(async () => {
  await service.end('SIGKILL');
  await place.remove();
});

const list = async (): Promise<[string, number][]> => {
  const { code, stdout, stderr } = await place.run('storage list --json');
  assert.equal(code, 0, stderr);
  return (JSON.parse(stdout) as { name: string; projects: number }[]).map(({ name, projects }) => [
    name,
    projects,
  ]);
};

test('moves one project, and waits for it', async () => {
  const before = await list();
  assert.deepEqual(before, [
    ['default', 2],
    ['fast', 0],
  ]);
  const { code, stdout, stderr } = await place.run('storage move --project root/one --to fast --wait');
  assert.equal(code, 0, stderr);
  assert.equal(stdout, 'root/one has moved.\n');
  assert.deepEqual(await list(), [
    ['default', 1],
    ['fast', 1],
  ]);
  assert.equal((await api('GET /projects/root%2Fone/repository/commits')).length, 1);
  const text = (await place.run('storage list')).stdout;
  assert.match(text, /^default {2}1 project\nfast {5}1 project\n$/);
});

test('moves all projects of a storage', async () => {
  const { code, stderr } = await place.run('storage move --all-from fast');
  assert.equal(code, 0, stderr);
  while ((await list())[1]?.[1] !== 0);
  assert.equal((await api('GET /projects/root%2Fone/repository/commits')).length, 1);
});

test('refuses what it cannot move', async () => {
  for (const [line, code, why] of [
    ['storage move', 2, /name a project with --project, or a storage with --all-from/],
    ['storage move --project root/none', 1, /project "root\/none" not found/],
    [
      'storage move --project root/one --to nowhere',
      1,
      /destination_storage_name is not included in the list/,
    ],
    ['storage move --all-from default --to default', 1, /cannot be the storage that the repository is in/],
  ] as const) {
    const ended = await place.run(line);
    assert.deepEqual([ended.code, why.test(ended.stderr)], [code, true], ended.stderr);
  }
});
