/** Tests the pages that import repositories, without scripts. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedMember, seedProject, unique } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type GitServer, startGitServer } from '../../../../../test/support/servers/git_server.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, openVisitor } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let server: GitServer;
let id: number;
let username: string;
let user: Visitor;
before(async () => {
  gantry = await startTestService();
  server = await startGitServer();
  await server.create('bridge.git');
  const json = { allow_local_requests_from_hooks_and_services: true };
  assert.equal((await gantry.api('PUT /application/settings', { json })).status, 200);
  ({ id, username, visitor: user } = await seedVisitor(gantry));
});
afterEach(() => {
  server.protect(null);
  server.intercept(null);
});
after(async () => {
  await server.close();
  await gantry.close();
});

test('imports a private repository, and shows how far it is', async () => {
  server.protect({ username: 'ada', password: 'right' });
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  server.intercept(({ method }, response) => {
    if (method !== 'POST') return false;
    asked.resolve();
    void gate.promise.then(() => response.writeHead(503).end());
    return true;
  });
  const form = await user.get('/projects/import');
  assert.equal(form.status, 200);
  assert.match(form.text, /name="password" type="password" autocomplete="off"/);
  const path = unique('bridge');
  const made = await user.post('/projects/import', {
    import_url: `${server.url}/bridge.git`,
    username: 'ada',
    password: 'right',
    name: '',
    path,
  });
  assert.deepEqual([made.status, made.location], [303, `/${username}/${path}`]);
  await asked.promise;
  const during = await user.get(`/${username}/${path}`);
  assert.equal(during.status, 200);
  assert.match(during.text, /Import in progress/);
  assert.match(during.text, /id="project_content"[^>]*data-live=""/);
  assert.match(during.text, /http-equiv="refresh"/);
  for (const below of ['/tree/main', '/-/commits/main', '/-/branches', '/-/new/main', '/-/import/new'])
    assert.ok((await user.get(`/${username}/${path}${below}`)).status < 500, below);
  const again = await user.post(`/${username}/${path}/-/import`, { import_url: `${server.url}/bridge.git` });
  assert.deepEqual([again.status, /imported already/.test(again.text)], [422, true]);
  gate.resolve();
  await gantry.service.worker.drain();
  const failed = await user.get(`/${username}/${path}`);
  assert.match(failed.text, /The import failed\. The server answered with the status 503\./);
  assert.doesNotMatch(failed.text, /data-live/);
  server.intercept(null);
  const retry = await user.get(`/${username}/${path}/-/import/new`);
  assert.ok(retry.text.includes(`value="${server.url}/bridge.git"`));
  assert.ok(!retry.text.includes('right'));
  const started = await user.post(`/${username}/${path}/-/import`, {
    import_url: `${server.url}/bridge.git`,
    username: 'ada',
    password: 'right',
  });
  assert.deepEqual([started.status, started.location], [303, `/${username}/${path}`]);
  await gantry.service.worker.drain();
  const finished = await user.get(`/${username}/${path}`);
  assert.match(finished.text, /1 branch/);
  assert.doesNotMatch(finished.text, /data-live|The import failed/);
  const leads = await user.get(`/${username}/${path}/-/import/new`);
  assert.equal(leads.location, `/${username}/${path}`);
});

test('shows the form again with what is wrong, without the password', async () => {
  await user.get('/projects/import');
  const send = async (form: Record<string, string>) =>
    await user.post('/projects/import', { password: 'pass-of-ada', ...form });
  for (const import_url of [
    '',
    'ssh://git@example.com/x',
    'nonsense',
    'http://ada:pass-of-ada@example.com/x?y',
    'http://ada:x@pass-of-ada@example.com/x?y',
    ' https://ada:pass-of-ada@example.com/x?y',
    'https://ada:x/pass-of-ada@example.com/x',
    'git+ssh://ada:pass-of-ada@example.com/x',
  ]) {
    const { status, text } = await send({ import_url });
    assert.deepEqual([status, text.includes('pass-of-ada')], [422, false], import_url);
  }
  const named = await send({ import_url: 'http://ada%40home:pass-of-ada@example.com/x?y' });
  assert.match(named.text, /name="username"[^>]* value="ada@home"/);
  const taken = await seedProject(gantry, { owner: id });
  const { status, text } = await send({ import_url: `${server.url}/bridge.git`, path: taken.path });
  assert.deepEqual([status, text.includes('has already been taken')], [422, true]);
  assert.ok(text.includes(`value="${server.url}/bridge.git"`));
});

test('an empty project is imported by those who may change it', async () => {
  const project = await seedProject(gantry, { visibility: 'public' });
  const path = `/${project.full_path}`;
  await seedMember(gantry, { user: id, project: project.id, access_level: 30 });
  assert.doesNotMatch((await user.get(path)).text, /import\/new/);
  assert.equal((await user.get(`${path}/-/import/new`)).status, 403);
  assert.equal((await user.post(`${path}/-/import`, { import_url: server.url })).status, 403);
  assert.match((await openVisitor(gantry).get(`${path}/-/import/new`)).location ?? '', /sign_in/);
  await gantry.api(`PUT /projects/${project.id}/members/${id}`, { json: { access_level: 40 } });
  assert.match((await user.get(path)).text, /import\/new/);
  assert.equal((await user.get(`${path}/-/import/new`)).status, 200);
  await seedCommit(gantry, project.id, { 'a.txt': 'a\n' });
  const refused = await user.post(`${path}/-/import`, { import_url: `${server.url}/bridge.git` });
  assert.deepEqual([refused.status, refused.text.includes('The repository is not empty.')], [422, true]);
});

test('an archived project is not imported into', async () => {
  const project = await seedProject(gantry, { owner: id });
  const path = `/${project.full_path}`;
  assert.equal((await gantry.api(`POST /projects/${project.id}/archive`)).status, 201);
  assert.doesNotMatch((await user.get(path)).text, /import\/new/);
  assert.equal((await user.get(`${path}/-/import/new`)).location, path);
  const refused = await user.post(`${path}/-/import`, { import_url: `${server.url}/bridge.git` });
  assert.deepEqual([refused.status, refused.text.includes('The project is archived.')], [422, true]);
});
