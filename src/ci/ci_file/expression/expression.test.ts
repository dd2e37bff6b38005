import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExpressionError } from './lexer.ts';
import { isTrue } from './evaluate.ts';
import { parseExpression } from './parser.ts';

const values = {
  MAIN: 'main',
  EMPTY: '',
  BLANK: '  ',
  V: 'v1.2',
  PATTERN: '/^ma/',
  NO_PATTERN: 'ma',
  UPPER: 'MAIN',
  LINES: 'one\ntwo',
  SLASH: 'a/b',
};

const truth = (text: string): boolean => isTrue(parseExpression(text), values, { left: 1e9 });

test('expressions evaluate as documented', () => {
  const rows: [string, boolean][] = [
    ['$MAIN', true],
    ['$EMPTY', false],
    ['$BLANK', false],
    ['$NONE', false],
    ['${MAIN} == "main"', true],
    [`$MAIN == 'main'`, true],
    ['"main" == $MAIN', true],
    ['$MAIN != "main"', false],
    ['$MAIN == $UPPER', false],
    ['$NONE == null', true],
    ['$NONE == $OTHER', true],
    ['$EMPTY == null', false],
    ['$EMPTY == ""', true],
    ['$MAIN != null', true],
    ['$MAIN =~ /^ma/', true],
    ['$UPPER =~ /^ma/', false],
    ['$UPPER =~ /^ma/i', true],
    ['$MAIN !~ /^ma/', false],
    ['$NONE =~ /.*/', false],
    ['$NONE !~ /.*/', true],
    ['$MAIN =~ $PATTERN', true],
    ['$MAIN =~ $NO_PATTERN', false],
    ['$MAIN =~ $NONE', false],
    ['$MAIN !~ $NONE', true],
    ['$LINES =~ /^two$/', true],
    ['$LINES =~ /one.two/', false],
    ['$LINES =~ /one.two/m', true],
    ['$LINES =~ /one.two/s', true],
    ['$SLASH =~ /^a\\/b$/', true],
    ['$V =~ /^v\\d+\\.\\d+$/', true],
    ['$MAIN && $NONE', false],
    ['$MAIN || $NONE', true],
    ['$EMPTY || $MAIN == "main"', true],
    ['$NONE && $NONE || $MAIN', true],
    ['$NONE && ($NONE || $MAIN)', false],
    ['$MAIN || $NONE && $NONE', true],
    ['($MAIN == "main") == ($V =~ /^v/)', true],
    ['$MAIN=="main"&&$V=~/^v/', true],
    ['(($MAIN))', true],
    ['"text"', true],
    ['null', false],
  ];
  for (const [text, is] of rows) assert.equal(truth(text), is, text);
});

test('explains why an expression is invalid', () => {
  const rows: [string, string][] = [
    ['$A == 1', 'Unknown lexeme found!'],
    ['main', 'Unknown lexeme found!'],
    ['$A == "x', 'Unknown lexeme found!'],
    ['$A =~ /x', 'Unknown lexeme found!'],
    ['$A =~ //', 'Unknown lexeme found!'],
    ['', 'Unknown pipeline expression!'],
    ['$A ==', 'Unknown pipeline expression!'],
    ['$A $B', 'Unknown pipeline expression!'],
    ['($A', 'Unknown pipeline expression!'],
    ['$A)', 'Unknown pipeline expression!'],
    ['&& $A', 'Unknown pipeline expression!'],
    ['$A =~ /(?=x)/', 'Invalid regular expression!'],
    ['$A =~ /(a)\\1/', 'Invalid regular expression!'],
    ['$A =~ /[/', 'Invalid regular expression!'],
    [Array.from({ length: 51 }, () => '$A').join(' && '), 'Too many tokens!'],
    ['$A'.padEnd(20_000), 'Too many tokens!'],
  ];
  for (const [text, why] of rows) {
    assert.throws(
      () => parseExpression(text),
      (error) => error instanceof ExpressionError && error.message === why,
      text,
    );
  }
  assert.ok(parseExpression(Array.from({ length: 50 }, () => '$A').join(' && ')));
});

test('a pattern that would stall a backtracking engine stays bounded', () => {
  const evil = { A: 'a'.repeat(5000) };
  assert.equal(isTrue(parseExpression('$A =~ /(a+)+b/'), evil, { left: 1e9 }), false);
  assert.throws(() => isTrue(parseExpression('$A =~ /(a+)+b/'), evil, { left: 10 }));
});
