/** python-gitlab, unmodified, through issues, merge requests, jobs, settings, snippets and addresses. Skips where it cannot be installed. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runCommand } from '../support/run/run_command.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';
import { installPythonPackage } from './python_package.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
});
after(async () => await gantry.close());

test('python-gitlab finds what it expects', async (context) => {
  const packages = installPythonPackage('python-gitlab', '8.6.0');
  if (packages === null) return context.skip('python-gitlab cannot be installed');
  const { code, output } = await runCommand({
    program: 'python3',
    args: [join(import.meta.dirname, 'python_gitlab/drive.py'), gantry.url, rootToken],
    env: { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' },
    seconds: 120,
  });
  assert.equal(code, 0, output);
});
