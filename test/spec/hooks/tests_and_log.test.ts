/** Tests of a hook send each kind of payload, and the log of a hook shows no secret. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { eventFlagNames } from '../../../src/outgoing/hooks/event_flags.ts';
import { type HookReceiver, startHookReceiver } from '../../support/servers/hook_receiver.ts';
import { seedHookRecords, testedTriggers } from '../../support/seed_hook_records.ts';
import { type TestService, startTestService } from '../../support/service.ts';

let gantry: TestService;
let receiver: HookReceiver;
let project: number;
before(async () => {
  [gantry, receiver] = await Promise.all([startTestService(), startHookReceiver()]);
  const json = { allow_local_requests_from_hooks_and_services: true };
  await gantry.api('PUT /application/settings', { json });
  project = await seedHookRecords(gantry);
});
after(async () => {
  await gantry.close();
  await receiver.close();
});
beforeEach(() => receiver.clear());

const addHook = async (owner: string, more: object = {}): Promise<string> => {
  const json = { url: receiver.url, push_events: false, ...more };
  const { status, body, text } = await gantry.api(`POST ${owner}/hooks`, { json });
  assert.equal(status, 201, text);
  return `${owner}/hooks/${body.id}`;
};

/** `X-Gitlab-Event` and the kind of the last payload. */
const lastReceived = (): [string | undefined, string] => {
  const one = receiver.received.at(-1);
  return [one?.headers['x-gitlab-event'], one?.body.object_kind ?? one?.body.event_name];
};

test('the test of each trigger sends the payload of its kind; wikis and feature flags have none', async () => {
  const hook = await addHook(`/projects/${project}`);
  for (const trigger of eventFlagNames) {
    const { status, text } = await gantry.api(`POST ${hook}/test/${trigger}`);
    const expected = testedTriggers[trigger];
    assert.equal(status, expected === undefined ? 422 : 201, `${trigger}: ${text}`);
    if (expected !== undefined) assert.deepEqual(lastReceived(), expected, trigger);
  }
});

test('the test of a hook of the instance sends a system hook', async () => {
  const hook = await addHook('');
  assert.equal((await gantry.api(`POST ${hook}/test/push_events`)).status, 201);
  assert.deepEqual(lastReceived(), ['System Hook', 'push']);
  receiver.clear();
  const { status, body } = await gantry.api(`POST ${hook}`);
  assert.deepEqual(
    [status, body, lastReceived()],
    [201, { message: '201 Created' }, ['System Hook', 'push']],
  );
  receiver.answer((_request, response) => void response.writeHead(500).end());
  assert.equal((await gantry.api(`POST ${hook}`)).status, 422);
  await gantry.api(`DELETE ${hook}`);
  assert.equal((await gantry.api(`POST ${hook}`)).status, 404);
});

test('the log shows the address without values of variables, and no token or header', async () => {
  const hook = await addHook(`/projects/${project}`, {
    url: `${receiver.url}/{path}?key={key}`,
    token: 'secret-token',
    signing_token: 'secret-signature',
    url_variables: [
      { key: 'path', value: 'secret-path' },
      { key: 'key', value: 'secret-key' },
    ],
    custom_headers: [{ key: 'X-Api-Key', value: 'secret-header' }],
  });
  assert.equal((await gantry.api(`POST ${hook}/test/issues_events`)).status, 201);
  const [received] = receiver.received;
  assert.equal(received?.path, '/secret-path?key=secret-key');
  assert.equal(received?.headers['x-api-key'], 'secret-header');
  const { text, body } = await gantry.api(`GET ${hook}/events`);
  assert.doesNotMatch(text, /secret-/);
  assert.equal(body[0].url, `${receiver.url}/{path}?key={key}`);
  assert.deepEqual(
    ['X-Gitlab-Token', 'X-Api-Key', 'webhook-signature'].map((name) => body[0].request_headers[name]),
    ['[REDACTED]', '[REDACTED]', '[REDACTED]'],
  );
});
