/** Hooks reach this instance at its external URL, which may be of the local network, and nothing else there. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { seedProject } from '../../../test/support/seed.ts';
import { startTestService } from '../../../test/support/service.ts';

const findFreePort = async (): Promise<number> => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

test('a hook reaches the host and port of the external URL', async () => {
  const port = await findFreePort();
  const own = `http://127.0.0.1:${port}`;
  const gantry = await startTestService({ GANTRY_LISTEN: `127.0.0.1:${port}`, GANTRY_EXTERNAL_URL: own });
  try {
    const hooks = `/projects/${(await seedProject(gantry)).id}/hooks`;
    const refused = await gantry.api(`POST ${hooks}`, { json: { url: 'http://127.0.0.1:9/' } });
    assert.equal(refused.status, 422);
    const { status, body } = await gantry.api(`POST ${hooks}`, { json: { url: `${own}/nothing-here` } });
    assert.equal(status, 201);
    const tested = await gantry.api(`POST ${hooks}/${body.id}/test/member_events`);
    assert.deepEqual([tested.status, tested.body.message], [422, 'The receiver answered 404']);
  } finally {
    await gantry.close();
  }
});
