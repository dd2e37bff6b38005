/** Gives a sandbox a private network: the internet, but nothing on this machine's loopback. */
import { execFile, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';

export type Network = { stop: () => void };

/** Programs that set up a network. */
export type NetworkTools = { slirp: string; ip: string; nsenter: string };

/** Milliseconds. */
const startTimeout = 10_000;

type Parts = { tools: NetworkTools; pid: number };

/** Root joins the network directly; other users must first join its user namespace. */
export const isRoot = (): boolean => process.getuid?.() === 0;

/**
 * A job could bind a socket to the network device and bypass its own loopback routes. slirp4netns would connect such
 * a packet to this machine's loopback. This route makes the kernel refuse it.
 */
const loopbackBlock = 'route add unreachable 127.0.0.0/8';

/** Shell commands with which an unprivileged sandbox blocks loopback itself and drops the capability. */
export const blockAndDrop = ({ ip }: NetworkTools): string =>
  `${ip} ${loopbackBlock} && exec setpriv --inh-caps=-all --ambient-caps=-all -- "$0" "$@"`;

/**
 * Blocks the loopback of this machine. Runs as root from outside, since a sandbox with pseudo terminals has no rights
 * over its network.
 */
const blockLoopback = async ({ tools, pid }: Parts): Promise<void> => {
  const args = [`--net=/proc/${pid}/ns/net`, '--', tools.ip, ...loopbackBlock.split(' ')];
  await promisify(execFile)(tools.nsenter, args, { env: { PATH: '/usr/bin:/bin' }, cwd: '/' });
};

/** Starts slirp4netns, which drops its privileges. @throws if it does not start */
export const joinNetwork = async ({ tools, pid }: Parts): Promise<Network> => {
  const args = [
    // slirp4netns' own name server would forward to this machine's loopback.
    ...'--configure --mtu=65520 --disable-host-loopback --disable-dns --enable-seccomp'.split(' '),
    '--ready-fd=3',
    '--exit-fd=4',
    // Its own sandbox needs root.
    ...(isRoot() ? ['--enable-sandbox', '--netns-type=path', `/proc/${pid}/ns/net`] : [String(pid)]),
    'tap0',
  ];
  // It exits when its last pipe closes: with the runner, however that ends.
  const child = spawn(tools.slirp, args, {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
  });
  const [, , , ready, exit] = child.stdio as unknown as Duplex[];
  for (const pipe of [ready, exit, child.stderr]) pipe?.on('error', () => undefined);
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => void (complaint = (complaint + chunk).slice(-2_000)));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error('slirp4netns takes too long')), startTimeout);
  ready?.once('data', () => resolve());
  child.once('error', reject);
  child.once('exit', () => reject(new Error(`slirp4netns ended: ${complaint.trim()}`)));
  const stop = (): void => {
    child.kill('SIGKILL');
    for (const pipe of [ready, exit, child.stderr]) pipe?.destroy();
  };
  try {
    await promise;
    if (isRoot()) await blockLoopback({ tools, pid });
    return { stop };
  } catch (error) {
    stop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
};
