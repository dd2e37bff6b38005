/** An external CI server: a webhook tells it of a push, and it reports statuses, as docs/external_ci.md says. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startHookReceiver } from '../../support/servers/hook_receiver.ts';
import { seedMember, seedProject, seedUser } from '../../support/seed.ts';
import { type TestService, startTestService } from '../../support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService();
  const json = { allow_local_requests_from_hooks_and_services: true };
  await gantry.api('PUT /application/settings', { json });
});
after(async () => await gantry.close());

test('a server that reports the commit of a push decides its pipeline', async () => {
  const receiver = await startHookReceiver();
  try {
    const { id } = await seedProject(gantry);
    const robot = await seedUser(gantry);
    await seedMember(gantry, { user: robot.id, project: id, access_level: 30 });
    await gantry.api(`POST /projects/${id}/hooks`, { json: { url: receiver.url, token: 'shared' } });
    const actions = [{ action: 'create', file_path: 'a.txt', content: 'a' }];
    const commit = { branch: 'topic', commit_message: 'First', actions };
    await gantry.api(`POST /projects/${id}/repository/commits`, { json: commit });
    await gantry.service.worker.drain();
    const [push] = receiver.received;
    assert.equal(push?.headers['x-gitlab-token'], 'shared');
    const { project_id, checkout_sha } = push.body;
    for (const state of ['running', 'success']) {
      const status = { state, name: 'external', target_url: 'https://ci.example.com/1' };
      const path = `/projects/${project_id}/statuses/${checkout_sha}`;
      const reply = await gantry.api(`POST ${path}`, { json: status, as: robot.token });
      assert.equal(reply.status, 201, reply.text);
    }
    await gantry.service.worker.drain();
    const { body } = await gantry.api(`GET /projects/${id}/repository/commits/${checkout_sha}`);
    assert.equal(body.status, 'success');
    const statuses = (await gantry.api(`GET /projects/${id}/repository/commits/${checkout_sha}/statuses`))
      .body;
    assert.deepEqual(
      statuses.map(({ name, status, target_url }: Record<string, string>) => [name, status, target_url]),
      [['external', 'success', 'https://ci.example.com/1']],
    );
  } finally {
    await receiver.close();
  }
});
