/** Tests needs on other pipelines and projects, and jobs that mirror a pipeline. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileErrors, compileJob } from '../../../../test/support/ci/ci_file.ts';

const of = async (needs: string) => await compileJob(`job: { script: x, needs: ${needs} }`);

test('accepts artifacts of a project and of another pipeline together with jobs of its own', async () => {
  const job = await compileJob(`
job:
  script: x
  needs:
    - own
    - { project: group/lib, job: make, ref: $REF }
    - { project: $GROUP/lib, job: make, ref: main, artifacts: false }
    - { pipeline: $PARENT, job: make, optional: true }
own: { script: x }
`);
  assert.deepEqual(
    job.needs?.map((need) => need.job),
    ['own'],
  );
  assert.deepEqual(job.cross_needs, [
    { project: 'group/lib', ref: '$REF', job: 'make', artifacts: true },
    { project: '$GROUP/lib', ref: 'main', job: 'make', artifacts: false },
    { pipeline: '$PARENT', job: 'make', artifacts: true, optional: true },
  ]);
  assert.equal(job.mirrors, null);
  const one = await of('{ project: a/b, job: c, ref: d }');
  assert.deepEqual([one.needs, one.cross_needs.length], [[], 1]);
});

test('a job without a script may mirror a pipeline of another project', async () => {
  for (const needs of ['{ pipeline: group/lib }', '[{ pipeline: group/lib }]']) {
    const job = await compileJob(`
default: { image: i, before_script: [b], retry: 2 }
job: { needs: ${needs}, allow_failure: true }`);
    assert.deepEqual([job.mirrors, job.needs, job.trigger], ['group/lib', null, null]);
    assert.deepEqual([job.image, job.before_script, job.retry, job.allow_failure], [null, [], null, true]);
  }
});

const many = (one: (index: number) => string): string =>
  `[${Array.from({ length: 6 }, (_one, index) => one(index)).join(', ')}]`;

test('reports errors of needs', async () => {
  const rows: [string, string][] = [
    ['[{ project: a/b, job: c }]', "jobs:job:needs:need ref can't be blank"],
    ['[{ project: a/b, ref: d }]', "jobs:job:needs:need job can't be blank"],
    ['[{ project: "", job: c, ref: d }]', "jobs:job:needs:need project can't be blank"],
    ['[{ ref: d, job: c }]', "jobs:job:needs:need project can't be blank"],
    ['{ project: a/b, job: c, ref: 1 }', 'jobs:job:needs:need ref should be a string'],
    ['[{ project: [a], job: c, ref: d }]', 'jobs:job:needs:need project should be a string'],
    [
      '[{ project: a/b, job: c, ref: d, artifacts: 1 }]',
      'jobs:job:needs:need artifacts should be a boolean value',
    ],
    [
      '[{ project: a/b, job: c, ref: d, pipeline: "1" }]',
      'jobs:job:needs:need config contains unknown keys: pipeline',
    ],
    [
      '[{ project: a/b, job: c, ref: d, optional: true }]',
      'jobs:job:needs:need config contains unknown keys: optional',
    ],
    ['[{ pipeline: 5, job: c }]', 'jobs:job:needs:need pipeline should be a string'],
    [
      '[{ pipeline: $P, job: c, parallel: { matrix: [] } }]',
      'jobs:job:needs:need config contains unknown keys: parallel',
    ],
    ['[{ pipeline: a/b }]', 'jobs:job:needs config uses invalid types: bridge'],
    [
      many((index) => `{ project: a/b${index}, job: c, ref: d }`),
      'jobs:job:needs config must be less than or equal to 5',
    ],
    [
      many((index) => `{ pipeline: $P${index}, job: c }`),
      'jobs:job:needs config must be less than or equal to 5',
    ],
    ['[{ artifacts: true }]', "jobs:job:needs:need job can't be blank"],
    ['[[[1]]]', 'jobs:job:needs:need has an unsupported type'],
  ];
  for (const [needs, text] of rows) {
    assert.deepEqual(await compileErrors(`job: { script: x, needs: ${needs} }`), [text], needs);
  }
});

test('reports errors of a job that mirrors a pipeline', async () => {
  const rows: [string, string][] = [
    ['needs: [other]', 'jobs:job config should contain either a trigger or a needs:pipeline'],
    [
      'needs: [{ project: a/b, job: c, ref: d }]',
      'jobs:job:needs config uses invalid types: cross_dependency',
    ],
    [
      'needs: [{ pipeline: a/b }, { pipeline: c/d }]',
      'jobs:job:needs config should contain at most one bridge need',
    ],
    ['needs: { pipeline: a/b, ref: c }', "jobs:job:needs:need project can't be blank"],
    ['needs: { pipeline: a/b }, image: x', 'jobs:job config contains unknown keys: image'],
    [
      'needs: { pipeline: a/b }, when: delayed, start_in: 1 h',
      'jobs:job when should be one of: on_success, on_failure, always, manual',
    ],
    [
      'trigger: a/b, needs: [{ pipeline: $P, job: c }]',
      'jobs:job:needs config uses invalid types: cross_dependency',
    ],
  ];
  for (const [job, text] of rows) {
    assert.ok((await compileErrors(`job: { ${job} }\nother: { script: x }`)).includes(text), job);
  }
  const script = await compileErrors('job: { stage: test }');
  assert.deepEqual(script, ['jobs:job config should implement the script:, run:, or trigger: keyword']);
});

test('rules accept only needs on jobs of the same pipeline', async () => {
  const rule = (need: string) => `job: { script: x, rules: [{ needs: [${need}] }] }`;
  assert.deepEqual(await compileErrors(rule('{ project: a/b, job: c, ref: d }')), [
    'jobs:job:rules:rule:needs config uses invalid types: cross_dependency',
  ]);
});
