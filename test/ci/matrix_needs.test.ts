/** Needs on single jobs of a matrix: only they are awaited, and only their artifacts are passed on. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildZip } from '../support/ci/artifacts.ts';
import type { Peer } from '../support/ci/fake_runner.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { type CiProject, makeCiProject } from './project.ts';

let gantry: TestService;
let project: CiProject;
let peer: Peer;
before(async () => {
  gantry = await startTestService();
  project = await makeCiProject(gantry);
  peer = await project.peer();
});
after(async () => {
  peer.close();
  await gantry.close();
  await project.remove();
});

const file = `
stages: [build, test]
build:
  stage: build
  script: x
  artifacts: { paths: [out] }
  parallel: { matrix: [{ OS: [a, b] }] }
test:
  stage: test
  script: x
  parallel: { matrix: [{ OS: [a, b] }] }
  needs: [{ job: build, parallel: { matrix: [{ OS: "$[[ matrix.OS ]]" }] } }]
by_name: { stage: test, script: x, needs: ["build: [b]"] }
after_all: { stage: test, script: x, dependencies: ["build: [a]"] }
`;

const taken = async (): Promise<[string, string[]]> => {
  const job = await peer.take();
  const { job_info, dependencies } = job.body;
  if (job_info.stage === 'build') {
    const archive = await buildZip({ out: 'made' });
    assert.equal((await peer.upload(job, archive, { type: 'archive', format: 'zip' })).status, 201);
  }
  await peer.run(job);
  return [job_info.name, dependencies.map(({ name }: { name: string }) => name)];
};

test('starts a job after the jobs it names, with their artifacts', async () => {
  await project.push(file);
  assert.deepEqual(await taken(), ['build: [a]', []]);
  // Of the second stage, it is the only one that waits for nothing else.
  const open = async () => (await project.states()).filter((state) => state.endsWith(': pending'));
  assert.deepEqual(await open(), ['build: [b]: pending', 'test: [a]: pending']);
  const rest = [await taken(), await taken(), await taken(), await taken(), await taken()];
  assert.deepEqual(
    new Map(rest),
    new Map<string, string[]>([
      ['build: [b]', []],
      ['test: [a]', ['build: [a]']],
      ['test: [b]', ['build: [b]']],
      ['by_name', ['build: [b]']],
      ['after_all', ['build: [a]']],
    ]),
  );
  assert.equal((await project.newest()).status, 'success');
});
