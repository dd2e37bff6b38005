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
  end: () => void;
};

/**
 * Limits of a transfer. It ends after `seconds` without a byte (git sends keep-alives every five seconds). It also
 * ends when gitd waited `seconds` for the client and fewer than `bytes` were transferred, so that a slow client cannot
 * hold a slot.
 */
export type Limits = { seconds: number; bytes: number };

const defaults: Limits = { seconds: 120, bytes: 256 * 1024 };
/** Number of checks during `seconds`. */
const checksPerPeriod = 24;

const sizes = { readableHighWaterMark: 256 * 1024, writableHighWaterMark: 256 * 1024 };

/**
 * Starts to watch a transfer.
 * @param outer null: only `stop` and a stall end it
 */
export const startWatchdog = (outer: AbortSignal | null, { seconds, bytes }: Limits = defaults): Watchdog => {
  const control = new AbortController();
  const stop = (why: GitError): void => control.abort(why);
  let silent = 0;
  const touch = (): void => void (silent = 0);
  const onAbort = (): void => control.abort(outer?.reason);
  outer?.addEventListener('abort', onAbort, { once: true });
  if (outer?.aborted === true) onAbort();

  let isInputExpected = true;
  let moved = 0;
  let waited = 0;
  const isWaiting: (() => boolean)[] = [];
  const check = (): void => {
    silent += seconds / checksPerPeriod;
    if (isWaiting.some((ask) => ask())) waited += seconds / checksPerPeriod;
    if (silent >= seconds) stop(new GitError('limit', `nothing was transferred for ${seconds} s`));
    else if (moved >= bytes) [moved, waited] = [0, 0];
    else if (waited >= seconds) stop(new GitError('limit', 'the client is too slow'));
  };
  const checkTimer = setInterval(check, (seconds * 1000) / checksPerPeriod);

  const meter = (onChunk?: OnChunk): Transform =>
    new Transform({
      ...sizes,
      transform: (chunk: Buffer, _encoding, done) => {
        touch();
        moved += chunk.length;
        onChunk?.(chunk);
        done(null, chunk);
      },
    });
  return {
    signal: control.signal,
    touch,
    fromClient: (onChunk) => {
      const stream = meter(onChunk);
      isWaiting.push(
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
      isWaiting.push(() => !stream.destroyed && stream.readableLength > 0);
      return stream;
    },
    endInput: () => void (isInputExpected = false),
    stop,
    end: () => {
      clearInterval(checkTimer);
      outer?.removeEventListener('abort', onAbort);
    },
  };
};
