/** A cluster as docs/scaling.md describes it, on this machine: each part can be killed and brought back. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { KillablePostgres } from '../support/databases/killable_postgres.ts';
import { type CuttableLine, makeCuttableLine } from '../support/servers/cuttable_line.ts';
import {
  type CertificateFiles,
  canMakeCertificates,
  makeAuthority,
  makeCertificate,
} from '../support/servers/certificates.ts';
import { freePort } from '../support/servers/free_port.ts';
import { type TestS3, startS3 } from '../support/servers/s3.ts';
import { type Killable, type Place, call, newPlace } from './process.ts';

const root = join(import.meta.dirname, '../..');

export type Part = {
  name: string;
  /** Whether writes of issues go on without it. */
  isSpare: boolean;
  /** One of several services: only requests that it was answering fail when it is killed. */
  isService?: true;
  kill: () => Promise<void>;
  /** Ends it by SIGTERM and returns its exit code. Not for the database and the bucket. */
  stop?: () => Promise<number | null>;
  restore: () => Promise<void>;
};

export type Cluster = {
  place: Place;
  /** Address of the proxy. */
  url: string;
  /** Port of the proxy for git over SSH. */
  sshPort: number;
  parts: Part[];
  /** Waits until every service is ready behind the proxy. */
  untilReady: () => Promise<void>;
  remove: () => Promise<void>;
};

const storages = ['default', 'other'];

export type ClusterOptions = {
  /** Number of services, up to three, which is the default. */
  services?: number;
  /** More settings of the services. */
  env?: Record<string, string>;
  /** How often the proxy asks for readiness. */
  inter?: string;
  /** A server of the cluster's own, which can be killed. Default: that of all tests, to which the line can be cut. */
  postgres?: KillablePostgres;
};

/** Ports of a service or of the proxy. */
type Ports = { web: number; ssh: number };

const freePorts = async (): Promise<Ports> => ({ web: await freePort(), ssh: await freePort() });

/** The sample of `deploy/`, for services on this machine. */
const makeProxyFile = (services: readonly Ports[], own: Ports, inter: string): string =>
  readFileSync(join(root, 'deploy/proxies/haproxy.cfg'), 'utf8')
    .replace(/^resolvers names[^]*/m, '')
    .replaceAll(' resolvers names init-addr none', '')
    .replaceAll('inter 2s', `inter ${inter}`)
    // On a busy machine a short interval would be too short to answer in.
    .replace('timeout connect 5s', 'timeout connect 5s\n    timeout check 5s')
    .replace('bind :8080', `bind 127.0.0.1:${own.web}`)
    .replace('bind :2222', `bind 127.0.0.1:${own.ssh}`)
    .replaceAll(/^ +server gantry-(\d) gantry-\d:(\d+).*\n/gm, (line, number: string, port: string) => {
      const ports = services[Number(number) - 1];
      const to = port === '2222' ? ports?.ssh : ports?.web;
      return ports === undefined ? '' : line.replace(`gantry-${number}:${port}`, `127.0.0.1:${to}`);
    });

const answers = async (url: string): Promise<boolean> =>
  await fetch(`${url}/-/readiness`).then(
    async (response) => (await response.text()) !== '' && response.status === 200,
    () => false,
  );

const untilAnswers = async (url: string): Promise<void> => {
  for (let polls = 0; !(await answers(url)); polls += 1) {
    if (polls === 1200) throw new Error(`${url} is not ready`);
    await wait(100);
  }
};

/** A process that is started again in the same place after a kill. */
const makeRestartable = async (start: () => Promise<Killable>) => {
  let running = await start();
  return {
    kill: async (): Promise<void> => {
      running.signal('SIGKILL');
      await running.exit;
    },
    stop: async (): Promise<number | null> => {
      running.signal('SIGTERM');
      return await running.exit;
    },
    restore: async (): Promise<void> => void (running = await start()),
  };
};

const toKillable = (child: ChildProcess): Killable => ({
  exit: once(child, 'exit').then(([code]) => code as number | null),
  signal: (name) => void child.kill(name),
});

type Shared = {
  place: Place;
  s3: TestS3;
  line: CuttableLine;
  secret: string;
  inter: string;
  services: number;
  postgres: KillablePostgres | undefined;
};

/** Makes a certificate for this machine, and tells services which authority signed it. */
const makeStorageCertificate = ({ data, env }: Place): CertificateFiles => {
  const folder = dirname(data);
  const authority = makeAuthority(folder, 'storages');
  env['GANTRY_GITD_CA'] = authority.certificate;
  return makeCertificate(folder, 'gitd', { authority, subject: 'IP:127.0.0.1' });
};

/** The second is encrypted. */
const startStorages = async ({ place, secret }: Shared): Promise<Part[]> => {
  const started: Part[] = [];
  const addresses: string[] = [];
  for (const name of storages) {
    const listen = `127.0.0.1:${await freePort()}`;
    const tls = name === 'other' && canMakeCertificates ? makeStorageCertificate(place) : undefined;
    addresses.push(`${name}=${tls === undefined ? 'tcp' : 'tls'}://${listen}`);
    const at = { root: `${place.data}-repositories-${name}`, listen, ...(tls && { tls }) };
    const restartable = await makeRestartable(async () => await place.storage(secret, at));
    started.push({ name: `storage ${name}`, isSpare: true, ...restartable });
  }
  place.env['GANTRY_REPOSITORY_STORAGES'] = addresses.join(',');
  return started;
};

const startServices = async ({ place }: Shared, ports: readonly Ports[]): Promise<Part[]> => {
  const started: Part[] = [];
  for (const [number, { web, ssh }] of ports.entries()) {
    const env = {
      GANTRY_DATA: `${place.data}-${number}`,
      GANTRY_LISTEN: `127.0.0.1:${web}`,
      GANTRY_SSH_LISTEN: `127.0.0.1:${ssh}`,
      GANTRY_SSH_PROXY_PROTOCOL: 'true',
    };
    const restartable = await makeRestartable(async () => await place.start({ env }));
    started.push({ name: `service ${number + 1}`, isSpare: true, isService: true, ...restartable });
  }
  return started;
};

const startProxy = async (file: string, url: string): Promise<Part> => {
  const start = async (): Promise<Killable> => {
    const child = spawn('haproxy', ['-db', '-q', '-f', file], { stdio: 'ignore' });
    process.once('exit', () => child.kill());
    await untilAnswers(url);
    return toKillable(child);
  };
  const { kill, restore } = await makeRestartable(start);
  return { name: 'proxy', isSpare: false, kill, restore };
};

const startParts = async (shared: Shared, removeAll: () => Promise<void>): Promise<Cluster> => {
  const { place, s3, line, postgres } = shared;
  const kept = await startStorages(shared);
  const ports = await Promise.all(Array.from({ length: shared.services }, freePorts));
  const serving = await startServices(shared, ports);
  const own = await freePorts();
  const url = `http://127.0.0.1:${own.web}`;
  const file = `${place.data}-haproxy.cfg`;
  writeFileSync(file, makeProxyFile(ports, own, shared.inter));
  const proxy = await startProxy(file, url);
  const { status } = await call(url, 'PUT /application/settings', { repository_storages: storages });
  if (status !== 200) throw new Error(`the settings answered ${status}`);
  return {
    place,
    url,
    sshPort: own.ssh,
    parts: [
      ...serving,
      ...kept,
      { name: 'bucket', isSpare: true, kill: s3.stop, restore: s3.start },
      { name: 'line to the database', isSpare: false, kill: line.cut, restore: line.mend },
      ...(postgres === undefined
        ? []
        : [{ name: 'database', isSpare: false, kill: postgres.kill, restore: postgres.restore }]),
      proxy,
    ],
    untilReady: async () => {
      for (const { web } of ports) await untilAnswers(`http://127.0.0.1:${web}`);
      await untilAnswers(url);
    },
    remove: async () => {
      await proxy.kill();
      await removeAll();
    },
  };
};

/** @param databaseUrl of the server that the services share, if the cluster has none of its own */
export const startCluster = async (
  databaseUrl: string,
  { env = {}, inter = '2s', services = 3, postgres }: ClusterOptions = {},
): Promise<Cluster> => {
  const ownUrl = postgres?.url ?? databaseUrl;
  const [s3, line] = await Promise.all([startS3(), makeCuttableLine(ownUrl)]);
  const place = newPlace(s3, ownUrl);
  const secret = randomBytes(32).toString('hex');
  Object.assign(place.env, s3.environment, {
    GANTRY_DATABASE_URL: line.url,
    GANTRY_SECRETS_FILE: `${place.data}-secrets.json`,
    GANTRY_GITD_SECRET: secret,
    GANTRY_TRUSTED_PROXIES: '127.0.0.1',
    ...env,
  });
  const removeAll = async (): Promise<void> => {
    await place.remove();
    await line.cut();
  };
  try {
    return await startParts({ place, s3, line, secret, inter, services, postgres }, removeAll);
  } catch (error) {
    await removeAll();
    throw error;
  }
};
