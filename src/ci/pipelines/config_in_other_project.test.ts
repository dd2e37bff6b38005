/** Tests a configuration in another project: `path@group/project:ref`. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../test/support/repositories/seed_commits.ts';
import { type Pushed, seedPushed } from '../../../test/support/ci/pipelines.ts';
import { settle } from '../../../test/support/seed_merge_requests.ts';
import { type SeededProject, seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
let shared: SeededProject;
before(async () => {
  gantry = await startTestService();
  shared = await seedProject(gantry, { visibility: 'private' });
  const files = {
    'ci/all.yml': 'include: /ci/more.yml\nshared: { script: x }',
    'ci/more.yml': 'more: { script: x }',
  };
  await seedCommit(gantry, shared.id, files);
  await seedCommit(
    gantry,
    shared.id,
    { 'ci/all.yml': 'other: { script: x }' },
    { branch: 'v2', from: 'main' },
  );
  await settle(gantry);
});
after(async () => await gantry.close());

const reading = async (ci_config_path: string): Promise<Pushed> => {
  const project = await seedPushed(gantry);
  const { status, body } = await gantry.api(`PUT ${project.path}`, { json: { ci_config_path } });
  assert.deepEqual([status, body.ci_config_path], [200, ci_config_path]);
  return project;
};

const jobsAfter = async (project: Pushed, by?: number): Promise<string[]> => {
  await project.push({ 'README.md': `${Math.random()}` }, by === undefined ? {} : { by });
  const [newest] = await project.pipelines();
  return newest === undefined ? [] : await project.jobs(newest.id);
};

test('reads the file and its includes from the named project and branch', async () => {
  assert.deepEqual((await jobsAfter(await reading(`ci/all.yml@${shared.full_path}`))).toSorted(), [
    'more',
    'shared',
  ]);
  assert.deepEqual(await jobsAfter(await reading(`ci/all.yml@${shared.full_path}:v2`)), ['other']);
});

test('reads the file with the rights of the user who creates the pipeline', async () => {
  const project = await reading(`ci/all.yml@${shared.full_path}`);
  const master = await seedUser(gantry);
  await seedMember(gantry, { user: master.id, project: project.id, access_level: 40 });
  assert.deepEqual(await jobsAfter(project, master.id), []);
  const [newest] = await project.pipelines();
  const { body } = await gantry.api(`GET ${project.path}/pipelines/${newest.id}`);
  assert.equal(body.status, 'failed');
  assert.match(body.yaml_errors, new RegExp(`Project \`${shared.full_path}\` not found or access denied!`));
  const lint = async () =>
    (await gantry.api(`GET ${project.path}/ci/lint?include_jobs=true`, { as: master.token })).body;
  assert.equal((await lint()).valid, false);
  await seedMember(gantry, { user: master.id, project: shared.id, access_level: 20 });
  assert.equal((await lint()).valid, true);
  assert.deepEqual((await jobsAfter(project, master.id)).toSorted(), ['more', 'shared']);
});

test('reports a missing file, and accepts a path that contains an @', async () => {
  const errorsOf = async (path: string): Promise<string> => {
    const project = await reading(path);
    await jobsAfter(project);
    const [newest] = await project.pipelines();
    return newest === undefined
      ? 'none'
      : (await gantry.api(`GET ${project.path}/pipelines/${newest.id}`)).body.yaml_errors;
  };
  assert.match(await errorsOf(`ci/none.yml@${shared.full_path}`), /ci\/none\.yml. does not exist/);
  assert.match(await errorsOf(`ci/all.yml@${shared.full_path}:none`), /reference/);
  assert.match(await errorsOf('ci.yml@no/where'), /not found or access denied/);
  assert.equal(await errorsOf('ci@home/all.txt'), 'none');
  const project = await seedPushed(gantry);
  await gantry.api(`PUT ${project.path}`, { json: { ci_config_path: 'a@b/ci.yml' } });
  await project.push({ 'a@b/ci.yml': 'own: { script: x }' });
  const [newest] = await project.pipelines();
  assert.deepEqual(await project.jobs(newest.id), ['own']);
});
