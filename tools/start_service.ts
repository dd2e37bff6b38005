/** Starts the service from its sources as a child process, for the tools of this folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { formatLine } from '../src/app/service/log.ts';

export const root = join(import.meta.dirname, '..');

export type StartedService = {
  url: string;
  child: ChildProcess;
  /** Resolves with the exit code when the process has ended. */
  ended: Promise<number>;
  stop: () => Promise<void>;
};

const logLine = (line: string): { msg?: string; url?: string } | null => {
  try {
    return line.startsWith('{') ? (JSON.parse(line) as { msg?: string; url?: string }) : null;
  } catch {
    return null;
  }
};

/**
 * Starts `gantry serve` and resolves once it listens.
 * @param options.watch restart it when a source changes
 * @param options.print receives each log line in readable form
 * @throws when the process ends before it listens
 */
export const startService = async (options: {
  env: Record<string, string>;
  args?: string[];
  watch?: boolean;
  print: (text: string) => void;
}): Promise<StartedService> => {
  const watched = ['src', 'gitd', 'runner', 'zip'].map((folder) => `--watch-path=${join(root, folder)}`);
  const flags = options.watch ? [...watched, '--watch-preserve-output'] : [];
  const program = [...flags, join(root, 'src/app/cli/main.ts'), 'serve', ...(options.args ?? [])];
  const env = { ...process.env, ...options.env };
  const child = spawn(process.execPath, program, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
  process.on('exit', () => child.kill('SIGTERM'));
  const ended = once(child, 'exit').then(([code]) => (code as number | null) ?? 1);
  const listening = Promise.withResolvers<string>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const entry = logLine(line);
    options.print(entry === null ? `${line}\n` : formatLine(line));
    if (entry?.msg === 'listening') listening.resolve(entry.url ?? '');
    // In watch mode Node waits for a change instead of ending.
    if (line.includes('Failed running')) listening.reject(new Error('the service did not start'));
  });
  void ended.then((code) => listening.reject(new Error(`the service ended with code ${code}`)));
  const url = await listening.promise;
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
  };
  return { url, child, ended, stop };
};
