/**
 * Frames messages on a socket: u32 length of the header, u32 length of the body (big-endian), the header as JSON, the
 * body as raw bytes. A frame without a header carries stream data, passed on in pieces as it arrives.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';

export type Frame = { header: Record<string, unknown>; body: Buffer };

export type FrameLimits = { header: number; body: number };

/** Limits before the peer has proved that it knows the secret. */
export const limitsOfStrangers: FrameLimits = { header: 1024, body: 0 };
/** Limits between peers: enough for a commit of many files or a diff without limits. */
export const limitsOfPeers: FrameLimits = { header: 128 * 2 ** 20, body: 512 * 2 ** 20 };

const headLength = 8;
const empty = Buffer.alloc(0);

/** The peer broke the protocol: the connection must be closed. */
export class FrameError extends Error {}

const buildHead = (header: number, body: number): Buffer => {
  const head = Buffer.allocUnsafe(headLength);
  head.writeUInt32BE(header, 0);
  head.writeUInt32BE(body, 4);
  return head;
};

/** Writes a frame. Returns false when the sender should wait for `drain`. */
export const writeFrame = (socket: Socket, header: object, body: Uint8Array = empty): boolean => {
  const text = Buffer.from(JSON.stringify(header));
  const head = Buffer.concat([buildHead(text.length, body.length), text]);
  if (body.length === 0) return socket.write(head);
  socket.cork();
  socket.write(head);
  const goesOn = socket.write(body);
  socket.uncork();
  return goesOn;
};

/** Writes a piece of stream data. */
export const writeData = (socket: Socket, data: Uint8Array): boolean => {
  if (data.length === 0) return true;
  socket.cork();
  socket.write(buildHead(0, data.length));
  const goesOn = socket.write(data);
  socket.uncork();
  return goesOn;
};

export type FrameReader = {
  /** @throws FrameError */
  push: (chunk: Buffer) => void;
  allow: (limits: FrameLimits) => void;
};

type Open = { header: number; body: number };

/** Buffers bytes that are not parsed yet. */
const makeInbox = () => {
  const chunks: Buffer[] = [];
  let length = 0;
  const take = (byteCount: number): Buffer => {
    const parts: Buffer[] = [];
    let missing = byteCount;
    while (missing > 0) {
      const first = chunks[0] ?? empty;
      const part = first.length > missing ? first.subarray(0, missing) : first;
      if (part.length === first.length) chunks.shift();
      else chunks[0] = first.subarray(part.length);
      parts.push(part);
      missing -= part.length;
    }
    length -= byteCount;
    return parts.length === 1 ? (parts[0] ?? empty) : Buffer.concat(parts, byteCount);
  };
  return {
    add: (chunk: Buffer): void => {
      chunks.push(chunk);
      length += chunk.length;
    },
    size: (): number => length,
    /** The caller has checked that there are enough bytes. */
    take,
    /** Takes the first bytes, at most `maxBytes`. */
    some: (maxBytes: number): Buffer => take(Math.min(maxBytes, chunks[0]?.length ?? 0)),
  };
};

const parseHeader = (text: Buffer): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text.toString());
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // told below
  }
  throw new FrameError('a header is not a JSON object');
};

/**
 * Splits incoming bytes into frames.
 * @param onData receives pieces of data frames; if absent, data frames are an error
 */
export const makeFrameReader = (
  limits: FrameLimits,
  onFrame: (frame: Frame) => void,
  onData?: (data: Buffer) => void,
): FrameReader => {
  const inbox = makeInbox();
  let allowed = limits;
  let open: Open | null = null;

  const readHead = (): boolean => {
    if (inbox.size() < headLength) return false;
    const head = inbox.take(headLength);
    open = { header: head.readUInt32BE(0), body: head.readUInt32BE(4) };
    if (open.header > allowed.header || open.body > allowed.body)
      throw new FrameError(`a frame of ${open.header} + ${open.body} bytes is too large`);
    if (open.header === 0 && onData === undefined) throw new FrameError('data outside of a stream');
    return true;
  };

  const readRest = (frame: Open): boolean => {
    if (frame.header === 0) {
      const data = inbox.some(frame.body);
      frame.body -= data.length;
      if (data.length > 0) onData?.(data);
      if (frame.body === 0) open = null;
      return frame.body === 0 || inbox.size() > 0;
    }
    if (inbox.size() < frame.header + frame.body) return false;
    const header = parseHeader(inbox.take(frame.header));
    const body = inbox.take(frame.body);
    open = null;
    onFrame({ header, body });
    return true;
  };

  return {
    push: (chunk) => {
      inbox.add(chunk);
      while (open === null ? readHead() : readRest(open));
    },
    allow: (limits) => void (allowed = limits),
  };
};

/**
 * Computes the proof that a side knows the secret, over the random numbers of both sides, so that it cannot be
 * replayed.
 */
export const computeProof = (side: 'client' | 'server', secret: string, nonces: [string, string]): string =>
  createHmac('sha256', secret)
    .update(`gantry ${side} ${nonces.join(' ')}`)
    .digest('hex');

export const isProof = (proof: unknown, expected: string): boolean =>
  typeof proof === 'string' &&
  proof.length === expected.length &&
  timingSafeEqual(Buffer.from(proof), Buffer.from(expected));
