/** Attempts of an import that several processes make, as after a lease that ended. */
import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { after, afterEach, before, test } from 'node:test';
import { git } from '../../../../test/support/repositories/git.ts';
import { unique } from '../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../test/support/seed_visitor.ts';
import { type GitServer, startGitServer } from '../../../../test/support/servers/git_server.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';
import type { Platform } from '../../../core/platform.ts';
import { runImport } from './run_import.ts';

let gantry: TestService;
let server: GitServer;
before(async () => {
  gantry = await startTestService();
  server = await startGitServer();
  const json = { allow_local_requests_from_hooks_and_services: true };
  assert.equal((await gantry.api('PUT /application/settings', { json })).status, 200);
});
afterEach(() => server.intercept(null));
after(async () => {
  await server.close();
  await gantry.close();
});

const create = async (import_url: string, namespace_id?: number) =>
  await gantry.api('POST /projects', { json: { name: unique('imported'), import_url, namespace_id } });

const show = async (id: number) => (await gantry.api(`GET /projects/${id}`)).body;

/** Holds the first request for objects until it is passed on to git, or answered with a status. */
const holdPack = () => {
  const reached = Promise.withResolvers<(status: number | null) => void>();
  let isHeld = false;
  server.intercept((request, response) => {
    const { url = '', headers } = request;
    if (isHeld || !url.endsWith('/git-upload-pack')) return false;
    isHeld = true;
    const answer = async (status: number | null): Promise<void> => {
      if (status !== null) return void response.writeHead(status).end();
      const type = { 'content-type': headers['content-type'] ?? '' };
      const body = await buffer(request);
      const passed = await fetch(server.url + url, { method: 'POST', headers: type, body });
      const content = Buffer.from(await passed.arrayBuffer());
      response.writeHead(passed.status, { 'content-type': passed.headers.get('content-type') ?? '' });
      response.end(content);
    };
    reached.resolve((status) => void answer(status));
    return true;
  });
  return reached.promise;
};

for (const [what, status] of [
  ['fails', 503],
  ['still receives the repository', null],
] as const)
  test(`an attempt that another process has overtaken changes nothing when it ${what}`, async () => {
    await server.create(`raced_${status}.git`);
    const held = holdPack();
    const { body } = await create(`${server.url}/raced_${status}.git`);
    const answer = await held;
    // As a process does that finds the lease of the first one ended.
    await runImport(gantry.service.platform, body.id);
    assert.equal((await show(body.id)).import_status, 'finished');
    const path = `/projects/${body.id}/repository`;
    const actions = [{ action: 'create', file_path: 'a', content: 'a' }];
    const json = { branch: 'main', commit_message: 'Later', actions };
    await gantry.api(`PUT /projects/${body.id}`, { json: { default_branch: 'main' } });
    const { status: committed } = await gantry.api(`POST ${path}/commits`, { json });
    assert.equal(committed, 201);
    answer(status);
    await gantry.service.worker.drain();
    const { import_status, import_error } = await show(body.id);
    assert.deepEqual([import_status, import_error], ['finished', null]);
    const branch = await gantry.api(`GET ${path}/branches/main`);
    assert.equal(branch.body.commit?.title, 'Later');
  });

const commitTo = async (id: number, title: string): Promise<number> => {
  const actions = [{ action: 'create', file_path: 'a', content: 'a' }];
  const json = { branch: 'main', commit_message: title, actions };
  return (await gantry.api(`POST /projects/${id}/repository/commits`, { json })).status;
};

const titleOf = async (id: number): Promise<string | undefined> =>
  (await gantry.api(`GET /projects/${id}/repository/branches/main`)).body.commit?.title;

test('an attempt of an import that failed takes no part in a later one', async () => {
  await server.create('first.git');
  const dir = await server.create('second.git');
  await git(dir, 'commit-tree', '-m', 'Second', 'main^{tree}').then(
    async (tip) => await git(dir, 'update-ref', 'refs/heads/main', tip),
  );
  const { id: user, username, visitor } = await seedVisitor(gantry);
  const held = holdPack();
  const { body } = await gantry.api(`POST /projects/user/${user}`, {
    json: { name: unique('imported'), import_url: `${server.url}/first.git` },
  });
  const answer = await held;
  server.intercept((_request, response) => {
    response.writeHead(404).end();
    return true;
  });
  await runImport(gantry.service.platform, body.id);
  assert.equal((await show(body.id)).import_status, 'failed');
  const heldAgain = holdPack();
  await visitor.get(`/${username}/${body.path}/-/import/new`);
  const path = `/${username}/${body.path}/-/import`;
  const begun = await visitor.post(path, { import_url: `${server.url}/second.git` });
  assert.equal(begun.status, 303);
  const later = runImport(gantry.service.platform, body.id);
  const answerLater = await heldAgain;
  answer(null);
  await gantry.service.worker.drain();
  answerLater(null);
  await later;
  await gantry.service.worker.drain();
  assert.equal((await show(body.id)).import_status, 'finished');
  assert.equal(await titleOf(body.id), 'Second');
});

test('an attempt that another process has overtaken stays so where that one has to wait', async () => {
  await server.create('outage.git');
  const held = holdPack();
  const { body } = await create(`${server.url}/outage.git`);
  const answer = await held;
  await assert.rejects(runImport(gantry.service.platform, body.id, AbortSignal.abort()));
  answer(null);
  await gantry.service.worker.drain();
  assert.equal((await show(body.id)).import_status, 'started');
  await runImport(gantry.service.platform, body.id);
  assert.equal((await show(body.id)).import_status, 'finished');
});

test('attempts that end by an outage do not count', async () => {
  await server.create('outages.git');
  const held = holdPack();
  const { body } = await create(`${server.url}/outages.git`);
  const answer = await held;
  for (let count = 0; count < 5; count += 1)
    await assert.rejects(runImport(gantry.service.platform, body.id, AbortSignal.abort()));
  answer(503);
  await gantry.service.worker.drain();
  await runImport(gantry.service.platform, body.id);
  const { import_status, import_error } = await show(body.id);
  assert.deepEqual([import_status, import_error], ['finished', null]);
});

/** The platform of a process that is stopped for a while before it removes a repository. */
const stopBeforeRemoval = (meanwhile: () => Promise<void>): Platform => {
  const { platform } = gantry.service;
  const repository: Platform['git']['repository'] = (location) => {
    const opened = platform.git.repository(location);
    const ask: typeof opened.ask = async (method, ...rest) => {
      if (method === 'repository.remove') await meanwhile();
      return await opened.ask(method, ...rest);
    };
    return { ...opened, ask };
  };
  return { ...platform, git: { ...platform.git, repository } };
};

test('an import that fails removes nothing that was written since', async () => {
  await server.create('written.git');
  const held = holdPack();
  const { body } = await create(`${server.url}/written.git`);
  const answer = await held;
  let isWritten = false;
  const write = async (): Promise<void> => {
    if (isWritten) return;
    isWritten = true;
    server.intercept(null);
    // Another process finds the lease of this one ended, unless the import is over.
    await runImport(gantry.service.platform, body.id);
    assert.equal(await commitTo(body.id, 'Later'), 201);
  };
  server.intercept((_request, response) => {
    response.writeHead(404).end();
    return true;
  });
  await runImport(stopBeforeRemoval(write), body.id);
  await write();
  answer(503);
  await gantry.service.worker.drain();
  assert.equal(await titleOf(body.id), 'Later');
});
