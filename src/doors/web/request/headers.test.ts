import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageHeaders } from './headers.ts';

const policyFor = (...formOrigins: string[]): string =>
  pageHeaders({ formOrigins, isHttps: true })['content-security-policy'] ?? '';

test('a form may lead to the origins that its page names', () => {
  const policy = policyFor('https://a.example', 'http://127.0.0.1:8080', 'https://[::1]:1', 'com.app+x:');
  assert.match(
    policy,
    /; form-action 'self' https:\/\/a\.example http:\/\/127\.0\.0\.1:8080 https:\/\/\[::1\]:1 com\.app\+x:;/,
  );
});

test('an origin cannot add a directive to the policy', () => {
  for (const origin of [
    'https://a;script-src *',
    "https://a 'unsafe-inline'",
    'https://a,b',
    "'none'",
    '*',
    '',
  ])
    assert.equal(policyFor(origin), policyFor(), origin);
});
