/** The button that tests the diagram service. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inflateSync } from 'node:zlib';
import {
  type HookReceiver,
  startHookReceiver,
} from '../../../../../../test/support/servers/hook_receiver.ts';
import { type SeededVisitor, seedVisitor } from '../../../../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../../../../test/support/service.ts';

const path = '/admin/application_settings';
const key = 'diagram_url';

let gantry: TestService;
let server: HookReceiver;
let admin: SeededVisitor;
before(async () => {
  [gantry, server] = await Promise.all([startTestService(), startHookReceiver()]);
  admin = await seedVisitor(gantry, { admin: 1 });
  await admin.visitor.get('/profile');
});
after(async () => {
  await gantry.close();
  await server.close();
});

const allowLocal = async (allow: boolean): Promise<void> => {
  const json = { allow_local_requests_from_hooks_and_services: allow };
  assert.equal((await gantry.api('PUT /application/settings', { json })).status, 200);
};

/** Submits the form by the button, and returns what the page says. */
const tryServer = async (url: string): Promise<string> => {
  const page = (await admin.visitor.get(path)).text;
  const seen = new RegExp(`name="seen\\[${key}\\]" value="([^"]*)"`).exec(page)?.[1] ?? '';
  const form = { [key]: url, [`seen[${key}]`]: seen, test: 'diagram' };
  const { status, text } = await admin.visitor.post(path, form);
  assert.equal(status, 200, text);
  assert.ok(text.includes(`value="${url}"`), 'the typed address is kept');
  return /<p class="flash[^"]*" role="(?:status|alert)">([^<]*)<\/p>/.exec(text)?.[1] ?? '';
};

test('asks for a tiny diagram and says what the service answered', async () => {
  await allowLocal(true);
  server.answer(
    (_one, response) => void response.writeHead(200, { 'content-type': 'image/svg+xml' }).end('<svg/>'),
  );
  assert.equal(
    await tryServer(`${server.url}/draw/`),
    'The diagram service works: it answered 200 OK, image/svg+xml.',
  );
  const [, code = ''] = /^\/draw\/graphviz\/svg\/([\w-]+)$/.exec(server.received[0]?.path ?? '') ?? [];
  assert.match(inflateSync(Buffer.from(code, 'base64url')).toString(), /^digraph/);
  assert.equal((await gantry.api('GET /application/settings')).body[key], null);
});

test('says what is wrong with the answer', async () => {
  await allowLocal(true);
  server.answer((_one, response) => void response.writeHead(404, { 'content-type': 'text/html' }).end('<b>'));
  assert.match(
    await tryServer(server.url),
    /answered 404 Not Found, text\/html, instead of 200 with an SVG image/,
  );
  server.answer((_one, response) => void response.destroy());
  assert.match(await tryServer(server.url), /did not answer: ECONNRESET/);
  assert.match(await tryServer('ftp://files.example'), /did not answer: the URL is invalid/);
  assert.match(await tryServer(''), /Enter the address of the diagram service first/);
});

test('an emptied field is tested, not the address that is saved', async () => {
  await gantry.api('PUT /application/settings', { json: { [key]: 'http://saved.example' } });
  assert.match(await tryServer(''), /Enter the address of the diagram service first/);
  await gantry.api('PUT /application/settings', { json: { [key]: null } });
});

test('reaches no address that outgoing requests may not reach', async () => {
  await allowLocal(false);
  server.clear();
  for (const url of [server.url, 'http://localhost', 'http://[::1]:8000', 'http://169.254.169.254/latest'])
    assert.match(
      await tryServer(url),
      /Gantry may not send requests to this address itself; browsers may reach it \(requests to the local network/,
      url,
    );
  assert.equal(server.received.length, 0);
});
