/** A PostgreSQL of one test that is killed and started again on its data, as after a crash. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../servers/free_port.ts';
import { prepareServer, toArguments, toSpawnOptions, toUrl } from './postgres.ts';

export type KillablePostgres = {
  url: string;
  /** Ends the postmaster by SIGKILL; its children notice that and end by themselves, without writing anything. */
  kill: () => Promise<void>;
  /** Starts it again, which recovers from its write-ahead log. Resolves when it accepts connections. */
  restore: () => Promise<void>;
  /** Ends it and deletes its data. */
  stop: () => Promise<void>;
};

/**
 * Starts the server for each line on standard input; ends it and removes the folder when standard input closes. The
 * shell in between waits for the server, so that one that was killed does not stay as a zombie and hold its lock file.
 */
const keeper = `
home=$1; shift
while read -r line; do
  ( "$@" </dev/null & child=$!; trap 'kill -INT $child' TERM; wait $child; wait $child ) & server=$!
done
kill -TERM $server 2>/dev/null; wait $server; rm -rf "$home" 2>/dev/null`;

const isReady = /ready to accept connections/;
/** Children of a killed postmaster hold the data until they have ended. */
const isHeld = /(?:lock file "postmaster\.pid" already exists|pre-existing shared memory block)/;
const isRefused = /FATAL: .*|PANIC: .*/;

/** A commit is on disk when it is acknowledged, as in production. */
export const startKillablePostgres = async (): Promise<KillablePostgres> => {
  const { home, programs, account, password } = prepareServer();
  const port = await freePort();
  const command = [join(programs, 'postgres'), ...toArguments(home, port, true)];
  const keeping = spawn('/bin/sh', ['-c', keeper, 'sh', home, ...command], {
    ...toSpawnOptions(home, account),
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const exit = once(keeping, 'exit');
  let log = '';
  keeping.stderr.setEncoding('utf8').on('data', (text: string) => void (log += text));
  keeping.unref();

  /** Starts the server once; false: the processes of the one before still hold the data. */
  const tryStart = async (): Promise<boolean> => {
    log = '';
    keeping.stdin.write('start\n');
    while (!isReady.test(log)) {
      if (isHeld.test(log)) return false;
      // Clients that connect while it recovers are refused with this level, too.
      const fatal = isRefused.exec(log)?.[0] ?? '';
      if (fatal !== '' && !/starting up|recovery|not yet accepting/.test(fatal)) throw new Error(log);
      await pause(20);
    }
    return true;
  };
  const restore = async (): Promise<void> => {
    while (!(await tryStart())) await pause(50);
  };
  const stop = async (): Promise<void> => {
    keeping.ref();
    keeping.stdin.end();
    await exit;
    rmSync(home, { recursive: true, force: true });
  };
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  const kill = async (): Promise<void> => {
    const [pid = ''] = readFileSync(join(home, 'data/postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), 'SIGKILL');
    while (isAlive(Number(pid))) await pause(10);
  };
  try {
    await restore();
    return { url: toUrl(password, port), kill, restore, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
