/** Starts the real service with all features as a separate process, and the bare server for comparison. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../test/support/servers/free_port.ts';
import { pinned } from './process_usage.ts';

const root = join(import.meta.dirname, '..');
const patience = 60_000;
const pollEvery = 5;

export const rootPassword = 'password of root for bench';
export const rootToken = 'token-of-root-for-bench';

/** Where the data is: a folder, and for PostgreSQL a server and a schema. */
export type DataLocation = { data: string; database?: { url: string; schema: string } };

export type Running = {
  port: number;
  pid: number;
  /** Milliseconds from the start of the process to its first answer with status 200. */
  startedIn: number;
  stop: () => Promise<void>;
};

const answers = async (port: number, path: string): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const headers = { 'private-token': rootToken };
  const request = get({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
    response.resume();
    resolve(response.statusCode === 200);
  });
  request.on('error', () => resolve(false));
  return await promise;
};

const untilAnswers = async (child: ChildProcess, port: number, path: string): Promise<number> => {
  const began = performance.now();
  while (!(await answers(port, path))) {
    if (child.exitCode !== null) throw new Error(`the process ended with code ${child.exitCode}`);
    if (performance.now() - began > patience) throw new Error(`nothing answers on port ${port}`);
    await wait(pollEvery);
  }
  return performance.now() - began;
};

const stopOf = (child: ChildProcess) => async (): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
};

const variables = ({ data, database }: DataLocation, port: number): NodeJS.ProcessEnv => {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('GANTRY_'));
  return {
    ...Object.fromEntries(kept),
    GANTRY_DATA: data,
    GANTRY_LISTEN: `127.0.0.1:${port}`,
    GANTRY_ROOT_TOKEN: rootToken,
    GANTRY_ROOT_PASSWORD: rootPassword,
    GANTRY_RUNNER_EXECUTOR: 'none',
    GANTRY_PIPELINE_LIMIT: '0',
    GANTRY_ACTIVE_JOBS_LIMIT: '0',
    ...(database && { GANTRY_DATABASE_URL: database.url, GANTRY_DATABASE_SCHEMA: database.schema }),
  };
};

/** The flags with which `npm start` runs Node. */
const flagsOf = (checkout: string): string[] =>
  readFileSync(join(checkout, 'bin/launch'), 'utf8')
    .match(/^ +--[\w=-]+/gm)
    ?.map((line) => line.trim()) ?? [];

type Options = {
  /** Another checkout, whose service runs. */
  checkout?: string | null;
  /** An own folder for compiled code. */
  codeCache?: string;
  /** The service and its children may use every core. */
  everyCore?: true;
  /** File that receives the delay of its event loop (`event_loop.ts`). */
  eventLoop?: string;
  /** File that receives the number of its statements (`statements.ts`). */
  statements?: string;
  /** URL of a module that it, and the gitd it starts, load first. */
  preload?: string;
  /** Additional settings. */
  environment?: Record<string, string>;
};

const preloaded = (name: string, file: string | undefined): string[] =>
  file === undefined ? [] : ['--import', join(import.meta.dirname, name)];

const commandOf = (options: Options): [string, string[]] => {
  const { everyCore, eventLoop, statements, preload: module } = options;
  const checkout = options.checkout ?? root;
  const preload = [
    ...(module === undefined ? [] : [`--import=${module}`]),
    ...preloaded('event_loop.ts', eventLoop),
    ...preloaded('statements.ts', statements),
  ];
  const args = [...flagsOf(checkout), ...preload, join(checkout, 'bin/gantry'), 'serve'];
  return everyCore === true ? [process.execPath, args] : pinned(0, process.execPath, args);
};

/** Starts the service; its log goes to a file next to the data. */
export const startService = async (location: DataLocation, options: Options = {}): Promise<Running> => {
  const port = await freePort();
  const [program, args] = commandOf(options);
  const file = join(location.data, '..', `${port}.log`);
  const log = openSync(file, 'w');
  const env = {
    ...variables(location, port),
    ...(options.codeCache !== undefined && { NODE_COMPILE_CACHE: options.codeCache }),
    ...(options.eventLoop !== undefined && { BENCH_EVENT_LOOP: options.eventLoop }),
    ...(options.statements !== undefined && { BENCH_STATEMENTS: options.statements }),
    ...options.environment,
  };
  const child = spawn(program, args, { env, stdio: ['ignore', log, log] });
  closeSync(log);
  const stop = stopOf(child);
  try {
    const startedIn = await untilAnswers(child, port, '/api/v4/version');
    return { port, pid: child.pid ?? 0, startedIn, stop };
  } catch (error) {
    await stop();
    throw new Error(`the service did not start:\n${readFileSync(file, 'utf8').slice(-2000)}`, {
      cause: error,
    });
  }
};

/**
 * Starts a bare `node:http` server that answers with these bodies by path.
 * @param file where it keeps something before it answers a POST
 */
export const startFloor = async (bodies: { [path: string]: string }, file?: string): Promise<Running> => {
  const port = await freePort();
  const told = [String(port), ...(file === undefined ? [] : [file])];
  const [program, args] = pinned(0, process.execPath, [join(import.meta.dirname, 'bare_server.ts'), ...told]);
  const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin?.end(JSON.stringify(bodies));
  const startedIn = await untilAnswers(child, port, '/');
  return { port, pid: child.pid ?? 0, startedIn, stop: stopOf(child) };
};
