import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedArtifact, buildZip } from '../../../../test/support/ci/artifacts.ts';
import { seedPipeline, setJob } from '../../../../test/support/ci/jobs.ts';
import { seedProject } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

test('reads the directory of a large archive once for concurrent requests, and caches it', async () => {
  const { id: project } = await seedProject(gantry);
  const { jobs } = await seedPipeline(gantry, { project, file: 'pack: { script: make }' });
  const id = jobs['pack'] ?? 0;
  await setJob(gantry, id, { status: 'success' });
  const folder = 'long/'.repeat(600);
  const names = Array.from({ length: 2_100 }, (_, at) => `${at < 6 ? '' : folder}${at}.txt`);
  const archive = await buildZip(Object.fromEntries(names.map((name) => [name, 'x'])));
  await seedArtifact(gantry, { id, project_id: project }, archive);
  const { blobs } = gantry.service.platform;
  const { get } = blobs;
  let large = 0;
  blobs.get = async (area, sha256, range) => {
    if (range !== undefined && range.end - range.start > 5_000_000) large += 1;
    return await get(area, sha256, range);
  };
  const ask = async (name: string): Promise<void> => {
    const { status, text } = await gantry.api(
      `GET /projects/${project}/jobs/${id}/artifacts/${encodeURIComponent(name)}`,
    );
    assert.deepEqual([status, text], [200, 'x']);
  };
  await Promise.all(names.slice(0, 5).map(ask));
  await ask(names[5] ?? '');
  blobs.get = get;
  assert.equal(large, 1);
});
