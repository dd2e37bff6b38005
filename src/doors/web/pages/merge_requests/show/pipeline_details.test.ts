/** What the merge box shows of the head pipeline, and what the box of a merged request offers. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { buildZip, seedArtifact } from '../../../../../../test/support/ci/artifacts.ts';
import { seedPipeline, setJob, setPipeline } from '../../../../../../test/support/ci/jobs.ts';
import {
  type Coded,
  type Request,
  merge,
  openRequest,
  readRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../../../../../test/support/seed_merge_requests.ts';
import { seedCommit } from '../../../../../../test/support/repositories/seed_commits.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';
import { openVisitor } from '../../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: Coded;
let developer: SeededVisitor;
let stranger: SeededVisitor;
before(async () => {
  gantry = await startTestService();
  project = await seedCoded(gantry, { visibility: 'public' });
  developer = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  stranger = await seedVisitor(gantry);
  await settle(gantry);
});
after(async () => await gantry.close());

const open = async (branch: string): Promise<{ request: Request; path: string }> => {
  await seedBranch(gantry, project, branch);
  const request = await openRequest(gantry, project, branch);
  await settle(gantry);
  return { request, path: `/${project.full_path}/merge_requests/${request.iid}` };
};

/** Text of the merge box without markup. */
const boxOf = (text: string): string => {
  const start = text.indexOf('id="merge_box"');
  return text.slice(start, text.indexOf('</section>', start));
};
const words = (text: string): string => text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

const file = `
stages: [build, test]
build: { stage: build, script: make, artifacts: { paths: [site/], expose_as: "The site" } }
unit: { stage: test, script: test }
review: { stage: test, script: x, environment: { name: review/topic } }
`;

const report = `<testsuite>${Array.from({ length: 1_204 }, (_test, at) => `<testcase name="t${at}" classname="c">${at < 3 ? '<failure>no</failure>' : ''}</testcase>`).join('')}</testsuite>`;

test('shows stages, tests, coverage, exposed artifacts and deployments of the head pipeline', async () => {
  const { request, path } = await open('topic');
  const attributes = { project: project.id, file };
  const base = await seedPipeline(gantry, { ...attributes, ref: 'main', sha: project.first });
  await setJob(gantry, base.jobs['unit'] ?? 0, { status: 'success', coverage: 8_000 });
  await setPipeline(gantry, base.id, { status: 'success' });
  const { id, jobs } = await seedPipeline(gantry, { ...attributes, ref: 'topic', sha: request.sha });
  const job = (name: string) => ({ id: jobs[name] ?? 0, project_id: project.id });
  await setJob(gantry, job('build').id, { status: 'success' });
  await setJob(gantry, job('unit').id, { status: 'success', coverage: 8_125 });
  await seedArtifact(gantry, job('build'), await buildZip({ 'site/index.html': 'x' }));
  const metadata = { file_type: 'junit', file_format: 'gzip', filename: 'junit.xml.gz' } as const;
  await seedArtifact(gantry, job('unit'), gzipSync(report), metadata);
  const { body } = await gantry.api(`POST /projects/${project.id}/environments`, {
    json: { name: 'review/topic', external_url: 'https://topic.example.com' },
  });
  const made = await gantry.api(`POST /projects/${project.id}/deployments`, {
    json: { environment: 'review/topic', sha: request.sha, ref: 'topic', tag: false, status: 'success' },
  });
  await gantry.service.platform.store.write(
    async ({ db }) =>
      await db
        .updateTable('deployments')
        .set({ job_id: job('review').id })
        .where('id', '=', made.body.id)
        .execute(),
  );

  const box = boxOf((await developer.visitor.get(path)).text);
  const pipeline = `/${project.full_path}/-/pipelines/${id}`;
  assert.match(box, new RegExp(`<span class="stage-dots"><a class="status \\w+" href="${pipeline}#stage-`));
  assert.match(box, new RegExp(`<a href="${pipeline}/test_report">3 of 1,204 tests failed</a>`));
  assert.match(words(box), /Coverage 81\.25 % · \+1\.25 compared with main/);
  assert.match(box, new RegExp(`/-/jobs/${jobs['build']}/artifacts/exposed">The site</a>`));
  assert.match(
    box,
    new RegExp(
      `Deployed to <a href="/${project.full_path}/-/environments/${body.id}">review/topic</a>[^]+href="https://topic.example.com" rel="noopener noreferrer nofollow" aria-label="Open review/topic">Open<`,
    ),
  );
  // None of this blocks the merge.
  assert.match(words(box), /Ready to be merged/);
  // Strangers read pipelines of a public project, but no environments.
  const other = boxOf((await stranger.visitor.get(path)).text);
  assert.match(other, /1,204 tests failed/);
  assert.doesNotMatch(other, /Deployed to|example\.com/);
  const anonymous = boxOf((await openVisitor(gantry).get(path)).text);
  assert.doesNotMatch(anonymous, /tests failed|stage-dots|Coverage/);
});

test('a report that cannot be read is no count of tests', async () => {
  const { request, path } = await open('broken');
  const { id, jobs } = await seedPipeline(gantry, {
    project: project.id,
    file,
    ref: 'broken',
    sha: request.sha,
  });
  const metadata = { file_type: 'junit', file_format: 'gzip', filename: 'junit.xml.gz' } as const;
  for (const [name, text] of [
    ['unit', '<testsuite><testcase name="a" classname="c"/></testsuite>'],
    ['build', '<testsuite><testcase name="b"'],
  ] as const) {
    await setJob(gantry, jobs[name] ?? 0, { status: 'success' });
    await seedArtifact(gantry, { id: jobs[name] ?? 0, project_id: project.id }, gzipSync(text), metadata);
  }
  const box = boxOf((await developer.visitor.get(path)).text);
  assert.match(
    box,
    new RegExp(`<a href="/${project.full_path}/-/pipelines/${id}/test_report">Test report</a>`),
  );
  assert.doesNotMatch(words(box), /without a failure/);
});

test('a merged request shows the pipeline of its commit, and deletes its branch', async () => {
  const { request, path } = await open('done');
  assert.equal((await merge(gantry, request)).status, 200);
  await settle(gantry);
  const { merge_commit_sha } = await readRequest(gantry, request);
  const { id } = await seedPipeline(gantry, {
    project: project.id,
    file,
    ref: 'main',
    sha: merge_commit_sha,
  });
  const { text } = await developer.visitor.get(path);
  assert.match(
    text,
    new RegExp(`Pipeline of <code>main</code>: <a href="/${project.full_path}/-/pipelines/${id}"`),
  );
  const action = `${path}/delete_source_branch`;
  assert.match(text, new RegExp(`action="${action}"[^]+?aria-label="Delete source branch done"`));
  assert.doesNotMatch((await stranger.visitor.get(path)).text, /Delete source branch/);
  assert.equal((await stranger.visitor.post(action)).status, 403);
  assert.equal((await developer.visitor.post(action)).location, path);
  // Somebody else pressed the same button.
  assert.equal((await developer.visitor.post(action)).location, path);
  assert.match((await developer.visitor.get(path)).text, /The branch done was already deleted\./);
  assert.equal((await gantry.api(`GET /projects/${project.id}/repository/branches/done`)).status, 404);
  assert.doesNotMatch((await developer.visitor.get(path)).text, /Delete source branch/);
});

test('keeps a branch that has more than was merged, and that of an open request', async () => {
  const { request, path } = await open('more');
  await developer.visitor.get(path);
  assert.equal((await developer.visitor.post(`${path}/delete_source_branch`)).status, 409);
  assert.equal((await merge(gantry, request)).status, 200);
  await settle(gantry);
  await seedCommit(gantry, project.id, { later: '1' }, { branch: 'more', from: 'more' });
  await settle(gantry);
  assert.doesNotMatch((await developer.visitor.get(path)).text, /Delete source branch/);
  // The page was read before the push.
  assert.equal((await developer.visitor.post(`${path}/delete_source_branch`)).location, path);
  assert.match((await developer.visitor.get(path)).text, /The branch more has changed since/);
  assert.equal((await gantry.api(`GET /projects/${project.id}/repository/branches/more`)).status, 200);
});

test('says why the branch of a merged request is not deleted', async () => {
  const { request, path } = await open('kept');
  assert.equal((await merge(gantry, request)).status, 200);
  await settle(gantry);
  await developer.visitor.get(path);
  await gantry.api(`POST /projects/${project.id}/protected_branches`, { json: { name: 'kept' } });
  assert.equal((await developer.visitor.post(`${path}/delete_source_branch`)).location, path);
  assert.match((await developer.visitor.get(path)).text, /Protected branch cant be removed/);
});
