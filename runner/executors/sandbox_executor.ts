/**
 * Runs scripts in a bubblewrap sandbox with its own processes, users, files and network. It sees this machine's
 * programs and the job's folders only.
 */
import { lstatSync, readlinkSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { makeGroup, startWithin } from './cgroup.ts';
import {
  type Executor,
  type Folders,
  type Run,
  beginPlain,
  cleanEnvironment,
  seenProjectPath,
} from './executor.ts';
import { type Limits, limitArguments } from './process_limits.ts';
import { findNameServers, writeNameServers } from './name_servers.ts';
import { type Network, type NetworkTools, blockAndDrop, isRoot, joinNetwork } from './sandbox_network.ts';
import { listDescendants, signal } from './processes.ts';
import { type Ended, type User, runTree } from './run_process.ts';

export type SandboxTools = {
  bwrap: string;
  /** Null: jobs have no network. */
  network: NetworkTools | null;
  /** Why jobs have no network. */
  lack: string;
  /** True if this bubblewrap limits the size of folders in memory. */
  sizesFolders: boolean;
  /** Folder with replacements of files in /etc, readable by all. */
  etc: string;
};

/** Files of /etc that programs need; none is secret. */
const wantedEtc = [
  ...'alternatives ssl/certs ssl/openssl.cnf ca-certificates pki/tls ld.so.cache'.split(' '),
  ...'ld.so.conf ld.so.conf.d localtime mime.types services protocols gai.conf'.split(' '),
  ...'java-17-openjdk java-21-openjdk java-25-openjdk python3 python3.11 python3.13 perl'.split(' '),
];
const ownEtc = ['passwd', 'group', 'hosts', 'nsswitch.conf'];

const systemFolder = (name: string): string[] => {
  try {
    const stats = lstatSync(`/${name}`);
    return stats.isSymbolicLink()
      ? ['--symlink', readlinkSync(`/${name}`), `/${name}`]
      : ['--ro-bind', `/${name}`, `/${name}`];
  } catch {
    return []; // this machine does not have it
  }
};

/** Devices of `--dev`, without pseudo terminals. */
const plainDevices = [
  ...['null', 'zero', 'full', 'random', 'urandom', 'tty'].flatMap((name) => [
    '--dev-bind',
    `/dev/${name}`,
    `/dev/${name}`,
  ]),
  ...'--symlink /proc/self/fd /dev/fd --symlink /proc/self/fd/0 /dev/stdin'.split(' '),
  ...'--symlink /proc/self/fd/1 /dev/stdout --symlink /proc/self/fd/2 /dev/stderr'.split(' '),
];

/**
 * With pseudo terminals, bubblewrap nests a second user namespace. An ordinary user could then not join the network,
 * which belongs to the first.
 */
const deviceWords = ({ network }: SandboxTools): string[] =>
  network === null || isRoot() ? ['--dev', '/dev'] : plainDevices;

/** Maximum bytes of `/dev/shm`. */
const sharedMemory = 256 * 2 ** 20;

/** Writable folders are on disk: a tmpfs would be memory that no limit counts. */
const finalWords = (tools: SandboxTools): string[] => [
  ...(tools.sizesFolders ? ['--size', String(sharedMemory)] : []),
  ...'--tmpfs /dev/shm --remount-ro /'.split(' '),
  ...(deviceWords(tools)[0] === '--dev' ? ['--remount-ro', '/dev'] : []),
];

const systemWords = (tools: SandboxTools): string[] => [
  ...'--unshare-user --unshare-all --uid 1000 --gid 1000 --hostname job'.split(' '),
  ...'--die-with-parent --new-session --cap-drop ALL --ro-bind /usr /usr'.split(' '),
  ...['bin', 'sbin', 'lib', 'lib64', 'lib32'].flatMap(systemFolder),
  ...wantedEtc.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
  ...[...ownEtc, ...(tools.network === null ? [] : ['resolv.conf'])].flatMap((name) => [
    '--ro-bind',
    join(tools.etc, name),
    `/etc/${name}`,
  ]),
  ...deviceWords(tools),
  ...'--proc /proc --dir /run --dir /tmp --symlink /tmp /var/tmp'.split(' '),
];

const seen = (_folders: Folders, job: Run['job']): Folders => ({
  project: `/builds/${seenProjectPath(job)}`,
  objects: '/builds-objects',
  home: '/home/job',
  temp: '/tmp',
  files: '/gantry',
});

const folderWords = ({ folders, job }: Run): string[] => {
  const inside = seen(folders, job);
  return [
    '--bind',
    folders.project,
    inside.project,
    '--ro-bind',
    folders.objects,
    inside.objects,
    '--bind',
    folders.home,
    inside.home,
    '--bind',
    folders.temp,
    inside.temp,
    '--bind',
    folders.files,
    inside.files,
    '--chdir',
    inside.project,
  ];
};

/** bubblewrap reports in steps; keep reading, since it exits when the pipe closes. */
const innerPid = async (info: Duplex): Promise<number> => {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let text = '';
  info.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    const [, pid] = /"child-pid": *(\d+)[^\d]/.exec(text) ?? [];
    if (pid !== undefined) resolve(Number(pid));
  });
  info.once('close', () => reject(new Error('bubblewrap does not start')));
  return await promise;
};

/** Descriptors in the sandbox: for the pid of the first process, and for one message each way. */
const [infoPipe, wordPipe] = [3, 4];

/** Reports that the sandbox is ready, waits for the network, then runs the command. */
const waiterFor = (network: NetworkTools): string => {
  const start = isRoot() ? 'exec "$0" "$@"' : blockAndDrop(network);
  return `echo >&${wordPipe}; read -r _ <&${wordPipe}; exec ${wordPipe}>&-; ${start}`;
};

export type SandboxedCommand = {
  tools: SandboxTools;
  /** Folders visible in addition to the system's. */
  binds: readonly string[];
  command: readonly string[];
  environment: Record<string, string>;
  user: User | null;
  limits: Limits;
  /** A control group; null: none. */
  mark: string | null;
  onOutput: (chunk: Buffer) => void;
  stop: AbortSignal;
};

const buildArguments = ({ tools, binds, command, limits }: SandboxedCommand): string[] => {
  const { bwrap, network } = tools;
  const info = network === null ? [] : ['--info-fd', String(infoPipe)];
  const rights = network === null || isRoot() ? [] : ['--cap-add', 'CAP_NET_ADMIN'];
  const start = network === null ? [] : ['/bin/bash', '--noprofile', '--norc', '-c', waiterFor(network)];
  return [
    ...limitArguments(limits),
    bwrap,
    ...systemWords(tools),
    ...rights,
    ...binds,
    ...finalWords(tools),
    ...info,
    '--',
    ...start,
    ...command,
  ];
};

const connect = async (tools: NetworkTools, pipes: readonly Duplex[], networks: Network[]): Promise<void> => {
  const [info, word] = pipes;
  if (info === undefined || word === undefined) return;
  const isUp = once(word, 'data');
  const pid = await innerPid(info);
  await isUp;
  networks.push(await joinNetwork({ tools, pid }));
  word.write('\n');
};

/** Runs a command in a sandbox; all of it has ended when this resolves. @throws if its network does not start */
export const runInSandbox = async (sandboxed: SandboxedCommand): Promise<Ended> => {
  const { tools, environment, user, onOutput, stop, limits, mark } = sandboxed;
  const { network } = tools;
  const pipes = network === null ? 0 : 2;
  if (network !== null) writeNameServers(tools.etc);
  const group = mark === null ? null : makeGroup(mark, limits);
  const args = buildArguments(sandboxed);
  const child = startWithin(group, { words: args, environment, cwd: '/', user, onOutput, pipes });
  const pid = child.pid ?? 0;
  const own = child.stdio.slice(infoPipe, infoPipe + pipes) as unknown as Duplex[];
  for (const pipe of own) pipe.on('error', () => undefined);
  // Killing the outer process ends everything inside.
  const killTree = async (): Promise<void> => {
    if (pid > 0) signal(-pid, 'SIGKILL');
    await group?.kill();
  };
  const terminate = (): void => {
    const inner = listDescendants(pid).filter(({ name }) => name !== 'bwrap');
    for (const descendant of inner) signal(descendant.pid, 'SIGTERM');
  };
  const ended = runTree({ child, terminate, killTree }, stop);
  ended.catch(() => undefined);
  const networks: Network[] = [];
  try {
    if (network !== null) {
      const connected = connect(network, own, networks);
      connected.catch(() => undefined);
      await Promise.race([connected, ended]);
    }
    return await ended;
  } finally {
    await killTree();
    for (const network of networks) network.stop();
    for (const pipe of own) pipe.destroy();
  }
};

const runSandbox = async (tools: SandboxTools, limits: Limits, run: Run): Promise<Ended> => {
  const { folders, job, script, user, mark, onOutput, stop } = run;
  const inside = seen(folders, job);
  const command = ['/bin/bash', '--noprofile', '--norc', join(inside.files, script)];
  const environment = cleanEnvironment(inside.home, inside.temp);
  const binds = folderWords(run);
  return await runInSandbox({ tools, binds, command, environment, user, limits, mark, onOutput, stop });
};

const networkNotice = ({ network, lack }: SandboxTools): string => {
  if (network === null) return `Runs in a sandbox without network: ${lack}.`;
  if (findNameServers().length > 0) return 'Runs in a sandbox with a network of its own.';
  return (
    'Runs in a sandbox with a network of its own, which cannot resolve names: the name server of this machine ' +
    'listens only on its loopback address. Configure a name server with another address in /etc/resolv.conf.'
  );
};

export const sandboxExecutor = (tools: SandboxTools, limits: Limits): Executor => ({
  name: 'sandbox',
  notice: networkNotice(tools),
  builds: 'builds',
  seen,
  begin: beginPlain(async (run) => await runSandbox(tools, limits, run)),
});
