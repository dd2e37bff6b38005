/** gidgetlab, unmodified, checks and routes deliveries as its receivers got them. Skips where it cannot be installed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type HookReceiver, startHookReceiver } from '../support/servers/hook_receiver.ts';
import { seedHookRecords, testedTriggers } from '../support/seed_hook_records.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { installPythonPackage } from './python_package.ts';

const token = 'the token of the hook';

const actions: Record<string, string> = { issue: 'open', merge_request: 'open', note: 'create' };

/** What the route of the action of a kind says; nothing if the kind has no such action. */
const actionsOf = (kind: string): string[] => [actions[kind]].filter((action) => action !== undefined);

let gantry: TestService;
let receiver: HookReceiver;
before(async () => {
  [gantry, receiver] = await Promise.all([startTestService(), startHookReceiver()]);
  const json = { allow_local_requests_from_hooks_and_services: true };
  await gantry.api('PUT /application/settings', { json });
});
after(async () => {
  await gantry.close();
  await receiver.close();
});

test('gidgetlab verifies and routes a delivery of each kind', async (context) => {
  const packages = installPythonPackage('gidgetlab', '2.1.2');
  if (packages === null) return context.skip('gidgetlab cannot be installed');
  const project = `/projects/${await seedHookRecords(gantry)}`;
  const json = { url: receiver.url, push_events: false, token };
  const { body: hook } = await gantry.api(`POST ${project}/hooks`, { json });
  for (const trigger of Object.keys(testedTriggers))
    assert.equal((await gantry.api(`POST ${project}/hooks/${hook.id}/test/${trigger}`)).status, 201, trigger);
  const { status, stdout, stderr } = spawnSync('python3', ['receive.py', token], {
    cwd: join(import.meta.dirname, 'webhook_receivers'),
    input: JSON.stringify(receiver.received.map(({ headers, text }) => ({ headers, text }))),
    env: { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' },
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  assert.deepEqual(
    stdout.trim().split('\n'),
    Object.values(testedTriggers).map((words) => [...words, ...actionsOf(words[1])].join(' ')),
  );
});
