/** The `release` keyword, from a push to the release, with the built-in runner. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { makeRunnerFolder } from '../support/ci/runner_process.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { type CiProject, makeCiProject } from './project.ts';

/** Program without which a job cannot call the API on this machine. */
const skip =
  spawnSync('curl', ['--version']).status === 0 ? false : 'there is no curl, which makes the release here';

let gantry: TestService;
let folder: string;
let project: CiProject;

before(async () => {
  if (skip !== false) return;
  folder = await makeRunnerFolder();
  gantry = await startTestService({ GANTRY_RUNNER_EXECUTOR: 'shell', GANTRY_RUNNER_FOLDER: folder });
  project = await makeCiProject(gantry, { visibility: 'private' });
});
after(async () => {
  if (skip !== false) return;
  await project.remove();
  await gantry.close();
  rmSync(folder, { recursive: true, force: true });
});

const config = (script: string): string => `
publish:
  script: ["${script}"]
  rules: [{ if: $CI_COMMIT_BRANCH }]
  release:
    tag_name: v$CI_PIPELINE_IID
    name: Release of $CI_COMMIT_REF_NAME
    description: NEWS.md
    assets: { links: [{ name: site, url: "https://example.com/$CI_PIPELINE_IID" }] }
`;

const releases = async () => (await gantry.api(`GET ${project.at}/releases`)).body;

test('creates the release and tag of a successful job, and none of a failed one', { skip }, async () => {
  const sha = await project.push({ '.gitlab-ci.yml': config('true'), 'NEWS.md': 'Much & more\n' });
  const { id } = await project.untilJob('publish', 'success');
  const [release, ...others] = await releases();
  assert.deepEqual(others, []);
  assert.deepEqual(
    [release.tag_name, release.name, release.description, release.commit.id],
    ['v1', 'Release of main', 'Much & more\n', sha],
  );
  assert.deepEqual(
    release.assets.links.map(({ name, url }: { name: string; url: string }) => [name, url]),
    [['site', 'https://example.com/1']],
  );
  assert.match(await project.trace('publish'), /Executing "step_release" stage/);
  await project.push(config('false'));
  const failed = await project.untilJob('publish', 'failed');
  assert.notEqual(failed.id, id);
  assert.equal((await releases()).length, 1);
});

test('fails a job whose release cannot be created', { skip }, async () => {
  await gantry.api(`POST ${project.at}/releases`, { json: { tag_name: 'v3', ref: 'main' } });
  await project.push(config('echo once more'));
  const { failure_reason } = await project.untilJob('publish', 'failed');
  assert.equal(failure_reason, 'script_failure');
  assert.match(await project.trace('publish'), /409/);
});
