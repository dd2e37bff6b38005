/** Modules that load on first use: the built program contains all of them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { sampleKeys } from '../support/repositories/ssh_keys.ts';
import { type Place, type Running, newPlace } from './gantry.ts';

const token = 'token-of-root-here';
let place: Place;
let service: Running;
before(async () => {
  place = newPlace();
  service = await place.serve(undefined, { env: { GANTRY_ROOT_TOKEN: token } });
});
after(async () => {
  await service.end('SIGTERM');
  await place.remove();
});

const ask = async (path: string, init: RequestInit = {}): Promise<number> => {
  const response = await fetch(service.url + path, {
    redirect: 'manual',
    ...init,
    headers: { 'private-token': token, ...(init.headers as Record<string, string>) },
  });
  await response.arrayBuffer();
  return response.status;
};

const form = (fields: Record<string, string | Blob>): FormData => {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return body;
};

for (const path of [
  '/-/metrics',
  '/-/docs/api',
  '/api/v4/openapi.json',
  '/users/sign_in',
  '/users/sign_up',
  '/api/v4/templates/licenses/mit',
  '/jwt/auth?service=container_registry',
]) {
  test(`GET ${path}`, async () => assert.equal(await ask(path), 200));
}

test('a multipart body, an upload and a key', async () => {
  const post = async (path: string, body: FormData) => await ask(`/api/v4${path}`, { method: 'POST', body });
  assert.equal(await post('/projects', form({ name: 'late' })), 201);
  assert.equal(await post('/projects/1/uploads', form({ file: new Blob(['bytes']) })), 201);
  assert.equal(await post('/user/keys', form({ title: 'late', key: sampleKeys.rsa2048.text })), 201);
});

test('a schedule', async () => {
  const body = form({ description: 'late', ref: 'main', cron: '@daily', cron_timezone: 'Berlin' });
  assert.equal(await ask('/api/v4/projects/1/pipeline_schedules', { method: 'POST', body }), 201);
});

test('a configuration that is read in a thread of its own', async () => {
  const content = `# ${'long '.repeat(10_000)}\njob: { script: make }\n`;
  const response = await fetch(`${service.url}/api/v4/ci/lint`, {
    method: 'POST',
    headers: { 'private-token': token, 'content-type': 'application/json' },
    body: JSON.stringify({ content }),
  });
  assert.deepEqual([response.status, ((await response.json()) as { valid: boolean }).valid], [200, true]);
});

test('a report of tests that is read in a thread of its own', async () => {
  // oxlint-disable-next-line typescript/no-explicit-any -- records of the API
  const send = async (method: string, path: string, body: object | FormData, as = token): Promise<any> => {
    const isForm = body instanceof FormData;
    const response = await fetch(`${service.url}/api/v4${path}`, {
      method,
      headers: {
        'private-token': token,
        'job-token': as,
        ...(!isForm && { 'content-type': 'application/json' }),
      },
      body: isForm ? body : JSON.stringify(body),
    });
    const text = await response.text();
    assert.ok(response.status < 300, `${method} ${path}: ${response.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
  const content = 'report: { script: make, tags: [late] }';
  await send('POST', '/projects/1/repository/commits', {
    branch: 'main',
    commit_message: 'Report',
    actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content }],
  });
  const runner = await send('POST', '/user/runners', { runner_type: 'instance_type', tag_list: ['late'] });
  let job = null;
  while (job === null) job = await send('POST', '/jobs/request', { token: runner.token });
  const cases = Array.from({ length: 4_000 }, (_, at) => `<testcase name="case ${at}"/>`).join('');
  const file = new Blob([gzipSync(`<t>${cases}</t>`)]);
  const query = 'artifact_type=junit&artifact_format=gzip';
  await send('POST', `/jobs/${job.id}/artifacts?${query}`, form({ file }), job.token);
  await send('PUT', `/jobs/${job.id}`, { token: job.token, state: 'success' }, job.token);
  const response = await fetch(`${service.url}/api/v4/projects/1/pipelines/1/test_report`, {
    headers: { 'private-token': token },
  });
  assert.equal(((await response.json()) as { total_count: number }).total_count, 4_000);
});

test('the pages of a signed-in user, and the two-factor QR code', async () => {
  const password = 'correct horse battery';
  const cookies = new Map<string, string>();
  let csrf = '';
  const visit = async (path: string, fields?: Record<string, string>): Promise<[number, string]> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(service.url + path, {
      redirect: 'manual',
      headers: { cookie },
      ...(fields && { method: 'POST', body: new URLSearchParams({ authenticity_token: csrf, ...fields }) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const text = await response.text();
    csrf = /name="authenticity_token" value="([^"]+)"/.exec(text)?.[1] ?? csrf;
    return [response.status, text];
  };
  const json = { username: 'maria', name: 'Maria', email: 'maria@example.com', password, admin: true };
  const init = {
    method: 'POST',
    body: JSON.stringify(json),
    headers: { 'content-type': 'application/json' },
  };
  assert.equal(await ask('/api/v4/users', init), 201);
  await visit('/users/sign_in');
  assert.equal((await visit('/users/sign_in', { login: 'maria', password }))[0], 303);
  for (const path of [
    '/',
    '/profile',
    '/profile/keys',
    '/profile/applications',
    '/profile/personal_access_tokens',
    '/profile/sessions',
    '/profile/identities',
    '/admin',
    '/admin/application_settings',
    '/admin/audit_events',
    '/profile/two_factor',
  ]) {
    assert.equal((await visit(path))[0], 200, path);
  }
  assert.equal((await visit('/profile/two_factor/begin', { current_password: password }))[0], 303);
  assert.match((await visit('/profile/two_factor'))[1], /<svg class="qr"/);
});
