/** Tests that expensive configurations are read in a worker thread with the same result. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedPushed } from '../../../../test/support/ci/pipelines.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n');
/** Too long to be tried on the main thread first. */
const padding = `# ${'long '.repeat(6_000)}\n`;
const manyNodes = `.many: [${Array.from({ length: 6_000 }, () => 1).join(', ')}]\n`;

const lib = `included: { script: x }\nchosen: { script: x, rules: [{ exists: ['src/**/*.c'] }] }\n`;
const main = `include: lib.yml
changed: { script: x, rules: [{ changes: [a.txt] }] }
unchanged: { script: x, rules: [{ changes: [b.txt] }] }
own: { script: x, rules: [{ if: $CI_COMMIT_BRANCH == "main" }] }
`;

for (const [what, more] of Object.entries({
  'a short file': '',
  'a long one': padding,
  'a wide one': manyNodes,
})) {
  test(`${what}: includes, existing files and changed files are taken into account`, async () => {
    const project = await seedPushed(gantry);
    await project.push({ 'b.txt': 'b', 'src/deep/x.c': 'c' });
    await project.push({ '.gitlab-ci.yml': main + more, 'lib.yml': lib, 'a.txt': 'a' });
    const [pipeline] = await project.pipelines();
    assert.deepEqual(await project.jobs(pipeline.id), ['included', 'chosen', 'changed', 'own']);
    const { body } = await gantry.api(`GET ${project.path}/ci/lint?dry_run=true&include_jobs=true`);
    assert.deepEqual([body.valid, body.errors], [true, []]);
    assert.match(body.merged_yaml, /included:\n {2}script: x/);
    assert.deepEqual(
      body.includes.map((one: { location: string }) => one.location),
      ['lib.yml'],
    );
  });
}

test('reports the errors of a long file with their lines', async () => {
  const content = `${padding}job: { script: 5 }\n`;
  const { status, body } = await gantry.api('POST /ci/lint', { json: { content } });
  assert.equal(status, 200);
  assert.deepEqual(body.problems[0], {
    text: 'jobs:job:script config should be a string or a nested array of strings up to 10 levels deep',
    line: 2,
    column: 16,
    severity: 'error',
    file: '.gitlab-ci.yml',
  });
});

test('refuses a few lines that hundreds of jobs inherit', async () => {
  const project = await seedPushed(gantry);
  const long = 'x'.repeat(100_000);
  const bombs = [
    `.b: { script: ["${long}"] }\n${lines(400, (at) => `j${at}: { extends: .b }`)}`,
    `default: { before_script: ["${long}"] }\n${lines(400, (at) => `j${at}: { script: x }`)}`,
    `variables: { A: "${long}" }\n${lines(400, (at) => `j${at}: { script: x }`)}`,
  ];
  for (const bomb of bombs) {
    await project.push(bomb);
    const [pipeline] = await project.pipelines();
    const { body } = await gantry.api(`GET ${project.path}/pipelines/${pipeline.id}`);
    assert.equal(body.status, 'failed');
    assert.match(body.yaml_errors, /^The parsed YAML is too big/);
    const tried = { content: bomb, dry_run: true };
    const linted = await gantry.api(`POST ${project.path}/ci/lint`, { json: tried });
    assert.deepEqual([linted.status, linted.body.errors], [200, ['The parsed YAML is too big']]);
  }
});
