/** Keeps one connection ready. Each stream uses a separate connection, and would otherwise wait for the handshake. */
import { type Line, type GitdAddress, dial } from './dial.ts';

export type SpareConnection = {
  /** @throws GitFailure `unavailable` */
  take: () => Promise<Line>;
  /** Closes the connection that is ready, and one that is being opened: the storage stops. */
  drop: () => void;
  close: () => void;
};

/** Milliseconds after which an unused connection is closed. */
const maxIdleMilliseconds = 10_000;

/** Lets a connection keep the process running again; null if it has broken meanwhile. */
const referIfOpen = (line: Line): Line | null => {
  const { socket } = line;
  if (socket.destroyed || !socket.writable) return null;
  socket.ref();
  return line;
};

export const keepSpareConnection = (getAddress: () => Promise<GitdAddress>): SpareConnection => {
  let spare: Line | null = null;
  let isDialing = false;
  let isClosed = false;
  /** Number of drops: a connection that was dialed before one is not kept. */
  let drops = 0;
  let timer: NodeJS.Timeout | undefined;

  const drop = (): void => {
    drops += 1;
    clearTimeout(timer);
    spare?.socket.destroy();
    spare = null;
  };

  const keep = (line: Line, dropsBefore: number): void => {
    const { socket } = line;
    if (isClosed || spare !== null || drops > dropsBefore) return void socket.destroy();
    socket.unref();
    spare = line;
    socket.once('close', () => {
      if (spare === line) spare = null;
    });
    timer = setTimeout(drop, maxIdleMilliseconds).unref();
  };

  /** Dials the next connection ahead. If that fails, the next stream dials itself and reports the error. */
  const dialNext = async (): Promise<void> => {
    if (isDialing || spare !== null || isClosed) return;
    isDialing = true;
    const dropsBefore = drops;
    try {
      keep(await dial(await getAddress()), dropsBefore);
    } catch {
      // An error, as above.
    } finally {
      isDialing = false;
    }
  };

  const takeSpare = (): Line | null => {
    clearTimeout(timer);
    const line = spare;
    spare = null;
    return line === null ? null : referIfOpen(line);
  };

  return {
    take: async () => {
      const line = takeSpare() ?? (await dial(await getAddress()));
      void dialNext();
      return line;
    },
    drop,
    close: () => {
      isClosed = true;
      drop();
    },
  };
};
