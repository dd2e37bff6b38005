/** Tests the pages of a project's environments. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../../test/support/repositories/seed_commits.ts';
import { seedPipeline, setJob } from '../../../../../test/support/ci/jobs.ts';
import { settle } from '../../../../../test/support/seed_merge_requests.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, contentIn } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let developer: Visitor;
let reporter: Visitor;
let guest: Visitor;
let path: string;
let sha: string;

const someone = async (level: number): Promise<Visitor> =>
  (await seedVisitor(gantry, { project: project.id, access_level: level })).visitor;

before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  path = `/${project.full_path}/-/environments`;
  [developer, reporter, guest] = [await someone(30), await someone(20), await someone(10)];
  sha = await seedCommit(gantry, project.id, { a: 'b' });
  await settle(gantry);
});
after(async () => await gantry.close());

const one = async (id: number) => await gantry.api(`GET /projects/${project.id}/environments/${id}`);
const named = async (name: string): Promise<number> =>
  (await gantry.api(`GET /projects/${project.id}/environments?name=${encodeURIComponent(name)}`)).body[0].id;

test('adds, edits, stops and deletes an environment', async () => {
  await developer.get(path);
  const made = await developer.post(path, {
    name: 'review/one',
    external_url: 'https://one.example.com',
    description: '<i>',
  });
  assert.equal(made.location, path);
  const id = await named('review/one');
  const { text } = await developer.get(path);
  assert.match(
    text,
    /review\/one<\/a>[\s\S]+Available[\s\S]+development[\s\S]+href="https:\/\/one\.example\.com" rel="noopener noreferrer nofollow"/,
  );
  const page = `${path}/${id}`;
  assert.match((await developer.get(page)).text, /&lt;i&gt;[\s\S]+0 deployments/);
  await developer.post(page, { external_url: '', tier: 'staging', description: 'a\r\nb' });
  const { body } = await one(id);
  assert.deepEqual(
    [body.external_url, body.tier, body.description, body.name],
    [null, 'staging', 'a\nb', 'review/one'],
  );
  assert.equal((await developer.post(`${page}/delete`)).status, 403);
  assert.equal((await developer.post(`${page}/stop`)).location, page);
  assert.match((await developer.get(page)).text, /The environment was stopped[\s\S]+action="[^"]+\/delete"/);
  assert.match((await developer.get(`${path}?states=stopped&search=ONE`)).text, /review\/one/);
  assert.doesNotMatch((await developer.get(`${path}?states=available`)).text, /review\/one/);
  assert.equal((await developer.post(`${page}/delete`)).location, path);
  assert.equal((await one(id)).status, 404);
});

test('shows problems, and keeps the input', async () => {
  await developer.get(path);
  const bad = await developer.post(path, { name: 'a!', external_url: 'javascript:alert(1)' });
  assert.equal(bad.status, 422);
  assert.match(bad.text, /Name can contain only[\s\S]+Address must be a valid URL/);
  assert.match(bad.text, /value="javascript:alert\(1\)"/);
  assert.doesNotMatch(bad.text, /href="javascript/);
  await developer.post(path, { name: 'taken' });
  assert.match((await developer.post(path, { name: 'taken' })).text, /Name has already been taken/);
  const page = `${path}/${await named('taken')}`;
  const edit = await developer.post(page, { external_url: 'ftp://x' });
  assert.deepEqual([edit.status, /Address must be a valid URL/.test(edit.text)], [422, true]);
  const long = `https://example.com/${'x'.repeat(1_000)}`;
  for (const address of [path, page]) {
    const sent = { name: 'typed', external_url: long, tier: 'testing', description: 'kept <' };
    const { status, text } = await developer.post(address, sent);
    assert.deepEqual([status, /Address is too long/.test(text)], [422, true]);
    assert.ok(text.includes(`value="${long}"`));
    assert.match(text, /value="testing" selected[\s\S]+>\nkept &lt;<\/textarea>/);
  }
});

test('lists deployments with their jobs, and plays the job that stops the environment', async () => {
  const file = `
up: { script: x, environment: { name: live, url: https://live.example.com, on_stop: down } }
down: { script: x, when: manual, environment: { name: live, action: stop } }
`;
  const { jobs } = await seedPipeline(gantry, { project: project.id, file, ref: 'topic', sha });
  const made = await gantry.api(`POST /projects/${project.id}/deployments`, {
    json: { environment: 'live', sha, ref: 'main', tag: false, status: 'success' },
  });
  assert.equal(made.status, 201);
  await gantry.service.platform.store.write(async ({ db }) => {
    await db
      .updateTable('deployments')
      .set({ job_id: jobs['up'] ?? 0 })
      .where('id', '=', made.body.id)
      .execute();
  });
  const page = `${path}/${await named('live')}`;
  const { text } = await reporter.get(page);
  assert.match(
    text,
    new RegExp(
      `1 deployment<[\\s\\S]+#1 <span class="badge">Current<[\\s\\S]+Passed[\\s\\S]+${sha.slice(0, 8)}[\\s\\S]+jobs/${jobs['up']}">`,
    ),
  );
  await setJob(gantry, jobs['down'] ?? 0, { status: 'manual' });
  await developer.get(page);
  await developer.post(`${page}/stop`);
  assert.match(
    (await developer.get(page)).text,
    /The job that stops the environment is running[\s\S]+Stopping/,
  );
  const { body } = await gantry.api(`GET /projects/${project.id}/jobs/${jobs['down']}`);
  assert.equal(body.status, 'pending');
});

test('hides forms from users who may only read, and everything from others', async () => {
  await developer.get(path);
  await developer.post(path, { name: 'seen' });
  const page = `${path}/${await named('seen')}`;
  for (const address of [path, page]) {
    const seen = await reporter.get(address);
    assert.deepEqual([seen.status, /method="post"/.test(contentIn(seen))], [200, false]);
    assert.equal((await guest.get(address)).status, 403);
  }
  for (const verb of ['', '/stop', '/delete']) assert.equal((await reporter.post(page + verb)).status, 403);
  const other = await seedProject(gantry, { visibility: 'private' });
  const id = Number(page.split('/').at(-1));
  assert.equal((await developer.get(`/${other.full_path}/-/environments/${id}`)).status, 404);
});
