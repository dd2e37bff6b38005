/** Runs one command with a time limit; when it is over, nothing the command started is left. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

export type Command = { program: string; args: string[]; env: NodeJS.ProcessEnv; seconds: number };
/** `code` is null when a signal ended the command; `output` is what it printed, both streams. */
export type Ended = { code: number | null; late: boolean; output: string };

/** Every process a command starts inherits this, wherever it hides; the value is the command's group. */
const mark = 'TEST_COMMAND';
const running = new Map<string, number>();

/** Runs the command to its end; one that takes longer than `seconds` is killed with all it started. */
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
    await Promise.race([closed, pause(1000, undefined, { ref: false })]);
    return { code, late, output };
  } finally {
    clearTimeout(limit);
    running.delete(id);
  }
};

/** For signals: kills whatever is running. */
export const killAll = (): void => {
  for (const id of running.keys()) killCommand(id);
};

/** Its process group, and what left the group, by the mark (where there is a /proc to find it in). */
const killCommand = (id: string): void => {
  kill(-(running.get(id) ?? 0));
  for (const pid of marked(id)) kill(pid);
};

const kill = (target: number): void => {
  try {
    if (target !== 0) process.kill(target, 'SIGKILL');
  } catch {
    // gone already
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
    return ''; // gone meanwhile, or somebody else's
  }
};
