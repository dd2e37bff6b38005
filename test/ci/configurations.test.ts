/** Whole configurations as projects have them: the lint result, and the jobs that a push creates. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { SeededGroup } from '../support/seed.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { type Configured, configure, makeAcceptance } from './configurations.ts';

let gantry: TestService;
let group: SeededGroup;
before(async () => {
  gantry = await startTestService();
  group = await makeAcceptance(gantry);
});
after(async () => await gantry.close());

/** Expects no lint errors. */
const valid = async (name: string, warnings: string[] = []): Promise<Configured> => {
  const configured = await configure(gantry, group, name);
  const { lint } = configured;
  assert.deepEqual([lint.valid, lint.errors, lint.warnings], [true, [], warnings]);
  return configured;
};

type Valued = { variables: { key: string; value: string }[] } | undefined;

const valueOf = (job: Valued, key: string): string | undefined =>
  job?.variables.findLast((one) => one.key === key)?.value;

test('a C library', async () => {
  const { main, branch, tag, request } = await valid('c_library');
  const slices = Array.from({ length: 10 }, (_, at) => `slices ${at + 1}/10 <- [package]`).join(', ');
  const units = ['[old, debian:$name]', '[new, debian:$name]', '[clang, fedora, clang]'];
  const common = [
    'build: package',
    `test: ${units.map((unit) => `unit: ${unit} <- []`).join(', ')}, ${slices}`,
  ];
  assert.deepEqual(main?.shape, [...common, 'analyze: docs']);
  assert.deepEqual((await tag('v1'))?.shape, [...common, 'analyze: docs']);
  assert.equal(await branch('topic'), null);
  assert.deepEqual((await request('asked'))?.shape, [...common, 'analyze: style <- [], docs']);
  assert.equal(main?.job('package').timeout, 6 * 3600);
  const unit = main?.job('unit: [new, debian:$name]');
  assert.ok(unit);
  assert.deepEqual([unit.timeout, unit.image?.name, unit.script], [2 * 3600, 'debian:new', ['make check']]);
  assert.deepEqual([valueOf(unit, 'LONG_TESTS'), unit.before_script], ['false', ['tools/prepare.sh']]);
  assert.equal(unit.after_script.length, 2);
});

test('the tools of a store', async () => {
  const { main, branch, tag } = await valid('store_tools');
  const all = ['lint: format, metadata', 'test: unit', 'deploy: publish'];
  assert.deepEqual(main?.shape, all, 'of a first push, all is new');
  assert.deepEqual((await branch('words', { README: 'x' }))?.shape, ['test: unit']);
  assert.deepEqual((await branch('code', { 'lib/deep/a.py': 'x' }))?.shape, ['lint: format', 'test: unit']);
  const inData = { 'metadata/a/b.yml': 'x' };
  assert.deepEqual((await branch('data', inData))?.shape, ['lint: metadata', 'test: unit']);
  assert.deepEqual((await branch('main', { 'lib/setup.py': 'x' }))?.shape, [
    'lint: format',
    'test: unit',
    'deploy: publish',
  ]);
  assert.deepEqual((await tag('v1.2'))?.shape, [
    'lint: format, metadata',
    'test: unit',
    'deploy: publish (manual)',
  ]);
  const unit = main?.job('unit');
  assert.deepEqual([unit?.services[0]?.name, unit?.services[0]?.alias], ['postgres:15', 'db']);
  assert.deepEqual(main?.job('format').allow_failure_exit_codes, [1, 77]);
});

test('a prover and its libraries', async () => {
  const { main, branch, tag, schedule, withVariables } = await valid('prover', [
    'duplicate key: needs, the last one counts',
  ]);
  const libraries = 'libraries: library:algebra <- [build], library:analysis <- [build; library:algebra]';
  assert.deepEqual(main?.shape, ['build: build', libraries, 'deploy: docs']);
  assert.deepEqual((await tag('v1'))?.shape, ['build: build', libraries, 'deploy: docs']);
  assert.deepEqual((await branch('topic'))?.shape, ['build: build', libraries]);
  assert.deepEqual((await branch('skip-libraries'))?.shape, ['build: build']);
  assert.deepEqual((await schedule())?.shape, [
    'build: build',
    `${libraries}, library:nightly <- [build]`,
    'deploy: docs',
  ]);
  const full = await withVariables({ FULL: 'true' });
  assert.deepEqual([valueOf(full?.job('build'), 'MODE'), full?.job('build').tags], ['full', ['large']]);
  assert.deepEqual([valueOf(main?.job('build'), 'MODE'), main?.job('build').tags], ['quick', []]);
  assert.equal(main?.job('docs').environment?.name, 'docs/main');
  assert.deepEqual([main?.job('build').interruptible, main?.job('docs').interruptible], [true, false]);
});

test('a toolkit for many platforms', async () => {
  const { main, tag, withVariables } = await valid('toolkit');
  assert.equal(main?.pipeline.name, 'Tests of main');
  assert.deepEqual(main?.shape, [
    'build: build:linux, build:macos (manual)',
    'test: test:linux <- [build:linux], test:macos (manual) <- [build:macos]',
  ]);
  const released = await tag('v1');
  assert.deepEqual(released?.shape, [
    'build: build:linux, build:macos',
    'test: test:linux <- [build:linux], test:macos <- [build:macos]',
    'upload: upload',
  ]);
  assert.equal(valueOf(released?.job('upload'), 'KIND'), 'release');
  assert.deepEqual(main?.job('build:linux').tags, ['large', 'linux']);
  assert.deepEqual(main?.job('test:linux').tags, ['linux', 'small']);
  assert.deepEqual((await withVariables({ ONLY_JOBS: '/^build:/' }))?.shape, [
    'build: build:linux, build:macos (manual)',
  ]);
});

test('a runner in Go', async () => {
  const { main, branch, tag } = await valid('runner');
  const binaries = ['linux, amd64', 'linux, arm64', 'darwin, amd64', 'darwin, arm64', 'windows, amd64'].map(
    (part) => `binaries: [${part}]`,
  );
  const common = [
    'prepare: lint',
    `build: ${binaries.join(', ')}`,
    `test: unit <- [binaries: [linux, amd64]]`,
  ];
  const packages = `packages <- [${binaries.toSorted().join('; ')}]`;
  assert.deepEqual(main?.shape, [...common, `package: ${packages}`]);
  assert.deepEqual((await branch('topic'))?.shape, common);
  assert.deepEqual((await tag('v1'))?.shape, [
    'prepare: lint',
    `build: ${['notarize', ...binaries].join(', ')}`,
    'test: unit <- [binaries: [linux, amd64]; notarize]',
    'package: release <- [notarize; unit]',
  ]);
  const binary = main?.job('binaries: [linux, arm64]');
  assert.deepEqual([binary?.image?.name, binary?.tags], ['golang:1.26', ['linux-1.26']]);
  assert.deepEqual(binary?.script, ['go mod download', 'go build']);
  assert.equal(binary?.cache.length, 2);
});

test('a framework for chips', async () => {
  const { main, branch } = await valid('chips');
  const shape = [
    'build: build',
    'test: check, target: [one] <- [build], target: [two] <- [build], target: [three, 1] <- [build]',
    'deploy: upload to deploy <- [build; check]',
  ];
  assert.deepEqual(main?.shape, shape);
  assert.deepEqual((await branch('topic'))?.shape, shape);
  const build = main?.job('build');
  assert.deepEqual([build?.script, build?.tags], [['build everything'], ['fast']]);
  assert.deepEqual(build?.retry, {
    max: 2,
    when: ['runner_system_failure', 'unknown_failure'],
    exit_codes: [137],
  });
  assert.equal(main?.job('upload to deploy').retry?.max, 2);
});

test('a library for graphics cards', async () => {
  const { main, branch, tag } = await valid('cards');
  const builds = ['a900, Debug', 'a900, Release', 'b100, Debug', 'b100, Release'].map(
    (part) => `build: [${part}]`,
  );
  const common = [`build: ${builds.join(', ')}`, 'test: test <- [build: [a900, Release]]'];
  assert.deepEqual(main?.shape, common);
  assert.equal(await branch('words', { 'a.md': 'x' }), null);
  assert.deepEqual((await branch('code', { 'src/deep/a.cpp': 'x' }))?.shape, common);
  assert.deepEqual((await tag('v1'))?.shape, [...common, 'release: publish']);
  const build = main?.job('build: [b100, Debug]');
  assert.deepEqual(build?.before_script, ['install compilers', 'install libraries', 'prepare']);
  assert.deepEqual(build?.script, ['configure', 'make', 'ls']);
  const run = main?.job('test');
  assert.deepEqual([run?.tags, run?.timeout], [['a900'], 90 * 60]);
});

test('a library for desktops', async () => {
  const { main, branch, tag, request, schedule } = await valid('desktop');
  const common = ['check: style', 'build: build', 'coverage: coverage <- [build]'];
  assert.deepEqual(main?.shape, [
    'check: style',
    'build: build, build-slow (delayed) <- []',
    'coverage: coverage <- [build]',
  ]);
  assert.equal(await branch('topic'), null);
  assert.deepEqual((await request('asked'))?.shape, common);
  assert.deepEqual((await tag('v1'))?.shape, [...common, 'deploy: docs, undocs (manual)']);
  assert.deepEqual((await schedule())?.shape, ['build: build-slow <- [], sanitize']);
  assert.deepEqual([main?.job('build-slow').start_in, main?.job('build-slow').allow_failure], [300, true]);
  assert.deepEqual(main?.job('coverage').allow_failure_exit_codes, [77]);
  assert.deepEqual(main?.job('build').before_script, ['configure', 'make']);
});

test('an old application', async () => {
  const { main, branch, tag } = await valid('old_application', [
    'duplicate key: script, the last one counts',
    'jobs:pages runs as any job: its artifacts are not published as a site',
  ]);
  assert.deepEqual(main?.shape, [
    'prepare: setup',
    'test: spec, audit, lint',
    'post-test: knapsack',
    'pages: pages',
  ]);
  assert.deepEqual((await branch('topic'))?.shape, [
    'prepare: setup',
    'test: spec, lint',
    'pages: review (manual), stop-review (manual)',
  ]);
  assert.deepEqual((await branch('docs/words'))?.shape, [
    'test: lint',
    'pages: review (manual), stop-review (manual)',
  ]);
  assert.deepEqual((await branch('10-stable'))?.shape, [
    'prepare: setup',
    'test: spec, audit, lint',
    'pages: review (manual), stop-review (manual), pages',
  ]);
  assert.deepEqual((await tag('v10'))?.shape, main?.shape);
  const spec = main?.job('spec');
  assert.deepEqual([spec?.allow_failure, valueOf(spec, 'DEPTH'), valueOf(spec, 'SIZE')], [true, '20', '1']);
  const lint = main?.job('lint');
  assert.deepEqual([lint?.before_script, lint?.cache, lint?.script], [[], [], ['scripts/lint --all']]);
});

test('a small compiler', async () => {
  const { main, branch, request } = await valid('compiler');
  assert.deepEqual(main?.shape, ['build: build', 'test: test']);
  assert.deepEqual((await branch('topic'))?.shape, ['build: build', 'test: test']);
  assert.deepEqual((await request('asked'))?.shape, ['test: review']);
  assert.deepEqual(main?.job('build').before_script, ['mkdir -p build', 'cd build', 'cmake ..']);
});
