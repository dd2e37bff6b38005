/** Ends a transfer that makes no progress, or whose client is too slow. */
import { Transform } from 'node:stream';
import { GitError } from '../failure.ts';

type OnChunk = (chunk: Buffer) => void;

export type Watch = {
  /** Aborted with the caller's, and when the transfer stalls. */
  signal: AbortSignal;
  /** Notes progress. */
  touch: () => void;
  /** Passes on what the client sends, and counts the time in which it sends nothing. */
  fromClient: (onChunk?: OnChunk) => Transform;
  /** Passes on what is sent to the client, and counts the time in which it reads nothing. */
  toClient: (onChunk?: OnChunk) => Transform;
  /** The client has sent all that git needs: it is not waited for any more. */
  endInput: () => void;
  /** Aborts. */
  stop: (why: GitError) => void;
  end: () => void;
};

/**
 * `seconds` without a byte end a transfer; git itself sends something every five seconds while it works. They also end
 * one whose client moves fewer than `bytes` while git waits for it as long in all: a byte now and then keeps no place.
 */
export type Pace = { seconds: number; bytes: number };

const slowest: Pace = { seconds: 120, bytes: 256 * 1024 };
/** How often a transfer is looked at in that time. */
const looks = 24;

const sizes = { readableHighWaterMark: 256 * 1024, writableHighWaterMark: 256 * 1024 };

/** @param outer null: only `stop` and a stall end it */
export const watch = (outer: AbortSignal | null, { seconds, bytes }: Pace = slowest): Watch => {
  const control = new AbortController();
  const stop = (why: GitError): void => control.abort(why);
  let silent = 0;
  const touch = (): void => void (silent = 0);
  const onAbort = (): void => control.abort(outer?.reason);
  outer?.addEventListener('abort', onAbort, { once: true });
  if (outer?.aborted === true) onAbort();

  let isInputWanted = true;
  let moved = 0;
  let waited = 0;
  const isWaiting: (() => boolean)[] = [];
  const look = (): void => {
    silent += seconds / looks;
    if (isWaiting.some((ask) => ask())) waited += seconds / looks;
    if (silent >= seconds) stop(new GitError('limit', `nothing was transferred for ${seconds} s`));
    else if (moved >= bytes) [moved, waited] = [0, 0];
    else if (waited >= seconds) stop(new GitError('limit', 'the client is too slow'));
  };
  const looking = setInterval(look, (seconds * 1000) / looks);

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
          isInputWanted &&
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
    endInput: () => void (isInputWanted = false),
    stop,
    end: () => {
      clearInterval(looking);
      outer?.removeEventListener('abort', onAbort);
    },
  };
};
