/** A planned restart of a repository storage: requests and git commands wait for it, and none fails. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Place, type Running, newPlace } from '../cli/gantry.ts';
import { newWorkTree, repositoryUrl, tryGit } from '../support/repositories/git.ts';
import { freePort } from '../support/servers/free_port.ts';
import { until } from '../support/until.ts';

const token = 'token-of-the-first-start';
let place: Place;
let service: Running;
let gitd: Running;
let startGitd: () => Promise<Running>;
before(async () => {
  place = newPlace();
  const listen = `127.0.0.1:${await freePort()}`;
  place.env['GANTRY_GITD_SECRET'] = 's'.repeat(32);
  startGitd = async () => await place.serve(`gitd --listen ${listen} --root ${place.data}-repositories`);
  gitd = await startGitd();
  const env = { GANTRY_REPOSITORY_STORAGES: `default=tcp://${listen}`, GANTRY_ROOT_TOKEN: token };
  service = await place.serve('serve', { env });
});
after(async () => await place.remove());

const send = async (line: string, json?: object): Promise<number> => {
  const [method = '', path = ''] = line.split(' ');
  const response = await fetch(`${service.url}/api/v4${path}`, {
    method,
    headers: { 'private-token': token, 'content-type': 'application/json' },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  await response.arrayBuffer();
  return response.status;
};

const makeProject = async (name: string): Promise<void> =>
  assert.equal(await send('POST /projects', { name, initialize_with_readme: true }), 201);

test('no request, push or clone fails while a storage is restarted', async () => {
  await makeProject('read');
  await makeProject('written');
  await makeProject('pushed');
  const tree = await newWorkTree();
  const address = repositoryUrl(service.url, 'root/pushed', token);
  await tree.git('pull', '--quiet', address, 'main');
  const failed: string[] = [];
  const stop = new AbortController();
  const counts: number[] = [];
  /** Repeats work without a pause until the test stops it. */
  const repeat = async (work: (count: number) => Promise<void>): Promise<void> => {
    const at = counts.push(0) - 1;
    for (let count = 0; !stop.signal.aborted; count += 1) {
      await work(count);
      counts[at] = count + 1;
    }
  };
  const expect = async (status: number, line: string, json?: object): Promise<void> => {
    const answered = await send(line, json);
    if (answered !== status) failed.push(`${line}: ${answered}`);
  };
  const run = async (...args: string[]): Promise<void> => {
    const { code, stderr } = await tryGit(tree.path, args);
    if (code !== 0) failed.push(`${args[0]}: ${stderr}`);
  };
  const load = Promise.all([
    repeat(async () => await expect(200, 'GET /projects/root%2Fread/repository/commits')),
    repeat(async (count) => {
      const json = { branch: 'main', content: 'x', commit_message: 'Add' };
      await expect(201, `POST /projects/root%2Fwritten/repository/files/f${count}`, json);
    }),
    repeat(async (count) => {
      await tree.commit(`Plank ${count}`, { plank: String(count) });
      await run('push', '--quiet', address, 'HEAD:main');
    }),
    repeat(async () => await run('ls-remote', '--quiet', address)),
  ]);
  const untilAllGoOn = async (): Promise<void> => {
    const before = [...counts];
    await until('all go on', () => counts.every((count, at) => count > (before[at] ?? 0)));
  };
  await untilAllGoOn();
  assert.equal((await gitd.end('SIGTERM')).code, 0);
  gitd = await startGitd();
  await untilAllGoOn();
  stop.abort();
  await load;
  assert.deepEqual(failed, []);
  await tree.remove();
});

test('a storage that does not come back refuses requests, and serves them when it is back', async () => {
  await gitd.end('SIGKILL');
  const path = 'GET /projects/root%2Fread/repository/commits';
  assert.equal(await send(path), 503);
  assert.equal(await send(path), 503);
  gitd = await startGitd();
  await until('it answers again', async () => (await send(path)) === 200);
});
