/** Tests that a hostile file ends with an error after a bounded number of steps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compiled, compileErrors, onMain, planFile } from '../../../test/support/ci/ci_file.ts';
import { compile } from './compile.ts';
import { expandVariables, expandAll } from './syntax/expand_variables.ts';
import { compilePathPattern } from './syntax/fnmatch.ts';
import { TooHeavy, briefLimits, fullLimits } from './syntax/limits.ts';
import { loadRuleFacts, plan } from './plan.ts';
import { compilePattern } from '../../platform/pattern.ts';
import { ExpressionError } from './expression/lexer.ts';
import { parseExpression } from './expression/parser.ts';
import { times } from '../../../test/support/run/sample.ts';

const tooBig = ['The parsed YAML is too big'];
const levels = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n');

test('bounds bombs of aliases, merge keys and references', async () => {
  const nine = (name: string): string => Array.from({ length: 9 }, () => name).join(', ');
  const job = '\njob: { script: x }';
  const aliases = `a0: &a0 [x]\n${levels(9, (at) => `a${at + 1}: &a${at + 1} [${nine(`*a${at}`)}]`)}${job}`;
  assert.deepEqual(await compileErrors(aliases), tooBig);
  const references = `.a0: { s: [x] }\n${levels(9, (at) => `.a${at + 1}: { s: [${nine(`!reference [.a${at}, s]`)}] }`)}${job}`;
  assert.deepEqual(await compileErrors(references), tooBig);
  const big = Array.from({ length: 5000 }, (_, at) => `V${at}: x`).join(', ');
  const parents = `.big: { variables: { ${big} } }\n${levels(500, (at) => `j${at}: { extends: .big, script: x }`)}`;
  assert.deepEqual(await compileErrors(parents), tooBig);
  const again = `.big: { b: 1 }\n${levels(9, (at) => `.c${at}: { extends: [${nine(at === 0 ? '.big' : `.c${at - 1}`)}] }`)}${job}`;
  assert.deepEqual(await compileErrors(again), []);
});

test('bounds a large matrix whose jobs each need part of a large matrix', async () => {
  const file = (jobs: number, entries: number): string => {
    const values = Array.from({ length: jobs }, (_, at) => `v${at}`).join(', ');
    const asked = Array.from({ length: entries }, () => '{ A: "$[[ matrix.A ]]" }').join(', ');
    return `
build: { script: x, parallel: { matrix: [{ A: [${values}] }] } }
test:
  script: x
  parallel: { matrix: [{ A: [${values}] }] }
  needs: [{ job: build, parallel: { matrix: [${asked}] } }]`;
  };
  assert.deepEqual(await compileErrors(file(200, 1)), []);
  assert.deepEqual(await compileErrors(file(200, 1000)), tooBig);
  await assert.rejects(compiled(file(200, 1), { limits: briefLimits }), TooHeavy);
  assert.notEqual((await compiled(file(50, 1), { limits: briefLimits })).config, null);
});

test('limits depth, length and number of lines', async () => {
  assert.deepEqual(await compileErrors(`job: ${'['.repeat(50_000)}`), tooBig);
  assert.deepEqual(await compileErrors(`job: ${'['.repeat(150)}${']'.repeat(150)}`), tooBig);
  assert.deepEqual(await compileErrors('#'.repeat(1_048_577)), tooBig);
  assert.deepEqual(await compileErrors('#\n'.repeat(100_001)), tooBig);
  const wide = `job: { script: [${Array.from({ length: 210_000 }, () => 1).join(',')}] }`;
  assert.deepEqual(await compileErrors(wide), tooBig);
});

test('limits the number and total size of includes', async () => {
  const twice = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [
      `f${at}.yml`,
      `include: [f${at + 1}.yml, f${at + 1}.yml]\nj: { script: x }`,
    ]),
  );
  assert.deepEqual(await compileErrors('include: f0.yml', { ...twice, 'f20.yml': 'k: { script: x }' }), [
    'Maximum of 150 nested includes are allowed!',
  ]);
  const long = `#${'x'.repeat(1_000_000)}\nj: { script: x }`;
  assert.deepEqual(
    await compileErrors('include: "*.yml"', {
      'a.yml': long,
      'b.yml': long,
      'c.yml': long,
      'd.yml': long,
      'e.yml': long,
    }),
    tooBig,
  );
});

test('limits the growth of values that refer to each other', () => {
  const values = Object.fromEntries(
    Array.from({ length: 50 }, (_, at) => [`V${at}`, `$V${at + 1}`.repeat(50)]),
  );
  const all = expandAll({ ...values, V50: 'x'.repeat(1000) }, new Set());
  assert.ok(Object.values(all).reduce((sum, value) => sum + value.length, 0) < 500_000);
  assert.ok(expandVariables('$A'.repeat(10_000), { A: 'x'.repeat(10_000) }).length < 200_000);
});

test('refuses patterns that are too long, too large, or unsupported in linear time', async () => {
  assert.equal(compilePattern('x'.repeat(1001)), null);
  assert.equal(compilePattern('(((x{100}){100}){100})'), null);
  assert.equal(compilePattern('a{1000}'.repeat(6)), null);
  assert.equal(compilePattern('((((a{30}){30}b){30}))'), null);
  for (const source of ['(?=a)', '(?<!a)', '(a)\\1', 'a++', '(?>a)', '[', '(', '*']) {
    assert.equal(compilePattern(source), null, source);
  }
  const rules = Array.from({ length: 2000 }, () => '{ if: "$T =~ $P" }').join(', ');
  const file = `job: { script: x, rules: [${rules}] }`;
  const variables = { T: 'a'.repeat(60_000), P: '/(a|b|ab)*c{900}d/' };
  const planned = await planFile(file, { ...onMain, variables });
  assert.deepEqual(planned, {
    unplanned: { refused: 'error', text: 'The rules take too long to evaluate.' },
  });
});

test('bounds paths matched against patterns of many stars', async () => {
  const paths = Array.from({ length: 100_000 }, (_, at) => `${'a'.repeat(80)}/${at}`);
  const patterns = Array.from({ length: 50 }, (_, at) => `**/${'*a'.repeat(20)}x${at}`);
  const file = `job: { script: x, rules: [{ exists: ${JSON.stringify(patterns)} }] }`;
  const planned = await planFile(file, { ...onMain, files: async () => paths });
  assert.deepEqual(planned, {
    unplanned: { refused: 'error', text: 'The rules take too long to evaluate.' },
  });
});

test('treats names with a meaning in JavaScript as ordinary names', async () => {
  const file = `
variables: { __proto__: a, constructor: b, toString: c }
__proto__: { script: x, variables: { __proto__: own }, rules: [{ if: $constructor == "b" && $hasOwnProperty == null }] }
constructor: { extends: __proto__, needs: [__proto__] }
`;
  const planned = await planFile(file);
  assert.deepEqual('plan' in planned && planned.plan.jobs.map(({ name }) => name), [
    '__proto__',
    'constructor',
  ]);
  assert.equal(({} as { script?: unknown }).script, undefined);
});

const letters = (text: string) => fc.constantFrom(...text.split(''));

const words = fc.constantFrom(
  ...'script before_script stage stages image services variables rules if when only except needs parallel matrix'.split(
    ' ',
  ),
  ...'extends include default workflow cache artifacts environment retry timeout !reference job .a <<'.split(
    ' ',
  ),
  '$A',
  '$A == "x"',
  'x',
  '/x/',
  'manual',
  'delayed',
  '1 day',
  'lib.yml',
  'spec',
  'inputs',
  '__proto__',
);

const scalar = fc.oneof(words, fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.double());
const tree = fc.letrec((tie) => ({
  node: fc.oneof({ maxDepth: 5 }, scalar, fc.array(tie('node'), { maxLength: 4 }), tie('hash')),
  hash: fc.dictionary(fc.oneof(words, fc.string()), tie('node'), { maxKeys: 5 }),
})).hash;

const compilesOrSays = async (content: string): Promise<void> => {
  const result = await compile({
    content,
    path: '.gitlab-ci.yml',
    origin: null,
    conditions: onMain,
    limits: fullLimits,
    fetch: async (wanted) =>
      wanted.type === 'local'
        ? { files: [{ name: 'lib.yml', text: content, origin: null }] }
        : { problem: 'missing' },
  });
  assert.equal(result.config === null, result.errors.length > 0);
  if (result.config === null) return;
  plan(result.config, onMain, await loadRuleFacts(result.config, onMain), fullLimits);
};

test('no tree makes the parser throw', async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (value) => await compilesOrSays(JSON.stringify(value))),
    { numRuns: times(400, 100) },
  );
});

test('no job makes the parser throw', async () => {
  const key = fc.constantFrom(
    ...'script stage image services variables rules when only except needs parallel extends cache artifacts'.split(
      ' ',
    ),
    ...'environment retry timeout inherit tags dependencies coverage allow_failure start_in release trigger'.split(
      ' ',
    ),
    ...'interruptible resource_group hooks secrets id_tokens pages before_script after_script'.split(' '),
  );
  const part = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), tree, fc.array(tree, { maxLength: 3 }));
  await fc.assert(
    fc.asyncProperty(fc.dictionary(key, part, { maxKeys: 6 }), tree, async (job, other) => {
      await compilesOrSays(JSON.stringify({ job: { script: 'x', ...job }, '.a': other }));
    }),
    { numRuns: times(400, 100) },
  );
});

test('no text makes the parser throw', async () => {
  const line = fc.oneof(fc.string(), fc.string({ unit: letters(' :-[]{},&*!|>\'"%@`#?\n\tax<=~$') }));
  await fc.assert(
    fc.asyncProperty(line, async (text) => await compilesOrSays(text)),
    { numRuns: times(400, 100) },
  );
  await fc.assert(
    fc.asyncProperty(line, async (text) => void (await compiled(`job:\n  script: x\n  ${text}`))),
    { numRuns: times(200, 50) },
  );
});

test('an expression is parsed or refused', () => {
  const text = fc.string({ unit: letters('$AB{}"\'/=!~&|() nul.*[i'), maxLength: 40 });
  fc.assert(
    fc.property(text, (one) => {
      try {
        parseExpression(one);
      } catch (error) {
        assert.ok(error instanceof ExpressionError);
      }
    }),
    { numRuns: times(2000, 500) },
  );
});

test('a path without wildcards matches only itself', () => {
  const segment = fc.string({ unit: letters('abc.-_ü'), minLength: 1, maxLength: 6 });
  const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
  fc.assert(fc.property(path, path, (one, other) => compilePathPattern(one)(other) === (one === other)));
  fc.assert(fc.property(path, (one) => compilePathPattern(`**/${one.split('/').at(-1)}`)(one)));
  fc.assert(fc.property(path, (one) => compilePathPattern(one.replaceAll(/[^/]+/g, '*'))(one)));
});
