/** Where the pages of pipelines, jobs and deployments lead: ref, commit, user, merge request, upstream pipeline. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline, setJob, setPipeline } from '../../../../../test/support/ci/jobs.ts';
import { countStatements } from '../../../../../test/support/request_log.ts';
import {
  type Coded,
  type Request,
  openRequest,
  seedBranch,
  seedCoded,
  settle,
} from '../../../../../test/support/seed_merge_requests.ts';
import { seedProject } from '../../../../../test/support/seed.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { contentIn } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: Coded;
let request: Request;
let developer: SeededVisitor;
let base: string;
before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'info' });
  project = await seedCoded(gantry, { visibility: 'private' });
  developer = await seedVisitor(gantry, { project: project.id, access_level: 30, name: 'Ada <b>' });
  await seedBranch(gantry, project, 'topic', { files: { a: '1' }, message: 'Add <i>one</i>' });
  request = await openRequest(gantry, project, 'topic', { title: 'My <u>change</u>' });
  await settle(gantry);
  base = `/${project.full_path}`;
});
after(async () => await gantry.close());

const file = 'build: { script: make, stage: build }\nlint: { script: lint, stage: build }';
const read = async (path: string): Promise<string> => {
  const seen = await developer.visitor.get(path);
  assert.equal(seen.status, 200, path);
  return contentIn(seen);
};

/** Creates a pipeline of the developer for the branch, a tag, or the merge request. */
const seed = async (attributes: { ref: string; tag?: boolean; merge_request?: number }) =>
  await seedPipeline(gantry, {
    project: project.id,
    file,
    sha: request.sha,
    user: developer.id,
    ...attributes,
  });

test('links branches, tags and merge requests, commits and users', async () => {
  const branch = await seed({ ref: 'topic' });
  const tag = await seed({ ref: 'v1', tag: true });
  const merge_request = request.id;
  const ofRequest = await seed({ ref: `refs/merge-requests/${request.iid}/head`, merge_request });
  const ref = {
    branch: new RegExp(`aria-label="Branch"[^]+?</svg> <a href="${base}/tree/topic">topic</a>`),
    tag: new RegExp(`aria-label="Tag"[^]+?</svg> <a href="${base}/tree/v1">v1</a>`),
    request: new RegExp(
      `href="${base}/merge_requests/${request.iid}" title="My &lt;u&gt;change[^]+?!${request.iid}</a> <span class="quiet">topic<`,
    ),
  };
  const others = [
    new RegExp(`href="${base}/commit/${request.sha}"><code>${request.sha.slice(0, 8)}</code></a>`),
    /Add &lt;i&gt;one/,
    new RegExp(`class="person" href="/${developer.username}"`),
  ];
  for (const [kind, { id, jobs }] of [
    ['branch', branch],
    ['tag', tag],
    ['request', ofRequest],
  ] as const) {
    const list = await read(`${base}/-/pipelines`);
    const row = list.split('<tr>').find((one) => one.includes(`pipelines/${id}">#${id}</a>`)) ?? '';
    const texts = [
      row,
      await read(`${base}/-/pipelines/${id}`),
      await read(`${base}/-/jobs/${jobs['build']}`),
    ];
    for (const text of texts) for (const part of [ref[kind], ...others]) assert.match(text, part);
    assert.doesNotMatch(texts.join(''), /refs\/merge-requests/);
    const jobRow = (await read(`${base}/-/jobs`))
      .split('<tr>')
      .find((one) => one.includes(`jobs/${jobs['build']}"`));
    assert.match(jobRow ?? '', ref[kind]);
  }
});

test('names a merge request that the viewer may not see by its number only', async () => {
  const { id } = await seed({
    ref: `refs/merge-requests/${request.iid}/head`,
    merge_request: request.id,
  });
  const change = async (merge_requests_access_level: string) =>
    await gantry.api(`PUT /projects/${project.id}`, { json: { merge_requests_access_level } });
  await change('disabled');
  const text = await read(`${base}/-/pipelines/${id}`);
  assert.match(
    text,
    new RegExp(`<dt>Ref</dt><dd><span class="ref"><svg[^]+?</svg> !${request.iid}</span></dd>`),
  );
  assert.doesNotMatch(text, /My &lt;u&gt;/);
  await change('enabled');
});

test('links the pipeline that started another one, if the viewer may read it', async () => {
  const upstream = await seed({ ref: 'main' });
  const { id } = await seed({ ref: 'main' });
  const other = await seedProject(gantry, { visibility: 'private' });
  const hidden = await seedPipeline(gantry, { project: other.id, file });
  await setPipeline(gantry, id, {
    source_pipeline_id: upstream.id,
    source_job_id: upstream.jobs['build'] ?? 0,
  });
  assert.match(
    await read(`${base}/-/pipelines/${id}`),
    new RegExp(
      `<dt>Upstream</dt><dd><a href="${base}/-/pipelines/${upstream.id}">#${upstream.id}</a> <span class="quiet">by build<`,
    ),
  );
  await setPipeline(gantry, id, { source_pipeline_id: hidden.id });
  assert.doesNotMatch(await read(`${base}/-/pipelines/${id}`), /Upstream/);
});

test('loads what the links of a list need in a constant number of statements', async () => {
  const own = await seedCoded(gantry, { visibility: 'public' });
  const add = async () => {
    const { jobs } = await seedPipeline(gantry, {
      project: own.id,
      file,
      sha: own.first,
      user: developer.id,
    });
    await setJob(gantry, jobs['build'] ?? 0, { status: 'failed' });
  };
  const count = async (path: string): Promise<number> =>
    await countStatements(gantry, async () => await developer.visitor.get(path));
  await add();
  const pages = ['pipelines', 'jobs'].map((page) => `/${own.full_path}/-/${page}`);
  const few: number[] = [];
  for (const page of pages) few.push(await count(page));
  for (let more = 0; more < 5; more += 1) await add();
  // What is kept in memory makes a small difference.
  for (const [at, page] of pages.entries()) assert.ok((await count(page)) < (few[at] ?? 0) + 5, page);
});
