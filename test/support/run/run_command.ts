/** Runs one command with a time limit and kills everything that the command started. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

export type Command = { program: string; args: string[]; env: NodeJS.ProcessEnv; seconds: number };
/** `code` is null if a signal ended the command; `output` is both streams. */
export type Ended = { code: number | null; late: boolean; output: string };

/** Environment variable that every process of a command inherits; its value identifies the command. */
const mark = 'TEST_COMMAND';
const running = new Map<string, number>();

/** Runs the command to its end; kills it with all that it started after `seconds`. */
export const runCommand = async ({ program, args, env, seconds }: Command): Promise<Ended> => {
  const id = `${mark}=${crypto.randomUUID()}`;
  const marked = { ...env, [mark]: id.slice(mark.length + 1) };
  const child = spawn(program, args, { env: marked, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  running.set(id, child.pid ?? 0);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  let late = false;
  const limit = setTimeout(() => {
    late = true;
    killCommand(id);
  }, seconds * 1000);
  const closed = once(child, 'close');
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    killCommand(id);
    await Promise.race([closed, wait(1000, undefined, { ref: false })]);
    return { code, late, output };
  } finally {
    clearTimeout(limit);
    running.delete(id);
  }
};

/** Kills all running commands; for signal handlers. */
export const killAll = (): void => {
  for (const id of running.keys()) killCommand(id);
};

/**
 * Kills the command's process group, and processes that left the group, found by the variable in /proc if there is
 * one.
 */
const killCommand = (id: string): void => {
  kill(-(running.get(id) ?? 0));
  for (const pid of marked(id)) kill(pid);
};

const kill = (target: number): void => {
  try {
    if (target !== 0) process.kill(target, 'SIGKILL');
  } catch {
    // already gone
  }
};

const marked = (id: string): number[] => {
  try {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.filter((pid) => environment(pid).includes(id)).map(Number);
  } catch {
    return [];
  }
};

const environment = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return ''; // gone since, or owned by another user
  }
};
