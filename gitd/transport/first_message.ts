/** Reads a client's first message before git is started, so that a silent client costs no process. */
import { type Readable, Transform } from 'node:stream';
import { GitError } from '../git_error.ts';
import { zeroOid } from '../protocol_records.ts';
import { makeByteBuffer } from './byte_buffer.ts';
import { toLine, readPacketAt } from './packet_lines.ts';
import type { Watchdog } from '../exec/transfer_watchdog.ts';

/** Bytes that show that a client sends something. */
const enough = 16 * 1024;

/** `nothing`: the client wants nothing (a flush packet, or the end of its input). */
export type Opening = 'incomplete' | 'nothing' | 'begun';

const isDeletion = (line: string): boolean => line.slice(41, 81) === zeroOid;

/** Classifies the packets so far. @throws GitError `invalid` for a malformed packet */
type OpeningParser = (bytes: Buffer) => Opening;

/**
 * Makes a parser of the first packets of a client. It is called with all bytes so far each time, and reads each packet
 * once: a client may send them byte by byte.
 * @param isPush objects follow the commands, unless these only delete
 */
export const makeOpeningParser = (isPush: boolean): OpeningParser => {
  let at = 0;
  let needsMore = false;
  return (bytes) => {
    for (;;) {
      if (at > 0 && bytes.length >= enough) return 'begun';
      const item = readPacketAt(bytes, at);
      if (item === null) return 'incomplete';
      const { packet, next } = item;
      if (packet.kind !== 'data') {
        if (at === 0) return 'nothing';
        return needsMore && bytes.length === next ? 'incomplete' : 'begun';
      }
      const line = toLine(packet.data);
      needsMore ||= isPush && !line.startsWith('shallow ') && !isDeletion(line);
      at = next;
    }
  };
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
 * Waits for the client's first packets; returns whether it wants anything. The bytes stay readable.
 * @throws GitError `invalid` for a malformed packet
 */
export const awaitOpening = async (
  input: Readable,
  watching: Pick<Watchdog, 'signal' | 'touch'>,
  isPush: boolean,
): Promise<boolean> => {
  const received = makeByteBuffer();
  const parse = makeOpeningParser(isPush);
  for (;;) {
    const chunk = await nextChunk(input, watching.signal);
    if (chunk === null && input.readableEnded) {
      if (received.bytes().length === 0) return false;
      throw new GitError('invalid', 'a request is cut off');
    }
    if (chunk === null) continue;
    watching.touch();
    received.add(chunk);
    const opening = parse(received.bytes());
    if (opening === 'nothing') return false;
    if (opening === 'incomplete') continue;
    input.unshift(received.bytes());
    return true;
  }
};

/** Drops git's first packets up to a flush packet: the client has them already. */
export const skipAdvertisement = (): Transform => {
  let rest: Buffer | null = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (rest === null) return done(null, chunk);
      rest = Buffer.concat([rest, chunk]);
      let at = 0;
      for (let packet = readPacketAt(rest, at); packet !== null; packet = readPacketAt(rest, at)) {
        at = packet.next;
        if (packet.packet.kind !== 'flush') continue;
        this.push(rest.subarray(at));
        rest = null;
        return done();
      }
      rest = rest.subarray(at);
      done();
    },
  });
};
