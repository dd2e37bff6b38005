import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaults } from './fields.ts';
import { findEmailDomainProblem } from './setting_effects.ts';

const problem = (email: string, overrides: object): string | null =>
  findEmailDomainProblem({ ...defaults, ...overrides }, email);

const allowed = (email: string, patterns: string[]): boolean =>
  problem(email, { domain_whitelist: patterns }) === null;

test('accepts listed domains and their subdomains, ignoring case', () => {
  assert.ok(allowed('a@b.org', []));
  assert.ok(allowed('a@Example.COM', ['example.com']));
  assert.ok(allowed('a@x.example.com', ['*.example.com']));
  assert.ok(allowed('a@x.y.example.com', ['other.org', '*.example.com']));
  assert.ok(allowed('a@mail1.example.com', ['mail*.ex*.com']));
  for (const email of ['a@example.com.evil.org', 'a@xexample.com', 'example.com@evil.org', 'a@x.example.com'])
    assert.ok(!allowed(email, ['example.com']), email);
  assert.ok(!allowed('a@example.com', ['*.example.com']));
  assert.ok(!allowed('a@ab', ['ab*b']));
});

test('refuses domains of the enabled blacklist unless the whitelist has them', () => {
  const lists = { domain_blacklist: ['*.evil.org', 'spam.com'] };
  assert.equal(problem('a@spam.com', lists), null);
  const on = { ...lists, domain_blacklist_enabled: true };
  assert.equal(problem('a@spam.com', on), 'is not from an allowed domain.');
  assert.equal(problem('a@x.evil.org', on), 'is not from an allowed domain.');
  assert.equal(problem('a@good.org', on), null);
  assert.equal(problem('a@spam.com', { ...on, domain_whitelist: ['spam.com'] }), null);
});

test('matches thousands of wildcards in linear time', () => {
  assert.ok(!allowed(`a@${'a'.repeat(200)}`, ['*a'.repeat(120) + 'b']));
});
