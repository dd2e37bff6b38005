/** Reports and log output of jobs, collected by the built-in runner and shown by the service. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { listLeftoverProcesses, makeRunnerFolder } from '../support/ci/runner_process.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';
import { settle } from '../support/seed_merge_requests.ts';
import { type CiProject, makeCiProject } from './project.ts';

let gantry: TestService;
let folder: string;
let project: CiProject;
before(async () => {
  folder = await makeRunnerFolder();
  gantry = await startTestService({ GANTRY_RUNNER_EXECUTOR: 'shell', GANTRY_RUNNER_FOLDER: folder });
  project = await makeCiProject(gantry);
});
after(async () => {
  await gantry.close();
  await project.remove();
  assert.deepEqual(listLeftoverProcesses(folder), []);
  rmSync(folder, { recursive: true, force: true });
});

const file = `
stages: [build, deploy]
build:
  stage: build
  coverage: '/Covered: (\\d+\\.\\d+)%/'
  script:
    - echo "VERSION=1.2 of $CI_COMMIT_REF_SLUG" >build.env
    - echo "SITE=first" >>build.env
    - printf "Covered%s 12.00%%\\n" ":"
    - printf "\\033[32mCovered%s 81.25%%\\033[0m and so on\\n" ":"
    - cp reports/tests.xml .
    - exit 3
  allow_failure: { exit_codes: 3 }
  artifacts:
    when: always
    reports: { junit: tests.xml, dotenv: build.env }
deploy:
  stage: deploy
  script: ['echo "brings $VERSION to $SITE"', echo "SITE=second" >deploy.env]
  environment: { name: live, url: "https://$SITE.example.com" }
  artifacts: { reports: { dotenv: deploy.env } }
unneeding:
  stage: deploy
  needs: []
  script: ['echo "knows ''\${VERSION-nothing}''"']
`;

const tests = `<testsuite name="all"><testcase name="adds" classname="Sum" time="0.5"/>
<testcase name="divides" classname="Sum" time="0.25"><failure message="by zero">at line 7</failure></testcase></testsuite>
`;

test('shows dotenv variables, test results, coverage and URLs of jobs', async () => {
  await project.push({ '.gitlab-ci.yml': file, 'reports/tests.xml': tests });
  await project.untilPipeline('success');
  await settle(gantry);
  const { coverage, status, allow_failure } = await project.job('build');
  assert.deepEqual([coverage, status, allow_failure], [81.25, 'failed', true]);
  const { id } = await project.newest();
  assert.equal((await gantry.api(`GET ${project.at}/pipelines/${id}`)).body.coverage, '81.25');
  const badge = await fetch(`${gantry.url}/${project.full_path}/badges/main/coverage.svg`, {
    headers: { 'private-token': rootToken },
  });
  assert.match(await badge.text(), /<title>coverage: 81\.25%<\/title>/);

  assert.match(await project.trace('deploy'), /\nbrings 1\.2 of main to first\n/);
  assert.match(await project.trace('unneeding'), /\nknows 'nothing'\n/);
  const [live] = (await gantry.api(`GET ${project.at}/environments?name=live`)).body;
  assert.equal(live.external_url, 'https://second.example.com');

  const report = (await gantry.api(`GET ${project.at}/pipelines/${id}/test_report`)).body;
  assert.deepEqual([report.total_count, report.success_count, report.failed_count], [2, 1, 1]);
  const [suite] = report.test_suites;
  assert.equal(suite.name, 'build');
  const failed = suite.test_cases.find((one: { status: string }) => one.status === 'failed');
  assert.deepEqual([failed.name, failed.classname], ['divides', 'Sum']);
  assert.match(failed.system_output, /by zero|at line 7/);
});
