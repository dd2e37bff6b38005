/** A private network for a sandbox: out to the world, but not to what listens on this machine's loopback. */
import { execFile, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';

export type Network = { stop: () => void };

/** The programs that set up a network. */
export type NetworkTools = { slirp: string; ip: string; nsenter: string };

/** Milliseconds. */
const startTimeout = 10_000;

type Parts = { tools: NetworkTools; pid: number };

/** Root joins a network as it is; others have to join the users that it belongs to first. */
export const isRoot = (): boolean => process.getuid?.() === 0;

/**
 * A process of the job may bind a socket to the network's device, past the routes of its own loopback: slirp4netns
 * would connect such a packet to this machine's. The kernel refuses it by this route.
 */
const loopbackBlock = 'route add unreachable 127.0.0.0/8';

/** Shell commands by which a sandbox of an ordinary user blocks loopback itself and drops the capability for it. */
export const blockAndDrop = ({ ip }: NetworkTools): string =>
  `${ip} ${loopbackBlock} && exec setpriv --inh-caps=-all --ambient-caps=-all -- "$0" "$@"`;

/** As root: from outside, since a sandbox with pseudo terminals has no rights over its network. */
const blockLoopback = async ({ tools, pid }: Parts): Promise<void> => {
  const words = [`--net=/proc/${pid}/ns/net`, '--', tools.ip, ...loopbackBlock.split(' ')];
  await promisify(execFile)(tools.nsenter, words, { env: { PATH: '/usr/bin:/bin' }, cwd: '/' });
};

/** The program gives up its rights by itself. @throws where it does not come up */
export const joinNetwork = async ({ tools, pid }: Parts): Promise<Network> => {
  const words = [
    // Its own name server passes every port on to this machine's, which may listen on loopback.
    ...'--configure --mtu=65520 --disable-host-loopback --disable-dns --enable-seccomp'.split(' '),
    '--ready-fd=3',
    '--exit-fd=4',
    // Its own sandbox is made with the rights of root within, which only root has here.
    ...(isRoot() ? ['--enable-sandbox', '--netns-type=path', `/proc/${pid}/ns/net`] : [String(pid)]),
    'tap0',
  ];
  // It ends when the other end of its last pipe closes: with us, however we end.
  const child = spawn(tools.slirp, words, {
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
