/** What a client says first. No git process is started for it before: a silent client costs none. */
import { type Readable, Transform } from 'node:stream';
import { GitError } from '../failure.ts';
import { zeroOid } from '../protocol.ts';
import { lineOf, packetAt } from './pktline.ts';
import type { Watch } from './watch.ts';

/** Bytes that are enough to see that a client sends something. */
const enough = 16 * 1024;

/** `nothing`: the client says that it wants nothing (a flush packet, or the end of its input). */
export type Opening = 'incomplete' | 'nothing' | 'begun';

const isDeletion = (line: string): boolean => line.slice(41, 81) === zeroOid;

/**
 * Where the first packets of a client stand.
 * @param isPush objects follow the commands, unless these only delete
 * @throws GitError `invalid` for what is no packet
 */
export const openingOf = (bytes: Buffer, isPush: boolean): Opening => {
  let needsMore = false;
  for (let at = 0; ;) {
    if (at > 0 && bytes.length >= enough) return 'begun';
    const found = packetAt(bytes, at);
    if (found === null) return 'incomplete';
    const { packet, next } = found;
    if (packet.kind !== 'data') {
      if (at === 0) return 'nothing';
      return needsMore && bytes.length === next ? 'incomplete' : 'begun';
    }
    const line = lineOf(packet.data);
    needsMore ||= isPush && !line.startsWith('shallow ') && !isDeletion(line);
    at = next;
  }
};

const nextChunk = async (input: Readable, signal: AbortSignal): Promise<Buffer | null> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  input.once('readable', resolve).once('end', resolve).once('error', reject);
  try {
    if (signal.aborted) onAbort();
    const chunk = input.read() as Buffer | null;
    if (chunk !== null || input.readableEnded) return chunk;
    await promise;
    return input.read() as Buffer | null;
  } finally {
    promise.catch(() => undefined);
    signal.removeEventListener('abort', onAbort);
    input.off('readable', resolve).off('end', resolve).off('error', reject);
  }
};

/**
 * Waits until a client has begun to say what it wants; whether it wants anything. All that it said stays to be read.
 * @throws GitError `invalid` for what is no packet
 */
export const awaitOpening = async (
  input: Readable,
  watching: Pick<Watch, 'signal' | 'touch'>,
  isPush: boolean,
): Promise<boolean> => {
  let bytes: Buffer = Buffer.alloc(0);
  for (;;) {
    const chunk = await nextChunk(input, watching.signal); // oxlint-disable-line no-await-in-loop -- one after another
    if (chunk === null && input.readableEnded) {
      if (bytes.length === 0) return false;
      throw new GitError('invalid', 'a request is cut off');
    }
    if (chunk === null) continue;
    watching.touch();
    bytes = Buffer.concat([bytes, chunk]);
    const opening = openingOf(bytes, isPush);
    if (opening === 'nothing') return false;
    if (opening === 'incomplete') continue;
    input.unshift(bytes);
    return true;
  }
};

/** Drops the first packets of git's output, up to a flush packet: the client has them already. */
export const skipAdvertisement = (): Transform => {
  let rest: Buffer | null = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (rest === null) return done(null, chunk);
      rest = Buffer.concat([rest, chunk]);
      let at = 0;
      for (let found = packetAt(rest, at); found !== null; found = packetAt(rest, at)) {
        at = found.next;
        if (found.packet.kind !== 'flush') continue;
        this.push(rest.subarray(at));
        rest = null;
        return done();
      }
      rest = rest.subarray(at);
      done();
    },
  });
};
