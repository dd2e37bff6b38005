/** `gantry gitd` with a certificate: what passes is encrypted, and services verify whom they speak to. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, type Server, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect as connectByTls } from 'node:tls';
import { readStorages } from '../../src/platform/config/parse_values.ts';
import { openGit } from '../../src/platform/git/storages.ts';
import {
  type CertificateFiles,
  canMakeCertificates,
  makeAuthority,
  makeCertificate,
} from '../support/servers/certificates.ts';
import { type Place, type Running, newPlace } from './gantry.ts';

const secret = 'a-secret-that-only-these-two-ever-know';
const token = 'token-of-the-first-start';
const subject = 'IP:127.0.0.1';

describe('gitd with a certificate', { skip: !canMakeCertificates && 'openssl is not installed' }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-tls-'));
  let place: Place;
  let authority: CertificateFiles;
  let gitd: Running;
  let line: Server;
  const recorded: Buffer[] = [];

  const serveWith = async (name: string, { certificate, key }: CertificateFiles): Promise<Running> =>
    await place.serve(
      `gitd --listen 127.0.0.1:0 --root ${join(folder, name)} --certificate ${certificate} --key ${key}`,
      { env: { GANTRY_GITD_SECRET: secret } },
    );

  const getPort = ({ url }: Running): number => Number(new URL(url.replace(/^t\w\w/, 'http')).port);

  /** A port of this machine that passes everything on and records it. */
  const record = async (port: number): Promise<Server> => {
    const server = createServer((near) => {
      const far = connect(port, '127.0.0.1');
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        from.on('data', (chunk: Buffer) => void recorded.push(chunk));
        from.on('error', () => to.destroy());
        from.pipe(to);
      }
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return server.unref();
  };

  before(async () => {
    place = newPlace();
    authority = makeAuthority(folder, 'authority');
    gitd = await serveWith('own', makeCertificate(folder, 'gitd', { authority, subject }));
    line = await record(getPort(gitd));
  });
  after(async () => {
    await place.remove();
    line.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Asks a storage for its status. @returns the failure's text; null: it answered */
  const ask = async (address: string, ca: string | null = authority.certificate): Promise<string | null> => {
    const storages = openGit({
      storages: readStorages(`far=${address}`),
      data: folder,
      secret,
      ca,
      instance: '00000000-0000-4000-8000-000000000000',
      random: randomBytes,
      log: () => undefined,
    });
    try {
      await storages.status('far');
      return null;
    } catch (error) {
      return (error as Error).message;
    } finally {
      await storages.stop();
    }
  };

  it('serves a service, and nothing that passes can be read', async () => {
    const { port } = line.address() as AddressInfo;
    const service = await place.serve('serve', {
      env: {
        GANTRY_ROOT_TOKEN: token,
        GANTRY_GITD_SECRET: secret,
        GANTRY_GITD_CA: authority.certificate,
        GANTRY_REPOSITORY_STORAGES: `default=tls://127.0.0.1:${port}`,
      },
    });
    const headers = { 'private-token': token, 'content-type': 'application/json' };
    const api = `${service.url}/api/v4/projects`;
    const body = JSON.stringify({ name: 'p', initialize_with_readme: true, description: 'words of a text' });
    assert.equal((await fetch(api, { method: 'POST', headers, body })).status, 201);
    const file = await fetch(`${api}/1/repository/files/README.md/raw?ref=main`, { headers });
    assert.match(await file.text(), /words of a text/);
    const archive = await fetch(`${api}/1/repository/archive.tar`, { headers });
    assert.match(await archive.text(), /words of a text/);
    const health = await fetch(`${service.url}/-/health`, { headers: { accept: 'application/json' } });
    const [storage] = ((await health.json()) as { checks: { storages: Record<string, unknown>[] } }).checks
      .storages;
    assert.equal(storage?.['status'], 'attention', 'a certificate of two days ends soon');
    assert.match(String(storage?.['certificate_ends']), /^20\d\d-/);
    assert.ok(Number(storage?.['free_bytes']) > 0, 'of the disk of gitd');
    const metrics = await (await fetch(`${service.url}/-/metrics`)).text();
    assert.match(metrics, /^gantry_storage_certificate_expiry_seconds\{storage="default"\} 1[67]\d{4}$/m);
    assert.match(metrics, /^gantry_disk_free_bytes\{place="storage:default"\} \d+$/m);
    const doctor = await place.run('doctor', {
      env: {
        GANTRY_GITD_SECRET: secret,
        GANTRY_GITD_CA: authority.certificate,
        GANTRY_REPOSITORY_STORAGES: `default=tls://127.0.0.1:${port}`,
      },
    });
    assert.match(doctor.stdout, /the certificate of the storage "default" ends at 20\d\d-/);
    const seen = Buffer.concat(recorded).toString('latin1');
    assert.ok(seen.length > 1000);
    assert.doesNotMatch(seen, /words of a text|storage\.|nonce/);
    assert.equal((await service.end('SIGTERM')).code, 0);
  });

  it('is not trusted without its authority, by another one, or under another name', async () => {
    assert.equal(await ask(gitd.url), null);
    assert.match((await ask(gitd.url, null)) ?? '', /certificate/);
    const other = makeAuthority(folder, 'other');
    assert.match((await ask(gitd.url, other.certificate)) ?? '', /certificate/);
    assert.match((await ask(gitd.url, join(folder, 'missing'))) ?? '', /GANTRY_GITD_CA cannot be read/);
    const elsewhere = makeCertificate(folder, 'elsewhere', { authority, subject: 'DNS:code.example.com' });
    const named = await serveWith('named', elsewhere);
    assert.match((await ask(named.url)) ?? '', /127\.0\.0\.1/);
    await named.end('SIGTERM');
  });

  it('answers nobody without TLS, and a service does not do without it either', async () => {
    assert.notEqual(await ask(gitd.url.replace('tls:', 'tcp:')), null);
    const plain = await place.serve(`gitd --listen 127.0.0.1:0 --root ${join(folder, 'plain')}`, {
      env: { GANTRY_GITD_SECRET: secret },
    });
    assert.equal(await ask(plain.url), null);
    assert.notEqual(await ask(plain.url.replace('tcp:', 'tls:')), null);
    await plain.end('SIGTERM');
  });

  /** The serial number of the certificate that a new connection gets. */
  const readSerial = async (): Promise<string> => {
    const socket = connectByTls({ port: getPort(gitd), host: '127.0.0.1', rejectUnauthorized: false });
    await new Promise((done) => socket.once('secureConnect', done));
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  };

  const untilSaid = async (text: RegExp): Promise<void> => {
    while (!text.test(gitd.stderr())) await new Promise((done) => setTimeout(done, 20));
  };

  it('takes a renewed certificate at SIGHUP, and keeps the present one where files do not fit', async () => {
    const first = await readSerial();
    writeFileSync(join(folder, 'gitd.key'), 'no key');
    gitd.child.kill('SIGHUP');
    await untilSaid(/the certificate stays as it was: --certificate or --key /);
    assert.equal(await readSerial(), first);
    makeCertificate(folder, 'gitd', { authority, subject });
    gitd.child.kill('SIGHUP');
    await untilSaid(/new connections use the current certificate/);
    while ((await readSerial()) === first) await new Promise((done) => setTimeout(done, 20));
    assert.equal(await ask(gitd.url), null);
  });

  it('works as docs/scaling.md says', async () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/scaling.md'), 'utf8');
    const [, serve = ''] = /^gantry (gitd .*--certificate.*)$/m.exec(text) ?? [];
    const [, make = ''] = /```sh\n(openssl [^]*?)```/.exec(text) ?? [];
    const documented = join(folder, 'documented');
    mkdirSync(documented);
    execFileSync('sh', ['-ec', make.replace('10.0.0.5', '127.0.0.1')], { cwd: documented, stdio: 'pipe' });
    const line = serve
      .replace('10.0.0.5:9060', '127.0.0.1:0')
      .replace('/var/lib/gantry-repositories', join(documented, 'root'))
      .replaceAll(/gitd\.(?:crt|key)/g, (name) => join(documented, name));
    const running = await place.serve(line, { env: { GANTRY_GITD_SECRET: secret } });
    assert.equal(await ask(running.url, join(documented, 'ca.crt')), null);
    await running.end('SIGTERM');
  });

  it('refuses a certificate without its key', async () => {
    const { certificate } = authority;
    const { code, stderr } = await place.run(
      `gitd --listen 127.0.0.1:0 --root ${join(folder, 'half')} --certificate ${certificate}`,
      { env: { GANTRY_GITD_SECRET: secret } },
    );
    assert.equal(code, 2, stderr);
    assert.match(stderr, /--certificate and --key go together/);
  });
});
