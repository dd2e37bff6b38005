/** Debug logs, which print each command with its variables, are visible only to those who manage jobs. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { listLeftoverProcesses, makeRunnerFolder } from '../support/ci/runner_process.ts';
import { makePeer, seedRunner } from '../support/ci/fake_runner.ts';
import { seedMember, seedUser } from '../support/seed.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';
import { type Visitor, openVisitor } from '../support/visitor.ts';
import { type CiProject, makeCiProject } from './project.ts';

let gantry: TestService;
let folder: string;
let project: CiProject;
type Person = { token: string; visitor: Visitor };
let developer: Person;
let reporter: Person;

const member = async (access_level: number): Promise<Person> => {
  const user = await seedUser(gantry);
  await seedMember(gantry, { user: user.id, project: project.id, access_level });
  const password = 'correct horse';
  assert.equal((await gantry.api(`PUT /users/${user.id}`, { json: { password } })).status, 200);
  const visitor = openVisitor(gantry);
  await visitor.signIn(user.username, password);
  return { token: user.token, visitor };
};

before(async () => {
  folder = await makeRunnerFolder();
  gantry = await startTestService({ GANTRY_RUNNER_EXECUTOR: 'shell', GANTRY_RUNNER_FOLDER: folder });
  project = await makeCiProject(gantry);
  [developer, reporter] = [await member(30), await member(20)];
});
after(async () => {
  await gantry.close();
  await project.remove();
  assert.deepEqual(listLeftoverProcesses(folder), []);
  rmSync(folder, { recursive: true, force: true });
});

const file = `
variables: { PLACE: cellar }
open: { script: ['[ "$PLACE" = cellar ]', echo open] }
shown: { variables: { CI_DEBUG_TRACE: "true" }, script: ['[ "$PLACE" = cellar ]', echo shown] }
`;

/** Every way to read a log. */
const read = async (id: number, { token, visitor }: Person) => {
  const trace = await gantry.api(`GET ${project.at}/jobs/${id}/trace`, { as: token });
  const response = await fetch(`${gantry.url}/-/jobs/${id}/trace/stream`, {
    headers: { 'private-token': token },
  });
  const path = `/${project.full_path}/-/jobs/${id}`;
  const pages = [await visitor.get(path), await visitor.get(`${path}?search=cellar`)];
  const { status, text } = trace;
  return { status, text, stream: await response.text(), pages: pages.map((page) => page.text).join() };
};

test('shows the trace of the shell to developers', async () => {
  await project.push(file);
  await project.untilPipeline('success');
  const [open, shown] = [await project.job('open'), await project.job('shown')];
  const usual = await read(open.id, reporter);
  assert.deepEqual([usual.status, usual.text.includes("'[' cellar = cellar ']'")], [200, false]);
  const more = await read(shown.id, developer);
  assert.equal(more.status, 200);
  assert.match(more.text, /\n\++ '\[' cellar = cellar '\]'\n/);
  assert.match(more.stream, /cellar = cellar/);
  assert.match(more.pages, /cellar = cellar/);

  const less = await read(shown.id, reporter);
  assert.deepEqual([less.status, less.text], [404, '{"message":"404 Not Found"}']);
  assert.doesNotMatch(less.stream, /cellar|event: log/);
  assert.match(less.stream, /event: done/);
  assert.doesNotMatch(less.pages, /cellar = cellar/);
});

test('applies when the runner enables it by itself', async () => {
  const { token } = await seedRunner(gantry, {
    runner_type: 'project_type',
    projects: [project.id],
    tags: ['own'],
  });
  const peer = makePeer(gantry, { token });
  await project.push('own: { script: x, tags: [own] }');
  const job = await peer.take();
  const patch = async (range: string, debug: boolean) =>
    await peer.send('PATCH', `/jobs/${job.id}/trace?debug_trace=${debug}`, {
      headers: { 'job-token': job.token, 'content-type': 'text/plain', 'content-range': range },
      body: 'line\n',
    }).reply;
  assert.equal((await patch('0-4', false)).status, 202);
  const statusFor = async (as: string): Promise<number> =>
    (await gantry.api(`GET ${project.at}/jobs/${job.id}/trace`, { as })).status;
  assert.deepEqual([await statusFor(reporter.token), await statusFor(developer.token)], [200, 200]);
  assert.equal((await patch('5-9', true)).status, 202);
  assert.deepEqual([await statusFor(reporter.token), await statusFor(developer.token)], [404, 200]);
  await peer.finish({ ...job, log: Buffer.from('line\nline\n') });
  assert.deepEqual([await statusFor(reporter.token), await statusFor(rootToken)], [404, 200]);
  peer.close();
});
