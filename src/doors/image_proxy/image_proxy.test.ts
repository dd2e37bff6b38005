/** Images of other sites are loaded by the service: only signed addresses, checked hosts, images, and bounded bytes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type RequestListener, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { localUrls } from '../../../test/support/local_urls.ts';
import { seedProject } from '../../../test/support/seed.ts';
import { seedVisitor } from '../../../test/support/seed_visitor.ts';
import { type TestService, startTestService } from '../../../test/support/service.ts';
import type { Lookup } from '../../platform/addresses/cached_lookup.ts';
import { readConfig } from '../../platform/config/read_config.ts';
import { fetchImage } from './fetch_image.ts';
import { deriveImageKey, imagePath } from './image_links.ts';
import { getImageKey } from './image_key.ts';

let gantry: TestService;
/** What the other site answers by path, and the headers of the requests that reached it. */
const answers = new Map<string, RequestListener>();
let received: { path: string; headers: IncomingHttpHeaders }[] = [];
const site = createServer((request, response) => {
  const path = request.url ?? '';
  received.push({ path, headers: request.headers });
  (answers.get(path) ?? ((_one, reply) => reply.writeHead(404).end()))(request, response);
});
let origin: string;

const allow = async (...hosts: string[]): Promise<void> => {
  const json = { outbound_local_requests_whitelist: hosts };
  assert.equal((await gantry.api('PUT /application/settings', { json })).status, 200);
};

before(async () => {
  await once(site.listen(0, '127.0.0.1'), 'listening');
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  gantry = await startTestService({ GANTRY_IMAGE_PROXY: 'true' });
  await allow('127.0.0.1');
});
after(async () => {
  await gantry.close();
  site.closeAllConnections();
  site.close();
});

const send =
  (type: string, content: string | Buffer, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    void response.writeHead(200, { 'content-type': type, ...headers }).end(content);

const pathOf = (url: string): string => {
  const path = imagePath(getImageKey(gantry.service.platform) ?? '', url);
  assert.ok(path !== null, url);
  return path;
};

const get = async (url: string, headers: Record<string, string> = {}): Promise<Response> =>
  await fetch(`${gantry.url}${pathOf(url)}`, { headers });

test('shows images that texts and badges embed, and tells the other site nothing of the viewer', async () => {
  answers.set('/badge.png?a=b', send('image/png', 'picture', { 'set-cookie': 'a=b', 'x-other': '1' }));
  const { visitor } = await seedVisitor(gantry);
  const project = await seedProject(gantry, { visibility: 'public' });
  const url = `${origin}/badge.png?a=b`;
  const json = {
    title: 'Images',
    description: `[![Build](${url})](https://ci.example/) ![](//127.0.0.1/x.png#y)`,
  };
  const { body } = await gantry.api(`POST /projects/${project.id}/issues`, { json });
  const badge = { name: 'Own', link_url: 'https://ci.example/', image_url: url };
  await gantry.api(`POST /projects/${project.id}/badges`, { json: badge });
  const page = await visitor.get(new URL(body.web_url).pathname);
  const [, source = ''] =
    /<a href="https:\/\/ci.example\/"[^>]*><img src="([^"]+)" alt="Build"/.exec(page.text) ?? [];
  assert.equal(source, pathOf(url));
  assert.ok(page.text.includes(pathOf(new URL('//127.0.0.1/x.png', gantry.url).href)));
  assert.match(
    (await visitor.get(`/${project.full_path}`)).text,
    new RegExp(`<img src="${source}" alt="Own">`),
  );
  const api = await gantry.api('POST /markdown', { json: { text: `![a](${url})` } });
  assert.ok(api.body.html.includes(`src="${gantry.url}${source}"`), api.body.html);
  received = [];
  const headers = { cookie: 'secret=1', referer: 'http://a.example/private', 'user-agent': 'Viewer' };
  for (let times = 0; times < 2; times += 1) {
    const shown = await fetch(gantry.url + source, { headers });
    assert.deepEqual([shown.status, await shown.text()], [200, 'picture']);
    assert.equal(shown.headers.get('content-type'), 'image/png');
    assert.equal(shown.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(shown.headers.get('content-security-policy'), "default-src 'none'; sandbox");
    assert.deepEqual([shown.headers.get('set-cookie'), shown.headers.get('x-other')], [null, null]);
  }
  assert.equal(received.length, 1, 'kept');
  const [sent] = received;
  assert.deepEqual(Object.keys(sent?.headers ?? {}).toSorted(), [
    'accept',
    'accept-encoding',
    'connection',
    'host',
    'user-agent',
  ]);
  assert.equal(sent?.headers['user-agent'], 'Gantry-Image-Proxy');
});

test('refuses addresses that it did not sign', async () => {
  answers.set('/a.png', send('image/png', 'a'));
  const path = pathOf(`${origin}/a.png`);
  const [, , , signature = '', encoded = ''] = path.split('/');
  const other = Buffer.from(`${origin}/b.png`).toString('base64url');
  received = [];
  for (const wrong of [
    `/-/image/${signature}/${other}`,
    `/-/image/${signature.slice(1)}x/${encoded}`,
    `/-/image/x/${encoded}`,
    `/-/image/${signature}/`,
    `/-/image/${signature}/${Buffer.from('file:///etc/passwd').toString('base64url')}`,
  ])
    assert.equal((await fetch(gantry.url + wrong)).status, 404, wrong);
  assert.equal(received.length, 0);
  assert.equal((await fetch(gantry.url + path)).status, 200);
  const looping = await fetch(gantry.url + path, { headers: { 'user-agent': 'Gantry-Image-Proxy' } });
  assert.equal(looping.status, 404);
  const key = getImageKey(gantry.service.platform) ?? '';
  for (const url of [
    'ftp://a.example/a.png',
    'http://u:p@a.example/a.png',
    `http://a.example/${'x'.repeat(2_000)}`,
  ])
    assert.equal(imagePath(key, url), null, url);
});

test('shows nothing but images, whole ones of at most five megabytes', async () => {
  const mebibyte = 1024 * 1024;
  const endless: RequestListener = (_request, response) => {
    response.writeHead(200, { 'content-type': 'image/png' });
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(100_000)));
    };
    response.on('drain', more).on('error', () => undefined);
    more();
  };
  const bad: [string, RequestListener][] = [
    ['/html', send('text/html', '<script>alert(1)</script>')],
    ['/none', (_request, response) => void response.writeHead(200).end('x')],
    ['/xml', send('image/svg', '<svg/>')],
    ['/zipped', send('image/png', 'x', { 'content-encoding': 'gzip' })],
    ['/empty', send('image/png', '')],
    ['/large', send('image/png', Buffer.alloc(5 * mebibyte + 1))],
    ['/large-svg', send('image/svg+xml', Buffer.alloc(mebibyte + 1))],
    ['/endless', endless],
    [
      '/broken',
      (_request, response) =>
        void response
          .writeHead(200, { 'content-type': 'image/png', 'content-length': '9' })
          .write('x', () => response.destroy()),
    ],
    [
      '/error',
      (_request, response) => void response.writeHead(500, { 'content-type': 'image/png' }).end('x'),
    ],
  ];
  for (const [path, answer] of bad) {
    answers.set(path, answer);
    assert.equal((await get(origin + path)).status, 404, path);
  }
  answers.set('/just.gif', send('IMAGE/GIF; x=y', Buffer.alloc(5 * mebibyte)));
  const whole = await get(`${origin}/just.gif`);
  assert.deepEqual([whole.status, (await whole.arrayBuffer()).byteLength], [200, 5 * mebibyte]);
});

test('an SVG image has a policy that runs and loads nothing', async () => {
  answers.set(
    '/a.svg',
    send('image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
  );
  const { status, headers } = await get(`${origin}/a.svg`);
  assert.deepEqual([status, headers.get('content-type')], [200, 'image/svg+xml']);
  assert.match(headers.get('content-security-policy') ?? '', /default-src 'none';.*; sandbox$/);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
});

test('reaches no local address, also not by a redirect or a name', async () => {
  answers.set('/local.png', send('image/png', 'secret'));
  await allow();
  for (const url of [
    ...localUrls,
    `${origin}/local.png`,
    `http://localhost:${new URL(origin).port}/local.png`,
  ])
    if (imagePath('00', url) !== null) assert.equal((await get(url)).status, 404, url);
  const listed = { isLocalAllowed: false, allowedHosts: ['127.0.0.1'] };
  const rebinding: Lookup = async () => [{ address: '169.254.169.254', family: 4 }];
  assert.equal(await fetchImage('http://metadata.example/a.png', listed, { lookup: rebinding }), null);
  const redirect =
    (location: string): RequestListener =>
    (_request, response) =>
      void response.writeHead(302, { location: Buffer.from(location).toString('latin1') }).end();
  received = [];
  for (const [at, location] of [
    ...localUrls,
    `http://[::1]:${new URL(origin).port}/local.png`,
    'file:///etc/passwd',
    '//u:p@/',
    '',
  ].entries()) {
    answers.set(`/to/${at}`, redirect(location));
    if (!/127\.0\.0\.1/.test(location))
      assert.equal(await fetchImage(`${origin}/to/${at}`, listed), null, location);
  }
  assert.ok(received.every(({ path }) => path.startsWith('/to/')));
  answers.set('/moved', redirect('/local.png'));
  answers.set('/circle', redirect('/circle'));
  assert.equal((await fetchImage(`${origin}/moved`, listed))?.content.toString(), 'secret');
  received = [];
  assert.equal(await fetchImage(`${origin}/circle`, listed), null);
  assert.equal(received.length, 4);
});

test('gives up in time', async () => {
  answers.set('/hangs', () => undefined);
  answers.set(
    '/stalls',
    (_request, response) => void response.writeHead(200, { 'content-type': 'image/png' }).write('x'),
  );
  const rules = { isLocalAllowed: false, allowedHosts: ['127.0.0.1'] };
  for (const path of ['/hangs', '/stalls'])
    assert.equal(await fetchImage(origin + path, rules, { milliseconds: 100 }), null, path);
});

test('asks the other site once for many viewers', async () => {
  await allow('127.0.0.1');
  let release: () => void = () => undefined;
  answers.set('/many.png', (_request, response) => {
    release = () => void response.writeHead(200, { 'content-type': 'image/png' }).end('x');
    setImmediate(() => release());
  });
  received = [];
  const shown = await Promise.all(Array.from({ length: 20 }, async () => await get(`${origin}/many.png`)));
  assert.deepEqual(new Set(shown.map(({ status }) => status)), new Set([200]));
  assert.equal(received.length, 1);
});

test('a viewer waits neither for the places of another nor, with a hundred badges, too long', async () => {
  const own = await startTestService({ GANTRY_IMAGE_PROXY: 'true', GANTRY_TRUSTED_PROXIES: '127.0.0.1' });
  const held: (() => void)[] = [];
  try {
    const json = { outbound_local_requests_whitelist: ['127.0.0.1'] };
    await own.api('PUT /application/settings', { json });
    const key = deriveImageKey(own.service.platform.secrets.session_key);
    const statusFor = async (ip: string, path: string): Promise<number> => {
      const headers = { 'x-forwarded-for': ip };
      const reply = await fetch(own.url + imagePath(key, origin + path), { headers });
      await reply.arrayBuffer();
      return reply.status;
    };
    const png = send('image/png', 'x');
    const slow = ['/slow/1', '/slow/2', '/slow/3', '/slow/4'];
    const badges = Array.from({ length: 100 }, (_one, at) => `/badge/${at}`);
    for (const path of slow)
      answers.set(
        path,
        (request, response) => void held.push(() => response.writableEnded || png(request, response)),
      );
    for (const path of badges) answers.set(path, png);
    const first = slow.map(async (path) => await statusFor('203.0.113.1', path));
    while (held.length < slow.length) await setTimeout(5);
    const more = badges.map(async (path) => await statusFor('203.0.113.1', path));
    assert.equal(await statusFor('203.0.113.2', badges[0] ?? ''), 200);
    for (const answer of held) answer();
    assert.deepEqual(new Set(await Promise.all([...first, ...more])), new Set([200]));
  } finally {
    for (const answer of held) answer();
    await own.close();
  }
});

test('where it is turned off, images of other sites are links', async () => {
  assert.equal(readConfig({}, {}).config.image_proxy, true);
  const off = await startTestService({ GANTRY_IMAGE_PROXY: 'false' });
  try {
    const { body } = await off.api('POST /markdown', { json: { text: `![a](${origin}/a.png)` } });
    assert.match(body.html, new RegExp(`<a href="${origin}/a.png"[^>]*>a</a>`));
    assert.doesNotMatch(body.html, /<img/);
    const key = deriveImageKey(off.service.platform.secrets.session_key);
    const path = imagePath(key, `${origin}/a.png`) ?? '';
    assert.equal((await fetch(off.url + path)).status, 404);
  } finally {
    await off.close();
  }
});
