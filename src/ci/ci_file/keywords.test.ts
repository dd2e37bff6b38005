/** Tests the effect of each keyword on a job. Decisions (rules, only, workflow) are in plan.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  compiled,
  compileErrors,
  compileJob,
  compileJobs,
  onBranch,
  variableValues,
} from '../../../test/support/ci/ci_file.ts';
import { toMergedYaml } from './syntax/merged_yaml.ts';
import { parseDuration } from './keywords/duration.ts';

const configOf = async (content: string) => {
  const { config, errors } = await compiled(content);
  assert.deepEqual(errors, []);
  assert.ok(config);
  return config;
};

test('default stages are build, test and deploy, between .pre and .post', async () => {
  assert.deepEqual((await configOf('a: { script: x }')).stages, ['.pre', 'build', 'test', 'deploy', '.post']);
  const own = await configOf('stages: [one, .post, two, .pre, one]\na: { script: x, stage: one }');
  assert.deepEqual(own.stages, ['.pre', 'one', 'two', '.post']);
  assert.equal((await compileJob('job: { script: x }')).stage, 'test');
  assert.equal((await compileJob('types: [a]\njob: { script: x, type: a }')).stage, 'a');
});

test('scripts are a line, a list of lines, or nested lists', async () => {
  const job = await compileJob('job: { before_script: a, script: [b, [c, [d]]], after_script: [[e], "5"] }');
  assert.deepEqual([job.before_script, job.script, job.after_script], [['a'], ['b', 'c', 'd'], ['e', '5']]);
});

test('a job may be called spec, true or 1, and null keywords are ignored', async () => {
  const names = (
    await compileJobs('spec: { script: x }\ntrue: { script: y, before_script: }\n1: { script: z }')
  ).map(({ name }) => name);
  assert.deepEqual(names, ['spec', 'true', '1']);
});

test('default, workflow and types are jobs if they have a script', async () => {
  const file = 'default: { script: a }\nworkflow: { script: b }\ntypes: { script: c, stage: deploy }';
  const { jobs, stages, workflow } = await configOf(file);
  assert.deepEqual(
    jobs.map(({ name, script }) => [name, ...script]),
    [
      ['default', 'a'],
      ['workflow', 'b'],
      ['types', 'c'],
    ],
  );
  assert.deepEqual(stages, ['.pre', 'build', 'test', 'deploy', '.post']);
  assert.equal(workflow.rules, null);
});

test('images and services are names or hashes', async () => {
  const job = await compileJob(`job:
  script: x
  image: { name: node:26, entrypoint: [""], pull_policy: [always, if-not-present], docker: { platform: linux/arm64, user: dave } }
  services: [redis, { name: postgres:18, alias: db, command: [postgres], variables: { A: b }, pull_policy: never }]`);
  const docker = { platform: 'linux/arm64', user: 'dave' };
  const pull_policy = ['always', 'if-not-present'];
  assert.deepEqual(job.image, { name: 'node:26', entrypoint: [''], pull_policy, docker });
  assert.deepEqual(
    job.services.map(({ name, alias, command, pull_policy }) => ({ name, alias, command, pull_policy })),
    [
      { name: 'redis', alias: null, command: null, pull_policy: [] },
      { name: 'postgres:18', alias: 'db', command: ['postgres'], pull_policy: ['never'] },
    ],
  );
  assert.deepEqual(job.services[1]?.variables, [{ key: 'A', value: 'b', raw: false }]);
});

test('`variables` takes values or hashes', async () => {
  const { variables } = await configOf(
    'variables: { A: 1, B: { value: x, description: d, options: [x, y], expand: false }, C: { options: [p, q] } }\nj: { script: x }',
  );
  assert.deepEqual(variables, [
    { key: 'A', value: '1', raw: false },
    { key: 'B', value: 'x', raw: true, description: 'd', options: ['x', 'y'] },
    { key: 'C', value: 'p', raw: false, options: ['p', 'q'] },
  ]);
});

test('jobs inherit default and global keywords that they do not set', async () => {
  const file = `
default: { before_script: [a], tags: [t], retry: 1, timeout: 2h, interruptible: true, artifacts: { paths: [p] } }
image: ruby
cache: { paths: [c] }
one: { script: x }
two: { script: x, before_script: [], tags: [], image: node, retry: 0, timeout: 5 min, interruptible: false, cache: [] }
three: { script: x, inherit: { default: false } }
four: { script: x, inherit: { default: [tags, image] } }
`;
  const [one, two, three, four] = await compileJobs(file);
  const shown = (job: typeof one) => [
    job?.before_script,
    job?.tags,
    job?.image?.name,
    job?.retry?.max,
    job?.timeout,
    job?.interruptible,
    job?.artifacts?.paths,
    job?.cache.length,
  ];
  assert.deepEqual(shown(one), [['a'], ['t'], 'ruby', 1, 7200, true, ['p'], 1]);
  assert.deepEqual(shown(two), [[], [], 'node', 0, 300, false, ['p'], 0]);
  assert.deepEqual(shown(three), [[], [], undefined, undefined, null, null, undefined, 0]);
  assert.deepEqual(shown(four), [[], ['t'], 'ruby', undefined, null, null, undefined, 0]);
});

test('extends merges deeply, in the order of parents, and replaces lists', async () => {
  const file = `
.one: { script: [a], variables: { A: 1, B: 1 }, tags: [x, y] }
.two: { variables: { B: 2, C: 2 }, image: node }
.three: { extends: [.one, .two], variables: { D: 3 } }
job: { extends: .three, tags: [z], variables: { A: 4 } }
`;
  const job = await compileJob(file);
  assert.deepEqual(variableValues(job), { A: '4', B: '2', C: '2', D: '3' });
  assert.deepEqual([job.script, job.tags, job.image?.name], [['a'], ['z'], 'node']);
});

test('references are replaced by what they name', async () => {
  const file = `
.a: { script: [one, two], variables: { V: w }, rules: [{ if: $X }] }
.b: { script: [!reference [.a, script], three] }
job:
  script: [zero, !reference [.b, script]]
  variables: { K: !reference [.a, variables, V] }
  rules: [!reference [.a, rules], { when: never }]
`;
  const job = await compileJob(file);
  assert.deepEqual(job.script, ['zero', 'one', 'two', 'three']);
  assert.deepEqual(variableValues(job), { K: 'w' });
  assert.equal(job.rules?.length, 2);
});

test('the including file overrides included files, in their order', async () => {
  const files = {
    'ci/one.yml': 'variables: { A: 1, B: 1 }\nlib: { script: [one], tags: [t] }',
    'ci/two.yml': 'include: /ci/three.yml\nvariables: { B: 2 }',
    'ci/three.yml': 'variables: { C: 3 }\nthree: { script: x }',
    'g/p:lib.yml@v1': 'remote: { script: x }',
  };
  const file = `
include:
  - ci/one.yml
  - local: /ci/two.yml
  - { project: g/p, ref: v1, file: [lib.yml] }
lib: { script: [own] }
`;
  const { config, includes } = await compiled(file, { files });
  assert.deepEqual(
    config?.variables.map(({ key, value }) => key + value),
    ['A1', 'B2', 'C3'],
  );
  const jobs = config?.jobs.map(({ name, script, tags }) => [name, ...script, ...tags].join(' '));
  assert.deepEqual(jobs, ['lib own t', 'three x', 'remote x']);
  assert.deepEqual(
    includes.map(({ type, location, from }) => `${from}: ${type} ${location}`),
    [
      '.gitlab-ci.yml: local ci/one.yml',
      '.gitlab-ci.yml: local ci/two.yml',
      'ci/two.yml: local ci/three.yml',
      '.gitlab-ci.yml: file lib.yml',
    ],
  );
  assert.deepEqual(includes[3]?.extra, { project: 'g/p', ref: 'v1' });
});

test('includes may be a list, depend on rules, and use variables', async () => {
  const files = {
    'ci/a.yml': 'a: { script: x }',
    'ci/b.yml': 'b: { script: x }',
    'main.yml': 'm: { script: x }',
  };
  const names = async (content: string, ref = 'main') => {
    const { config, errors } = await compiled(content, { files, conditions: onBranch(ref) });
    return config?.jobs.map(({ name }) => name) ?? errors.map(({ text }) => text);
  };
  assert.deepEqual(await names('include: { local: "ci/*.yml" }'), ['a', 'b']);
  assert.deepEqual(await names('include: "$CI_COMMIT_BRANCH.yml"'), ['m']);
  const ruled = `
include:
  - { local: ci/a.yml, rules: [{ if: $CI_COMMIT_BRANCH == "main" }] }
  - { local: ci/b.yml, rules: [{ if: $CI_COMMIT_BRANCH == "main", when: never }, { when: always }] }
z: { script: x }`;
  assert.deepEqual(await names(ruled), ['a', 'z']);
  assert.deepEqual(await names(ruled, 'other'), ['b', 'z']);
});

test('inputs are inserted with their types', async () => {
  const lib = `spec:
  inputs:
    stage: { default: test }
    lines: { type: array, default: [a, b] }
    count: { type: number, default: 2 }
    flag: { type: boolean, default: false }
    name:
---
"$[[ inputs.name ]]-job":
  stage: $[[ inputs.stage ]]
  script: $[[ inputs.lines ]]
  parallel: $[[ inputs.count ]]
  allow_failure: $[[ inputs.flag ]]
  variables: { V: "x $[[ inputs.name | truncate(0,2) ]] $[[inputs.count]]" }
`;
  const [job, second] = await compileJobs(
    'include: { local: lib.yml, inputs: { name: abc, stage: deploy } }',
    {
      'lib.yml': lib,
    },
  );
  assert.deepEqual([job?.name, second?.name, job?.stage], ['abc-job 1/2', 'abc-job 2/2', 'deploy']);
  assert.deepEqual([job?.script, job?.allow_failure], [['a', 'b'], false]);
  assert.deepEqual(variableValues(job!), { V: 'x ab 2' });
});

test('parallel creates jobs, and needs and dependencies follow them', async () => {
  const file = `
n: { script: x, parallel: 2 }
m: { script: x, parallel: { matrix: [{ A: [a, b], B: 1 }, { A: c }] }, variables: { A: own, Z: z } }
after: { script: x, stage: deploy, needs: [n, { job: m, parallel: { matrix: [{ A: [b], B: "1" }] } }] }
all: { script: x, stage: deploy, dependencies: [m] }
`;
  const jobs = await compileJobs(file);
  assert.deepEqual(
    jobs.map(({ name }) => name),
    ['n 1/2', 'n 2/2', 'm: [a, 1]', 'm: [b, 1]', 'm: [c]', 'after', 'all'],
  );
  assert.deepEqual(jobs[0]?.parallel, { index: 1, total: 2, matrix: null });
  assert.deepEqual(jobs[2]?.parallel, { index: 1, total: 3, matrix: { A: 'a', B: '1' } });
  assert.deepEqual(variableValues(jobs[2]), { Z: 'z', A: 'a', B: '1' });
  assert.deepEqual(
    jobs[5]?.needs?.map(({ job }) => job),
    ['n 1/2', 'n 2/2', 'm: [b, 1]'],
  );
  assert.deepEqual(jobs[6]?.dependencies, ['m: [a, 1]', 'm: [b, 1]', 'm: [c]']);
});

test('needs are names, or hashes with artifacts and optional', async () => {
  const needs = (
    await compileJob(
      'a: { script: x }\nb: { script: x }\njob: { script: x, needs: [a, { job: b, artifacts: false, optional: true }] }',
    )
  ).needs;
  assert.deepEqual(needs, [
    { job: 'a', artifacts: true, optional: false, matrix: null },
    { job: 'b', artifacts: false, optional: true, matrix: null },
  ]);
  assert.equal(
    (await compileJob('a: { script: x }\njob: { script: x, needs: [{ job: a }] }')).needs?.[0]?.artifacts,
    true,
  );
  assert.deepEqual((await compileJob('job: { script: x, needs: [] }')).needs, []);
  assert.equal((await compileJob('job: { script: x }')).needs, null);
});

test('reads when, allow_failure and start_in', async () => {
  const of = async (part: string) => {
    const { when, allow_failure, allow_failure_exit_codes, start_in } = await compileJob(
      `job: { script: x, ${part} }`,
    );
    return [when, allow_failure, allow_failure_exit_codes, start_in];
  };
  assert.deepEqual(await of(''), ['on_success', false, [], null]);
  assert.deepEqual(await of('when: manual'), ['manual', true, [], null]);
  assert.deepEqual(await of('when: manual, allow_failure: false'), ['manual', false, [], null]);
  assert.deepEqual(await of('allow_failure: yes'), ['on_success', true, [], null]);
  assert.deepEqual(await of('allow_failure: { exit_codes: [1, 2] }'), ['on_success', false, [1, 2], null]);
  assert.deepEqual(await of('allow_failure: { exit_codes: 7 }'), ['on_success', false, [7], null]);
  assert.deepEqual(await of('when: delayed, start_in: 30 minutes'), ['delayed', false, [], '30 minutes']);
});

test('retry is a number, or a hash with reasons', async () => {
  const of = async (retry: string) => (await compileJob(`job: { script: x, retry: ${retry} }`)).retry;
  assert.deepEqual(await of('2'), { max: 2, when: ['always'], exit_codes: [] });
  assert.deepEqual(await of('{ max: 1, when: script_failure, exit_codes: 137 }'), {
    max: 1,
    when: ['script_failure'],
    exit_codes: [137],
  });
  assert.deepEqual(await of('{ when: [api_failure, unknown_failure] }'), {
    max: 2,
    when: ['api_failure', 'unknown_failure'],
    exit_codes: [],
  });
});

test('artifacts set paths, condition, expiry and reports', async () => {
  const { artifacts } = await compileJob(`job:
  script: x
  artifacts:
    { name: n, untracked: true, paths: [a, b], exclude: [c], when: always, expire_in: 1 week, public: false,
      reports: { junit: r.xml, dotenv: [e.env], coverage_report: { coverage_format: cobertura, path: c.xml } } }`);
  assert.deepEqual(artifacts, {
    name: 'n',
    untracked: true,
    paths: ['a', 'b'],
    exclude: ['c'],
    when: 'always',
    expire_in: '1 week',
    expose_as: null,
    access: 'developer',
    reports: { junit: ['r.xml'], dotenv: ['e.env'], cobertura: ['c.xml'] },
    coverage_format: 'cobertura',
  });
  assert.deepEqual((await compileJob('job: { script: x, artifacts: { paths: [] } }')).artifacts?.paths, []);
  assert.equal(
    (await compileJob('job: { script: x, artifacts: { expire_in: never } }')).artifacts?.expire_in,
    'never',
  );
});

test('`cache` takes one cache or a list', async () => {
  const { cache } = await compileJob(`job:
  script: x
  cache:
    - { key: "$CI_COMMIT_REF_SLUG", paths: [a], policy: pull, when: always, fallback_keys: [b] }
    - { key: { files: [lock], prefix: p }, untracked: true }
    - { key: empty }`);
  const rest = { unprotect: false };
  assert.deepEqual(cache, [
    {
      key: '$CI_COMMIT_REF_SLUG',
      paths: ['a'],
      untracked: false,
      policy: 'pull',
      when: 'always',
      fallback_keys: ['b'],
      ...rest,
    },
    {
      key: { files: ['lock'], prefix: 'p' },
      paths: [],
      untracked: true,
      policy: 'pull-push',
      when: 'on_success',
      fallback_keys: [],
      ...rest,
    },
  ]);
});

test('reads environment, coverage, resource group, interruptible, tags and hooks', async () => {
  const job = await compileJob(`job:
  script: x
  environment: { name: review/x, url: https://x, on_stop: stop, auto_stop_in: 1 day, deployment_tier: staging }
  coverage: '/Total: (\\d+)%/'
  resource_group: prod
  interruptible: true
  tags: [a, '5']
  hooks: { pre_get_sources_script: [h] }
stop: { script: x, environment: { name: review/x, action: stop } }`);
  assert.deepEqual(job.environment, {
    name: 'review/x',
    url: 'https://x',
    on_stop: 'stop',
    action: 'start',
    auto_stop_in: '1 day',
    deployment_tier: 'staging',
  });
  assert.deepEqual(
    [job.coverage, job.resource_group, job.interruptible, job.tags, job.pre_get_sources_script],
    ['/Total: (\\d+)%/', 'prod', true, ['a', '5'], ['h']],
  );
});

test('keywords that are only stored stay as written', async () => {
  const { release, secrets, id_tokens } = await compileJob(
    'job: { script: x, release: { tag_name: v, description: d }, secrets: { A: { vault: p } }, id_tokens: { T: { aud: u } } }',
  );
  assert.deepEqual(
    [release, secrets, id_tokens],
    [{ tag_name: 'v', description: 'd' }, { A: { vault: 'p' } }, { T: { aud: 'u' } }],
  );
});

test('reads durations in natural language', () => {
  const rows: [string, number | null][] = [
    ['42', 42],
    ['3 mins 4 sec', 184],
    ['2h20min', 8400],
    ['2 hrs 20 min', 8400],
    ['1:30:00', 5400],
    ['6 mos 1 day', 15_638_400],
    ['47 yrs 6 mos and 4d', 47 * 31_557_600 + 6 * 2_592_000 + 4 * 86_400],
    ['3 weeks and 2 days', 1_987_200],
    ['1.5h', 5400],
    ['', null],
    ['soon', null],
    ['1 2', null],
    ['x'.repeat(200), null],
    ['never', null],
  ];
  for (const [text, seconds] of rows) assert.equal(parseDuration(text), seconds, text);
});

test('the merged file is YAML with the same meaning', async () => {
  const file = `
include: lib.yml
.t: { variables: { A: "010", B: 1.0, C: "yes", D: "a: b", E: null, F: "2001-01-01", G: "1,000" }, script: [a] }
job: { extends: .t, script: [!reference [.t, script], "b\\nc"], tags: [l] }
`;
  const first = await compiled(file, { files: { 'lib.yml': 'lib: { script: y }' } });
  const text = toMergedYaml(first.root!);
  assert.match(text, /^---\nlib:\n {2}script: "?y"?\n/);
  const again = await compiled(text);
  const plain = (value: unknown) =>
    JSON.parse(JSON.stringify(value, (key, part) => (key === 'position' ? undefined : part)));
  assert.deepEqual(plain(again.config), plain(first.config));
});

test('errors of one part leave the others readable', async () => {
  const file = 'a: { script: 5 }\nb: { script: [5] }\nc: { script: x, tags: 1 }\nd: { script: x, stage: 5 }';
  assert.equal((await compileErrors(file)).length, 4);
});
