/** A connection that stands before it is needed: each stream has one of its own, and would wait for the greetings. */
import { type Line, type Place, dial } from './dial.ts';

export type SpareLine = {
  /** @throws GitFailure `unavailable` */
  take: () => Promise<Line>;
  close: () => void;
};

/** Milliseconds that one is kept where no stream comes. */
const longestIdle = 10_000;

export const keepSpareLine = (place: () => Promise<Place>): SpareLine => {
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
    timer = setTimeout(drop, longestIdle).unref();
  };

  /** Where that fails, the next stream dials itself, and hears why. */
  const dialNext = async (): Promise<void> => {
    if (isDialing || spare !== null || isClosed) return;
    isDialing = true;
    try {
      keep(await dial(await place()));
    } catch {
      // As above.
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
      const line = taken() ?? (await dial(await place()));
      void dialNext();
      return line;
    },
    close: () => {
      isClosed = true;
      drop();
    },
  };
};
