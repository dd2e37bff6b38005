import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Files, compiled, compileErrors } from '../../../test/support/ci/ci_file.ts';

/** A file, its current error, and the error of release 10.0 if that differs. */
type Row = [content: string, today: string, old?: string];

const check = async (rows: Row[], files: Files = {}): Promise<void> => {
  for (const [content, today, old = today] of rows) {
    const { errors, config } = await compiled(content, { files });
    assert.deepEqual([errors[0]?.text, errors[0]?.old_text], [today, old], content);
    assert.equal(config, null);
  }
};

const job = (part: string): string => `rspec: { script: x, ${part} }`;
const commands = 'config should be a string or a nested array of strings up to 10 levels deep';
const list = 'config should be an array of strings';
const exposedText = "jobs:rspec:artifacts expose as can contain only letters, digits, '-', '_' and spaces";

test('errors of the whole file', async () => {
  await check([
    ['', 'Please provide content of .gitlab-ci.yml'],
    [' \n', 'Please provide content of .gitlab-ci.yml'],
    ['just text', 'Invalid configuration format'],
    ['- a', 'Invalid configuration format'],
    ['# nothing', 'Invalid configuration format'],
    ['{}', 'jobs config should contain at least one visible job'],
    ['.hidden: { script: x }', 'jobs config should contain at least one visible job'],
    ['before_script: 5\na: { script: x }', `before_script ${commands}`, `before_script ${list}`],
    ['image: [a]\na: { script: x }', 'image config should be a hash or a string'],
    ['services: a\na: { script: x }', 'services config should be a array'],
    ['services: [5]\na: { script: x }', 'service config should be a hash or a string'],
    ['stages: a\na: { script: x }', 'stages config should be an array of strings'],
    ['types: { a: b }\na: { script: x }', 'types config should be an array of strings'],
    ['variables: [a]\na: { script: x }', 'variables config should be a hash of key value pairs'],
    ['variables: { a: [b] }\na: { script: x }', 'variables config should be a hash of key value pairs'],
    [
      'cache: { key: [a] }\na: { script: x }',
      'cache:key config should be a hash, a string or a symbol',
      'cache:key config should be a string or symbol',
    ],
    ['cache: { paths: a }\na: { script: x }', 'cache paths should be an array of strings'],
    [
      'cache: { policy: never }\na: { script: x }',
      'cache policy should be one of: pull-push, push, pull',
      'cache policy should be pull-push, push, or pull',
    ],
    ['cache: { foo: 1 }\na: { script: x }', 'cache config contains unknown keys: foo'],
    ['default: { stage: x }\na: { script: x }', 'default config contains unknown keys: stage'],
    ['default: { image: [x] }\na: { script: x }', 'default:image config should be a hash or a string'],
    [
      'image: a\ndefault: { image: b }\na: { script: x }',
      'default config image is defined in top-level and `default:` entry',
    ],
    ['workflow: 5\na: { script: x }', 'workflow config should be a hash'],
    ['workflow: { foo: 1 }\na: { script: x }', 'workflow config contains unknown keys: foo'],
    [
      'workflow: { rules: [{ when: manual }] }\na: { script: x }',
      'workflow:rules:rule when should be one of: always, never',
    ],
    [
      'workflow: { auto_cancel: { on_new_commit: x } }\na: { script: x }',
      'workflow:auto_cancel on new commit must be one of: conservative, interruptible, none',
    ],
  ]);
});

test('errors of a job', async () => {
  const run = 'jobs:rspec config should implement the script:, run:, or trigger: keyword';
  await check([
    ['rspec: { image: x }', run, "jobs:rspec script can't be blank"],
    ['rspec:', run, 'jobs:rspec config should be a hash'],
    [
      'extra: "bundle update"',
      'jobs:extra config should implement the script:, run:, or trigger: keyword',
      'jobs:extra config should be a hash',
    ],
    ['RSpec: { script: x, Foo: 1, bar: 2 }', 'jobs:rspec config contains unknown keys: foo, bar'],
    [
      'rspec: { script: { a: b } }',
      `jobs:rspec:script ${commands}`,
      'jobs:rspec:script config should be a string or an array of strings',
    ],
    [
      'rspec: { script: [[[[[[[[[[[[a]]]]]]]]]]]] }',
      `jobs:rspec:script ${commands}`,
      'jobs:rspec:script config should be a string or an array of strings',
    ],
    [
      job('before_script: [{ a: b }]'),
      `jobs:rspec:before_script ${commands}`,
      `jobs:rspec:before_script ${list}`,
    ],
    [job('tags: mysql'), `jobs:rspec:tags ${list}`],
    [job('allow_failure: string'), 'jobs:rspec allow failure should be a boolean value'],
    [
      job('when: never'),
      'jobs:rspec when should be one of: on_success, on_failure, always, manual, delayed',
      'jobs:rspec when should be on_success, on_failure, always or manual',
    ],
    [job('when: delayed'), 'jobs:rspec start in should be a duration'],
    [job('when: delayed, start_in: soon'), 'jobs:rspec start in should be a duration'],
    [job('when: delayed, start_in: 8 days'), 'jobs:rspec start in should not exceed the limit'],
    [job('start_in: 1 day'), 'jobs:rspec start in must be blank'],
    [job('dependencies: string'), 'jobs:rspec dependencies should be an array of strings'],
    [job('only: [{ a: b }]'), 'jobs:rspec:only config should be an array of strings or regexps'],
    [job('only: ["/[/"]'), 'jobs:rspec:only config should be an array of strings or regexps'],
    [job('only: 5'), 'jobs:rspec:only has to be either an array of conditions or a hash'],
    [job('only: { foo: 1 }'), 'jobs:rspec:only config contains unknown keys: foo'],
    [job('except: 5'), 'jobs:rspec:except has to be either an array of conditions or a hash'],
    [job('image: [a]'), 'jobs:rspec:image config should be a hash or a string'],
    [job('image: { entrypoint: [a] }'), "jobs:rspec:image name can't be blank"],
    [job('image: { name: a, foo: 1 }'), 'jobs:rspec:image config contains unknown keys: foo'],
    [
      job('image: { name: a, pull_policy: x }'),
      'jobs:rspec:image pull policy should be one of: always, never, if-not-present',
    ],
    [job('services: a'), 'jobs:rspec:services config should be a array'],
    [job('services: [[5]]'), 'service config should be a hash or a string'],
    [job('variables: 5'), 'jobs:rspec:variables config should be a hash of key value pairs'],
    [job('artifacts: []'), 'jobs:rspec:artifacts config should be a hash'],
    [job('artifacts: { expire_in: 7 elephants }'), 'jobs:rspec:artifacts expire in should be a duration'],
    [
      job('artifacts: { when: sometimes }'),
      'jobs:rspec:artifacts when should be one of: on_success, on_failure, always',
      'jobs:rspec:artifacts when should be on_success, on_failure or always',
    ],
    [job('artifacts: { paths: a }'), 'jobs:rspec:artifacts paths should be an array of strings'],
    [job('artifacts: { name: [a] }'), 'jobs:rspec:artifacts name should be a string'],
    [job('artifacts: { untracked: 5 }'), 'jobs:rspec:artifacts untracked should be a boolean value'],
    [
      job('artifacts: { reports: { foo: x } }'),
      'jobs:rspec:artifacts:reports config contains unknown keys: foo',
    ],
    [
      job('artifacts: { reports: { junit: { a: b } } }'),
      'jobs:rspec:artifacts:reports junit should be an array of strings or a string',
    ],
    [job('artifacts: { expose_as: a }'), "jobs:rspec:artifacts paths can't be blank"],
    [job('artifacts: { expose_as: 5, paths: [a] }'), 'jobs:rspec:artifacts expose as should be a string'],
    [job('artifacts: { expose_as: "", paths: [a] }'), exposedText],
    [job('artifacts: { expose_as: "-a", paths: [a] }'), exposedText],
    [job('artifacts: { expose_as: "<b>", paths: [a] }'), exposedText],
    [job('artifacts: { expose_as: "a\\nb", paths: [a] }'), exposedText],
    [
      job(`artifacts: { expose_as: ${'a'.repeat(101)}, paths: [a] }`),
      'jobs:rspec:artifacts expose as is too long (maximum is 100 characters)',
    ],
    [
      job('artifacts: { expose_as: a, paths: [a, b/*.txt] }'),
      "jobs:rspec:artifacts paths can't contain '*' when used with 'expose_as'",
    ],
    [
      job('environment: { name: e, tier: other }'),
      'jobs:rspec:environment config contains unknown keys: tier',
    ],
    [
      'default: { identity: google_cloud }\na: { script: x }',
      'default config keyword `identity` is not supported here',
    ],
    [
      job('cache: { key: a/b }'),
      'jobs:rspec:cache:key config cannot contain the "/" character, or be only "."',
    ],
    [
      job('cache: { key: { files: [a, b, c] } }'),
      'jobs:rspec:cache:key:files config has too many items (maximum is 2)',
    ],
    [job('retry: 3'), 'jobs:rspec:retry config must be less than or equal to 2'],
    [job('retry: -1'), 'jobs:rspec:retry config must be greater than or equal to 0'],
    [job('retry: x'), 'jobs:rspec:retry config has to be either an integer or a hash'],
    [job('retry: { max: 3 }'), 'jobs:rspec:retry max must be less than or equal to 2'],
    [job('retry: { when: foo }'), 'jobs:rspec:retry when contains unknown values: foo'],
    [job('timeout: soon'), 'jobs:rspec timeout should be a duration'],
    [job('timeout: 2 months'), 'jobs:rspec timeout should not exceed the limit'],
    [job('coverage: x'), 'jobs:rspec:coverage config must be a regular expression'],
    [job('coverage: "/(?=x)/"'), 'jobs:rspec:coverage config must be a regular expression'],
    [job('parallel: 0'), 'jobs:rspec:parallel config must be greater than or equal to 1'],
    [job('parallel: 201'), 'jobs:rspec:parallel config must be less than or equal to 200'],
    [job('parallel: x'), 'jobs:rspec:parallel should be an integer or a hash'],
    [
      job(`parallel: { matrix: [{ A: [${Array.from({ length: 201 }, (_, at) => at)}] }] }`),
      'jobs:rspec:parallel:matrix config generates too many jobs (maximum is 200)',
    ],
    [job('parallel: { matrix: x }'), 'jobs:rspec:parallel:matrix config should be an array of hashes'],
    [job('interruptible: maybe'), 'jobs:rspec interruptible should be a boolean value'],
    [job('environment: []'), 'jobs:rspec:environment config should be a hash or a string'],
    [job('environment: { url: x }'), "jobs:rspec:environment name can't be blank"],
    [
      job('environment: { name: a, action: x }'),
      'jobs:rspec:environment action should be start, stop, prepare, verify, or access',
    ],
    [job('environment: { name: a, foo: x }'), 'jobs:rspec:environment config contains unknown keys: foo'],
    [job('needs: 5'), 'jobs:rspec:needs config can only be a hash or an array'],
    [job('needs: [5]'), 'jobs:rspec:needs:need has an unsupported type'],
    [job('needs: [{ artifacts: true }]'), "jobs:rspec:needs:need job can't be blank"],
    [
      `a: { script: x }\n${job('needs: [], dependencies: [a]')}`,
      'jobs:rspec dependencies the a should be part of needs',
    ],
    [job('rules: 5'), 'jobs:rspec:rules config should be an array of hashes'],
    [job('rules: [5]'), 'jobs:rspec:rules:rule config should be a hash'],
    [job('rules: [{ foo: 1 }]'), 'jobs:rspec:rules:rule config contains unknown keys: foo'],
    [
      job('rules: [{ if: "$A == 1" }]'),
      'jobs:rspec:rules:rule if invalid expression syntax: unknown lexeme found!',
    ],
    [job('rules: [{ if: [a] }]'), 'jobs:rspec:rules:rule if invalid expression syntax'],
    [
      job('rules: [{ when: sometimes }]'),
      'jobs:rspec:rules:rule when should be one of: on_success, on_failure, always, never, manual, delayed',
    ],
    [job('rules: [{ changes: a }]'), 'jobs:rspec:rules:rule changes should be an array of strings'],
    [job('rules: [{ when: delayed }]'), 'jobs:rspec:rules:rule start in should be a duration'],
    [job('rules: [{ if: $A }], only: [main]'), 'jobs:rspec config key may not be used with `rules`: only'],
    [job('inherit: { foo: 1 }'), 'jobs:rspec:inherit config contains unknown keys: foo'],
    [job('secrets: [a]'), 'jobs:rspec:secrets config should be a hash'],
    [job('run: [{ name: a }]'), 'jobs:rspec config keyword `run` is not supported here'],
    [job('dast_configuration: {}'), 'jobs:rspec config keyword `dast_configuration` is not supported here'],
    [
      `${'x'.repeat(256)}: { script: x }`,
      `jobs:${'x'.repeat(256)} name is too long (maximum is 255 characters)`,
    ],
    ['" ": { script: x }', "jobs name can't be blank"],
    [
      `a: { script: x, parallel: { matrix: [{ A: [${'x'.repeat(250)}, y], B: [${'y'.repeat(5)}] }] } }`,
      'jobs:a:parallel makes a name that is too long (maximum is 255 characters)',
    ],
  ]);
});

test('errors between jobs', async () => {
  const stages = 'stages: [build, test, deploy]\n';
  const env = (more: string): string => `script: x, environment: { name: e${more} }`;
  await check([
    [
      `${stages}rspec: { script: x, stage: acceptance }`,
      'rspec job: chosen stage does not exist; available stages are .pre, build, test, deploy, .post',
      'rspec job: stage parameter should be build, test, deploy',
    ],
    ['test1: { script: x, dependencies: [x] }', 'test1 job: undefined dependency: x'],
    [
      'deploy: { script: x, stage: deploy }\ntest1: { script: x, dependencies: [deploy] }',
      'test1 job: dependency deploy is not defined in current or prior stages',
      'test1 job: dependency deploy is not defined in prior stages',
    ],
    ['test1: { script: x, needs: [x] }', 'test1 job: undefined need: x'],
    [
      'deploy: { script: x, stage: deploy }\ntest1: { script: x, needs: [deploy] }',
      'test1 job: need deploy is not defined in current or prior stages',
    ],
    ['a: { script: x, needs: [b] }\nb: { script: x, needs: [a] }', 'The pipeline has circular dependencies'],
    ['a: { script: x, needs: [a] }', 'The pipeline has circular dependencies'],
    ['b: { script: x }\na: { script: x, needs: [b, b] }', 'a has the following needs duplicated: b.'],
    [`review: { ${env(', on_stop: close_review')} }`, 'review job: on_stop job close_review is not defined'],
    [
      `review: { ${env(', on_stop: close')} }\nclose: { script: x }`,
      'review job: on_stop job close does not have environment defined',
    ],
    [
      `review: { ${env(', on_stop: close')} }\nclose: { script: x, environment: f }`,
      'review job: on_stop job close have different environment name',
    ],
    [
      `review: { ${env(', on_stop: close')} }\nclose: { ${env('')} }`,
      'review job: on_stop job close needs to have action stop defined',
    ],
  ]);
  assert.deepEqual(await compileErrors('a: { script: x, needs: [{ job: b, optional: true }] }'), []);
});

test('errors of extends and references', async () => {
  const chain = Array.from({ length: 12 }, (_, at) => `.c${at}: { extends: .c${at + 1} }`).join('\n');
  await check([
    ['rspec: { extends: .none }', 'rspec: unknown keys in `extends` (.none)'],
    ['rspec: { extends: [5] }', 'rspec: `extends` should be a string or an array of strings'],
    ['.a: 5\nrspec: { extends: .a }', 'rspec: invalid base hashes in `extends` (.a)'],
    [
      '.a: { extends: .b }\n.b: { extends: .a }\nrspec: { script: x }',
      '.b: circular dependency detected in `extends`',
    ],
    ['rspec: { extends: rspec }', 'rspec: circular dependency detected in `extends`'],
    [`${chain}\n.c12: { script: x }\nrspec: { extends: .c0 }`, '.c1: nesting too deep in `extends`'],
    ['rspec: { script: !reference [.a, script] }', '!reference [".a","script"] could not be found'],
    [
      '.a: { script: !reference [.b, script] }\n.b: { script: !reference [.a, script] }\nr: { script: x }',
      '!reference [".b","script"] is part of a circular chain',
    ],
    ['rspec: { script: !reference [[a]] }', '!reference [] is not valid'],
  ]);
});

test('errors of includes', async () => {
  const files: Files = {
    'empty.yml': ' ',
    'list.yml': '- a',
    'loop.yml': 'include: loop.yml',
    'text.txt': 'a',
    'g/p:a.yml': 'a: { script: x }',
    'broken.yml': 'a: [',
  };
  await check(
    [
      ['include: none.yml', 'Local file `none.yml` does not exist!'],
      ['include: /empty.yml', 'Local file `empty.yml` is empty!'],
      ['include: text.txt', 'Included file `text.txt` does not have YAML extension!'],
      ['include: list.yml', 'Included file `list.yml` does not have valid YAML syntax!'],
      ['include: loop.yml', 'Local file `loop.yml` includes itself!'],
      ['include: 5', 'include config should be a hash or a string'],
      [
        'include: { foo: bar }',
        '`{"foo":"bar"}` does not have a valid subkey for include. Valid subkeys are: `local`, `project`, `template`, `remote`, `component`',
      ],
      [
        'include: { local: a.yml, template: b }',
        '`{"local":"a.yml","template":"b"}` does not have a valid subkey for include. Valid subkeys are: `local`, `project`, `template`, `remote`, `component`',
      ],
      ['include: { project: x/y, file: a.yml }', 'Project `x/y` not found or access denied!'],
      ['include: { project: g/p, file: b.yml }', 'Project `g/p` file `b.yml` does not exist!'],
      ['include: { project: g/p, file: a.yml, ref: old }', 'Project `g/p` reference `old` does not exist!'],
      [
        'include: { template: None.gitlab-ci.yml }',
        'Template file `None.gitlab-ci.yml` is not a valid location!',
      ],
      [
        'include: https://example.com/a.yml',
        'Remote file `https://example.com/a.yml` is not allowed: remote includes are off',
      ],
      [
        'include: { component: git.example.com/a/b@1 }',
        'Component `git.example.com/a/b@1` lies on `git.example.com`: components of other hosts are not available',
      ],
    ],
    files,
  );
  const many = Object.fromEntries(Array.from({ length: 151 }, (_, at) => [`f${at}.yml`, 'a: { script: x }']));
  assert.deepEqual(await compileErrors('include: "f*.yml"', many), [
    'Maximum of 150 nested includes are allowed!',
  ]);
  const { errors } = await compiled('\ninclude: broken.yml', { files });
  assert.equal(errors[0]?.position?.file, 'broken.yml');
});

test('errors of inputs', async () => {
  const lib = (spec: string): Files => ({
    'lib.yml': `spec:\n  inputs: ${spec}\n---\nj: { script: "$[[ inputs.a ]]" }`,
  });
  const includeLib = (inputs: string): string => `include: { local: lib.yml, inputs: ${inputs} }`;
  await check(
    [[includeLib('{}'), '`lib.yml`: `a` input: required value has not been provided']],
    lib('{ a: }'),
  );
  await check(
    [[includeLib('{ a: 5 }'), '`lib.yml`: `a` input: provided value is not a string']],
    lib('{ a: }'),
  );
  await check([[includeLib('{ a: x, b: y }'), '`lib.yml`: unknown input arguments: b']], lib('{ a: }'));
  await check(
    [
      [
        includeLib('{ a: z }'),
        '`lib.yml`: `a` input: `z` cannot be used because it is not in the list of allowed options',
      ],
    ],
    lib('{ a: { options: [x, y] } }'),
  );
  await check(
    [[includeLib('{ a: z }'), '`lib.yml`: `a` input: provided value does not match required RegEx pattern']],
    lib('{ a: { regex: "/^x/" } }'),
  );
  await check([[includeLib('{ b: x }'), '`lib.yml`: unknown interpolation key: `a`']], lib('{ b: }'));
  await check(
    [
      [
        includeLib('{ a: x }'),
        '`lib.yml`: Given inputs not defined in the `spec` section of the included configuration file',
      ],
    ],
    { 'lib.yml': 'j: { script: x }' },
  );
});

test('errors of a release', async () => {
  const of = (parts: string): string => job(`release: { tag_name: v, description: d${parts} }`);
  const where = 'jobs:rspec:release';
  await check([
    [job('release: v1'), `${where} config should be a hash`],
    [job('release: { tag_name: v }'), `${where} description can't be blank`],
    [job('release: { description: d }'), `${where} tag name can't be blank`],
    [job('release: { tag_name: 5, description: d }'), `${where} tag name should be a string`],
    [job('release: { tag_name: v, description: " " }'), `${where} description can't be blank`],
    [of(', tagname: x'), `${where} config contains unknown keys: tagname`],
    [of(', name: [x]'), `${where} name should be a string`],
    [of(', tag_message: 5'), `${where} tag message should be a string`],
    [of(', milestones: { a: b }'), `${where} milestones should be an array of strings or a string`],
    [of(', released_at: tomorrow'), `${where} released at must be a valid datetime`],
    [of(', released_at: "2026-13-01"'), `${where} released at must be a valid datetime`],
    [of(', assets: {}'), `${where}:assets links can't be blank`],
    [of(', assets: { links: a }'), `${where}:assets links should be an array of hashes`],
    [of(', assets: { links: [a] }'), `${where}:assets:links config should be a hash`],
    [of(', assets: { files: [a] }'), `${where}:assets config contains unknown keys: files`],
    [of(', assets: { links: [{ name: n }] }'), `${where}:assets:links:link url can't be blank`],
    [of(', assets: { links: [{ url: u }] }'), `${where}:assets:links:link name can't be blank`],
    [
      of(', assets: { links: [{ name: n, url: u, link_type: x }] }'),
      `${where}:assets:links:link link type should be one of: other, runbook, image, package`,
    ],
  ]);
  const whole = of(
    ', name: $A, ref: main, tag_message: m, milestones: [m1], released_at: "2026-03-04T05:06:07Z", ' +
      'assets: { links: [{ name: n, url: $URL, filepath: /a, link_type: image }] }',
  );
  assert.deepEqual(await compileErrors(whole), []);
  assert.deepEqual(
    await compileErrors(of(', milestones: m1, released_at: "2026-03-04 05:06:07 +01:00"')),
    [],
  );
});

test('errors of a header', async () => {
  const file = (spec: string): string => `spec: ${spec}\n---\nj: { script: x }`;
  await check([
    [file('{ inputs: { a: { defualt: x } } }'), 'header:spec:inputs:a config contains unknown keys: defualt'],
    [
      file('{ inputs: { a: { default: x, rules: [{ if: $B }] } } }'),
      'header:spec:inputs:a config keyword `rules` is not supported here',
    ],
    [file('{ include: [more.yml] }'), 'header:spec config keyword `include` is not supported here'],
    [file('{ component: [name] }'), 'header:spec config keyword `component` is not supported here'],
    [file('{ input: {} }'), 'header:spec config contains unknown keys: input'],
  ]);
  const described = '{ inputs: { a: { type: number, default: 1, description: how many, options: [1, 2] } } }';
  assert.deepEqual(await compileErrors(file(described)), []);
});

test('reports all errors, each with its line', async () => {
  const text = [
    'stages: 5',
    'image: [a]',
    'build:',
    '  script: make',
    '  when: sometimes',
    '  artifacts:',
    '    when: never',
    '    pahts: [a]',
    'test:',
    '  needs: [nothing]',
    '  script:',
    '    - a',
    '    - b: c',
  ].join('\n');
  const { errors } = await compiled(text);
  assert.deepEqual(
    errors.map((error) => [error.position?.line, error.text]),
    [
      [1, 'stages config should be an array of strings'],
      [2, 'image config should be a hash or a string'],
      [8, 'jobs:build:artifacts config contains unknown keys: pahts'],
      [7, 'jobs:build:artifacts when should be one of: on_success, on_failure, always'],
      [5, 'jobs:build when should be one of: on_success, on_failure, always, manual, delayed'],
      [12, `jobs:test:script ${commands}`],
      [9, 'test job: undefined need: nothing'],
    ],
  );
  assert.deepEqual(errors[2]?.position, { file: '.gitlab-ci.yml', line: 8, column: 5 });
});
