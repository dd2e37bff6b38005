/** python-gitlab, unmodified, through issues, merge requests, jobs, settings, snippets and addresses. Skips where it cannot be installed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runCommand } from '../support/run/run_command.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';

const version = '8.6.0';
const packages = join(import.meta.dirname, '../../node_modules/.cache/gantry/python_gitlab', version);

/** Installs the client beside other caches of the tests. Returns whether it is there. */
const installClient = (): boolean => {
  if (existsSync(join(packages, 'gitlab'))) return true;
  const args = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--no-cache-dir',
    '--target',
    packages,
    `python-gitlab==${version}`,
  ];
  return spawnSync('python3', args).status === 0;
};

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

test('python-gitlab finds what it expects', async (context) => {
  if (!installClient()) return context.skip('python-gitlab cannot be installed');
  const { code, output } = await runCommand({
    program: 'python3',
    args: [join(import.meta.dirname, 'python_gitlab/drive.py'), gantry.url, rootToken],
    env: { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' },
    seconds: 120,
  });
  assert.equal(code, 0, output);
});
