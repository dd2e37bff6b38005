/** Ends a transfer that makes no progress, or whose client is too slow. */
import { Transform } from 'node:stream';
import { GitError } from '../git_error.ts';

type OnChunk = (chunk: Buffer) => void;

export type Watchdog = {
  /** Aborted when the caller aborts or the transfer stalls. */
  signal: AbortSignal;
  /** Restarts the stall timer. Call it when git makes progress without output. */
  touch: () => void;
  /** A pass-through for bytes from the client; measures how long it sends nothing. */
  fromClient: (onChunk?: OnChunk) => Transform;
  /** A pass-through for bytes to the client; measures how long it reads nothing. */
  toClient: (onChunk?: OnChunk) => Transform;
  /** The client has sent all that git needs: stop waiting for it. */
  endInput: () => void;
  /** Aborts the transfer with this error. */
  stop: (why: GitError) => void;
  /** Stops watching. It does not end the transfer. */
  dispose: () => void;
};

/**
 * Limits of a transfer. It ends after `seconds` without a byte (git sends keep-alives every five seconds). It also
 * ends once gitd has waited `seconds` in total for the client while fewer than `bytes` were transferred, so that a slow
 * client cannot hold a slot.
 */
export type Limits = { seconds: number; bytes: number };

const defaults: Limits = { seconds: 120, bytes: 256 * 1024 };
/** Number of checks during `seconds`. */
const checksPerPeriod = 24;

const highWaterMarks = { readableHighWaterMark: 256 * 1024, writableHighWaterMark: 256 * 1024 };

/**
 * Starts to watch a transfer.
 * @param outer the caller's signal; null: only `stop`, a stall or a slow client ends the transfer
 */
export const startWatchdog = (outer: AbortSignal | null, { seconds, bytes }: Limits = defaults): Watchdog => {
  const control = new AbortController();
  const stop = (why: GitError): void => control.abort(why);
  let silentSeconds = 0;
  const touch = (): void => void (silentSeconds = 0);
  const onAbort = (): void => control.abort(outer?.reason);
  outer?.addEventListener('abort', onAbort, { once: true });
  if (outer?.aborted === true) onAbort();

  let isInputExpected = true;
  let movedBytes = 0;
  let waitedSeconds = 0;
  const clientWaits: (() => boolean)[] = [];
  const check = (): void => {
    silentSeconds += seconds / checksPerPeriod;
    if (clientWaits.some((ask) => ask())) waitedSeconds += seconds / checksPerPeriod;
    if (silentSeconds >= seconds) stop(new GitError('limit', `nothing was transferred for ${seconds} s`));
    else if (movedBytes >= bytes) [movedBytes, waitedSeconds] = [0, 0];
    else if (waitedSeconds >= seconds) stop(new GitError('limit', 'the client is too slow'));
  };
  const checkTimer = setInterval(check, (seconds * 1000) / checksPerPeriod);

  const meter = (onChunk?: OnChunk): Transform =>
    new Transform({
      ...highWaterMarks,
      transform: (chunk: Buffer, _encoding, done) => {
        touch();
        movedBytes += chunk.length;
        onChunk?.(chunk);
        done(null, chunk);
      },
    });
  return {
    signal: control.signal,
    touch,
    fromClient: (onChunk) => {
      const stream = meter(onChunk);
      clientWaits.push(
        () =>
          isInputExpected &&
          !stream.writableEnded &&
          !stream.destroyed &&
          stream.writableLength === 0 &&
          stream.readableLength === 0,
      );
      return stream;
    },
    toClient: (onChunk) => {
      const stream = meter(onChunk);
      clientWaits.push(() => !stream.destroyed && stream.readableLength > 0);
      return stream;
    },
    endInput: () => void (isInputExpected = false),
    stop,
    dispose: () => {
      clearInterval(checkTimer);
      outer?.removeEventListener('abort', onAbort);
    },
  };
};
