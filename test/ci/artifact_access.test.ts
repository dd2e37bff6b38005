/** Artifacts whose configuration restricts access. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildZip } from '../support/ci/artifacts.ts';
import { settle } from '../support/seed_merge_requests.ts';
import { seedMember, seedUser } from '../support/seed.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';
import { type Upstream, makeUpstream } from './downstream.ts';

let gantry: TestService;
let project: Upstream;
before(async () => {
  gantry = await startTestService();
  project = await makeUpstream(gantry);
});
after(async () => {
  project.peer.close();
  await gantry.close();
});

test('are served to the users named by the file, and to dependent jobs', async () => {
  const words = {
    usual: '',
    all: 'public: true',
    developer: 'public: false',
    maintainer: 'access: maintainer',
    none: 'access: none',
  };
  const jobs = Object.entries(words).map(
    ([name, word]) => `${name}: { stage: build, script: x, artifacts: { paths: [a], ${word} } }`,
  );
  await project.push([...jobs, 'last: { script: x }'].join('\n'));
  const ids: Record<string, number> = {};
  for (const _each of jobs) {
    const job = await project.peer.take();
    await project.peer.upload(job, await buildZip({ a: '1' }));
    await project.peer.finish(job);
    ids[job.body.job_info.name] = job.id;
  }
  await settle(gantry);
  const { token: stranger } = await seedUser(gantry);
  const master = await seedUser(gantry);
  await seedMember(gantry, { user: master.id, project: project.id, access_level: 40 });
  const statuses = async (as: string | null): Promise<Record<string, number>> => {
    const found: Record<string, number> = {};
    for (const [name, id] of Object.entries(ids)) {
      const paths = [
        `${id}/artifacts`,
        `${id}/artifacts/a`,
        `artifacts/main/download?job=${name}`,
        `artifacts/main/raw/a?job=${name}`,
      ];
      const all = await Promise.all(
        paths.map(async (path) => (await gantry.api(`GET ${project.path}/jobs/${path}`, { as })).status),
      );
      assert.equal(new Set(all).size, 1, `${name}: ${all.join()}`);
      found[name] = all[0] ?? 0;
    }
    return found;
  };
  const usual = { usual: 200, all: 200, developer: 403, maintainer: 403, none: 403 };
  assert.deepEqual(await statuses(null), usual);
  assert.deepEqual(await statuses(stranger), usual);
  assert.deepEqual(await statuses(project.developer.token), { ...usual, developer: 200 });
  assert.deepEqual(await statuses(master.token), { ...usual, developer: 200, maintainer: 200 });
  assert.deepEqual(await statuses(rootToken), { ...usual, developer: 200, maintainer: 200 });
  const last = await project.peer.take();
  assert.equal(last.body.dependencies.length, jobs.length);
  const own = await project.peer.download(last.token, ids['none'] ?? 0);
  assert.equal(own.status, 200);
  const byToken = await gantry.api(
    `GET ${project.path}/jobs/${ids['developer']}/artifacts/a?job_token=${last.token}`,
    { as: null },
  );
  assert.equal(byToken.status, 200);
});
