import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { seedCommit } from '../../../../test/support/repositories/seed_commits.ts';
import { seedMember, seedProject, seedUser } from '../../../../test/support/seed.ts';
import { type TestService, startTestService } from '../../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

const good = 'job: { script: make }\n';

const newProject = async (
  files: Record<string, string> = {},
  attributes: Parameters<typeof seedProject>[1] = {},
) => {
  const project = await seedProject(gantry, attributes);
  const developer = await seedUser(gantry);
  await seedMember(gantry, { user: developer.id, project: project.id, access_level: 30 });
  const sha = Object.keys(files).length === 0 ? '' : await seedCommit(gantry, project.id, files);
  return { project, developer, sha, path: `/projects/${project.id}/ci/lint` };
};

test('accepts a valid text', async () => {
  const { status, body } = await gantry.api('POST /ci/lint', { json: { content: good } });
  assert.equal(status, 200);
  const { merged_yaml, ...rest } = body;
  assert.deepEqual(rest, {
    status: 'valid',
    valid: true,
    errors: [],
    warnings: [],
    includes: [],
    problems: [],
  });
  assert.equal(merged_yaml, '---\njob:\n  script: make\n');
});

test('reports the first error of an invalid text in its old words, and all errors as problems with lines', async () => {
  const content = 'job:\n  when: sometimes\n  script: x\n  tags: 5\n';
  const { status, body } = await gantry.api('POST /ci/lint', { json: { content } });
  assert.equal(status, 200);
  assert.deepEqual([body.status, body.valid], ['invalid', false]);
  assert.deepEqual(body.errors, ['jobs:job:tags config should be an array of strings']);
  const tags = { text: 'jobs:job:tags config should be an array of strings', line: 4, column: 9 };
  const when = {
    text: 'jobs:job when should be one of: on_success, on_failure, always, manual, delayed',
    line: 2,
    column: 9,
  };
  const shared = { severity: 'error', file: '.gitlab-ci.yml' };
  assert.deepEqual(body.problems, [
    { ...tags, ...shared },
    { ...when, ...shared },
  ]);
  const old = await gantry.api('POST /ci/lint', { json: { content: 'a: { script: x, when: never }' } });
  assert.deepEqual(old.body.errors, ['jobs:a when should be on_success, on_failure, always or manual']);
});

test('accepts the text in a form, and requires it', async () => {
  const form = `content=${encodeURIComponent(good)}&include_jobs=true`;
  const { status, body } = await gantry.api('POST /ci/lint', { form });
  assert.equal(status, 200);
  assert.deepEqual(body.jobs, [
    {
      name: 'job',
      stage: 'test',
      before_script: [],
      script: ['make'],
      after_script: [],
      tag_list: [],
      environment: null,
      when: 'on_success',
      allow_failure: false,
      needs: null,
    },
  ]);
  const missing = await gantry.api('POST /ci/lint', { json: {} });
  assert.deepEqual(
    [missing.status, missing.body],
    [400, { message: '400 (Bad request) "content" not given' }],
  );
  const blank = await gantry.api('POST /ci/lint', { json: { content: ' ' } });
  assert.deepEqual(blank.body.errors, ['Please provide content of .gitlab-ci.yml']);
});

test('a text without a project cannot include project files', async () => {
  const { body } = await gantry.api('POST /ci/lint', { json: { content: 'include: lib.yml' } });
  assert.deepEqual(body.errors, ['Local file `lib.yml` does not have project!']);
});

test('checks the file of a project with its includes', async () => {
  const { path, project, sha } = await newProject({
    '.gitlab-ci.yml': 'include: ["/ci/*.yml"]\njob: { extends: .lib, script: make }\n',
    'ci/lib.yml': '.lib: { tags: [fast] }\n',
    'ci/more/not.yml': 'no: 5\n',
  });
  const { status, body } = await gantry.api(`GET ${path}?include_jobs=true`);
  assert.equal(status, 200);
  assert.deepEqual([body.valid, body.errors], [true, []]);
  assert.deepEqual(body.jobs[0].tag_list, ['fast']);
  assert.deepEqual(body.includes, [
    {
      type: 'local',
      location: 'ci/lib.yml',
      blob: null,
      raw: null,
      extra: {},
      context_project: project.full_path,
      context_sha: sha,
    },
  ]);
  assert.match(body.merged_yaml, /^---\n\.lib:\n {2}tags:\n {4}- fast\njob:\n/);
  assert.equal('status' in body, false);
});

test('reports all errors of a project in the current words', async () => {
  const { path } = await newProject({ '.gitlab-ci.yml': 'a: { script: x, when: never }\nb: { image: c }\n' });
  const { body } = await gantry.api(`GET ${path}`);
  assert.deepEqual(body.errors, [
    'jobs:a when should be one of: on_success, on_failure, always, manual, delayed',
    'jobs:b config should implement the script:, run:, or trigger: keyword',
  ]);
  assert.deepEqual(
    body.problems.map((problem: { line: number }) => problem.line),
    [1, 2],
  );
});

test('reports a missing file as an error, and a missing commit as not found', async () => {
  const { path } = await newProject({ 'README.md': 'x' });
  const { body } = await gantry.api(`GET ${path}`);
  assert.deepEqual([body.valid, body.errors], [false, ['Please provide content of .gitlab-ci.yml']]);
  const other = await gantry.api(`GET ${path}?sha=nothing`);
  assert.deepEqual([other.status, other.body.message], [404, '404 Commit Not Found']);
  const { path: empty } = await newProject();
  assert.equal((await gantry.api(`GET ${empty}`)).status, 404);
});

test('checks the file of another commit', async () => {
  const { path, project, sha } = await newProject({ '.gitlab-ci.yml': good });
  await seedCommit(gantry, project.id, { '.gitlab-ci.yml': 'job: 5\n' });
  assert.equal((await gantry.api(`GET ${path}`)).body.valid, false);
  assert.equal((await gantry.api(`GET ${path}?sha=${sha}`)).body.valid, true);
  assert.equal((await gantry.api(`GET ${path}?content_ref=${sha}`)).body.valid, true);
});

test('a dry run lists only the jobs that its pipeline would have', async () => {
  const content =
    'a: { script: x, rules: [{ if: $CI_COMMIT_TAG }] }\nb: { script: x, rules: [{ exists: [README.md] }] }\n';
  const { path, project } = await newProject({ '.gitlab-ci.yml': content, 'README.md': 'x' });
  const names = async (query: string) =>
    (await gantry.api(`GET ${path}?include_jobs=true${query}`)).body.jobs.map(
      ({ name }: { name: string }) => name,
    );
  assert.deepEqual(await names(''), ['a', 'b']);
  assert.deepEqual(await names('&dry_run=true'), ['b']);
  await seedCommit(gantry, project.id, { '.gitlab-ci.yml': 'a: { script: x, only: [tags] }\n' });
  const { body } = await gantry.api(`GET ${path}?dry_run=true`);
  assert.equal(body.valid, false);
  assert.match(body.errors[0], /^Pipeline will not run for the selected trigger\./);
  assert.equal((await gantry.api(`GET ${path}`)).body.valid, true);
});

test('checks a text in a project with its files, even an empty project', async () => {
  const { path } = await newProject({ 'ci.yml': 'lib: { script: x }\n' });
  const request = { json: { content: 'include: ci.yml', include_jobs: true } };
  const { status, body } = await gantry.api(`POST ${path}`, request);
  assert.deepEqual([status, body.valid, body.jobs[0].name], [200, true, 'lib']);
  const { path: empty } = await newProject();
  assert.equal((await gantry.api(`POST ${empty}`, { json: { content: good } })).body.valid, true);
});

test('includes files of another project only for readers of it, and hides them from others', async () => {
  const { project: other, developer } = await newProject(
    { 'ci.yml': 'lib: { script: x }\n' },
    { visibility: 'private' },
  );
  const content = `include: { project: ${other.full_path}, file: ci.yml }`;
  const sent = { json: { content } };
  assert.equal((await gantry.api('POST /ci/lint', { ...sent, as: developer.token })).body.valid, true);
  const stranger = await seedUser(gantry);
  const { body } = await gantry.api('POST /ci/lint', { ...sent, as: stranger.token });
  assert.deepEqual(body.errors, [`Project \`${other.full_path}\` not found or access denied!`]);
  const missing = await gantry.api('POST /ci/lint', {
    json: { content: 'include: { project: no/where, file: ci.yml }' },
    as: stranger.token,
  });
  assert.deepEqual(missing.body.errors, ['Project `no/where` not found or access denied!']);
});

test('an included file of another project includes from that project', async () => {
  const { project: other } = await newProject({
    'ci.yml': 'include: /deep/more.yml\n',
    'deep/more.yml': 'more: { script: x }\n',
  });
  const { path } = await newProject({ 'README.md': 'x' });
  const content = `include: { project: ${other.full_path}, file: /ci.yml, ref: main }`;
  const { body } = await gantry.api(`POST ${path}`, { json: { content, include_jobs: true } });
  assert.deepEqual([body.errors, body.jobs?.[0]?.name], [[], 'more']);
  const gone = `include: { project: ${other.full_path}, file: /ci.yml, ref: none }`;
  const refused = await gantry.api(`POST ${path}`, { json: { content: gone } });
  assert.deepEqual(refused.body.errors, [
    `Project \`${other.full_path}\` reference \`none\` does not exist!`,
  ]);
});

test('includes shipped templates by name', async () => {
  const { path } = await newProject({ 'README.md': 'x' });
  const names =
    'Bash C++ Go Nodejs Pages/HTML Python Rust Workflows/Branch-Pipelines Workflows/MergeRequest-Pipelines';
  const noSite = 'jobs:pages runs as any job: its artifacts are not published as a site';
  for (const name of names.split(' ')) {
    const content = `include: { template: ${name}.gitlab-ci.yml }\nown: { script: x }`;
    const { body } = await gantry.api(`POST ${path}`, { json: { content, dry_run: true } });
    assert.deepEqual([body.errors, body.warnings], [[], name === 'Pages/HTML' ? [noSite] : []], name);
  }
  const content = 'include: { template: Bash.gitlab-ci.yml }';
  const { body } = await gantry.api(`POST ${path}`, { json: { content, include_jobs: true } });
  assert.equal(body.jobs.length, 4);
  const none = { json: { content: 'include: { template: constructor.gitlab-ci.yml }' } };
  assert.deepEqual((await gantry.api(`POST ${path}`, none)).body.errors, [
    'Template file `constructor.gitlab-ci.yml` is not a valid location!',
  ]);
});

test('requires access to the project', async () => {
  const { path, developer } = await newProject({ '.gitlab-ci.yml': good });
  const guest = await seedUser(gantry);
  const json = { content: good };
  assert.equal((await gantry.api('POST /ci/lint', { json, as: null })).status, 401);
  assert.equal((await gantry.api(`GET ${path}`, { as: null })).status, 401);
  assert.equal((await gantry.api(`POST ${path}`, { json, as: null })).status, 401);
  assert.equal((await gantry.api(`GET ${path}`, { as: guest.token })).status, 200);
  assert.equal((await gantry.api(`GET ${path}?dry_run=true`, { as: guest.token })).status, 403);
  assert.equal((await gantry.api(`POST ${path}`, { json, as: guest.token })).status, 403);
  assert.equal((await gantry.api(`POST ${path}`, { json, as: developer.token })).status, 200);
  const { path: hidden } = await newProject({ '.gitlab-ci.yml': good }, { visibility: 'private' });
  assert.equal((await gantry.api(`GET ${hidden}`, { as: guest.token })).status, 404);
  assert.equal((await gantry.api(`POST ${hidden}`, { json, as: guest.token })).status, 404);
});

test('reports a binary file and a bomb as errors', async () => {
  const { path } = await newProject({
    '.gitlab-ci.yml': 'include: big.yml',
    'big.yml': '#'.repeat(1_100_000),
  });
  assert.deepEqual((await gantry.api(`GET ${path}`)).body.errors, [
    'Local file `big.yml` is not a text, or too big!',
  ]);
  const { path: other } = await newProject({ '.gitlab-ci.yml': '#'.repeat(1_100_000) });
  assert.deepEqual((await gantry.api(`GET ${other}`)).body.errors, [
    'The configuration is not a text, or too big!',
  ]);
  const levels = Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`);
  const content = `a0: &a0 [x]\n${levels.join('\n')}\njob: { script: x }`;
  const { status, body } = await gantry.api('POST /ci/lint', { json: { content } });
  assert.deepEqual([status, body.errors], [200, ['The parsed YAML is too big']]);
});

test('evaluates include rules that exceed the limit of the main thread', async () => {
  const rule = (found: string): string => `{ if: '"${'x'.repeat(800)}${found}" =~ /(abcdefghij){50}|end$/' }`;
  const rules = (found: string): string => `rules: [${rule('none').concat(',').repeat(15)} ${rule(found)}]`;
  const files = { 'lib.yml': 'lib: { script: x }' };
  for (const [found, names] of [
    ['end', ['lib', 'job']],
    ['none', ['job']],
  ] as const) {
    const content = `include: [{ local: lib.yml, ${rules(found)} }]\n${good}`;
    const { path } = await newProject({ ...files, '.gitlab-ci.yml': content });
    const { status, body } = await gantry.api(`GET ${path}?include_jobs=true`);
    assert.deepEqual([status, body.errors], [200, []]);
    assert.deepEqual(
      body.jobs.map(({ name }: { name: string }) => name),
      names,
    );
  }
});

test('accepts jobs that need parts of a large matrix, in a worker thread', async () => {
  const values = Array.from({ length: 200 }, (_, at) => `v${at}`).join(', ');
  const content = `
build: { stage: build, script: x, parallel: { matrix: [{ A: [${values}] }] } }
test:
  script: x
  parallel: { matrix: [{ A: [${values}] }] }
  needs: [{ job: build, parallel: { matrix: [{ A: "$[[ matrix.A ]]" }] } }]`;
  const { status, body } = await gantry.api('POST /ci/lint', { json: { content } });
  assert.deepEqual([status, body.errors], [200, []]);
});
