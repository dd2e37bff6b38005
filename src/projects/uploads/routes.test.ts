import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import { existsSync, globSync, readFileSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { seedGroup, seedMember, seedProject, seedUser } from '../../../test/support/seed.ts';
import { type TestService, rootToken, startTestService } from '../../../test/support/service.ts';

let gantry: TestService;
before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'error' });
});
after(async () => await gantry.close());

const megabyte = 1024 * 1024;

const form = (content: string | Buffer, name = 'a.txt', field = 'file'): FormData => {
  const body = new FormData();
  body.append('note', 'before the file');
  body.append(field, new Blob([content as string]), name);
  return body;
};

const send = async (
  project: number,
  body: FormData | Blob | string | null,
  token: string | null = rootToken,
) => {
  const headers: Record<string, string> = token === null ? {} : { 'private-token': token };
  const url = `${gantry.url}/api/v4/projects/${project}/uploads`;
  const response = await fetch(url, { method: 'POST', body, headers });
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
  return { status: response.status, body: (await response.json()) as any };
};

const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  await fetch(gantry.url + path, { headers, method });

const blobFolder = (): string => join(gantry.service.platform.config.data, 'blobs');
const filesOf = (project: number): string[] =>
  globSync('*/*', { cwd: join(blobFolder(), 'projects', String(project)) });
const unfinished = (): string[] => readdirSync(join(blobFolder(), 'unfinished'));

test('uploads a picture and shows it inline', async () => {
  const project = await seedProject(gantry);
  const bytes = randomBytes(3000);
  const { status, body } = await send(project.id, form(bytes, 'my picture.png'));
  assert.equal(status, 201);
  const [, secret] = /^\/uploads\/([0-9a-f]{32})\/my_picture\.png$/.exec(body.url) ?? [];
  assert.deepEqual(body, {
    id: body.id,
    alt: 'my_picture',
    url: body.url,
    full_path: `/-/project/${project.id}${body.url}`,
    markdown: `![my_picture](${body.url})`,
  });
  const paths = [
    body.full_path,
    `/${project.full_path}${body.url}`,
    `/api/v4/projects/${project.id}/uploads/${secret}/my_picture.png`,
  ];
  for (const path of paths) {
    const answer = await get(path);
    assert.equal(answer.status, 200, path);
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes);
    assert.equal(answer.headers.get('content-type'), 'image/png');
    assert.match(answer.headers.get('content-disposition') ?? '', /^inline; filename="my_picture\.png"/);
    assert.equal(answer.headers.get('content-security-policy'), "default-src 'none'; sandbox");
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  }
});

test('serves anything but pictures as an attachment', async () => {
  const project = await seedProject(gantry);
  for (const name of ['a.html', 'a.svgz', 'a.txt', 'a.pdf', 'labels.json']) {
    const { body } = await send(project.id, form('<script>alert(1)</script>', name));
    assert.equal(body.markdown, `[${name}](${body.url})`);
    const answer = await get(body.full_path);
    assert.equal(answer.headers.get('content-type'), 'application/octet-stream');
    assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; /);
    assert.equal(await answer.text(), '<script>alert(1)</script>');
    assert.equal((await get(`/api/v4/projects/${project.id}${body.url}`)).status, 200, name);
  }
});

test('serves an SVG image so that nothing in it acts when it is opened; a large one as an attachment', async () => {
  const project = await seedProject(gantry);
  const drawing = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  const { body } = await send(project.id, form(drawing, 'a.svg'));
  assert.equal(body.markdown, `![a](${body.url})`);
  const { headers } = await get(body.full_path);
  assert.equal(headers.get('content-type'), 'image/svg+xml');
  assert.match(headers.get('content-disposition') ?? '', /^inline; filename="a\.svg"/);
  assert.equal(
    headers.get('content-security-policy'),
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
  );
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  const large = await send(project.id, form(`${drawing}${' '.repeat(1024 * 1024)}`, 'b.svg'));
  assert.equal(large.body.markdown, `[b.svg](${large.body.url})`);
  const answer = await get(large.body.full_path);
  assert.equal(answer.headers.get('content-type'), 'application/octet-stream');
  assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; /);
});

test('answers 503 for a truncated file in the store', async () => {
  const project = await seedProject(gantry);
  const { full_path: path } = (await send(project.id, form('whole content'))).body;
  assert.equal((await get(path)).status, 200);
  const sha256 = hash('sha256', 'whole content');
  const [file = ''] = globSync(`**/${sha256}`, { cwd: blobFolder() });
  truncateSync(join(blobFolder(), file), 5);
  assert.equal((await get(path)).status, 503);
  assert.equal((await get(path, { range: 'bytes=0-2' })).status, 503);
});

/** Changes one byte of a stored file. */
const damage = (sha256: string): void => {
  const [file = ''] = globSync(`**/${sha256}`, { cwd: blobFolder() });
  const path = join(blobFolder(), file);
  const content = readFileSync(path);
  content[0] = (content[0] ?? 0) ^ 1;
  writeFileSync(path, content);
};

test('answers 503 for a small file in the store with other content of the same size', async () => {
  const project = await seedProject(gantry);
  const { full_path: path } = (await send(project.id, form('kept content'))).body;
  damage(hash('sha256', 'kept content'));
  const answer = await get(path);
  assert.deepEqual([answer.status, answer.headers.get('etag')], [503, null]);
  const picture = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  const body = new FormData();
  body.append('avatar', new Blob([picture]), 'a.png');
  const headers = { 'private-token': rootToken };
  const { avatar_url } = (await (
    await fetch(`${gantry.url}/api/v4/user/avatar`, { method: 'PUT', headers, body })
  ).json()) as { avatar_url: string };
  assert.equal((await fetch(avatar_url)).status, 200);
  damage(hash('sha256', picture));
  assert.equal((await fetch(avatar_url)).status, 503);
  const logged = gantry.logged().filter((line) => line.includes('a stored file is damaged'));
  assert.equal(logged.length, 2);
});

test('supports ranges and conditional requests', async () => {
  const project = await seedProject(gantry);
  const { full_path: path } = (await send(project.id, form('0123456789'))).body;
  const part = await get(path, { range: 'bytes=2-4' });
  assert.deepEqual([part.status, await part.text()], [206, '234']);
  assert.equal(part.headers.get('content-range'), 'bytes 2-4/10');
  const none = await get(path, { range: 'bytes=10-' });
  assert.deepEqual([none.status, none.headers.get('content-range')], [416, 'bytes */10']);
  const etag = part.headers.get('etag') ?? '';
  assert.equal((await get(path, { 'if-none-match': etag })).status, 304);
  const changed = await get(path, { range: 'bytes=2-4', 'if-range': '"other"' });
  assert.deepEqual([changed.status, await changed.text()], [200, '0123456789']);
  const head = await get(path, {}, 'HEAD');
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, '10']);
});

test('shows files only to users who see the project', async () => {
  const group = await seedGroup(gantry, { visibility: 'private' });
  const project = await seedProject(gantry, { namespace: group.id, visibility: 'private' });
  const [member, stranger] = [await seedUser(gantry), await seedUser(gantry)];
  await seedMember(gantry, { user: member.id, project: project.id, access_level: 10 });
  const { status, body } = await send(project.id, form('secret'), member.token);
  assert.equal(status, 201);
  const paths = [
    [body.full_path, `/-/project/999999${body.url}`],
    [`/${project.full_path}${body.url}`, `/${group.path}/nothing${body.url}`],
  ] as const;
  for (const [path, missing] of paths) {
    const own = await get(path, { 'private-token': member.token });
    assert.deepEqual([own.status, await own.text()], [200, 'secret']);
    for (const headers of [{}, { 'private-token': stranger.token }]) {
      const [hidden, gone] = [await get(path, headers), await get(missing, headers)];
      assert.equal(hidden.status, 404);
      assert.equal(await hidden.text(), await gone.text());
    }
  }
});

test('finds a file only by project, secret and name together', async () => {
  const [project, other] = [await seedProject(gantry), await seedProject(gantry)];
  const { body } = await send(project.id, form('x'));
  const wrong = [
    body.full_path.replace(`/${project.id}/`, `/${other.id}/`),
    body.full_path.replace('a.txt', 'b.txt'),
    body.full_path.replace(/[0-9a-f]{32}/, '0'.repeat(32)),
    body.full_path.replace(/[0-9a-f]{32}/, '%2e%2e'),
    body.full_path.replace('a.txt', '%2e%2e%2f%2e%2e%2fsecrets.json'),
  ];
  for (const path of wrong) assert.equal((await get(path)).status, 404, path);
});

test('refuses a request without a file', async () => {
  const { id } = await seedProject(gantry);
  const missing = { message: '400 (Bad request) "file" not given' };
  assert.deepEqual(await send(id, form('x', 'a.txt', 'other')), { status: 400, body: missing });
  const text = new FormData();
  text.append('file', 'no file');
  assert.deepEqual(await send(id, text), { status: 400, body: missing });
  const nameless =
    '--x\r\ncontent-disposition: form-data; name="file"\r\ncontent-type: application/octet-stream';
  const type = 'multipart/form-data; boundary=x';
  const bytes = new Blob([`${nameless}\r\n\r\nbytes\r\n--x--\r\n`], { type });
  assert.deepEqual(await send(id, bytes), { status: 400, body: missing });
  const invalid = { status: 400, body: { message: '400 (Bad request) invalid multipart body' } };
  assert.deepEqual(await send(id, 'file=x'), invalid);
  assert.deepEqual(await send(id, null), invalid);
  assert.deepEqual(filesOf(id), []);
});

test('limits a file by the setting instead of the usual body size', async () => {
  const { id } = await seedProject(gantry);
  const set = async (max_attachment_size: number): Promise<void> => {
    const { status } = await gantry.api('PUT /application/settings', { json: { max_attachment_size } });
    assert.equal(status, 200);
  };
  assert.equal((await send(id, form(Buffer.alloc(10 * megabyte)))).status, 201);
  const tooBig = { status: 413, body: { message: 'File is too big' } };
  assert.deepEqual(await send(id, form(Buffer.alloc(10 * megabyte + 1))), tooBig);
  await set(1);
  assert.equal((await send(id, form(Buffer.alloc(megabyte)))).status, 201);
  assert.deepEqual(await send(id, form(Buffer.alloc(megabyte + 1))), tooBig);
  assert.deepEqual(await send(id, form(Buffer.alloc(8 * megabyte))), tooBig);
  await set(20);
  assert.equal((await send(id, form(Buffer.alloc(20 * megabyte)))).status, 201);
  await set(10);
  assert.equal(filesOf(id).length, 3);
  assert.deepEqual(unfinished(), []);
});

test('refuses users without the right and stores nothing', async () => {
  const { id } = await seedProject(gantry, { visibility: 'private' });
  const stranger = await seedUser(gantry);
  const reader = await seedUser(gantry, { scopes: ['read_api'] });
  const big = (): FormData => form(Buffer.alloc(3 * megabyte));
  assert.equal((await send(id, big(), null)).status, 401);
  assert.equal((await send(id, big(), 'wrong')).status, 401);
  assert.equal((await send(id, big(), stranger.token)).status, 404);
  assert.equal((await send(id, big(), reader.token)).status, 403);
  assert.equal((await send(999_999, big())).status, 404);
  assert.ok(!existsSync(join(blobFolder(), 'projects', String(id))));
});

/** Sends a part of a body; returns the response, or that the connection was closed. */
const sendPart = async (project: number, length: number, part: Buffer): Promise<number | 'cut'> =>
  await new Promise((resolve) => {
    const sent = request(`${gantry.url}/api/v4/projects/${project}/uploads`, {
      method: 'POST',
      headers: {
        'private-token': rootToken,
        'content-type': 'multipart/form-data; boundary=x',
        'content-length': length,
      },
    });
    sent.on('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', () => resolve('cut'));
    sent.write(part, () => setImmediate(() => sent.destroy()));
  });

test('leaves nothing of an interrupted upload', async () => {
  const { id } = await seedProject(gantry);
  const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n';
  const part = Buffer.concat([Buffer.from(head), Buffer.alloc(300_000)]);
  assert.equal(await sendPart(id, 5 * megabyte, part), 'cut');
  while (unfinished().length > 0) await new Promise((later) => setTimeout(later, 10));
  assert.ok(!existsSync(join(blobFolder(), 'projects', String(id))));
  assert.equal((await send(id, form('whole'))).status, 201);
});

test('reports a full disk and keeps serving', async () => {
  const { id } = await seedProject(gantry);
  const { blobs } = gantry.service.platform;
  const { put } = blobs;
  blobs.put = async () => {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  };
  const refused = await send(id, form(Buffer.alloc(3 * megabyte)));
  blobs.put = put;
  assert.deepEqual(refused, { status: 503, body: { message: '503 Service Unavailable' } });
  assert.equal((await send(id, form('x'))).status, 201);
});

test('stores equal bytes once per project', async () => {
  const { id } = await seedProject(gantry);
  const [one, two] = [await send(id, form('same', 'a.txt')), await send(id, form('same', 'b.txt'))];
  assert.notEqual(one.body.url, two.body.url);
  assert.equal(filesOf(id).length, 1);
});

test('deletes files with their project', async () => {
  const [project, other] = [await seedProject(gantry), await seedProject(gantry)];
  const { body } = await send(project.id, form('x'));
  await send(other.id, form('x'));
  await gantry.api(`DELETE /projects/${project.id}`);
  assert.equal((await get(body.full_path)).status, 404);
  await gantry.service.worker.drain();
  assert.deepEqual([filesOf(project.id).length, filesOf(other.id).length], [0, 1]);
});

test('keeps a file when its uploader is deleted', async () => {
  const [project, user] = [await seedProject(gantry), await seedUser(gantry)];
  const { body } = await send(project.id, form('x'), user.token);
  assert.equal((await gantry.api(`DELETE /users/${user.id}`)).status, 204);
  assert.equal((await get(body.full_path)).status, 200);
});
