/**
 * Tells systemd the state of the service (`Type=notify`): starting, ready, stopping, and a heartbeat for its watchdog. The
 * protocol is a datagram to a Unix socket, which Node cannot send, so the program `systemd-notify` sends it.
 */
import { spawn } from 'node:child_process';

type Environment = Readonly<Record<string, string | undefined>>;

export type SystemdNotifier = {
  /** Extends the time that the unit allows for the start, until it is ready: an upgrade of a large database takes long. */
  starting: () => void;
  /** Reports that requests are answered, and starts the heartbeat if the unit has a watchdog. */
  ready: () => void;
  stopping: () => void;
};

/** Reads the milliseconds between two heartbeats, half of what the unit allows; null if it has no watchdog. */
const readHeartbeat = ({ WATCHDOG_USEC: limit, WATCHDOG_PID: pid }: Environment): number | null => {
  const isOurs = pid === undefined || pid === String(process.pid);
  return isOurs && /^\d{4,15}$/.test(limit ?? '') ? Number(limit) / 2_000 : null;
};

/** Milliseconds between two extensions of the start. Most starts end before the first. */
const extensionPause = 60_000;
/** Microseconds by which each extends it: longer than a statement that blocks this process. */
const extension = 10 * 60 * 1_000_000;

/** Messages of child processes are taken for ours, so these do not learn the socket. */
const hideSocket = (): void => {
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete process.env[name];
};

/**
 * Makes the notifier. It does nothing if systemd did not ask for messages.
 * @param onFailure called with the reason if a message cannot be sent
 */
export const makeSystemdNotifier = (
  onFailure: (error: unknown) => void,
  pause = extensionPause,
): SystemdNotifier => {
  const environment = { ...process.env };
  const socket = environment['NOTIFY_SOCKET'];
  if (socket === undefined || socket === '')
    return { starting: () => undefined, ready: () => undefined, stopping: () => undefined };
  hideSocket();
  const notify = (...states: string[]): void => {
    const env = { PATH: environment['PATH'], NOTIFY_SOCKET: socket };
    spawn('systemd-notify', states, { env, stdio: 'ignore' }).on('error', onFailure).unref();
  };
  const heartbeat = readHeartbeat(environment);
  let extending: NodeJS.Timeout | undefined;
  const extend = (): void =>
    notify(
      `EXTEND_TIMEOUT_USEC=${extension}`,
      'STATUS=starting; an upgrade copies and migrates the database first',
    );
  return {
    starting: () => void (extending = setInterval(extend, pause).unref()),
    ready: () => {
      clearInterval(extending);
      notify('--ready', 'STATUS=');
      // The heartbeat continues during a stop, and ends with the event loop.
      if (heartbeat !== null) setInterval(() => notify('WATCHDOG=1'), heartbeat).unref();
    },
    stopping: () => notify('STOPPING=1'),
  };
};
