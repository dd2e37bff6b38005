/** Tests which jobs a pipeline gets, and with which settings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  compileErrors,
  compileJobs,
  namesIn,
  onBranch,
  onMain,
  onMergeRequest,
  onTag,
  planPipeline,
  plannedJob,
  planFile,
  variableValues,
} from '../../../test/support/ci/ci_file.ts';

const job = (part: string): string => `job: { script: x, ${part} }`;

test('rules: the first match decides, and without a match the job is left out', async () => {
  const file = job(
    'rules: [{ if: $CI_COMMIT_TAG, when: never }, { if: $CI_COMMIT_BRANCH == "main" }, { if: $MANUAL, when: manual }]',
  );
  assert.deepEqual(await namesIn(file), ['job']);
  assert.deepEqual(await namesIn(file, onTag('v1')), []);
  assert.deepEqual(await namesIn(file, onBranch('other')), []);
  const manual = onBranch('other', { variables: { MANUAL: '1' } });
  const found = await plannedJob(file, manual);
  assert.deepEqual([found.when, found.allow_failure], ['manual', false]);
  assert.deepEqual(await namesIn(job('rules: []')), []);
});

test('rules set when, allow_failure, variables, needs, start_in and interruptible', async () => {
  const file = `
first: { script: x, stage: build }
job:
  script: x
  variables: { A: own, B: own }
  needs: [first]
  rules:
    - if: $CI_COMMIT_BRANCH == "main"
      when: delayed
      start_in: 10 minutes
      allow_failure: true
      variables: { A: rule, C: rule }
      needs: []
      interruptible: true
    - when: on_failure
`;
  const found = await plannedJob(file);
  const { when, start_in, allow_failure, needs, interruptible } = found;
  assert.deepEqual([when, start_in, allow_failure, needs, interruptible], ['delayed', 600, true, [], true]);
  assert.deepEqual(variableValues(found), { A: 'rule', B: 'own', C: 'rule' });
  const other = await plannedJob(file, onBranch('other'));
  assert.deepEqual([other.when, other.needs?.map((need) => need.job)], ['on_failure', ['first']]);
});

test('a rule without when uses the when of the job', async () => {
  const file = job('when: manual, rules: [{ if: $CI_COMMIT_BRANCH }]');
  const { when, allow_failure } = await plannedJob(file);
  assert.deepEqual([when, allow_failure], ['manual', true]);
});

test('rules:changes match changed files, and always match if changes are unknown', async () => {
  const file = job('rules: [{ changes: ["src/**/*", "*.md"] }]');
  const changed = (paths: string[] | null) => onBranch('main', { changed: async () => paths });
  assert.deepEqual(await namesIn(file, changed(['src/a/b.ts'])), ['job']);
  assert.deepEqual(await namesIn(file, changed(['README.md'])), ['job']);
  assert.deepEqual(await namesIn(file, changed(['docs/README.md'])), []);
  assert.deepEqual(await namesIn(file, changed([])), []);
  assert.deepEqual(await namesIn(file, changed(null)), ['job']);
  assert.deepEqual(await namesIn(file), ['job']);
  const against = job('rules: [{ changes: { paths: [a], compare_to: refs/heads/base } }]');
  const asked: (string | null)[] = [];
  const noting = onBranch('main', {
    changed: async (base) => {
      asked.push(base);
      return base === 'refs/heads/base' ? ['a'] : [];
    },
  });
  assert.deepEqual(await namesIn(against, noting), ['job']);
  assert.deepEqual(asked, ['refs/heads/base']);
});

test('rules:exists match files of the commit, with variables expanded', async () => {
  const files = (paths: string[]) => onBranch('main', { files: async () => paths });
  assert.deepEqual(await namesIn(job('rules: [{ exists: [Dockerfile] }]'), files(['Dockerfile'])), ['job']);
  assert.deepEqual(await namesIn(job('rules: [{ exists: ["**/*.go"] }]'), files(['a/b.go'])), ['job']);
  assert.deepEqual(await namesIn(job('rules: [{ exists: [Dockerfile] }]'), files(['docker/Dockerfile'])), []);
  const named = job('variables: { DIR: sub }, rules: [{ exists: ["$DIR/x"] }]');
  assert.deepEqual(await namesIn(named, files(['sub/x'])), ['job']);
});

test('files and changes are loaded only if a rule needs them', async () => {
  const never = onBranch('main', {
    files: async () => assert.fail('asked for files'),
    changed: async () => assert.fail('asked for changes'),
  });
  assert.deepEqual(await namesIn(job('rules: [{ if: $CI_COMMIT_BRANCH }]'), never), ['job']);
});

test('only and except match names, patterns, kinds of refs and sources', async () => {
  const rows: [string, string[]][] = [
    ['only: [main]', ['main']],
    ['only: [branches]', ['main', 'other']],
    ['only: [tags]', ['tag']],
    ['only: [/^ot/]', ['other']],
    ['only: [/^OT/i]', ['other']],
    ['only: [merge_requests]', ['request']],
    ['only: [merge_requests, main]', ['main', 'request']],
    ['only: [pushes]', ['main', 'other', 'tag']],
    ['only: [web]', []],
    ['only: [main@group/project]', ['main']],
    ['only: [main@other/project]', []],
    ['only: [/^m/@group/project]', ['main']],
    ['except: [main]', ['other', 'tag']],
    ['except: [branches]', ['tag']],
    ['except: [tags, other]', ['main']],
    ['only: { refs: [main] }', ['main']],
    ['only: { variables: ["$CI_COMMIT_TAG"] }', ['tag']],
    ['only: { refs: [branches], variables: ["$CI_COMMIT_BRANCH == \\"other\\""] }', ['other']],
    ['except: { refs: [main], variables: ["$CI_COMMIT_TAG"] }', ['other']],
    ['only: main', ['main']],
    ['tags: []', ['main', 'other', 'tag']],
  ];
  const refs = { main: onMain, other: onBranch('other'), tag: onTag('v1'), request: onMergeRequest };
  for (const [part, expected] of rows) {
    const found: string[] = [];
    for (const [name, conditions] of Object.entries(refs)) {
      if ((await namesIn(job(part), conditions)).length > 0) found.push(name);
    }
    assert.deepEqual(found, expected, part);
  }
});

test('only: changes matches changed files', async () => {
  const changed = (paths: string[]) => onBranch('main', { changed: async () => paths });
  assert.deepEqual(await namesIn(job('only: { changes: ["*.md"] }'), changed(['a.md'])), ['job']);
  assert.deepEqual(await namesIn(job('only: { changes: ["*.md"] }'), changed(['a.c'])), []);
  assert.deepEqual(await namesIn(job('except: { changes: ["*.md"] }'), changed(['a.md'])), []);
});

test('the workflow decides whether there is a pipeline, names it and adds variables', async () => {
  const file = `
workflow:
  name: "Pipeline of $CI_COMMIT_BRANCH$KIND"
  auto_cancel: { on_new_commit: conservative }
  rules:
    - if: $CI_COMMIT_BRANCH == "main"
      variables: { KIND: "!" , A: workflow }
      auto_cancel: { on_new_commit: none, on_job_failure: all }
    - if: $CI_COMMIT_TAG
      when: never
    - if: $CI_COMMIT_BRANCH == "dev"
variables: { A: file }
job: { script: x }
`;
  const main = await planPipeline(file);
  assert.equal(main.name, 'Pipeline of main!');
  assert.deepEqual(main.auto_cancel, { on_new_commit: 'none', on_job_failure: 'all' });
  assert.deepEqual(variableValues(main.jobs[0]!), { A: 'workflow', KIND: '!' });
  const dev = await planPipeline(file, onBranch('dev'));
  assert.deepEqual([dev.name, dev.auto_cancel.on_new_commit], ['Pipeline of dev', 'conservative']);
  const unplanned = { refused: 'workflow', text: 'Pipeline filtered out by workflow rules.' };
  assert.deepEqual(await planFile(file, onTag('v1')), { unplanned });
  assert.deepEqual(await planFile(file, onBranch('x')), { unplanned });
});

test('with workflow rules, a job without rules also runs in merge requests', async () => {
  assert.deepEqual(await namesIn('job: { script: x }', onMergeRequest), []);
  assert.deepEqual(
    await namesIn('workflow: { rules: [{ when: always }] }\njob: { script: x }', onMergeRequest),
    ['job'],
  );
});

test('a pipeline needs a job outside .pre and .post', async () => {
  const text =
    'Pipeline will not run for the selected trigger. The rules configuration prevented any jobs from being added to the pipeline.';
  const unplanned = { refused: 'rules', text };
  assert.deepEqual(await planFile(job('only: [tags]')), { unplanned });
  assert.deepEqual(await planFile(job('stage: .pre')), { unplanned });
});

test('variables set by users override the file, and the file overrides predefined ones', async () => {
  const file = `
variables: { A: file, CI_COMMIT_BRANCH: file }
job: { script: x, variables: { B: job }, rules: [{ if: $A == "person" && $B == "job" && $CI_COMMIT_BRANCH == "file" }] }
`;
  assert.deepEqual(await namesIn(file, onBranch('main', { variables: { A: 'person' } })), ['job']);
  assert.deepEqual(await namesIn(file), []);
});

test('values of the file may refer to each other; raw ones stay unexpanded', async () => {
  const file = `
variables: { A: "$B-a", B: b, LOOP: "$LOOP", R: { value: "$B", expand: false } }
job: { script: x, tags: ["$A", "%B%", "$NONE"], rules: [{ if: '$A == "b-a" && $R == "$B"' }] }
`;
  assert.deepEqual((await plannedJob(file)).tags, ['b-a', 'b']);
});

test('jobs inherit the selected variables', async () => {
  const [all, none, some] = (
    await planPipeline(`
variables: { A: 1, B: 2 }
a: { script: x }
b: { script: x, inherit: { variables: false } }
c: { script: x, inherit: { variables: [B] } }
`)
  ).jobs;
  assert.deepEqual(
    [all, none, some].map((one) => variableValues(one!)),
    [{ A: '1', B: '2' }, {}, { B: '2' }],
  );
});

test('expands variables in tags, images, environments and resource groups', async () => {
  const file = `
job:
  script: x
  parallel: { matrix: [{ OS: [arch], SECRET_IMAGE: [x] }] }
  tags: ["$OS"]
  image: "$OS:$LATER-$PERSON"
  services: ["db:$OS"]
  environment: { name: "review/$CI_COMMIT_BRANCH", url: "https://$CI_ENVIRONMENT_SLUG.example.com" }
  resource_group: "$OS-$PERSON"
`;
  const found = await plannedJob(file, onBranch('main', { variables: { PERSON: 'p' } }), 'job: [arch, x]');
  assert.deepEqual(found.tags, ['arch']);
  // A value set by a user may be a secret, so it is expanded only where the job runs.
  assert.equal(found.image?.name, 'arch:$LATER-$PERSON');
  assert.equal(found.services[0]?.name, 'db:arch');
  assert.equal(found.environment?.name, 'review/main');
  assert.equal(found.environment?.url, 'https://$CI_ENVIRONMENT_SLUG.example.com');
  assert.equal(found.resource_group, 'arch-p');
});

test('auto_stop_in may be a variable, or never', async () => {
  const file = (time: string) =>
    job(`environment: { name: e, auto_stop_in: ${time} }, variables: { T: 2 days }`);
  const timeOf = async (time: string, conditions = onMain) =>
    (await plannedJob(file(time), conditions)).environment?.auto_stop_in;
  assert.equal(await timeOf('"$T"'), '2 days');
  assert.equal(await timeOf('"${LIFE}"', onBranch('main', { variables: { LIFE: 'never' } })), 'never');
  assert.equal(await timeOf('"$NOBODY"'), '');
  assert.equal(await timeOf('never'), 'never');
  const wrong = await compileErrors(file('soon'));
  assert.deepEqual(wrong, ['jobs:job:environment auto stop in should be a duration']);
});

test('rules see variables of the job and its matrix entry', async () => {
  const file = job('parallel: 3, rules: [{ if: \'$CI_NODE_INDEX == "2" && $CI_NODE_TOTAL == "3"\' }]');
  assert.deepEqual(await namesIn(file), ['job 2/3']);
  assert.deepEqual(
    await namesIn(job('rules: [{ if: \'$CI_JOB_NAME == "job" && $CI_JOB_STAGE == "test"\' }]')),
    ['job'],
  );
  const pattern = job('rules: [{ if: $CI_JOB_NAME !~ $NOT_THESE }]');
  assert.deepEqual(await namesIn(pattern), ['job']);
  assert.deepEqual(await namesIn(pattern, onBranch('main', { variables: { NOT_THESE: '/^jo/' } })), []);
});

test('a need for a missing job is an error, unless it is optional', async () => {
  const file = (need: string): string => `
build: { script: x, stage: build, only: [tags] }
test: { script: x, needs: [${need}] }
`;
  assert.deepEqual(await planFile(file('build')), {
    unplanned: {
      refused: 'error',
      text:
        "'test' job needs 'build' job, but 'build' does not exist in the pipeline. " +
        'This might be because of the only, except, or rules keywords. ' +
        'To need a job that sometimes does not exist in the pipeline, use needs:optional.',
    },
  });
  const [found] = (await planPipeline(file('{ job: build, optional: true }'))).jobs;
  assert.deepEqual(found?.needs, []);
});

test('lists only stages that have jobs, and orders jobs by stage', async () => {
  const plan = await planPipeline(`
stages: [one, two, three]
c: { script: x, stage: three }
a: { script: x, stage: one }
z: { script: x, stage: .post }
b: { script: x, stage: one }
`);
  assert.deepEqual(plan.stages, ['one', 'three', '.post']);
  assert.deepEqual(
    plan.jobs.map(({ name, stage_position }) => `${name}${stage_position}`),
    ['a1', 'b1', 'c3', 'z4'],
  );
});

test('a pipeline has at most 500 jobs', async () => {
  const some = (count: number): string =>
    Array.from({ length: count }, (_, at) => `j${at}: { script: x, parallel: 100 }`).join('\n');
  assert.equal((await planPipeline(some(5))).jobs.length, 500);
  assert.deepEqual(await planFile(some(6)), {
    unplanned: { refused: 'error', text: 'The number of jobs has exceeded the limit of 500.' },
  });
  await assert.rejects(compileJobs(some(21)), /too many jobs/);
});

test('the same arguments give the same plan', async () => {
  const file = 'a: { script: x, rules: [{ if: $A =~ /x/ }, { when: manual }] }\nb: { script: y, needs: [a] }';
  assert.deepEqual(await planFile(file), await planFile(file));
});
