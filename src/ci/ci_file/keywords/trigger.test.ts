/** Tests jobs that start other pipelines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileErrors, compileJob, namesIn } from '../../../../test/support/ci/ci_file.ts';

const all = { yaml_variables: true, pipeline_variables: false };
const nothing = { project: null, branch: null, include: null, inputs: null, strategy: null, forward: all };

test('a trigger is a project or included files', async () => {
  const of = async (trigger: string) => (await compileJob(`job: { trigger: ${trigger} }`)).trigger;
  assert.deepEqual(await of('group/project'), { ...nothing, project: 'group/project' });
  assert.deepEqual(await of('{ project: a/b, branch: x, strategy: depend, inputs: { n: 1 } }'), {
    ...nothing,
    project: 'a/b',
    branch: 'x',
    strategy: 'depend',
    inputs: { n: 1 },
  });
  assert.deepEqual(await of('{ include: a.yml, strategy: mirror }'), {
    ...nothing,
    include: ['a.yml'],
    strategy: 'mirror',
  });
  assert.deepEqual(
    await of(
      '{ include: [{ local: a.yml, inputs: { x: y } }, { artifact: b, job: c }], forward: { pipeline_variables: true } }',
    ),
    {
      ...nothing,
      include: [
        { local: 'a.yml', inputs: { x: 'y' } },
        { artifact: 'b', job: 'c' },
      ],
      forward: { yaml_variables: true, pipeline_variables: true },
    },
  );
  assert.equal((await compileJob('job: { script: x }')).trigger, null);
});

test('a trigger job inherits no default keywords of jobs that run', async () => {
  const job = await compileJob(
    'default: { image: i, tags: [t], retry: 2, before_script: [b], timeout: 1h }\njob: { trigger: a/b }',
  );
  assert.deepEqual(
    [job.image, job.tags, job.retry, job.before_script, job.timeout],
    [null, [], null, [], null],
  );
});

test('reports errors of a trigger', async () => {
  const rows: [string, string][] = [
    ['script: x, trigger: a/b', 'jobs:job config contains unknown keys: script'],
    ['trigger: [a]', 'jobs:job:trigger config has to be either a string or a hash'],
    ['trigger: { branch: x }', 'jobs:job:trigger config should name a project or an include'],
    ['trigger: { project: a/b, include: c.yml }', 'jobs:job:trigger config contains unknown keys: project'],
    ['trigger: { include: c.yml, branch: x }', 'jobs:job:trigger config contains unknown keys: branch'],
    [
      'trigger: { include: [a.yml, b.yml, c.yml, d.yml] }',
      'jobs:job:trigger:include config is too long (maximum is 3)',
    ],
    [
      'trigger: { include: [[a.yml]] }',
      'jobs:job:trigger:include config should be a string, a hash, or an array of them',
    ],
    [
      'trigger: { project: a/b, strategy: wait }',
      'jobs:job:trigger strategy should be one of: depend, mirror',
    ],
    [
      'trigger: { project: a/b, forward: { all: true } }',
      'jobs:job:trigger:forward config contains unknown keys: all',
    ],
    [
      'trigger: { project: a/b, forward: { yaml_variables: 3 } }',
      'jobs:job:trigger:forward yaml variables should be a boolean value',
    ],
    [
      'trigger: a/b, when: delayed, start_in: 1 h',
      'jobs:job when should be one of: on_success, on_failure, always, manual',
    ],
  ];
  for (const [job, text] of rows) assert.ok((await compileErrors(`job: { ${job} }`)).includes(text), job);
});

test('artifacts are included by child pipelines only', async () => {
  assert.deepEqual(await compileErrors('include: { artifact: a.yml, job: b }'), [
    'Including configs from artifacts is only allowed when triggering child pipelines',
  ]);
  assert.match(
    (await compileErrors('include: { artifact: a.yml }'))[0] ?? '',
    /does not have a valid subkey/,
  );
});

test('only: kubernetes never matches, because there are no clusters', async () => {
  const file = (word: string): string =>
    `job: { script: x, ${word}: { kubernetes: active } }\nother: { script: x }`;
  assert.deepEqual(await namesIn(file('only')), ['other']);
  assert.deepEqual(await namesIn(file('except')), ['job', 'other']);
});
