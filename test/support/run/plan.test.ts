/** Tests how `test/run.ts` selects and groups test files. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testsReachedBy } from './changed_tests.ts';
import { type Work, planWork, takeGroup } from './plan.ts';
import { oneOfSoMany } from './sample.ts';

const merge = 'src/review/merge_requests/update.ts';

test('selects the tests in the folder of a change, those named like it, and its importers', () => {
  const tests = [
    'src/platform/time.test.ts',
    'src/review/merge_requests/merging/merge.test.ts',
    'test/house.test.ts',
    'test/spec/issues/create.test.ts',
    'test/spec/merge_requests/merge.test.ts',
  ];
  assert.deepEqual(testsReachedBy([merge], tests), [tests[1], tests[2], tests[4]]);
  assert.deepEqual(testsReachedBy(['src/platform/time.ts'], tests).slice(0, 1), [tests[0]]);
  assert.deepEqual(testsReachedBy([tests[3] ?? ''], tests), [tests[2], tests[3]]);
});

test('samples every group, and the same rows for the same seed', () => {
  const rows = Array.from({ length: 1000 }, (_, at) => ({ at, group: String(at % 100) }));
  const some = (): typeof rows =>
    oneOfSoMany(
      rows,
      10,
      ({ at }) => String(at),
      ({ group }) => group,
    );
  assert.deepEqual(some(), some());
  assert.equal(new Set(some().map(({ group }) => group)).size, 100);
  assert.ok(some().length < 400);
  assert.equal(oneOfSoMany(rows, 1, ({ at }) => String(at)).length, 1000);
});

test('puts every planned file in one group of one engine; isolated files share no process', () => {
  const work: Work[] = Array.from({ length: 90 }, (_, at) => ({
    engine: at % 2 === 0 ? ('sqlite' as const) : ('postgres' as const),
    file: `${at}.test.ts`,
    seconds: 90 - at,
    isAlone: at % 10 === 0,
    company: at % 3 === 0 ? 'test/web/' : '',
  }));
  const remaining = [...work];
  const groups: Work[][] = [];
  for (let group = takeGroup(remaining, 2); group.length > 0; group = takeGroup(remaining, 2))
    groups.push(group);
  assert.deepEqual(
    groups
      .flat()
      .map(({ file }) => file)
      .toSorted(),
    work.map(({ file }) => file).toSorted(),
  );
  for (const group of groups) {
    assert.equal(new Set(group.map(({ engine, company }) => `${engine} ${company}`)).size, 1);
    if (group.some(({ isAlone }) => isAlone)) assert.equal(group.length, 1);
  }
});

test('runs on PostgreSQL what depends on the engine and a sample of the rest, or everything on request', () => {
  const files = ['test/spec/requests/contention.test.ts', 'src/platform/time.test.ts', 'test/house.test.ts'];
  const planned = (isWhole: boolean, seed: number): string[] =>
    planWork({ engines: ['sqlite', 'postgres'], files, isWhole, seed })
      .filter(({ engine }) => engine === 'postgres')
      .map(({ file }) => file)
      .toSorted();
  assert.deepEqual(planned(true, 0), [files[1], files[0]]);
  const samples = Array.from({ length: 50 }, (_, seed) => planned(false, seed));
  assert.ok(samples.every((sample) => sample.includes(files[0] ?? '')));
  assert.ok(samples.some((sample) => sample.includes(files[1] ?? '')));
  assert.ok(!samples.every((sample) => sample.includes(files[1] ?? '')));
});

test('runs on SQLite a sample of the files that start programs or test one page, and every other file', () => {
  const files = [
    'test/crash/kill.test.ts',
    'test/crash/work.test.ts',
    'src/platform/time.test.ts',
    'src/doors/web/pages/labels/labels.test.ts',
  ];
  const planned = (isWhole: boolean, seed: number): string[] =>
    planWork({ engines: ['sqlite'], files, isWhole, seed }).map(({ file }) => file);
  const samples = Array.from({ length: 50 }, (_, seed) => planned(false, seed));
  assert.ok(samples.every((sample) => sample.includes(files[2] ?? '')));
  for (const file of [files[0] ?? '', files[3] ?? '']) {
    assert.ok(samples.some((sample) => sample.includes(file)));
    assert.ok(!samples.every((sample) => sample.includes(file)));
  }
  assert.deepEqual(planned(true, 0).toSorted(), files.toSorted());
});

test('runs at least one file of each folder of heavy tests, on SQLite or the engine that runs alone', () => {
  const folders = 'access crash ci git cli clients web fuzz gates deploy'.split(' ');
  const files = folders.flatMap((folder) => globSync(`test/${folder}/**/*.test.ts`));
  for (const engines of [['sqlite', 'postgres'], ['sqlite'], ['postgres']] as const) {
    for (let seed = 0; seed < 10; seed += 1) {
      const work = planWork({ engines, files, isWhole: false, seed });
      const missing = folders.filter(
        (folder) => !work.some(({ file }) => file.startsWith(`test/${folder}/`)),
      );
      assert.deepEqual(missing, [], `${engines.join()} with seed ${seed}`);
      assert.ok(work.length < files.length);
    }
  }
});

test('finds the hook of node:test that a run disables', () => {
  // In a process of its own, because node:test is loaded here.
  const loader = JSON.stringify(join(import.meta.dirname, 'load_node_test.ts'));
  const script = `import(${loader}).then(({ stopFollowingPromises, it }) => {
    it('declares a test', () => undefined);
    process.stdout.write(stopFollowingPromises() + ' hooks');
    process.exit();
  })`;
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  assert.equal(execFileSync(process.execPath, ['-e', script], { env, encoding: 'utf8' }), '1 hooks');
});
