/** The sample of nginx with traffic: git, encoded paths, uploads and event streams pass through a real nginx. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { tryGit } from '../support/repositories/git.ts';
import { canMakeCertificates, makeAuthority, makeCertificate } from '../support/servers/certificates.ts';
import { freePort } from '../support/servers/free_port.ts';
import { type TestService, rootToken, startTestService } from '../support/service.ts';

const skip =
  spawnSync('nginx', ['-v']).status !== 0
    ? 'nginx is not installed'
    : !canMakeCertificates && 'openssl is not installed';

const home = mkdtempSync(join(tmpdir(), 'gantry-nginx-'));
const sample = readFileSync(join(import.meta.dirname, '../../deploy/proxies/nginx.conf'), 'utf8');
const log = join(home, 'error.log');

let service: TestService;
let stop = async (): Promise<void> => undefined;
let url = '';
let authority = '';

/** The sample for ports of this machine, in a configuration that writes below `home` alone. */
const writeConfiguration = (ports: { http: number; https: number; service: string }): string => {
  const ca = makeAuthority(home, 'ca');
  authority = ca.certificate;
  const { certificate, key } = makeCertificate(home, 'nginx', { authority: ca, subject: 'IP:127.0.0.1' });
  const adapted = sample
    .replace(/^ *listen \[::\].*\n/gm, '')
    .replace('listen 80;', `listen 127.0.0.1:${ports.http};`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${ports.https} ssl;`)
    .replace('server 127.0.0.1:8080;', `server ${ports.service};`)
    .replaceAll('code.example.com;', '127.0.0.1;')
    .replace('/etc/ssl/code.example.com.pem', certificate)
    .replace('/etc/ssl/code.example.com.key', key);
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  for (const name of folders) mkdirSync(join(home, name));
  const paths = folders.map((name) => `${name}_temp_path ${home}/${name};`).join(' ');
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const file = join(home, 'nginx.conf');
  writeFileSync(
    file,
    `${user} daemon off; worker_processes 1; pid ${home}/pid; error_log ${log} warn; events {}\n` +
      `http { access_log off; ${paths} ${adapted} }`,
  );
  return file;
};

before(async () => {
  if (skip !== false) return;
  const ports = new Set<number>();
  while (ports.size < 3) ports.add(await freePort());
  const [http = 0, https = 0, inner = 0] = ports;
  url = `https://127.0.0.1:${https}`;
  service = await startTestService({
    GANTRY_EXTERNAL_URL: url,
    GANTRY_TRUSTED_PROXIES: '127.0.0.1',
    GANTRY_LISTEN: `127.0.0.1:${inner}`,
  });
  const file = writeConfiguration({ http, https, service: `127.0.0.1:${inner}` });
  const nginx = spawn('nginx', ['-p', home, '-c', file], { stdio: 'ignore' });
  const exit = once(nginx, 'exit');
  stop = async () => {
    nginx.kill();
    await exit;
  };
  for (let polls = 0; (await call('GET /').catch(() => null)) === null; polls += 1) {
    assert.ok(
      nginx.exitCode === null && polls < 600,
      existsSync(log) ? readFileSync(log, 'utf8') : 'it wrote no log',
    );
    await pause(50);
  }
});
after(async () => {
  await stop();
  await service?.close();
  rmSync(home, { recursive: true, force: true });
});

/** Begins a request through nginx; resolves with the head of the answer. */
const open = async (line: string, headers = {}, json?: object): Promise<IncomingMessage> => {
  const [method = '', path = ''] = line.split(' ');
  const sent = request(`${url}${path}`, {
    method,
    ca: readFileSync(authority),
    agent: false,
    headers: { 'private-token': rootToken, 'content-type': 'application/json', ...headers },
  });
  sent.end(json === undefined ? undefined : JSON.stringify(json));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return answer;
};

const call = async (line: string, json?: object): Promise<{ status: number; text: string }> => {
  const answer = await open(line, {}, json);
  const text = Buffer.concat(await answer.toArray()).toString();
  return { status: answer.statusCode ?? 0, text };
};

const git = async (cwd: string, ...args: string[]): Promise<string> => {
  const header = `Authorization: Basic ${Buffer.from(`root:${rootToken}`).toString('base64')}`;
  const options = ['-c', `http.sslCAInfo=${authority}`, '-c', `http.extraHeader=${header}`];
  const { code, stdout, stderr } = await tryGit(cwd, [...options, ...args]);
  assert.equal(code, 0, stderr);
  return stdout.trim();
};

/** Bytes that do not compress: more than what nginx keeps in memory for one answer. */
const size = 8 * 2 ** 20;

describe('nginx with its sample', { skip }, () => {
  it('passes git on: a push, and clones of it with and without .git', async () => {
    const group = await call('POST /api/v4/groups', { name: 'team', path: 'team' });
    const project = { name: 'bridge', namespace_id: JSON.parse(group.text).id };
    assert.equal((await call('POST /api/v4/projects', project)).status, 201);
    const tree = join(home, 'tree');
    mkdirSync(tree);
    await git(tree, 'init', '--quiet', '--initial-branch', 'main');
    const bytes = randomBytes(size);
    writeFileSync(join(tree, 'plank'), bytes);
    await git(tree, 'add', '.');
    await git(tree, 'commit', '--quiet', '--message', 'Plank');
    await git(tree, 'push', '--quiet', `${url}/team/bridge.git`, 'main');
    for (const [name, path] of Object.entries({ with: 'team/bridge.git', without: 'team/bridge' })) {
      await git(home, 'clone', '--quiet', `${url}/${path}`, name);
      assert.ok(readFileSync(join(home, name, 'plank')).equals(bytes), path);
    }
    assert.doesNotMatch(readFileSync(log, 'utf8'), /buffered to a temporary file/);
  });

  it('passes %2F on in paths, and the address that people type', async () => {
    const { status, text } = await call('GET /api/v4/projects/team%2Fbridge');
    assert.equal(status, 200);
    assert.equal(JSON.parse(text).http_url_to_repo, `${url}/team/bridge.git`);
    const file = await call('GET /api/v4/projects/team%2Fbridge/repository/files/plank?ref=main');
    assert.equal(JSON.parse(file.text).size, size);
  });

  it('passes events on before the answer ends', async () => {
    const stream = await open('GET /api/v4/changes', { accept: 'text/event-stream' });
    assert.equal(stream.statusCode, 200);
    let text = '';
    stream.setEncoding('utf8').on('data', (part: string) => void (text += part));
    await call('POST /api/v4/projects/team%2Fbridge/issues', { title: 'A plank creaks' });
    for (let polls = 0; !/^event: change$/m.test(text); polls += 1) {
      assert.ok(polls < 600, 'no event arrived');
      await pause(50);
    }
    assert.equal(stream.complete, false);
    stream.destroy();
  });

  it('passes a large download on without keeping it on its disk', async () => {
    const { status } = await call('GET /api/v4/projects/team%2Fbridge/repository/files/plank/raw?ref=main');
    assert.equal(status, 200);
    assert.doesNotMatch(readFileSync(log, 'utf8'), /buffered to a temporary file.*plank\/raw/);
  });
});
