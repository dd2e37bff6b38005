import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageHeaders } from './page_headers.ts';

const policyFor = (...formOrigins: string[]): string =>
  pageHeaders({ formOrigins, isHttps: true })['content-security-policy'] ?? '';

test('a form may lead to the origins that its page names', () => {
  const policy = policyFor('https://a.example', 'http://127.0.0.1:8080', 'https://[::1]:1', 'com.app+x:');
  assert.match(
    policy,
    /; form-action 'self' https:\/\/a\.example http:\/\/127\.0\.0\.1:8080 https:\/\/\[::1\]:1 com\.app\+x:;/,
  );
});

test('images come from the instance and from the origins that are named', () => {
  const policy = (...imageOrigins: string[]): string =>
    pageHeaders({ formOrigins: [], isHttps: true, imageOrigins })['content-security-policy'] ?? '';
  assert.match(policy(), /; img-src 'self';/);
  assert.match(policy('https://diagrams.example:8000'), /; img-src 'self' https:\/\/diagrams\.example:8000;/);
  assert.equal(policy('https://a; script-src *'), policy());
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
