/** A service of its own for a test file: real HTTP on a free port, on the engine that the environment names. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { readConfig } from '../../src/config.ts';
import { type Service, startService } from '../../src/main.ts';
import type { Clock } from '../../src/time.ts';

export const rootToken = 'root-token-of-the-tests';

export type Reply = {
  status: number;
  headers: Headers;
  /** Parsed JSON; undefined without a body. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert on it
  body: any;
  text: string;
};

export type RequestOptions = {
  /** Token; null: none. Default: root's. */
  as?: string | null;
  json?: unknown;
  form?: string;
  headers?: Record<string, string>;
};

export type TestService = {
  service: Service;
  url: string;
  /** A request below `/api/v4`: `api('GET /projects/1')`. */
  api: (line: string, options?: RequestOptions) => Promise<Reply>;
  /** What the service logged, a line each; none unless `GANTRY_LOG_LEVEL` was given. */
  logged: () => string[];
  /** Sets the clock that the service reads; null: the real one again. */
  setTime: (now: number | null) => void;
  close: () => Promise<void>;
};

const engineUrl = process.env['GANTRY_TEST_DATABASE_URL'];
export const engine = engineUrl === undefined ? 'sqlite' : 'postgres';

const bodyOf = ({ json, form }: RequestOptions): { body?: string; type?: string } => {
  if (json !== undefined) return { body: JSON.stringify(json), type: 'application/json' };
  return form === undefined ? {} : { body: form, type: 'application/x-www-form-urlencoded' };
};

const makeApi =
  (url: string): TestService['api'] =>
  async (line, options = {}) => {
    const [method = 'GET', path = '/'] = line.split(/ (.*)/s);
    const { body, type } = bodyOf(options);
    const token = options.as === undefined ? rootToken : options.as;
    const response = await fetch(`${url}/api/v4${path}`, {
      method,
      headers: {
        ...(token !== null && { 'private-token': token }),
        ...(type !== undefined && { 'content-type': type }),
        ...options.headers,
      },
      ...(body !== undefined && { body }),
      redirect: 'manual',
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json' && text !== '';
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? (JSON.parse(text) as unknown) : undefined,
      text,
    };
  };

const dropSchema = async (schema: string): Promise<void> => {
  const client = new pg.Client({ connectionString: engineUrl });
  await client.connect();
  await client.query(`drop schema if exists ${schema} cascade`);
  await client.end();
};

export const startTestService = async (environment: Record<string, string> = {}): Promise<TestService> => {
  const data = await mkdtemp(join(tmpdir(), 'gantry-test-'));
  const schema = `test_${randomBytes(8).toString('hex')}`;
  const { config } = readConfig(
    {},
    {
      GANTRY_DATA: data,
      GANTRY_LISTEN: '127.0.0.1:0',
      GANTRY_ROOT_TOKEN: rootToken,
      GANTRY_LOG_LEVEL: 'silent',
      GANTRY_RUNNER_EXECUTOR: 'none',
      ...(engineUrl !== undefined && {
        GANTRY_DATABASE_URL: engineUrl,
        GANTRY_DATABASE_SCHEMA: schema,
        GANTRY_DATABASE_CONNECTIONS: '6',
      }),
      ...environment,
    },
  );
  let fixed: number | null = null;
  const clock: Clock = { now: () => fixed ?? Date.now() };
  const lines: string[] = [];
  const service = await startService({
    config,
    clock,
    random: randomBytes,
    log: pino({ level: config.log_level }, { write: (line: string) => void lines.push(line) }),
    onFatal: (error) => {
      throw error;
    },
  });
  return {
    service,
    url: service.url,
    api: makeApi(service.url),
    logged: () => lines,
    setTime: (now) => void (fixed = now),
    close: async () => {
      await service.close();
      await rm(data, { recursive: true, force: true });
      if (engineUrl !== undefined) await dropSchema(schema);
    },
  };
};
