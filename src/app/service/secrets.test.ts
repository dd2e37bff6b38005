import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import ssh2 from 'ssh2';
import {
  completeSecrets,
  createSecretsFile,
  computeFingerprints,
  readSecrets,
  replaceSecretsFile,
} from './secrets.ts';

const folder = mkdtempSync(join(tmpdir(), 'gantry-secrets-'));
const file = join(folder, 'secrets.json');
after(() => rmSync(folder, { recursive: true }));

const isRegistryKey = (pem: string): boolean =>
  createPrivateKey(pem).asymmetricKeyDetails?.namedCurve === 'prime256v1';

const sshKeyType = (text: string): string => {
  const key = ssh2.utils.parseKey(text);
  return key instanceof Error ? key.message : key.type;
};

test('creates a private file once and reads it again', () => {
  assert.equal(readSecrets(file), null);
  const made = completeSecrets(null, folder);
  assert.ok(isRegistryKey(made.registry_key));
  assert.equal(sshKeyType(made.ssh_host_key), 'ssh-ed25519');
  assert.equal(createSecretsFile(file, made), true);
  assert.equal(createSecretsFile(file, completeSecrets(null, folder)), false);
  assert.deepEqual(readSecrets(file), made);
  assert.deepEqual(completeSecrets(readSecrets(file), folder), made);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ['secrets.json']);
});

test('adds the keys that an earlier version lacked and keeps its SSH host key', () => {
  const old = { session_key: 'a'.repeat(64), encryption_key: 'b'.repeat(64), another: 'kept' };
  const { ssh_host_key } = completeSecrets(null, folder);
  writeFileSync(join(folder, 'ssh_host_ed25519_key'), ssh_host_key);
  const { registry_key, ...others } = completeSecrets(old, folder);
  assert.deepEqual(others, { ...old, ssh_host_key });
  assert.ok(isRegistryKey(registry_key));
  replaceSecretsFile(file, { ...others, registry_key });
  assert.equal(completeSecrets(readSecrets(file), folder).registry_key, registry_key);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('fingerprints distinguish secrets and ignore line endings', () => {
  const secrets = completeSecrets(null, folder);
  const prints = computeFingerprints(secrets);
  assert.deepEqual(computeFingerprints({ ...secrets, registry_key: secrets.registry_key.trimEnd() }), prints);
  const other = computeFingerprints({ ...secrets, encryption_key: 'c'.repeat(64) });
  assert.notEqual(other.get('encryption_key'), prints.get('encryption_key'));
  assert.equal(other.get('session_key'), prints.get('session_key'));
  const text = readFileSync(file, 'utf8');
  assert.ok([...prints.values()].every((print) => !text.includes(print)));
});
