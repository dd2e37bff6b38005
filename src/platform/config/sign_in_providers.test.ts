import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from './read_config.ts';

const one = {
  name: 'corp',
  label: 'Corp',
  issuer: 'https://login.example.com',
  client_id: 'gantry',
  client_secret: 'hunter2hunter2',
};

const read = (text: string) => readConfig({}, { GANTRY_SIGN_IN_PROVIDERS: text }).config.sign_in_providers;

const problemOf = (text: string): string => {
  try {
    read(text);
  } catch (error) {
    return (error as Error).message;
  }
  return 'none';
};

test('reads providers from the variable, or from a file that it names', () => {
  const wanted = [{ ...one, scopes: 'openid email profile' }];
  assert.deepEqual(read(JSON.stringify([one])), wanted);
  const folder = mkdtempSync(join(tmpdir(), 'gantry-test-'));
  const file = join(folder, 'providers.json');
  writeFileSync(file, JSON.stringify([one]));
  assert.deepEqual(read(file), wanted);
  rmSync(folder, { recursive: true });
  assert.deepEqual(read('[]'), []);
  assert.deepEqual(readConfig({}, {}).config.sign_in_providers, []);
});

test('requires TLS except for providers on this machine', () => {
  const issuerProblem = (issuer: string): string => problemOf(JSON.stringify([{ ...one, issuer }]));
  for (const issuer of ['http://127.0.0.1:9000', 'http://localhost:9000', 'http://[::1]:9000']) {
    assert.equal(issuerProblem(issuer), 'none');
  }
  for (const issuer of ['http://login.example.com', 'http://localhost.example.com', 'nonsense']) {
    assert.match(issuerProblem(issuer), /has as provider 1 an issuer that is not an https:\/\/ URL$/);
  }
});

test('error messages reveal no secret', () => {
  const wrong: [text: string, problem: RegExp][] = [
    ['[{"client_secret": "hunter2hunter2"', /is not JSON$/],
    ['{"client_secret": "hunter2hunter2"}', /names a file that cannot be read$/],
    ['["hunter2hunter2"]', /has as provider 1 no object$/],
    [JSON.stringify([{ ...one, label: '' }]), /one without label$/],
    [JSON.stringify([{ ...one, client_secret: undefined }]), /one without client_secret$/],
    [JSON.stringify([{ ...one, name: 'Corp/x' }]), /a name with more than/],
    [JSON.stringify([{ ...one, scopes: 'email' }]), /scopes without openid$/],
    [JSON.stringify([{ ...one, colour: 'red' }]), /one with "colour", which means nothing$/],
    [JSON.stringify([one, one]), /names a provider twice$/],
  ];
  for (const [text, problem] of wrong) {
    const message = problemOf(text);
    assert.match(message, problem);
    assert.match(message, /^GANTRY_SIGN_IN_PROVIDERS /);
    assert.ok(!message.includes('hunter2'), message);
  }
});
