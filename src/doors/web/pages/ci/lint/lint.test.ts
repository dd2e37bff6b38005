/** The page that validates a CI configuration, and the ways to it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline, setPipeline } from '../../../../../../test/support/ci/jobs.ts';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import { settle } from '../../../../../../test/support/seed_merge_requests.ts';
import { seedProject } from '../../../../../../test/support/seed.ts';
import { seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { type Visitor, contentIn } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: { id: number; full_path: string };
let developer: Visitor;
let reporter: Visitor;
let path: string;
const file = `
include: { local: more.yml }
stages: [build, "ship <b>"]
ship: { stage: "ship <b>", script: x, needs: [build], tags: [linux], environment: { name: production }, when: manual }
build: { stage: build, script: make, allow_failure: true }
nightly: { stage: build, script: x, rules: [{ if: $CI_PIPELINE_SOURCE == "schedule" }] }
`;
before(async () => {
  gantry = await startTestService();
  project = await seedProject(gantry, { visibility: 'private' });
  const someone = async (access_level: number): Promise<Visitor> =>
    (await seedVisitor(gantry, { project: project.id, access_level })).visitor;
  [developer, reporter] = [await someone(30), await someone(20)];
  path = `/${project.full_path}/-/ci/lint`;
  await seedCommit(gantry, project.id, {
    '.gitlab-ci.yml': file,
    'more.yml': 'extra: { script: x, stage: build }\n',
  });
  await seedCommit(
    gantry,
    project.id,
    { '.gitlab-ci.yml': 'job:\n  script: x\n  tags: 5\n' },
    { branch: 'bad', from: 'main' },
  );
  await seedCommit(
    gantry,
    project.id,
    { 'more.yml': 'extra:\n  script: x\n  when: <i>\n' },
    { branch: 'worse', from: 'main' },
  );
  await settle(gantry);
});
after(async () => await gantry.close());

test('validates the file of a branch: jobs by stage, and the merged configuration', async () => {
  const seen = await reporter.get(`${path}?ref=main`);
  assert.equal(seen.status, 200);
  const text = contentIn(seen);
  assert.match(text, /The configuration is valid: 4 jobs\./);
  const [build, ship] = [text.indexOf('<h2>build</h2>'), text.indexOf('<h2>ship &lt;b&gt;</h2>')];
  assert.ok(build > 0 && build < ship);
  assert.match(
    text.slice(ship),
    /ship<\/th>\s*<td>manual[^]*?<td>build<\/td>\s*<td>production<\/td>\s*<td>linux<\/td>/,
  );
  assert.match(text, /build<\/th>\s*<td>on success <span class="badge">May fail<\/span>/);
  assert.match(text, /aria-label="Merged configuration">---[^]+extra:/);
  // Reporters may not validate texts, nor plan a pipeline, as by the API.
  assert.doesNotMatch(text, /<textarea|dry_run/);
  assert.equal((await reporter.post(path, { content: 'x' })).status, 403);
  assert.equal((await reporter.get(`${path}?ref=main&dry_run=1`)).status, 403);
});

test('plans the pipeline of a push on request', async () => {
  const text = contentIn(await developer.get(`${path}?ref=main&dry_run=1`));
  assert.match(text, /valid: 3 jobs/);
  assert.doesNotMatch(text, />nightly</);
});

test('shows errors with the line where they are, also of an included file', async () => {
  const bad = contentIn(await developer.get(`${path}?ref=bad`));
  assert.match(
    bad,
    /not valid[^]+1 error<[^]+tags config should be an array of strings <span class="quiet"><a href="[^"]+\/-\/blob\/bad\/\.gitlab-ci\.yml#L3">\.gitlab-ci\.yml, line 3, column 9<\/a>/,
  );
  assert.match(contentIn(await developer.get(`${path}?ref=worse`)), /\/-\/blob\/worse\/more\.yml#L3"/);
  const none = await developer.get(`${path}?ref=no%3Cb%3E`);
  assert.deepEqual([none.status, none.text.includes('named no&lt;b&gt;.')], [422, true]);
});

test('validates a text and keeps it, with includes of the project', async () => {
  await developer.get(path);
  const content = 'include: { local: more.yml }\r\none: { script: "<b>" }\r\n';
  const seen = await developer.post(path, { content });
  assert.equal(seen.status, 200);
  assert.match(seen.text, /valid: 2 jobs/);
  assert.match(seen.text, /one: \{ script: &quot;&lt;b&gt;&quot; \}\n<\/textarea>/);
  // The editor sends its other fields, too.
  const edit = {
    file_path: '.gitlab-ci.yml',
    line_ends: 'lf',
    last_commit_id: 'x',
    branch: 'b',
    commit_message: 'm',
  };
  assert.match((await developer.post(path, { content, ...edit, opens_request: '0' })).text, /valid: 2 jobs/);
  const wrong = await developer.post(path, { content: 'one: { script: x, tags: 5 }' });
  assert.match(wrong.text, /1 error<[^]+<span class="quiet">\.gitlab-ci\.yml, line 1, column 25<\/span>/);
});

test('the file, its editor, the list of pipelines and a pipeline of a wrong file lead to it', async () => {
  const base = `/${project.full_path}/-`;
  assert.match(
    (await reporter.get(`${base}/blob/main/.gitlab-ci.yml`)).text,
    /ci\/lint\?ref=main">Validate</,
  );
  assert.doesNotMatch((await reporter.get(`${base}/blob/main/more.yml`)).text, /ci\/lint/);
  assert.match(
    (await developer.get(`${base}/edit/main/.gitlab-ci.yml`)).text,
    new RegExp(
      `formaction="${path}\\?ref=main" formtarget="_blank" formnovalidate data-keeps-draft>Validate<`,
    ),
  );
  assert.doesNotMatch((await developer.get(`${base}/edit/main/more.yml`)).text, /formaction="[^"]*lint/);
  assert.match((await reporter.get(`${base}/pipelines`)).text, new RegExp(`href="${path}"`));
  const { id } = await seedPipeline(gantry, { project: project.id, file: 'a: { script: x }' });
  await setPipeline(gantry, id, { status: 'failed', yaml_errors: 'jobs:a <b>' });
  assert.match(
    (await reporter.get(`${base}/pipelines/${id}`)).text,
    new RegExp(`jobs:a &lt;b&gt;</p><p><a href="${path}\\?ref=1{40}">Validate the configuration<`),
  );
});

test('the editor validates with the files of the branch that it edits', async () => {
  const content = 'include: { local: only.yml }\n';
  const files = { '.gitlab-ci.yml': content, 'only.yml': 'only: { script: x }\n' };
  await seedCommit(gantry, project.id, files, { branch: 'to/pic', from: 'main' });
  await seedCommit(gantry, project.id, { '.gitlab-ci.yml': 'a\0b' }, { branch: 'binary', from: 'main' });
  const edit = `/${project.full_path}/-/edit`;
  const { text } = await developer.get(`${edit}/to/pic/.gitlab-ci.yml`);
  const action = /formaction="([^"]+)"/.exec(text)?.[1] ?? '';
  assert.equal(action, `${path}?ref=to%2Fpic`);
  assert.match((await developer.post(action, { content })).text, /valid: 1 job/);
  // Nothing would be sent.
  assert.doesNotMatch((await developer.get(`${edit}/binary/.gitlab-ci.yml`)).text, /formaction/);
});
