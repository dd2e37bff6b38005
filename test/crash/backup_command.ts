/** Runs the command line for tests of backups. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Starts `gantry <line>` with these settings alone. */
export const startCommand = (line: string, env: Record<string, string>): ChildProcess =>
  spawn(process.execPath, ['bin/gantry', ...line.split(' ')], {
    cwd: join(import.meta.dirname, '../..'),
    env: { PATH: process.env['PATH'], TMPDIR: process.env['TMPDIR'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** Runs `gantry <line>`, which must succeed. */
export const runCommand = async (line: string, env: Record<string, string>): Promise<void> => {
  const child = startCommand(line, env);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (text) => void (output += String(text)));
  const [code] = (await once(child, 'close')) as [number | null];
  assert.equal(code, 0, `${line}: ${output}`);
};
