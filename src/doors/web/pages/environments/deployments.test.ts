/** Last deployments, folders of environments, and deploying again. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPipeline, setJob } from '../../../../../test/support/ci/jobs.ts';
import { countStatements } from '../../../../../test/support/request_log.ts';
import {
  type Coded,
  seedBranch,
  seedCoded,
  settle,
} from '../../../../../test/support/seed_merge_requests.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../test/support/service.ts';
import { type Visitor, contentIn } from '../../../../../test/support/visitor.ts';

let gantry: TestService;
let project: Coded;
let developer: SeededVisitor;
let reporter: Visitor;
let path: string;
before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'info' });
  project = await seedCoded(gantry, { visibility: 'private' });
  developer = await seedVisitor(gantry, { project: project.id, access_level: 30 });
  ({ visitor: reporter } = await seedVisitor(gantry, { project: project.id, access_level: 20 }));
  path = `/${project.full_path}/-/environments`;
  await seedBranch(gantry, project, 'topic');
  await settle(gantry);
});
after(async () => await gantry.close());

/** Records a successful deployment by a job. Returns the id of the job. */
const deploy = async (name: string, ref = 'topic'): Promise<number> => {
  const file = `up: { script: x, environment: { name: "${name}" } }`;
  const seeded = await seedPipeline(gantry, {
    project: project.id,
    file,
    ref,
    sha: project.first,
    user: developer.id,
  });
  const job_id = seeded.jobs['up'] ?? 0;
  await setJob(gantry, job_id, { status: 'success' });
  const { status, body, text } = await gantry.api(`POST /projects/${project.id}/deployments`, {
    json: { environment: name, sha: project.first, ref, tag: false, status: 'success' },
  });
  assert.equal(status, 201, text);
  await gantry.service.platform.store.write(
    async ({ db }) =>
      await db
        .updateTable('deployments')
        .set({ job_id, user_id: developer.id })
        .where('id', '=', body.id)
        .execute(),
  );
  return job_id;
};
const idOf = async (name: string): Promise<number> =>
  (await gantry.api(`GET /projects/${project.id}/environments?name=${encodeURIComponent(name)}`)).body[0].id;

test('the list shows the commit, the user and the time of the last deployment', async () => {
  await deploy('production');
  const { text } = await reporter.get(path);
  const row = text.split('<tr>').find((one) => one.includes('>production</a>')) ?? '';
  assert.match(
    row,
    new RegExp(
      `tree/topic"[^]+commit/${project.first}"><code>${project.first.slice(0, 8)}<[^]+href="/${developer.username}"[^]+<time datetime="[^"]+" data-relative`,
    ),
  );
});

test('puts environments of one folder together', async () => {
  for (const name of ['review/a', 'review/b', 'alone/c'])
    await gantry.api(`POST /projects/${project.id}/environments`, { json: { name } });
  const list = contentIn(await reporter.get(path));
  assert.match(
    list,
    /<a href="[^"]+\?folder=review">[^]+?review<\/a><\/th>\s*<td colspan="6"><span class="quiet">2 environments</,
  );
  assert.doesNotMatch(list, />review\/a</);
  assert.match(list, />alone\/c</);
  const folder = contentIn(await reporter.get(`${path}?folder=review`));
  assert.match(folder, /2 environments[^]+>review\/a<[^]+>review\/b</);
  assert.doesNotMatch(folder, />alone\/c</);
  assert.match(contentIn(await reporter.get(`${path}?search=view/B`)), />review\/b</);
  await gantry.api(`POST /projects/${project.id}/environments/${await idOf('review/a')}/stop`);
  assert.match(contentIn(await reporter.get(`${path}?states=stopped`)), />review\/a</);
});

test('deploys the current commit again, and rolls back to an older one', async () => {
  const old = await deploy('live');
  const current = await deploy('live');
  const page = `${path}/${await idOf('live')}`;
  const { text } = await developer.visitor.get(page);
  const [newer = '', older = ''] = text.split('<tr>').slice(-2);
  assert.match(newer, new RegExp(`Current[^]+jobs/${current}/retry"[^]+Re-deploy<`));
  assert.match(older, new RegExp(`jobs/${old}/retry"[^]+Roll back<`));
  assert.doesNotMatch(contentIn(await reporter.get(page)), /Roll back|Re-deploy/);
  const { location } = await developer.visitor.post(`/${project.full_path}/-/jobs/${old}/retry`);
  assert.match(location ?? '', new RegExp(`/jobs/(?!${old}$)\\d+$`));
  const after = (await developer.visitor.get(page)).text;
  assert.doesNotMatch(after, new RegExp(`jobs/${old}/retry`));
});

test('offers no roll back to who may not run jobs of a protected branch', async () => {
  await deploy('guarded', 'main');
  await deploy('guarded', 'main');
  const page = `${path}/${await idOf('guarded')}`;
  assert.match(contentIn(await developer.visitor.get(page)), /2 deployments/);
  assert.doesNotMatch(contentIn(await developer.visitor.get(page)), /Roll back|Re-deploy/);
});

test('loads the deployments of a list in a constant number of statements', async () => {
  const count = async (address: string): Promise<number> =>
    await countStatements(gantry, async () => await reporter.get(address));
  const addresses = [path, `${path}/${await idOf('live')}`];
  const few: number[] = [];
  for (const address of addresses) few.push(await count(address));
  for (const name of ['live', 'live', 'live', 'live', 'one', 'two', 'three', 'four']) await deploy(name);
  // What is kept in memory makes a small difference.
  for (const [at, address] of addresses.entries())
    assert.ok((await count(address)) < (few[at] ?? 0) + 4, address);
});
