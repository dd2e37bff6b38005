/** Runs the program as users do: processes of `node bin/gantry`, each with its own data folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { readConfig } from '../../src/platform/config/read_config.ts';
import type { Store } from '../../src/platform/db/open.ts';
import { openExistingStore } from '../../src/app/service/open_database.ts';
import { systemClock } from '../../src/platform/time.ts';

const root = join(import.meta.dirname, '../..');
const engineUrl = process.env['GANTRY_TEST_DATABASE_URL'];
export const engine = engineUrl === undefined ? 'sqlite' : 'postgres';

export type Ended = { code: number | null; stdout: string; stderr: string };
export type RunOptions = { env?: Record<string, string>; input?: string };

/** A folder that does not exist yet, and the location of its database. */
export type Place = {
  data: string;
  env: Record<string, string>;
  /** Runs `gantry <line>` to its end. */
  run: (line: string, options?: RunOptions) => Promise<Ended>;
  serve: (line?: string, options?: RunOptions) => Promise<Running>;
  /** Opens the database directly, while no command runs. */
  store: <T>(work: (store: Store) => Promise<T>) => Promise<T>;
  remove: () => Promise<void>;
};

export type Running = {
  url: string;
  child: ChildProcess;
  /** Output so far. */
  stdout: () => string;
  stderr: () => string;
  /** Sends a signal, or only waits without one; returns how the process ended. */
  end: (signal?: NodeJS.Signals) => Promise<Ended>;
};

/** The environment without settings of the program and without the tests' own variables. */
const environment = (env: Record<string, string>): NodeJS.ProcessEnv => {
  const inherited = Object.entries(process.env).filter(([name]) => !/^GANTRY_|^NODE_/.test(name));
  return { ...Object.fromEntries(inherited), ...env };
};

const start = (args: string[], env: Record<string, string>) => {
  const child = spawn(process.execPath, ['bin/gantry', ...args], { cwd: root, env: environment(env) });
  const printed = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (printed.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (printed.stderr += text));
  const closed = once(child, 'close').then(([code]): Ended => ({ code: code as number | null, ...printed }));
  return { child, printed, closed };
};

const words = (line: string): string[] => (line === '' ? [] : line.split(' '));

const run = async (args: string[], env: Record<string, string>, input = ''): Promise<Ended> => {
  const { child, closed } = start(args, env);
  child.stdin.on('error', () => undefined).end(input);
  return await closed;
};

/** Runs `gantry <line>` without a data folder. */
export const gantry = async (line: string, env: Record<string, string> = {}): Promise<Ended> =>
  await run(words(line), env);

const urlPattern = /"url":"(http:[^"]+)"|answers on ((?:http|tcp|tls):\S+)/;

const serve = async (args: string[], env: Record<string, string>): Promise<Running> => {
  const { child, printed, closed } = start(args, env);
  const url = new Promise<string>((resolve, reject) => {
    const look = (): void => {
      const match = urlPattern.exec(printed.stderr) ?? urlPattern.exec(printed.stdout);
      const isReady = printed.stdout.includes('"listening"') || args[0] === 'gitd';
      if (match !== null && isReady) resolve(match[1] ?? match[2] ?? '');
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    void closed.then(({ code, stderr }) => reject(new Error(`it ended with ${code}: ${stderr}`)));
  });
  const end = async (signal?: NodeJS.Signals): Promise<Ended> => {
    if (signal !== undefined) child.kill(signal);
    return await closed;
  };
  return { url: await url, child, stdout: () => printed.stdout, stderr: () => printed.stderr, end };
};

const dropSchema = async (schema: string): Promise<void> => {
  const client = new pg.Client({ connectionString: engineUrl });
  await client.connect();
  await client.query(`drop schema if exists ${schema} cascade`);
  await client.end();
};

export const newPlace = (): Place => {
  const home = mkdtempSync(join(tmpdir(), 'gantry-cli-'));
  const data = join(home, 'data');
  const schema = `cli_${randomBytes(8).toString('hex')}`;
  const env: Record<string, string> = {
    GANTRY_DATA: data,
    GANTRY_LISTEN: '127.0.0.1:0',
    GANTRY_RUNNER_EXECUTOR: 'none',
    ...(engineUrl !== undefined && { GANTRY_DATABASE_URL: engineUrl, GANTRY_DATABASE_SCHEMA: schema }),
  };
  const started: Running[] = [];
  return {
    data,
    env,
    run: async (line, options = {}) => await run(words(line), { ...env, ...options.env }, options.input),
    serve: async (line = 'serve', options = {}) => {
      const running = await serve(words(line), { ...env, ...options.env });
      started.push(running);
      return running;
    },
    store: async (work) => {
      const onFatal = (error: unknown): void => {
        throw error;
      };
      const store = await openExistingStore({
        config: readConfig({}, env).config,
        clock: systemClock,
        onFatal,
      });
      try {
        return await work(store);
      } finally {
        await store.close();
      }
    },
    remove: async () => {
      await Promise.all(started.map(async (running) => await running.end('SIGKILL')));
      rmSync(home, { recursive: true, force: true });
      if (engineUrl !== undefined) await dropSchema(schema);
    },
  };
};

/** Starts a service and stops it, as the first use of a place. */
const useOnce = async (place: Place): Promise<Place> => {
  const { code, stderr } = await (await place.serve()).end('SIGTERM');
  if (code !== 0) throw new Error(`it ended with ${code}: ${stderr}`);
  return place;
};

let used: Promise<Place> | undefined;

/** A place that was in use: its service was started once, and stopped. On SQLite, a copy of one for all tests. */
export const newUsedPlace = async (): Promise<Place> => {
  const place = newPlace();
  if (engine !== 'sqlite') return await useOnce(place);
  if (used === undefined) {
    const first = newPlace();
    used = useOnce(first);
    process.once('exit', () => rmSync(dirname(first.data), { recursive: true, force: true }));
  }
  cpSync((await used).data, place.data, { recursive: true });
  return place;
};
