import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openSecrets } from './data_folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'gantry-secrets-'));
const file = join(folder, 'secrets.json');
after(() => rmSync(folder, { recursive: true }));

const isRegistryKey = (pem: string): boolean =>
  createPrivateKey(pem).asymmetricKeyDetails?.namedCurve === 'prime256v1';

test('secrets are made once, and read again', () => {
  const made = openSecrets(folder, true);
  assert.ok(isRegistryKey(made.registry_key));
  assert.deepEqual(openSecrets(folder, false), made);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('a folder of a version that had no registry key is given one, and keeps the others', () => {
  const old = { session_key: 'a'.repeat(64), encryption_key: 'b'.repeat(64), another: 'kept' };
  writeFileSync(file, JSON.stringify(old), { mode: 0o600 });
  const { registry_key, ...others } = openSecrets(folder, false);
  assert.deepEqual(others, old);
  assert.ok(isRegistryKey(registry_key));
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).registry_key, registry_key);
  assert.equal(openSecrets(folder, false).registry_key, registry_key);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ['secrets.json']);
});
