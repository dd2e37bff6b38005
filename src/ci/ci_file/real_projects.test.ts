/** Tests the pipelines of whole files modelled on real projects. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Conditions } from './conditions.ts';
import {
  type Files,
  compiled,
  onBranch,
  onMain,
  onMergeRequest,
  onTag,
  planPipeline,
  planFile,
} from '../../../test/support/ci/ci_file.ts';
import type { Plan } from './plan.ts';

/** Formats a plan, one line for each stage: `stage: a, b (manual) <- needs of b`. */
const shown = ({ stages, jobs }: Plan): string[] =>
  stages.map((stage) => {
    const own = jobs.filter((job) => job.stage === stage);
    return `${stage}: ${own
      .map(
        ({ name, when, needs }) =>
          name +
          (when === 'on_success' ? '' : ` (${when})`) +
          (needs === null ? '' : ` <- [${needs.map((need) => need.job).join(' ')}]`),
      )
      .join(', ')}`;
  });

const shape = async (file: string, conditions: Conditions = onMain, files: Files = {}) =>
  shown(await planPipeline(file, conditions, files));

test('a C project: a matrix with images, numbered slices, and jobs for merge requests alone', async () => {
  const file = `
default: { timeout: 2h }
stages: [build, test, analyze]
workflow:
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_TAG
    - if: $CI_COMMIT_REF_PROTECTED == "true"
unit:
  image: $image
  stage: test
  needs: []
  variables: { LONG: false }
  script: [make, make check]
  after_script:
    - |
      if test "$CI_JOB_STATUS" != success
      then
        cat failures
      fi
  parallel:
    matrix:
      - { name: linux-old, image: "old:1" }
      - { name: linux-new, image: "new:2", CC: clang }
  artifacts: { paths: [failures], reports: { junit: out.xml }, when: on_failure }
  cache: { key: { files: [configure.ac] }, paths: [.ccache] }
package: { stage: build, timeout: 6h, script: make dist, artifacts: { paths: [dist] } }
slices: { stage: test, needs: [{ job: package, artifacts: true }], script: 'run "$CI_NODE_INDEX" "$CI_NODE_TOTAL"', parallel: 3 }
style: { stage: analyze, needs: [], allow_failure: true, script: style, rules: [{ if: $CI_PIPELINE_SOURCE == "merge_request_event" }] }
`;
  const main = onBranch('main', { predefined: { ...onMain.predefined, CI_COMMIT_REF_PROTECTED: 'true' } });
  const plan = await planPipeline(file, main);
  assert.deepEqual(shown(plan), [
    'build: package',
    'test: unit: [linux-old, old:1] <- [], unit: [linux-new, new:2, clang] <- [], ' +
      'slices 1/3 <- [package], slices 2/3 <- [package], slices 3/3 <- [package]',
  ]);
  assert.deepEqual(
    plan.jobs.map(({ image, timeout }) => [image?.name, timeout]),
    [
      [undefined, 21_600],
      ['old:1', 7200],
      ['new:2', 7200],
      [undefined, 7200],
      [undefined, 7200],
      [undefined, 7200],
    ],
  );
  assert.deepEqual((await shape(file, onMergeRequest)).at(-1), 'analyze: style <- []');
  assert.deepEqual('unplanned' in (await planFile(file)), true);
});

test('a Python project: templates by merge keys, rules by what changed, services, codes that may fail', async () => {
  const file = `
stages: [lint, test, deploy]
.image: &image { image: debian, before_script: [apt-get update] }
.git: &git { rules: [{ changes: ["*.py", "lib/**/*"] }, { if: $CI_COMMIT_TAG }] }
format: { <<: [*image, *git], stage: lint, script: [check], allow_failure: { exit_codes: [1, 77] } }
unit: { <<: *image, script: [unit], services: [{ name: "db:1", alias: db }] }
database: { <<: *git, script: [data] }
publish: { stage: deploy, script: [push], dependencies: [unit], rules: [{ if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH, changes: [lib/setup.py] }] }
`;
  const changed = (paths: string[]) => onBranch('main', { changed: async () => paths });
  assert.deepEqual(await shape(file, changed(['README'])), ['test: unit']);
  assert.deepEqual(await shape(file, changed(['a.py'])), ['lint: format', 'test: unit, database']);
  assert.deepEqual(await shape(file, changed(['lib/setup.py'])), [
    'lint: format',
    'test: unit, database',
    'deploy: publish',
  ]);
  assert.deepEqual(await shape(file, onTag('v1')), ['lint: format', 'test: unit, database']);
});

test('a prover: modes in included files, many jobs that extend, keys twice, empty paths', async () => {
  const files = {
    'ci/modes/full.yml': '.mode: { variables: { MODE: full } }',
    'ci/modes/quick.yml': '.mode: { variables: { MODE: quick }, interruptible: true }',
  };
  const file = `
include:
  - { local: /ci/modes/full.yml, rules: [{ if: $FULL }] }
  - { local: /ci/modes/quick.yml, rules: [{ if: $FULL == null }] }
stages: [build, libs, deploy]
.base: { extends: .mode, script: [make], artifacts: { paths: [], when: always } }
.lib: { extends: .base, stage: libs, needs: [build], except: [/^skip-/] }
build: { extends: .base, stage: build }
lib:one: { extends: .lib }
lib:two: { extends: .lib, needs: ["lib:one"] , needs: [build, "lib:one"] }
docs: { extends: .base, stage: deploy, only: [main, tags], environment: { name: docs } }
`;
  assert.deepEqual(await shape(file, onMain, files), [
    'build: build',
    'libs: lib:one <- [build], lib:two <- [build lib:one]',
    'deploy: docs',
  ]);
  assert.deepEqual(await shape(file, onBranch('skip-libs'), files), ['build: build']);
  const quick = (await planPipeline(file, onMain, files)).jobs[0];
  assert.deepEqual([quick?.variables[0]?.value, quick?.interruptible], ['quick', true]);
  const full = await planPipeline(file, onBranch('main', { variables: { FULL: '1' } }), files);
  assert.equal(full.jobs[0]?.variables[0]?.value, 'full');
  const { warnings } = await compiled(file, { files });
  assert.deepEqual(
    warnings.map(({ text, position: place }) => `${place?.line}: ${text}`),
    ['10: duplicate key: needs, the last one counts'],
  );
});

test('a toolkit: lists of parents, jobs by a pattern out of a variable, a named pipeline', async () => {
  const files = {
    '.gitlab/rules.yml': `
.run_auto: { rules: [{ if: $CI_JOB_NAME !~ $ONLY_JOBS && $ONLY_JOBS != null, when: never }, { if: $CI_COMMIT_TAG, when: on_success, variables: { KIND: release } }, { when: manual }] }
`,
    '.gitlab/linux.yml': `
.linux: { image: fedora, tags: [linux, $SIZE], variables: { SIZE: small } }
.cmake: { script: [cmake, ctest], interruptible: true }
`,
  };
  const file = `
include: [{ local: .gitlab/rules.yml }, .gitlab/linux.yml]
workflow: { name: "Tests of $CI_COMMIT_REF_NAME", auto_cancel: { on_new_commit: interruptible }, rules: [{ when: always }] }
stages: [build, test]
build: { stage: build, extends: [.linux, .cmake, .run_auto] }
build-big: { stage: build, extends: [.linux, .cmake, .run_auto], variables: { SIZE: big } }
test: { stage: test, extends: [.linux, .cmake, .run_auto], needs: [{ job: build, optional: true }] }
`;
  const plan = await planPipeline(file, onTag('v2'), files);
  assert.deepEqual(shown(plan), ['build: build, build-big', 'test: test <- [build]']);
  assert.equal(plan.name, 'Tests of v2');
  assert.deepEqual(plan.jobs[1]?.tags, ['linux', 'big']);
  const only = onBranch('main', { variables: { ONLY_JOBS: '/^test/' } });
  assert.deepEqual(await shape(file, only, files), ['test: test (manual) <- []']);
});

test('a runner: files by rules, references among rules, a matrix needed in part', async () => {
  const files = {
    '.ci/common.yml': '.go: { image: "go:$GO" }\nvariables: { GO: "1.26" }',
    '.ci/rules.yml':
      '.rules: { main: [{ if: $CI_COMMIT_BRANCH == "main" }], tags: [{ if: $CI_COMMIT_TAG }] }',
    'lib/ci:build.yml@v3': '.cached: { cache: { key: go, paths: [mod] } }',
  };
  const file = `
include:
  - local: /.ci/common.yml
  - local: /.ci/rules.yml
  - { project: lib/ci, ref: v3, file: [/build.yml] }
binaries:
  extends: [.go, .cached]
  stage: build
  parallel: { matrix: [{ OS: [linux, darwin], ARCH: [amd64, arm64] }] }
  script: [go build]
  rules: [!reference [.rules, main], !reference [.rules, tags]]
package: { extends: .go, script: [package], needs: [{ job: binaries, parallel: { matrix: [{ OS: linux, ARCH: [amd64, arm64] }] } }] }
sign: { script: [sign], needs: [{ job: package }, { job: notarize, optional: true }] }
notarize: { script: [x], only: [schedules] }
`;
  const plan = await planPipeline(file, onMain, files);
  assert.deepEqual(shown(plan), [
    'build: binaries: [linux, amd64], binaries: [linux, arm64], binaries: [darwin, amd64], binaries: [darwin, arm64]',
    'test: package <- [binaries: [linux, amd64] binaries: [linux, arm64]], sign <- [package]',
  ]);
  assert.equal(plan.jobs[0]?.image?.name, 'go:1.26');
  assert.equal(plan.jobs[0]?.cache[0]?.key, 'go');
});

test('a framework for chips: inputs with lists, local files by name alone, a job overridden by its name', async () => {
  const files = {
    'ci/upload.yml': `spec:
  inputs: { jobs: { type: array }, stage: { default: deploy } }
---
upload: { stage: "$[[ inputs.stage ]]", script: ["up $[[ inputs.stage ]]"], needs: "$[[ inputs.jobs ]]" }
`,
    'ci/build.yml': 'build: { stage: build, script: [one], tags: [fast] }\ncheck: { script: [check] }',
    'ci/actions:common.yml': '.retry: { retry: { max: 2, when: [runner_system_failure] } }',
  };
  const file = `
include:
  - ci/build.yml
  - { local: ci/upload.yml, inputs: { jobs: [build, check] } }
  - { project: ci/actions, file: common.yml }
build: { extends: .retry, script: [two] }
`;
  const plan = await planPipeline(file, onMain, files);
  assert.deepEqual(shown(plan), ['build: build', 'test: check', 'deploy: upload <- [build check]']);
  const [build] = plan.jobs;
  assert.deepEqual([build?.script, build?.tags, build?.retry?.max], [['two'], ['fast'], 2]);
});

test('a library for cards: many files of one project, references in scripts, releases', async () => {
  const names = ['deps', 'build', 'test', 'rules'];
  const bodies: Record<string, string> = {
    deps: '.deps: { before_script: [install] }',
    build: '.build: { script: [configure, make] }',
    test: '.test: { script: [ctest] }',
    rules: '.rules: { build: [{ if: $CI_COMMIT_BRANCH, changes: ["**/*.cpp"] }, { if: $CI_COMMIT_TAG }] }',
  };
  const files = Object.fromEntries(names.map((name) => [`lib/t:${name}.yaml@main`, bodies[name] ?? '']));
  const file = `
include: { project: lib/t, ref: main, file: [${names.map((name) => `/${name}.yaml`).join(', ')}] }
.all: { before_script: [!reference [.deps, before_script], echo], rules: [!reference [.rules, build]] }
build: { extends: .all, stage: build, parallel: { matrix: [{ GPU: [a, b] }] }, script: [!reference [.build, script], ls] }
test: { extends: .all, needs: [build], script: [!reference [.test, script]] }
release: { stage: deploy, script: [x], release: { tag_name: $CI_COMMIT_TAG, description: d }, rules: [{ if: $CI_COMMIT_TAG }] }
`;
  const plan = await planPipeline(file, onTag('v1'), files);
  assert.deepEqual(shown(plan), [
    'build: build: [a], build: [b]',
    'test: test <- [build: [a] build: [b]]',
    'deploy: release',
  ]);
  assert.deepEqual(plan.jobs[0]?.before_script, ['install', 'echo']);
  assert.deepEqual(plan.jobs[0]?.script, ['configure', 'make', 'ls']);
});

test('a desktop library: delayed jobs, retries by reason, coverage, a schedule', async () => {
  const file = `
stages: [check, build, coverage]
.only-default: { rules: [{ if: $CI_PIPELINE_SOURCE == "schedule", when: never }, { if: $CI_PIPELINE_SOURCE == "merge_request_event" }, { if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH }] }
.only-schedule: { rules: [{ if: $CI_PIPELINE_SOURCE == "schedule" }] }
style: { extends: .only-default, stage: check, script: [style], allow_failure: true }
build: { extends: .only-default, stage: build, script: [meson], retry: { max: 1, when: [runner_system_failure] }, coverage: '/^TOTAL.*\\s(\\d+)%$/', interruptible: true }
slow: { stage: build, script: [slow], rules: [!reference [.only-schedule, rules], { when: delayed, start_in: 5 minutes, allow_failure: true }] }
coverage: { extends: .only-default, stage: coverage, needs: [build], script: [lcov], allow_failure: { exit_codes: 77 } }
`;
  assert.deepEqual(await shape(file), [
    'check: style',
    'build: build, slow (delayed)',
    'coverage: coverage <- [build]',
  ]);
  const schedule = onBranch('main', {
    source: 'schedule',
    predefined: { ...onMain.predefined, CI_PIPELINE_SOURCE: 'schedule' },
  });
  assert.deepEqual(await shape(file, schedule), ['build: slow']);
  const slow = (await planPipeline(file)).jobs.find(({ name }) => name === 'slow');
  assert.deepEqual([slow?.start_in, slow?.allow_failure], [300, true]);
});

test('an old application: only and except, a job called spec, type, artifacts handed on', async () => {
  const file = `
image: "ruby:2.3"
cache: { key: ruby, paths: [vendor/ruby] }
variables: { SIZE: 1, "RAILS": test }
before_script: [source scripts/prepare]
types: [prepare, test, post-test, pages]
.tests: &tests { type: test, except: [/^docs\\/.*/], artifacts: { expire_in: 31d, when: always, paths: [knapsack/] } }
setup: { stage: prepare, script: [setup], except: ['/(^docs[\\/-].*|.*-docs$)/', triggers] }
spec: { <<: *tests, script: [rspec], allow_failure: yes }
lint: { type: test, script: [lint], cache: {}, dependencies: [], before_script: [] }
audit: { type: test, script: [audit], only: [main@group/project], allow_failure: no }
knapsack: { stage: post-test, script: [merge], dependencies: [setup, spec], only: [main, tags] }
pages: { stage: pages, script: [mv], artifacts: { paths: [public] }, only: [main@group/project], environment: { name: pages, url: "https://pages.example.com" } }
`;
  assert.deepEqual(await shape(file), [
    'prepare: setup',
    'test: spec, lint, audit',
    'post-test: knapsack',
    'pages: pages',
  ]);
  assert.deepEqual(await shape(file, onBranch('docs/x')), ['test: lint']);
  const jobs = (await planPipeline(file)).jobs;
  const [spec, lint] = [jobs.find(({ name }) => name === 'spec'), jobs.find(({ name }) => name === 'lint')];
  assert.deepEqual(
    [spec?.allow_failure, spec?.before_script, spec?.cache.length],
    [true, ['source scripts/prepare'], 1],
  );
  assert.deepEqual([lint?.before_script, lint?.cache, lint?.dependencies], [[], [], []]);
});

test('two small ones: a C compiler in two stages, and a reviewer without a clone', async () => {
  const compiler = `
default: { image: gcc, before_script: [mkdir build, cd build, cmake ..] }
stages: [build, test]
build: { stage: build, script: [make] }
test: { stage: test, script: [make, ctest] }
`;
  assert.deepEqual(await shape(compiler), ['build: build', 'test: test']);
  assert.deepEqual((await planPipeline(compiler)).jobs[0]?.before_script.at(1), 'cd build');
  const reviewer = `
stages: [open, review]
Open Merge Request: { stage: open, variables: { GIT_STRATEGY: none }, script: [curl], except: [main, tags] }
Review: { stage: review, image: go, script: [review], only: [branches], cache: { key: { files: [go.sum] }, paths: [mod] } }
`;
  assert.deepEqual(await shape(reviewer, onBranch('x')), ['open: Open Merge Request', 'review: Review']);
  assert.deepEqual(await shape(reviewer), ['review: Review']);
});
