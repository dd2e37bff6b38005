/** Git over SSH behind a proxy that names its clients. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type Socket, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import ssh2 from 'ssh2';
import { tryGit } from '../support/repositories/git.ts';
import { seedProject, seedUser } from '../support/seed.ts';
import { freePort } from '../support/servers/free_port.ts';
import { headerOf } from '../support/servers/proxy_header.ts';
import { type TestService, startTestService } from '../support/service.ts';

const hasPrograms = ['ssh', 'haproxy'].every(
  (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0,
);

const folder = mkdtempSync(join(tmpdir(), 'gantry-ssh-proxy-'));
let gantry: TestService;
let proxy: ChildProcess | undefined;
before(async () => {
  gantry = await startTestService({
    GANTRY_SSH_LISTEN: '127.0.0.1:0',
    GANTRY_SSH_PROXY_PROTOCOL: 'true',
    GANTRY_TRUSTED_PROXIES: '127.0.0.1',
    GANTRY_LOG_LEVEL: 'info',
  });
});
after(async () => {
  proxy?.kill();
  await gantry.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Connects from an address of this machine; 127.0.0.1 is the trusted proxy. */
const dial = async (from: string, bytes: Buffer = Buffer.alloc(0)): Promise<Socket> => {
  const socket = connect({ host: '127.0.0.1', port: gantry.service.ssh ?? 0, localAddress: from });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  if (bytes.length > 0) socket.write(bytes);
  return socket;
};

/** Resolves to the first bytes of the service; empty: it closed the connection. */
const firstWords = async (socket: Socket): Promise<string> => {
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.once('data', (chunk) => resolve(chunk.toString()));
  socket.once('close', () => resolve(''));
  return await promise;
};

const hello = /^SSH-2\.0-Gantry/;
const version = Buffer.from('SSH-2.0-test\r\n');

test('takes the header of the trusted proxy alone', async () => {
  const sockets = [
    await dial('127.0.0.1', headerOf('203.0.113.7')),
    await dial('127.0.0.2'),
    await dial('127.0.0.1', Buffer.from('SSH-2.0-without a header\r\n')),
    await dial('127.0.0.2', headerOf('203.0.113.7')),
  ];
  const [proxied = '', direct = '', bare, forged = ''] = await Promise.all(sockets.map(firstWords));
  assert.match(proxied, hello);
  assert.match(direct, hello);
  assert.equal(bare, '', 'the proxy sent none');
  // The service greets first, and refuses the rest as no SSH.
  assert.match(forged, hello);
  const [, , , liar] = sockets;
  if (liar?.closed === false) await once(liar, 'close');
  assert.match(gantry.logged().join(''), /"proxy":"127.0.0.1","msg":"a trusted proxy sent no PROXY header/);
  for (const socket of sockets) socket.destroy();
});

test('limits the connections of each client, not those of the proxy', async () => {
  const open: Socket[] = [];
  const greeting = async (client: string): Promise<string> => {
    const socket = await dial('127.0.0.1', Buffer.concat([headerOf(client), version]));
    open.push(socket);
    return await firstWords(socket);
  };
  for (let count = 0; count < 50; count += 1) assert.match(await greeting('203.0.113.50'), hello);
  assert.equal(await greeting('203.0.113.50'), '');
  assert.match(await greeting('203.0.113.51'), hello);
  for (const socket of open) socket.destroy();
});

/** The SSH part of the sample, for a service on this machine. */
const makeProxyFile = (port: number): string => {
  const text = readFileSync(join(import.meta.dirname, '../../deploy/proxies/haproxy.cfg'), 'utf8');
  const [ssh = ''] = /^frontend ssh$[^]*?(?=^resolvers)/m.exec(text) ?? [];
  assert.match(ssh, /send-proxy-v2/);
  const servers = ssh
    .replace(/^ +server gantry-[23].*\n/gm, '')
    .replace(' track services/gantry-1', '')
    .replace('gantry-1:2222', `127.0.0.1:${gantry.service.ssh}`)
    .replace(' resolvers names init-addr none', '')
    .replace('bind :2222', `bind 127.0.0.1:${port}`);
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, `defaults\n    timeout connect 5s\n\n${servers}`);
  return file;
};

test(
  'the sample for haproxy passes the address of the client on',
  { skip: hasPrograms ? false : 'ssh or haproxy is not installed' },
  async () => {
    const port = await freePort();
    proxy = spawn('haproxy', ['-db', '-q', '-f', makeProxyFile(port)], { stdio: 'ignore' });
    const user = await seedUser(gantry);
    const project = await seedProject(gantry, { visibility: 'private', owner: user.id });
    const pair = ssh2.utils.generateKeyPairSync('ed25519', { comment: 'test@example.com' });
    const key = join(folder, 'key');
    writeFileSync(key, pair.private, { mode: 0o600 });
    const json = { title: 'test', key: pair.public };
    assert.equal((await gantry.api('POST /user/keys', { as: user.token, json })).status, 201);
    const options = ['IdentitiesOnly=yes', 'BatchMode=yes', 'StrictHostKeyChecking=no', 'LogLevel=ERROR'];
    const ssh = ['ssh', '-F', '/dev/null', '-b', '127.0.0.9', '-i', key, '-p', String(port)];
    const all = [...options, 'UserKnownHostsFile=/dev/null'].flatMap((option) => ['-o', option]);
    const list = async () =>
      await tryGit(folder, ['ls-remote', `git@127.0.0.1:${project.full_path}.git`], {
        GIT_SSH_COMMAND: [...ssh, ...all].join(' '),
      });
    let listed = await list();
    for (let polls = 0; listed.code !== 0 && polls < 50; polls += 1) {
      await pause(100);
      listed = await list();
    }
    assert.equal(listed.code, 0, listed.stderr);
    const lines = gantry.logged().filter((line) => line.includes('"method":"SSH"'));
    assert.match(lines.at(-1) ?? '', /"ip":"127\.0\.0\.9"/);
  },
);
