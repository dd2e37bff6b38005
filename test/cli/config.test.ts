import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gantry } from './gantry.ts';

const env = {
  GANTRY_DATA: '/srv/gantry',
  GANTRY_LISTEN: '[::1]:81',
  GANTRY_DATABASE_URL: 'postgres://gantry:hunter2@db/gantry',
  GANTRY_TRUSTED_PROXIES: '10.0.0.1, 10.1.0.0/16',
  GANTRY_BLOB_S3_ENDPOINT: 'https://s3.example.com/',
  GANTRY_BLOB_S3_BUCKET: 'gantry',
  GANTRY_BLOB_S3_ACCESS_KEY: 'key-id',
  GANTRY_BLOB_S3_SECRET_KEY: 'hunter2',
};

test('config show --origin prints each value and its source', async () => {
  const { code, stdout } = await gantry('config show --origin --log-level warn', env);
  assert.equal(code, 0);
  const rows = Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => [line.split(/ +/)[0], line.split(/ +/).slice(1)]),
  );
  assert.deepEqual(rows['log_level'], ['warn', 'flag', 'GANTRY_LOG_LEVEL']);
  assert.deepEqual(rows['data'], ['/srv/gantry', 'environment', 'GANTRY_DATA']);
  assert.deepEqual(rows['listen'], ['[::1]:81', 'environment', 'GANTRY_LISTEN']);
  assert.deepEqual(rows['default_branch'], ['main', 'default', 'GANTRY_DEFAULT_BRANCH']);
  assert.deepEqual(rows['external_url'], ['-', 'default', 'GANTRY_EXTERNAL_URL']);
  assert.deepEqual(rows['blob_s3_secret_key'], ['[hidden]', 'environment', 'GANTRY_BLOB_S3_SECRET_KEY']);
});

test('config show --meaning prints the variable and the meaning of each setting', async () => {
  const { code, stdout } = await gantry('config show --meaning', env);
  assert.equal(code, 0);
  const keep = stdout.split('\n').find((line) => line.startsWith('backup_keep '));
  assert.match(keep ?? '', /^backup_keep +14 +GANTRY_BACKUP_KEEP +number of backups to keep; the oldest/);
  const both = JSON.parse((await gantry('config show --meaning --origin --json', env)).stdout);
  assert.deepEqual(both.listen, {
    value: '[::1]:81',
    origin: 'environment',
    variable: 'GANTRY_LISTEN',
    meaning: 'address and port to listen on; port 0 selects any free port',
  });
});

test('secrets are hidden, also in JSON', async () => {
  for (const line of [
    'config show',
    'config show --origin',
    'config show --json',
    'config show --origin --json',
    'config show --meaning',
  ]) {
    const { stdout } = await gantry(line, { ...env, GANTRY_ROOT_PASSWORD: 'hunter2hunter2' });
    assert.ok(stdout.includes('[hidden]'), line);
    assert.ok(!stdout.includes('hunter2'), line);
  }
});

test('config show --json prints one document: values, or with --origin their sources', async () => {
  const plain = JSON.parse((await gantry('config show --json', env)).stdout);
  assert.deepEqual(
    [plain.data, plain.trusted_proxies, plain.external_url],
    ['/srv/gantry', '10.0.0.1,10.1.0.0/16', null],
  );
  const sourced = JSON.parse((await gantry('config show --json --origin --data /x', env)).stdout);
  assert.deepEqual(sourced.data, { value: '/x', origin: 'flag', variable: 'GANTRY_DATA' });
});

test('limits of the built-in runner are read, and refused if invalid', async () => {
  const told = { ...env, GANTRY_RUNNER_PULL_POLICY: 'if-not-present, always', GANTRY_RUNNER_MEMORY: '512' };
  const shown = JSON.parse((await gantry('config show --json', told)).stdout);
  assert.deepEqual(
    [shown.runner_pull_policy, shown.runner_memory, shown.runner_processes, shown.runner_keep_days],
    ['if-not-present,always', '512', '2048', '30'],
  );
  for (const [name, value] of [
    ['GANTRY_RUNNER_PULL_POLICY', 'always,sometimes'],
    ['GANTRY_RUNNER_PULL_POLICY', ','],
    ['GANTRY_RUNNER_PROCESSES', '0'],
    ['GANTRY_RUNNER_MEMORY', '-1'],
  ] as const) {
    const { code, stderr } = await gantry('config show', { ...env, [name]: value });
    assert.notEqual(code, 0, `${name}=${value}`);
    assert.match(stderr, new RegExp(name));
  }
});

test('unknown variables cause a warning; a typo gets a suggestion', async () => {
  const kubernetes = { GANTRY_SERVICE_HOST: '10.0.0.1', GANTRY_PORT_8080_TCP_ADDR: '10.0.0.1' };
  const { code, stdout, stderr } = await gantry('config show --json', {
    ...kubernetes,
    GANTRY_LISTEM: ':81',
  });
  assert.equal(code, 0);
  assert.equal(JSON.parse(stdout).listen, '127.0.0.1:8080');
  assert.match(stderr, /^gantry: warning: GANTRY_LISTEM is not a setting.* did you mean GANTRY_LISTEN\?$/m);
  assert.match(stderr, /^gantry: warning: not settings, ignored: GANTRY_SERVICE_HOST, GANTRY_PORT_8080/m);
});

test('secrets are read from the files named by _FILE variables', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-secrets-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const url = file('url', 'postgres://gantry:hunter2@db/gantry\n');
  const { code, stdout } = await gantry('config show --json --origin', { GANTRY_DATABASE_URL_FILE: url });
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout).database_url, {
    value: '[hidden]',
    origin: 'file',
    variable: 'GANTRY_DATABASE_URL',
  });
  for (const [variables, line] of [
    [{ GANTRY_ROOT_TOKEN_FILE: join(folder, 'none') }, /GANTRY_ROOT_TOKEN_FILE .*cannot be read \(ENOENT\)/],
    [{ GANTRY_ROOT_TOKEN_FILE: folder }, /GANTRY_ROOT_TOKEN_FILE .*cannot be read \(EISDIR\)/],
    [{ GANTRY_ROOT_TOKEN_FILE: file('empty', '\n') }, /GANTRY_ROOT_TOKEN_FILE .*is empty/],
    [{ GANTRY_ROOT_PASSWORD_FILE: file('short', 'hunter2\n') }, /GANTRY_ROOT_PASSWORD_FILE must be 8 to 128/],
    [{ ...env, GANTRY_DATABASE_URL_FILE: url }, /set either GANTRY_DATABASE_URL or GANTRY_DATABASE_URL_FILE/],
  ] as const) {
    const refused = await gantry('config show', variables);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, line);
    assert.doesNotMatch(refused.stdout + refused.stderr, /hunter2/);
  }
});
