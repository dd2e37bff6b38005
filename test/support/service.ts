/** Starts a service for a test file: real HTTP on a free port, on the engine that the environment names. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { readConfig } from '../../src/platform/config/read_config.ts';
import { type Service, startService } from '../../src/app/main.ts';
import type { Clock } from '../../src/platform/time.ts';
import { setPasswordCost } from '../../src/identity/users/password.ts';
import { type TestDatabase, newDatabase } from './databases/copy_template.ts';
import { sendRequest } from './send_request.ts';

// Each service hashes a password at its start.
setPasswordCost({ memory: 8, passes: 1, parallelism: 1 });

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
  /** Sends a request below `/api/v4`: `api('GET /projects/1')`. */
  api: (line: string, options?: RequestOptions) => Promise<Reply>;
  /** Log lines of the service; empty unless `GANTRY_LOG_LEVEL` is set. */
  logged: () => string[];
  /** Sets the clock of the service; null restores the real one. */
  setTime: (now: number | null) => void;
  close: () => Promise<void>;
};

export const engine = process.env['GANTRY_TEST_DATABASE_URL'] === undefined ? 'sqlite' : 'postgres';

const encodeBody = ({ json, form }: RequestOptions): { body?: string; type?: string } => {
  if (json !== undefined) return { body: JSON.stringify(json), type: 'application/json' };
  return form === undefined ? {} : { body: form, type: 'application/x-www-form-urlencoded' };
};

const makeApi =
  (url: string): TestService['api'] =>
  async (line, options = {}) => {
    const [method = 'GET', path = '/'] = line.split(/ (.*)/s);
    const { body, type } = encodeBody(options);
    const token = options.as === undefined ? rootToken : options.as;
    const { status, headers, text } = await sendRequest(`${url}/api/v4${path}`, {
      method,
      headers: {
        ...(token !== null && { 'private-token': token }),
        ...(type !== undefined && { 'content-type': type }),
        ...options.headers,
      },
      ...(body !== undefined && { body }),
    });
    const isJson = headers.get('content-type') === 'application/json' && text !== '';
    return { status, headers, body: isJson ? (JSON.parse(text) as unknown) : undefined, text };
  };

/** Settings that name the database of a test; empty on SQLite, whose file is in the data folder. */
const databaseSettings = ({ url, schema }: TestDatabase): Record<string, string> =>
  url === undefined
    ? {}
    : { GANTRY_DATABASE_URL: url, GANTRY_DATABASE_SCHEMA: schema, GANTRY_DATABASE_CONNECTIONS: '6' };

export const startTestService = async (environment: Record<string, string> = {}): Promise<TestService> => {
  const data = await mkdtemp(join(tmpdir(), 'gantry-test-'));
  // A test may set a URL that reaches the server's first database another way, such as through a proxy.
  const database = await newDatabase(data, { isEmpty: environment['GANTRY_DATABASE_URL'] !== undefined });
  const { config, origin } = readConfig(
    {},
    {
      GANTRY_DATA: data,
      GANTRY_LISTEN: '127.0.0.1:0',
      GANTRY_ROOT_TOKEN: rootToken,
      GANTRY_LOG_LEVEL: 'silent',
      GANTRY_RUNNER_EXECUTOR: 'none',
      // No test reaches other sites.
      GANTRY_IMAGE_PROXY: 'false',
      ...databaseSettings(database),
      ...environment,
    },
  );
  let fixed: number | null = null;
  const clock: Clock = { now: () => fixed ?? Date.now() };
  const lines: string[] = [];
  const service = await startService({
    config,
    configOrigin: origin,
    clock,
    random: randomBytes,
    log: pino({ level: config.log_level }, { write: (line: string) => void lines.push(line) }),
    onFatal: (error) => {
      throw error;
    },
    sharesProcess: true, // a collection pays for the memory of all tests of the process
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
      await database.drop();
    },
  };
};
