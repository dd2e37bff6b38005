/** The service as a separate process that tests kill and restart on the same data. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Readable } from 'node:stream';
import pg from 'pg';
import type { CertificateFiles } from '../support/servers/certificates.ts';
import { type TestS3, startS3 } from '../support/servers/s3.ts';

const root = join(import.meta.dirname, '../..');
const engineUrl = process.env['GANTRY_TEST_DATABASE_URL'];
export const engine = engineUrl === undefined ? 'sqlite' : 'postgres';
export const token = 'token-of-the-crash-tests';

export type Row = Record<string, string | number | null>;

export type Running = {
  url: string;
  pid: number;
  /** Milliseconds from the start of the process until it is ready. */
  readyAfter: number;
  /** Output so far, both streams. */
  output: () => string;
  signal: (name: NodeJS.Signals) => void;
  /** The exit code; null if a signal ended it. */
  exit: Promise<number | null>;
};

/** A process that a test ends. */
export type Killable = Pick<Running, 'signal' | 'exit'>;

/** Folder and address of a repository storage, and its certificate, if it is encrypted. */
export type StorageAt = { root: string; listen: string; tls?: CertificateFiles };

export type Place = {
  data: string;
  env: Record<string, string>;
  /**
   * Starts the service; `before` prefixes the command, such as with a shell that sets limits, and `node` are Node's
   * flags.
   */
  start: (options?: { before?: string[]; node?: string[]; env?: Record<string, string> }) => Promise<Running>;
  /** Starts a shared `gantry gitd`; returns its address. */
  gitd: (secret: string) => Promise<string>;
  /** Starts a `gantry gitd` of one folder at an address. */
  storage: (secret: string, at: StorageAt) => Promise<Killable>;
  /** Starts a shared S3 server; returns the settings that name it. */
  bucket: () => Promise<Record<string, string>>;
  /** Reads the database directly. */
  query: (text: string) => Promise<Row[]>;
  /** Changes the database while no service runs. */
  change: (text: string) => Promise<void>;
  remove: () => Promise<void>;
};

const inherited = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^GANTRY_|^NODE_/.test(name)));

const untilReady = async (url: string): Promise<void> => {
  const response = await fetch(`${url}/-/readiness`);
  if (response.status !== 200) throw new Error(`readiness answered ${response.status}`);
};

type Child = ChildProcessByStdio<null, Readable, Readable>;

const spawnChild = ([program = '', ...args]: string[], env: Record<string, string>): Child =>
  spawn(program, args, { cwd: root, env: { ...inherited(), ...env }, stdio: ['ignore', 'pipe', 'pipe'] });

const hasExited = ({ exitCode, signalCode }: Child): boolean => exitCode !== null || signalCode !== null;

const running = async (child: Child): Promise<Running> => {
  const began = performance.now();
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        const match = /^\{"url":"(http:[^"]+)"/m.exec(output);
        if (match !== null) resolve(match[1] ?? '');
      });
    }
    void exit.then((code) => reject(new Error(`it ended with ${code}: ${output}`)));
  });
  await untilReady(url);
  const readyAfter = performance.now() - began;
  return {
    url,
    pid: child.pid ?? 0,
    readyAfter,
    output: () => output,
    signal: (name) => void child.kill(name),
    exit,
  };
};

const makeQuery =
  ({ data, schema, url }: { data: string; schema: string; url: string | undefined }, readOnly: boolean) =>
  async (text: string): Promise<Row[]> => {
    if (url === undefined) {
      const database = new DatabaseSync(join(data, 'gantry.sqlite'), { readOnly });
      try {
        return database.prepare(text).all() as Row[];
      } finally {
        database.close();
      }
    }
    const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  };

/**
 * Creates a folder without a service, with a schema of its own on PostgreSQL.
 * @param bucket closed with the place
 * @param databaseUrl of a PostgreSQL other than that of all tests
 */
export const newPlace = (bucket?: TestS3, databaseUrl = engineUrl): Place => {
  const home = mkdtempSync(join(tmpdir(), 'gantry-crash-'));
  const data = join(home, 'data');
  const schema = `crash_${randomBytes(8).toString('hex')}`;
  const database = { GANTRY_DATABASE_URL: databaseUrl ?? '', GANTRY_DATABASE_SCHEMA: schema };
  const env: Record<string, string> = {
    GANTRY_DATA: data,
    GANTRY_LISTEN: '127.0.0.1:0',
    GANTRY_PIPELINE_LIMIT: '0',
    GANTRY_ROOT_TOKEN: token,
    GANTRY_ROOT_PASSWORD: 'of no interest here',
    GANTRY_LOG_LEVEL: 'error',
    GANTRY_RUNNER_EXECUTOR: 'none',
    ...(databaseUrl !== undefined && database),
  };
  const query = makeQuery({ data, schema, url: databaseUrl }, true);
  const change = makeQuery({ data, schema, url: databaseUrl }, false);
  const children: Child[] = [];
  let s3 = bucket;
  const startGitd = async (secret: string, { root: folder, listen, tls }: StorageAt) => {
    const encrypted = tls === undefined ? [] : ['--certificate', tls.certificate, '--key', tls.key];
    const words = ['gitd', '--json', '--listen', listen, '--root', folder, ...encrypted];
    const child = spawnChild([process.execPath, 'bin/gantry', ...words], { GANTRY_GITD_SECRET: secret });
    children.push(child);
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    return { child, address: (JSON.parse(line.toString()) as { listen: string }).listen };
  };
  return {
    data,
    env,
    start: async ({ before = [], node = [], env: more = {} } = {}) => {
      const command = [...before, process.execPath, ...node, 'bin/gantry', 'serve', '--json'];
      const child = spawnChild(command, { ...env, ...more });
      children.push(child);
      return await running(child);
    },
    gitd: async (secret) =>
      (await startGitd(secret, { root: `${data}-repositories`, listen: '127.0.0.1:0' })).address,
    storage: async (secret, at) => {
      const { child } = await startGitd(secret, at);
      const exit = once(child, 'exit').then(([code]) => code as number | null);
      return { exit, signal: (name) => void child.kill(name) };
    },
    bucket: async () => {
      s3 ??= await startS3();
      return s3.environment;
    },
    query,
    change: async (text) => void (await change(text)),
    remove: async () => {
      for (const child of children.filter((one) => !hasExited(one))) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await s3?.close();
      if (databaseUrl !== undefined) await query(`drop schema if exists ${schema} cascade`);
      rmSync(home, { recursive: true, force: true });
    },
  };
};

/**
 * Starts services of one database together, each on a folder of its own and sharing all else, also with services that
 * this place starts later.
 */
export const startTogether = async (place: Place, count: number): Promise<Running[]> => {
  const secret = randomBytes(32).toString('hex');
  const [address, bucket] = [await place.gitd(secret), await place.bucket()];
  const env = {
    ...bucket,
    GANTRY_SECRETS_FILE: `${place.data}-secrets.json`,
    GANTRY_REPOSITORY_STORAGES: `default=tcp://${address}`,
    GANTRY_GITD_SECRET: secret,
  };
  Object.assign(place.env, env);
  const folders = Array.from({ length: count }, (_one, n) => `${place.data}-${n}`);
  return await Promise.all(folders.map((folder) => place.start({ env: { ...env, GANTRY_DATA: folder } })));
};

/** Sends a request as root; `line` is a method and a path below `/api/v4`. */
export const call = async (url: string, line: string, json?: object) => {
  const [method = 'GET', path = '/'] = line.split(' ');
  const response = await fetch(`${url}/api/v4${path}`, {
    method,
    headers: { 'private-token': token, ...(json !== undefined && { 'content-type': 'application/json' }) },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
  const body: any = text === '' ? null : JSON.parse(text);
  return { status: response.status, headers: response.headers, body };
};

/** Reads every item of a list, page by page. */
// oxlint-disable-next-line typescript/no-explicit-any
export const callAll = async (url: string, path: string): Promise<any[]> => {
  const items: unknown[] = [];
  for (let page = 1; ; page += 1) {
    const { status, body } = await call(url, `GET ${path}?per_page=100&sort=asc&page=${page}`);
    if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
    items.push(...(body as unknown[]));
    if ((body as unknown[]).length < 100) return items;
  }
};
