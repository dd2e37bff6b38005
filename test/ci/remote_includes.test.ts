/** Remote includes: allowed hosts only. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { type Pushed, seedPushed } from '../support/ci/pipelines.ts';
import { type TestService, startTestService } from '../support/service.ts';

const lib = 'lib: { script: [make] }\n';

/** Files by path; the last one exceeds the limit. */
const files: Record<string, [status: number, text: string, headers?: Record<string, string>]> = {
  '/lib.yml': [200, lib],
  '/more.yml': [200, 'include: local.yml\nmore: { script: x }\n'],
  '/moved.yml': [302, '', { location: '/lib.yml' }],
  '/broken.yml': [200, 'lib: ['],
  '/down.yml': [500, lib],
  '/binary.yml': [200, '\uD800'],
  '/long.yml': [200, `#${'x'.repeat(1_100_000)}\n${lib}`],
};

let asked: string[] = [];
const serve = async (): Promise<{ server: Server; origin: string }> => {
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const [status, text, headers = {}] = files[request.url ?? ''] ?? [404, 'none'];
    response.writeHead(status, headers).end(text === '\uD800' ? Buffer.from([0xff, 0xfe]) : text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

let near: Awaited<ReturnType<typeof serve>>;
let far: Awaited<ReturnType<typeof serve>>;
let gantry: TestService;
let project: Pushed;
before(async () => {
  [near, far] = [await serve(), await serve()];
  gantry = await startTestService({ GANTRY_CI_INCLUDE_ORIGINS: `https://ci.example.com, ${near.origin}` });
  project = await seedPushed(gantry);
});
after(async () => {
  await gantry.close();
  for (const { server } of [near, far]) server.close().closeAllConnections();
});

/** The lint result of a file with this include. */
const errorsOf = async (include: string, of = gantry): Promise<string[]> => {
  const content = `include: ${include}\nown: { script: x }`;
  const { status, body } = await of.api('POST /ci/lint', { json: { content } });
  assert.equal(status, 200);
  return body.errors;
};

test('creates a pipeline from a remote include', async () => {
  await project.push(`include: [{ remote: "${near.origin}/lib.yml" }]\nown: { script: x }`);
  const [pipeline] = await project.pipelines();
  assert.deepEqual(await project.jobs(pipeline.id), ['lib', 'own']);
  const { body } = await gantry.api(`GET ${project.path}/ci/lint`);
  const [{ type, location }] = body.includes;
  assert.deepEqual([type, location], ['remote', `${near.origin}/lib.yml`]);
});

test('accepts a bare URL, and refuses a wrong digest', async () => {
  assert.deepEqual(await errorsOf(`${near.origin}/lib.yml`), []);
  const with_ = async (text: string): Promise<string[]> =>
    await errorsOf(
      `{ remote: "${near.origin}/lib.yml", integrity: "sha256-${hash('sha256', text, 'base64')}" }`,
    );
  assert.deepEqual(await with_(lib), []);
  const text = `Remote file \`${near.origin}/lib.yml\` is not what its \`integrity\` says!`;
  assert.deepEqual(await with_('other'), [text]);
});

test('requests no other hosts and follows no redirect to one', async () => {
  asked = [];
  const { host } = new URL(near.origin);
  const others = [
    `${far.origin}/lib.yml`,
    `${near.origin.replace('127.0.0.1', 'localhost')}/lib.yml`,
    `http://somebody:secret@${host}/lib.yml`,
    `${near.origin}@${new URL(far.origin).host}/lib.yml`,
    `${near.origin}.example.com/lib.yml`,
  ];
  for (const url of others) {
    const text = `Remote file \`${url}\` is not allowed: files are not included from its host`;
    assert.deepEqual(await errorsOf(`{ remote: "${url}" }`), [text]);
  }
  assert.deepEqual(asked, []);
  assert.deepEqual(await errorsOf(`${near.origin}/moved.yml`), [
    `Remote file \`${near.origin}/moved.yml\` could not be fetched!`,
  ]);
  assert.deepEqual(asked, ['/moved.yml']);
});

test('reports a file that is missing or invalid', async () => {
  const said = async (path: string): Promise<string | undefined> =>
    (await errorsOf(`${near.origin}${path}`))[0]?.replaceAll(near.origin, '');
  for (const path of ['/none.yml', '/down.yml']) {
    assert.equal(await said(path), `Remote file \`${path}\` could not be fetched!`);
  }
  for (const path of ['/binary.yml', '/long.yml']) {
    assert.equal(await said(path), `Remote file \`${path}\` is not a text, or too big!`);
  }
  assert.equal(await said('/more.yml'), 'Local file `local.yml` does not have project!');
  assert.notEqual(await said('/broken.yml'), undefined);
});

test('disables remote includes if no host is allowed', async (context) => {
  const other = await startTestService();
  context.after(async () => await other.close());
  asked = [];
  const url = `${near.origin}/lib.yml`;
  assert.deepEqual(await errorsOf(url, other), [
    `Remote file \`${url}\` is not allowed: remote includes are off`,
  ]);
  assert.deepEqual(asked, []);
});

test('refuses to start with an invalid host', async () => {
  for (const text of ['ci.example.com', 'https://ci.example.com/path', 'ftp://ci.example.com']) {
    await assert.rejects(
      startTestService({ GANTRY_CI_INCLUDE_ORIGINS: text }),
      /GANTRY_CI_INCLUDE_ORIGINS has .* which is not https:\/\/HOST/,
    );
  }
});
