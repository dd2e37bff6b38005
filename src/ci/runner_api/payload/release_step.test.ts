/** Tests which runners get the release step. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Peer, makePeer, seedRunner } from '../../../../test/support/ci/fake_runner.ts';
import { seedPipeline } from '../../../../test/support/ci/jobs.ts';
import { seedProject } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
const peers: Peer[] = [];
before(async () => {
  gantry = await startTestService();
});
after(async () => {
  for (const peer of peers) peer.close();
  await gantry.close();
});

const file = `
ship:
  script: [make]
  after_script: [clean]
  release: { tag_name: v1, description: What is new }
plain: { stage: deploy, script: [deploy], needs: [] }
`;

const seeded = async (generation?: 10) => {
  const project = await seedProject(gantry);
  const { token } = await seedRunner(gantry, { runner_type: 'project_type', projects: [project.id] });
  const peer = makePeer(gantry, { token, ...(generation !== undefined && { generation }) });
  peers.push(peer);
  const { jobs } = await seedPipeline(gantry, { project: project.id, file });
  return { peer, project, jobs };
};

test('adds the release as a step after the script and before after_script', async () => {
  const { peer } = await seeded();
  const { body } = await peer.take();
  assert.deepEqual(
    body.steps.map(
      ({ name, when, allow_failure }: { name: string; when: string; allow_failure: boolean }) => [
        name,
        when,
        allow_failure,
      ],
    ),
    [
      ['script', 'on_success', false],
      ['release', 'on_success', false],
      ['after_script', 'always', true],
    ],
  );
  assert.match(body.steps[1].script[0], /release-cli create .*--description "What is new" --tag-name "v1"/);
  assert.equal(body.steps[1].timeout, body.runner_info.timeout);
  const plain = (await peer.take()).body;
  assert.deepEqual(
    plain.steps.map(({ name }: { name: string }) => name),
    ['script'],
  );
});

test('fails a job with a release instead of giving it to a runner that ignores the step', async () => {
  const { peer, project, jobs } = await seeded(10);
  const { body } = await peer.take();
  assert.equal(body.job_info.name, 'plain');
  const { status, failure_reason } = (await gantry.api(`GET /projects/${project.id}/jobs/${jobs['ship']}`))
    .body;
  assert.deepEqual([status, failure_reason], ['failed', 'runner_unsupported']);
});
