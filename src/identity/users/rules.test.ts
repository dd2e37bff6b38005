import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passwordProblem, userProblems } from './rules.ts';

const common = 'must not contain commonly used combinations of words and letters';

test('a password has 8 to 128 characters', () => {
  assert.equal(passwordProblem('pass-7c'), 'is too short (minimum is 8 characters)');
  assert.equal(passwordProblem('pass-8ch'), null);
  assert.equal(passwordProblem('🔑🔒🗝️🚪🚨ab'), null);
  assert.equal(passwordProblem('x1y'.repeat(42) + 'ab'), null);
  assert.equal(passwordProblem('x1y'.repeat(43)), 'is too long (maximum is 128 characters)');
  assert.equal(passwordProblem(''), "can't be blank");
});

test('refuses common passwords', () => {
  for (const password of ['password', 'PassWord1', '12345678', 'aaaaaaaaaaaa', 'abababab', 'iloveyou']) {
    assert.equal(passwordProblem(password), common, password);
  }
  assert.equal(passwordProblem('Jane.Doe', ['jane.doe']), common);
});

test('an address has one @ and no special characters of mail headers', () => {
  for (const email of ['a@b', 'jane.doe+x@mail.example.com', ' Jane@Example.com ', 'jürgen@müller.example']) {
    assert.deepEqual(userProblems({ email }), {}, email);
  }
  for (const email of ['a', '@b', 'a@', 'a@b@c', 'a b@c', 'a@b\nbcc:c@d', '<a@b>', 'a@b,c', 'a\u200b@b']) {
    assert.deepEqual(userProblems({ email }), { email: ['is invalid'] }, email);
  }
  assert.deepEqual(userProblems({ email: ' ' }), { email: ["can't be blank"] });
});

test('a name has no line break and no direction marks', () => {
  assert.deepEqual(userProblems({ name: "Zoë O'Neil 李" }), {});
  for (const name of ['a\nb', 'a\u202Eb', 'a\u0000b']) {
    assert.deepEqual(userProblems({ name }), { name: ['is invalid'] });
  }
  assert.deepEqual(userProblems({ name: '  ' }), { name: ["can't be blank"] });
});

test('a website is a page on the web', () => {
  for (const website_url of ['', 'https://example.com/~jane?x=1', 'example.com', 'example.com:8080/a']) {
    assert.deepEqual(userProblems({ website_url }), {}, website_url);
  }
  for (const website_url of [
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://a',
    'http://',
    'a b',
    'http://a/"x',
  ]) {
    assert.deepEqual(userProblems({ website_url }), { website_url: ['is not a valid URL'] }, website_url);
  }
});
