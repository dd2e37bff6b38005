/** A private network for a sandbox: out to the world, but not to what listens on this machine's loopback. */
import { spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';

export type Network = { stop: () => void };

/** Where slirp4netns answers questions for names. */
export const nameServer = '10.0.2.3';

/** Milliseconds. */
const patience = 10_000;

type Parts = { slirp: string; pid: number };

/** Root joins a network as it is; others have to join the users that it belongs to first. */
export const isRoot = (): boolean => process.getuid?.() === 0;

/** The program gives up its rights by itself. @throws where it does not come up */
export const joinNetwork = async ({ slirp, pid }: Parts): Promise<Network> => {
  const words = [
    ...'--configure --mtu=65520 --disable-host-loopback --enable-seccomp'.split(' '),
    '--ready-fd=3',
    '--exit-fd=4',
    // Its own sandbox is made with the rights of root within, which only root has here.
    ...(isRoot() ? ['--enable-sandbox', '--netns-type=path', `/proc/${pid}/ns/net`] : [String(pid)]),
    'tap0',
  ];
  // It ends when the other end of its last pipe closes: with us, however we end.
  const child = spawn(slirp, words, {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
  });
  const [, , , ready, exit] = child.stdio as unknown as Duplex[];
  for (const pipe of [ready, exit, child.stderr]) pipe?.on('error', () => undefined);
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => void (complaint = (complaint + chunk).slice(-2_000)));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error('slirp4netns takes too long')), patience);
  ready?.once('data', () => resolve());
  child.once('error', reject);
  child.once('exit', () => reject(new Error(`slirp4netns ended: ${complaint.trim()}`)));
  const stop = (): void => {
    child.kill('SIGKILL');
    for (const pipe of [ready, exit, child.stderr]) pipe?.destroy();
  };
  try {
    await promise;
    return { stop };
  } catch (error) {
    stop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
};
