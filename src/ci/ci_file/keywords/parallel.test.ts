/** Tests the jobs that `parallel` creates, and needs on them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileErrors, compileJobs } from '../../../../test/support/ci/ci_file.ts';

const build = 'build: { stage: build, script: x, parallel: { matrix: [{ OS: [a, b], V: 1 }] } }';

/** Returns the needs of each job that has any. */
const needsIn = async (file: string): Promise<Record<string, string[]>> =>
  Object.fromEntries(
    (await compileJobs(file)).flatMap(({ name, needs }) =>
      needs === null ? [] : [[name, needs.map((need) => need.job)]],
    ),
  );

test('a single parallel job may be needed or depended on by its own name', async () => {
  const file = `${build}
many: { stage: build, script: x, parallel: 3 }
of_matrix: { script: x, needs: ["build: [b, 1]", "many 2/3"] }
taking: { script: x, dependencies: ["build: [a, 1]"] }
by_rule: { script: x, rules: [{ needs: ["many 1/3"] }] }`;
  assert.deepEqual(await needsIn(file), { of_matrix: ['build: [b, 1]', 'many 2/3'] });
  const jobs = new Map((await compileJobs(file)).map((job) => [job.name, job]));
  assert.deepEqual(jobs.get('taking')?.dependencies, ['build: [a, 1]']);
  assert.equal(jobs.get('by_rule')?.rules?.[0]?.needs?.[0]?.job, 'many 1/3');
});

test('an unknown parallel name is undefined, and names are checked for cycles', async () => {
  const rows: [string, string][] = [
    [`${build}\nt: { script: x, needs: ["build: [c, 1]"] }`, 't job: undefined need: build: [c, 1]'],
    [
      `${build}\nt: { script: x, dependencies: ["build: [c, 1]"] }`,
      't job: undefined dependency: build: [c, 1]',
    ],
    [
      `${build}\nt: { script: x, stage: .pre, needs: ["build: [a, 1]"] }`,
      't job: need build: [a, 1] is not defined in current or prior stages',
    ],
    [
      'a: { script: x, parallel: 2, needs: ["b 1/2"] }\nb: { script: x, parallel: 2, needs: ["a 2/2"] }',
      'The pipeline has circular dependencies',
    ],
  ];
  for (const [file, text] of rows) assert.deepEqual(await compileErrors(file), [text], file);
});

const tested = (values: string, matrix = '[{ OS: [a, b] }]'): string => `${build}
test:
  script: x
  parallel: { matrix: ${matrix} }
  needs: [{ job: build, parallel: { matrix: [${values}] } }]`;

test('each matrix job needs the jobs with its own values if the file says so', async () => {
  assert.deepEqual(await needsIn(tested('{ OS: "$[[ matrix.OS ]]", V: 1 }')), {
    'test: [a]': ['build: [a, 1]'],
    'test: [b]': ['build: [b, 1]'],
  });
  const other = tested('{ OS: ["$[[matrix.FIRST]]", b], V: 1 }', '[{ FIRST: [a, b] }]');
  assert.deepEqual(await needsIn(other), {
    'test: [a]': ['build: [a, 1]', 'build: [b, 1]'],
    'test: [b]': ['build: [b, 1]'],
  });
  const rule = `${build}
test:
  script: x
  parallel: { matrix: [{ OS: [b] }] }
  rules: [{ needs: [{ job: build, parallel: { matrix: [{ OS: "$[[ matrix.OS ]]", V: 1 }] } }] }]`;
  const [ruled] = (await compileJobs(rule)).filter(({ name }) => name === 'test: [b]');
  assert.deepEqual(
    ruled?.rules?.[0]?.needs?.map((need) => need.job),
    ['build: [b, 1]'],
  );
});

test('resolves matrix values in a file that also has inputs', async () => {
  const header = 'spec: { inputs: { v: { default: "1" } } }\n---\n';
  const file = tested('{ OS: "$[[ matrix.OS ]]", V: "$[[ inputs.v ]]" }');
  assert.deepEqual(await needsIn(header + file), {
    'test: [a]': ['build: [a, 1]'],
    'test: [b]': ['build: [b, 1]'],
  });
});

test('values without a job are undefined needs, not empty needs', async () => {
  const need = (values: string, more = '') =>
    `${build}\ntest: { script: x, needs: [{ job: build, parallel: { matrix: [${values}] }${more} }] }`;
  assert.deepEqual(await compileErrors(need('{ OS: c, V: 1 }')), ['test job: undefined need: build: [c, 1]']);
  assert.deepEqual(await compileErrors(need('{ OS: [a, c], V: 1 }')), [
    'test job: undefined need: build: [c, 1]',
  ]);
  assert.deepEqual(await compileErrors(need('{ OS: a, W: 1 }')), ['test job: undefined need: build: [a, 1]']);
  assert.deepEqual(await compileErrors(need('{ OS: c, V: 1 }', ', optional: true')), []);
  assert.deepEqual(await needsIn(need('{ OS: b, V: 1 }')), { test: ['build: [b, 1]'] });
  const unlike = tested('{ OS: "$[[ matrix.OS ]]", V: 1 }', '[{ OS: [a, c] }]');
  assert.deepEqual(await compileErrors(unlike), ['test: [c] job: undefined need: build: [c, 1]']);
});

test('refuses needs with values that its own matrix lacks', async () => {
  const text = 'test job: needs `matrix.ARCH`, which its own matrix has not';
  assert.deepEqual(await compileErrors(tested('{ OS: "$[[ matrix.ARCH ]]", V: 1 }')), [text]);
  const alone = `${build}\ntest: { script: x, needs: [{ job: build, parallel: { matrix: [{ OS: "$[[ matrix.ARCH ]]", V: 1 }] } }] }`;
  assert.deepEqual(await compileErrors(alone), [text]);
});
