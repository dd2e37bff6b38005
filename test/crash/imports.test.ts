/** Kills the service at each step of an import. After a restart the import ends by itself, or says why it does not. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { git } from '../support/repositories/git.ts';
import { type GitServer, startGitServer } from '../support/servers/git_server.ts';
import { type Place, type Running, call, newPlace } from './process.ts';

const preload = pathToFileURL(join(import.meta.dirname, '../support/machine/kill_at_effect.ts')).href;
const effects = ['import.listed', 'import.received', 'import.refs_set'];

let place: Place;
let server: GitServer;
let tip: string;
before(async () => {
  place = newPlace();
  server = await startGitServer();
  tip = await git(await server.create('source.git'), 'rev-parse', 'main');
  const running = await place.start();
  const json = { allow_local_requests_from_hooks_and_services: true };
  assert.equal((await call(running.url, 'PUT /application/settings', json)).status, 200);
  await end(running);
});
after(async () => {
  await place.remove();
  await server.close();
});

const startDoomed = async (effect: string): Promise<Running> =>
  await place.start({ node: [`--import=${preload}?program=service&effect=${effect}`] });

const end = async (running: Running): Promise<void> => {
  running.signal('SIGKILL');
  await running.exit;
};

const create = async ({ url }: Running, name: string): Promise<void> => {
  const json = { name, import_url: `${server.url}/source.git` };
  assert.equal((await call(url, 'POST /projects', json)).status, 201);
};

/** Waits for the end of an import. */
const untilOver = async ({ url }: Running, name: string) => {
  for (;;) {
    const { body } = await call(url, `GET /projects/root%2F${name}`);
    if (!['scheduled', 'started'].includes(body.import_status)) return body;
    await wait(50);
  }
};

for (const effect of effects)
  test(`an import survives when the service is killed at ${effect}`, async () => {
    const name = effect.replace('.', '-').replace('_', '-');
    const first = await startDoomed(effect);
    await create(first, name);
    assert.equal(await first.exit, null, 'it was not killed');
    const second = await place.start();
    const project = await untilOver(second, name);
    assert.deepEqual([project.import_status, project.default_branch], ['finished', 'main']);
    const { body } = await call(second.url, `GET /projects/root%2F${name}/repository/branches`);
    assert.deepEqual(
      body.map((branch: { name: string; commit: { id: string } }) => [branch.name, branch.commit.id]),
      [['main', tip]],
    );
    await end(second);
  });

test('an import that ends the service at each attempt fails, and leaves an empty project', async () => {
  const first = await startDoomed('import.refs_set');
  await create(first, 'fatal');
  await first.exit;
  for (let attempt = 2; attempt <= 3; attempt += 1) {
    // It may die before it is ready.
    const doomed = await startDoomed('import.refs_set').catch(() => null);
    await doomed?.exit;
  }
  const last = await place.start();
  const project = await untilOver(last, 'fatal');
  assert.deepEqual(
    [project.import_status, project.import_error, project.empty_repo],
    ['failed', 'The service ended during each attempt.', true],
  );
  const { body } = await call(last.url, 'GET /projects/root%2Ffatal/repository/branches');
  assert.deepEqual(body, []);
  await end(last);
});
