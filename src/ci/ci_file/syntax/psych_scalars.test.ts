import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  compiled,
  compileErrors,
  compileJob,
  variableValues,
  compileWarnings,
} from '../../../../test/support/ci/ci_file.ts';
import { loadYaml } from './load_yaml.ts';
import { toPlainValue, toScalarText } from './node.ts';
import { collectProblems } from './problems.ts';
import { parsePsychScalar } from './psych_scalars.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
const read = (text: string): any => {
  const problems = collectProblems();
  const [first] = loadYaml('f.yml', text, problems) ?? [];
  assert.deepEqual(problems.errors, []);
  return first === undefined ? undefined : toPlainValue(first);
};

test('reads unquoted scalars as Ruby does', () => {
  const rows: [string, unknown][] = [
    ['yes', true],
    ['on', true],
    ['Off', false],
    ['NO', false],
    ['True', true],
    ['y', 'y'],
    ['n', 'n'],
    ['~', null],
    ['null', null],
    ['Null', null],
    ['', null],
    ['0755', 493n],
    ['010', 8n],
    ['08', '08'],
    ['0', 0n],
    ['-5', -5n],
    ['0x1F', 31n],
    ['0b101', 5n],
    ['1_000', 1000n],
    ['1,000', 1000n],
    ['1:30', 5400n],
    ['12:30:45', 45045n],
    ['1e3', '1e3'],
    ['1.5e3', '1.5e3'],
    ['1.5e+3', 1500],
    ['1.0', 1],
    ['.5', 0.5],
    ['1.', 1],
    ['.', '.'],
    ['.inf', Infinity],
    ['-.inf', -Infinity],
    [':push', 'push'],
    [':"a b"', 'a b'],
    ['9007199254740993', 9007199254740993n],
    ['1.2.3', '1.2.3'],
    ['v1.0', 'v1.0'],
    ['=~', '=~'],
    ['$A', '$A'],
    ['nope', 'nope'],
    ['yesterday', 'yesterday'],
  ];
  for (const [text, value] of rows) assert.deepEqual(parsePsychScalar(text), value, text);
  assert.ok(Number.isNaN(parsePsychScalar('.nan')));
  assert.deepEqual(parsePsychScalar('2001-01-01'), { refused: 'Date' });
  assert.deepEqual(parsePsychScalar('2001-01-01 10:00:00'), { refused: 'Time' });
});

test('numbers become text as Ruby prints them', () => {
  const rows: [bigint | number, string][] = [
    [1, '1.0'],
    [3.1, '3.1'],
    [0.00001, '1.0e-05'],
    [1e20, '1.0e+20'],
    [123456789012345680, '1.2345678901234568e+17'],
    [-0, '-0.0'],
    [9007199254740993n, '9007199254740993'],
  ];
  for (const [value, text] of rows) assert.equal(toScalarText(value), text);
});

test('versions, booleans and large numbers survive as values of variables', async () => {
  const job = await compileJob(
    'job: { script: x, variables: { A: 1.0, B: 3.10, C: false, D: 12345678901234567890, E: "010", F: 010, G: } }',
  );
  const expected = { A: '1.0', B: '3.1', C: 'false', D: '12345678901234567890', E: '010', F: '8', G: '' };
  assert.deepEqual(variableValues(job), expected);
});

test('anchors, aliases and merge keys are expanded', () => {
  assert.deepEqual(read('a: &x { k: 1, l: 2 }\nb:\n  <<: *x\n  l: 3\n'), {
    a: { k: 1, l: 2 },
    b: { k: 1, l: 3 },
  });
  assert.deepEqual(read('a: &x { k: 1 }\nb: &y { k: 2, m: 3 }\nc: { <<: [*x, *y] }').c, { k: 1, m: 3 });
  // Ruby merges at the position of the key, which overrides earlier entries.
  assert.deepEqual(read('a: &x { k: 1 }\nb: { k: 2, <<: *x }').b, { k: 1 });
  assert.deepEqual(read('a: &x [1]\nb: { "<<": *x }').b, { '<<': [1] });
  assert.deepEqual(read('a: &x [1, 2]\nb: [*x, 3]').b, [[1, 2], 3]);
});

test('a tag may turn a number into text', () => {
  assert.deepEqual(read('a: !!str 010\nb: !str yes\nc: !unknown 5'), { a: '010', b: 'yes', c: 5 });
});

test('the last of duplicate keys wins, with a warning', async () => {
  const text = 'job:\n  script: a\n  tags: [x]\n  script: b\n';
  assert.deepEqual((await compileJob(text)).script, ['b']);
  assert.deepEqual(await compileWarnings(text), ['duplicate key: script, the last one counts']);
  const { warnings } = await compiled(text);
  assert.deepEqual(warnings[0]?.position, { file: '.gitlab-ci.yml', line: 4, column: 3 });
});

test('syntax errors name their line', async () => {
  const { errors } = await compiled('job:\n  script: [a\nother: 1\n');
  assert.match(errors[0]?.text ?? '', /^\(<unknown>\): .* at line 3 column \d+$/);
  assert.equal(errors[0]?.position?.line, 3);
  assert.deepEqual(await compileErrors('job: { script: *nothing }'), ['Unknown alias: nothing']);
  assert.deepEqual(await compileErrors('job: { script: a, variables: { A: 2001-01-01 } }'), [
    'Tried to load unspecified class: Date',
  ]);
});
