/** Starts a real runner process with a temporary folder that is removed afterwards. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { marked } from '../../../runner/executors/processes.ts';
import { buildMark } from '../../../runner/recover_jobs.ts';

export type TestRunner = {
  child: ChildProcess;
  folder: string;
  /** What the runner printed when it had started. */
  ready: { executor: string | null; notices: string[] };
  logged: () => string[];
  /** Stops taking jobs; resolves when the process has exited. */
  drain: () => Promise<void>;
  kill: (signal: NodeJS.Signals) => Promise<void>;
  /** Kills the runner and all that it started, and removes its folder unless another runner continues with it. */
  close: (keepFolder?: boolean) => Promise<void>;
};

/** Processes of unsandboxed jobs that the runner of this folder started. */
export const listLeftoverProcesses = (folder: string): number[] =>
  marked()
    .filter(({ mark }) => mark.startsWith(buildMark(folder, '', 0).split('-')[0] ?? ''))
    .map(({ pid }) => pid);

export const makeRunnerFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-test-runner-'));
  await chmod(folder, 0o711);
  return folder;
};

export type RunnerOptions = {
  url: string;
  token?: string;
  executor?: string;
  concurrency?: number;
  folder?: string;
  log_limit?: number;
  idle_limit?: number;
  patience?: number;
  is_local?: boolean;
  memory?: number;
  processes?: number;
  disk?: number | null;
  cache_limit?: number;
  keep_days?: number;
  pull_policies?: string[];
  /** The runner's PATH. */
  path?: string;
  /** A file that it inherits open as descriptor 200; Node closes low descriptors itself. */
  inherited?: string;
};

export const startTestRunner = async ({
  path,
  inherited,
  ...options
}: RunnerOptions): Promise<TestRunner> => {
  const folder = options.folder ?? (await makeRunnerFolder());
  const program = join(import.meta.dirname, '../../../runner/main.ts');
  const words = [process.execPath, program];
  if (inherited !== undefined) words.unshift('/bin/bash', '-c', `exec "$0" "$@" 200<'${inherited}'`);
  const [first = '', ...others] = words;
  const child = spawn(first, others, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: path ?? process.env['PATH'], TMPDIR: tmpdir() },
  });
  const orders = { token: 'glrt-token', executor: 'shell', is_local: true, concurrency: 2, version: 'test' };
  child.stdin.write(`${JSON.stringify({ ...orders, folder, ...options })}\n`);
  const lines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
  const exited = once(child, 'exit');
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    exited.then(() => Promise.reject(new Error(`the runner ended: ${lines.join('\n')}`))),
  ])) as [string];
  const kill: TestRunner['kill'] = async (signal) => {
    child.kill(signal);
    await exited;
  };
  const drain = async (): Promise<void> => {
    child.stdin.end();
    await exited;
  };
  return {
    child,
    folder,
    ready: JSON.parse(line) as TestRunner['ready'],
    logged: () => lines,
    drain,
    kill,
    close: async (keepFolder = false) => {
      if (child.exitCode === null && child.signalCode === null) await kill('SIGTERM');
      if (!keepFolder) await rm(folder, { recursive: true, force: true });
    },
  };
};
