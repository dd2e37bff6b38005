/** Which pushes a hook receives, how a request is signed, and which certificates are accepted. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import { seedProject } from '../../support/seed.ts';
import { canMakeCertificates, makeAuthority } from '../../support/servers/certificates.ts';
import { type HookReceiver, startHookReceiver } from '../../support/servers/hook_receiver.ts';
import { type TestService, startTestService } from '../../support/service.ts';

let gantry: TestService;
let receiver: HookReceiver;
let project: string;
before(async () => {
  [gantry, receiver] = await Promise.all([startTestService(), startHookReceiver()]);
  const json = { allow_local_requests_from_hooks_and_services: true };
  await gantry.api('PUT /application/settings', { json });
  const { id } = await seedProject(gantry);
  await seedCommit(gantry, id, { 'a.txt': 'a' });
  project = `/projects/${id}`;
});
after(async () => {
  await gantry.close();
  await receiver.close();
});
beforeEach(() => receiver.clear());

const addHook = async (json: object): Promise<string> => {
  const { status, body, text } = await gantry.api(`POST ${project}/hooks`, { json });
  assert.equal(status, 201, text);
  return `${project}/hooks/${body.id}`;
};

test('a hook receives the pushes of branches that its filter names', async () => {
  const filters: [path: string, strategy: string, filter: string][] = [
    ['all', 'all_branches', 'ignored'],
    ['wildcard', 'wildcard', 'release/*'],
    ['regex', 'regex', '^(?:release/1|topic)$'],
    ['none', 'wildcard', ''],
  ];
  const hooks = await Promise.all(
    filters.map(([path, branch_filter_strategy, push_events_branch_filter]) =>
      addHook({ url: `${receiver.url}/${path}`, branch_filter_strategy, push_events_branch_filter }),
    ),
  );
  const branches = ['release/1', 'release/2', 'topic', 'other'];
  for (const branch of branches)
    await gantry.api(`POST ${project}/repository/branches`, { json: { branch, ref: 'main' } });
  await gantry.service.worker.drain();
  for (const hook of hooks) await gantry.api(`DELETE ${hook}`);
  const seen = new Set(
    receiver.received.map(({ path, body }) => `${path} ${body.ref.replace('refs/heads/', '')}`),
  );
  const listBranches = (path: string): string[] =>
    branches.filter((branch) => seen.has(`/${path} ${branch}`));
  assert.deepEqual(Object.fromEntries(filters.map(([path]) => [path, listBranches(path)])), {
    all: branches,
    wildcard: ['release/1', 'release/2'],
    regex: ['release/1', 'topic'],
    none: branches,
  });
});

test('a signing token signs in place of the secret token', async () => {
  const key = Buffer.from('a key of thirty-two random bytes');
  const signing_token = `whsec_${key.toString('base64')}`;
  const hook = await addHook({ url: receiver.url, push_events: false, token: 'token', signing_token });
  assert.equal((await gantry.api(`POST ${hook}/test/push_events`)).status, 201);
  const [one] = receiver.received;
  assert.ok(one);
  const { headers, text } = one;
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`;
  const signature = createHmac('sha256', key).update(signed).digest('base64');
  assert.deepEqual([headers['x-gitlab-token'], headers['webhook-signature']], ['token', `v1,${signature}`]);
});

const hasNoOpenssl = canMakeCertificates ? false : 'openssl is not installed';

test(
  'a certificate that nobody signed is refused, unless the hook says otherwise',
  { skip: hasNoOpenssl },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gantry-hook-'));
    const { certificate, key } = makeAuthority(folder, 'receiver');
    const server = createServer(
      { cert: readFileSync(certificate), key: readFileSync(key) },
      (_request, response) => void response.end(),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const hook = await addHook({ url, push_events: false });
      const refused = await gantry.api(`POST ${hook}/test/push_events`);
      assert.deepEqual([refused.status, refused.body.error], [422, 'DEPTH_ZERO_SELF_SIGNED_CERT']);
      await gantry.api(`PUT ${hook}`, { json: { enable_ssl_verification: false } });
      assert.equal((await gantry.api(`POST ${hook}/test/push_events`)).status, 201);
      await gantry.api(`PUT ${hook}`, { json: { enable_ssl_verification: true } });
      assert.equal(
        (await gantry.api(`POST ${hook}/test/push_events`)).status,
        422,
        'a connection that was not verified is not used again',
      );
    } finally {
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true });
    }
  },
);
