/** Keeps one connection ready. Each stream uses a separate connection, and would otherwise wait for the handshake. */
import { type Line, type GitdAddress, dial } from './dial.ts';

export type SpareConnection = {
  /** @throws GitFailure `unavailable` */
  take: () => Promise<Line>;
  close: () => void;
};

/** Milliseconds after which an unused connection is closed. */
const maxIdleMilliseconds = 10_000;

export const keepSpareConnection = (getAddress: () => Promise<GitdAddress>): SpareConnection => {
  let spare: Line | null = null;
  let isDialing = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  const drop = (): void => {
    clearTimeout(timer);
    spare?.socket.destroy();
    spare = null;
  };

  const keep = (line: Line): void => {
    const { socket } = line;
    if (isClosed || spare !== null) return void socket.destroy();
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
    try {
      keep(await dial(await getAddress()));
    } catch {
      // An error, as above.
    } finally {
      isDialing = false;
    }
  };

  const taken = (): Line | null => {
    clearTimeout(timer);
    const line = spare;
    spare = null;
    if (line === null || line.socket.destroyed || !line.socket.writable) return null;
    line.socket.ref();
    return line;
  };

  return {
    take: async () => {
      const line = taken() ?? (await dial(await getAddress()));
      void dialNext();
      return line;
    },
    close: () => {
      isClosed = true;
      drop();
    },
  };
};
