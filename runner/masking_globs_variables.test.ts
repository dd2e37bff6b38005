/** Unit tests of the masker, the glob patterns and the variables of the runner. */
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { getFixedFolder, matchGlob, matchGlobOrWithin, tidyPath } from './files/glob.ts';
import { makeMasker } from './log/mask_secrets.ts';
import { expandVariables, resolveVariables } from './job_variables.ts';
import { scriptText } from './job/script_text.ts';
import { execFileSync } from 'node:child_process';

describe('the masker', () => {
  const pass = (text: string, cuts: readonly number[], secrets: readonly string[]): string => {
    const bytes = Buffer.from(text);
    const masker = makeMasker(secrets, ['glpat-']);
    const places = [
      0,
      ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b),
      bytes.length,
    ];
    const shown = places.slice(1).map((end, index) => masker.feed(bytes.subarray(places[index], end)));
    return Buffer.concat([...shown, masker.end()]).toString();
  };
  it('masks secrets however its input is split', () => {
    const word = fc.constantFrom('ab', 'abab', 'abc', 'größe-2', 'x', ' ', 'a', 'glpat-', 'glpat-k9', '\n');
    const texts = fc.array(word, { maxLength: 30 }).map((words) => words.join(''));
    const secrets = ['abab', 'abc', 'größe-2'];
    fc.assert(
      fc.property(texts, fc.array(fc.nat(), { maxLength: 8 }), (text, cuts) => {
        const whole = pass(text, [], secrets);
        assert.equal(pass(text, cuts, secrets), whole);
        for (const secret of secrets) assert.ok(!whole.includes(secret));
      }),
    );
  });
  it('masks the longest of secrets with a common prefix', () => {
    assert.equal(pass('xabcdx abc', [], ['abc', 'abcd']), 'x[MASKED]x [MASKED]');
    assert.equal(pass('xabcdx', [4], ['abc', 'abcd']), 'x[MASKED]x');
  });
  it('the masker leaves text without secrets unchanged', () => {
    assert.equal(pass('plain ünïcode', [8], ['secret']), 'plain ünïcode');
    assert.equal(pass('a glpat-x.y=z! b', [10], []), 'a glpat-[MASKED]! b');
  });
});

describe('patterns', () => {
  it('match within folders, across folders, and by alternatives and classes', () => {
    const yes: [string, string][] = [
      ['*.txt', 'a.txt'],
      ['*', '.hidden'],
      ['**/*.o', 'a.o'],
      ['**/*.o', 'a/b/c.o'],
      ['a/**', 'a/b/c'],
      ['a/**/z', 'a/z'],
      ['{a,b}/?', 'b/x'],
      ['[a-c][!x]', 'by'],
      [String.raw`\*`, '*'],
    ];
    const no: [string, string][] = [
      ['*.txt', 'a/b.txt'],
      ['a/*', 'a/b/c'],
      ['[!a]', 'a'],
      ['?', '/'],
      ['a.c', 'abc'],
      ['[', 'x'],
    ];
    for (const [pattern, path] of yes) assert.ok(matchGlob(pattern)(path), `${pattern} ${path}`);
    for (const [pattern, path] of no) assert.ok(!matchGlob(pattern)(path), `${pattern} ${path}`);
    assert.ok(matchGlobOrWithin('out')('out/deep/file'));
    assert.ok(!matchGlobOrWithin('out')('output'));
  });
  it('match hostile patterns without backtracking', () => {
    // A backtracking matcher does not end on these.
    const letters = 'a'.repeat(200);
    assert.ok(!matchGlob(`${'*a'.repeat(60)}*b`)(letters));
    assert.ok(matchGlob(`${'*a'.repeat(60)}*`)(letters));
    assert.ok(!matchGlob(`${'**/a/'.repeat(60)}b`)(`${'a/'.repeat(200)}c`));
  });
  it('never throw, and report the folder to search', () => {
    fc.assert(fc.property(fc.string(), fc.string(), (pattern, path) => void matchGlob(pattern)(path)));
    assert.deepEqual(['a/b/*.c', '*', 'a/b', 'a/{b,c}/d'].map(getFixedFolder), ['a/b', '', 'a/b', 'a']);
    assert.deepEqual(['./a//b/', 'a/../b', '..', ''].map(tidyPath), ['a/b', null, null, '']);
  });
});

describe('variables', () => {
  it('are expanded as in a shell, without other expansions', () => {
    const values = new Map([['A', 'x$B']]);
    assert.equal(expandVariables('$A ${A} $$A $B $1 $ ${ %A', values), 'x$B x$B $A   $ ${ %A');
  });
  it('with cyclic or nested references stay bounded', () => {
    const circle = [
      { key: 'A', value: '1$B' },
      { key: 'B', value: '2$A' },
    ];
    assert.equal(resolveVariables(circle, () => '').get('A'), '12');
    const bomb = Array.from({ length: 60 }, (_, index) => ({
      key: `V${index}`,
      value: `x$V${index + 1}$V${index + 1}`,
    }));
    assert.ok((resolveVariables(bomb, () => '').get('V0')?.length ?? 0) < 3_000_000);
  });
  it('variables with any characters reach a shell unchanged', () => {
    const text = fc.string({ unit: 'binary' }).filter((one) => !one.includes('\0') && one.isWellFormed());
    fc.assert(
      fc.property(text, (value) => {
        const script = scriptText({ lines: [], values: new Map([['V', value]]), folder: '/' });
        const input = `${script}\nprintf %s "$V"`;
        const said = execFileSync('/bin/bash', ['--noprofile', '--norc', '-c', input], { env: {} });
        assert.equal(said.toString(), value);
      }),
      { numRuns: 15 },
    );
  });
});
