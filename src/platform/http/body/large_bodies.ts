/** Bounds the memory of large bodies. Each is kept whole, until the handler of its request has ended. */
import type { FastifyRequest } from 'fastify';
import { tooManyRequests, unavailable } from '../../errors.ts';
import { maxBodyBytes } from './parse_body.ts';
import { readBody } from './read_body.ts';

/** Maximum bytes of all large bodies at once, and of those of one user or address. */
const maxBytesOfAll = 256 * 2 ** 20;
const maxBytesOfOne = 64 * 2 ** 20;
/** Seconds after which a refused client may retry. */
const retryAfter = 5;

/** Release the bytes of requests in progress. */
const releases = new WeakMap<FastifyRequest, () => void>();
let bytesOfAll = 0;
const bytesByHolder = new Map<string, number>();

/** Counts bytes, and returns the function that releases them. @throws Failure 429, 503 */
const reserve = (holder: string, bytes: number): (() => void) => {
  const held = bytesByHolder.get(holder) ?? 0;
  if (held + bytes > maxBytesOfOne) throw tooManyRequests(retryAfter);
  if (bytesOfAll + bytes > maxBytesOfAll) throw unavailable();
  bytesByHolder.set(holder, held + bytes);
  bytesOfAll += bytes;
  return () => {
    bytesOfAll -= bytes;
    const remaining = (bytesByHolder.get(holder) ?? 0) - bytes;
    if (remaining === 0) bytesByHolder.delete(holder);
    else bytesByHolder.set(holder, remaining);
  };
};

/** Returns the size that the client announces; the maximum if it announces none. */
const getAnnounced = ({ headers }: FastifyRequest, maxBytes: number): number => {
  const length = Number(headers['content-length'] ?? NaN);
  return length <= maxBytes ? length : maxBytes;
};

/** Called when the handler of a request has ended, which may be after its client has left. */
export const releaseLargeBody = (request: FastifyRequest): void => {
  releases.get(request)?.();
  releases.delete(request);
};

/**
 * Reads the body of a request whose user is known. The handler must be mounted so that `releaseLargeBody` follows.
 * @throws Failure 413 past `maxBytes`, 429 if the user sends too much at once, 503 if all users do, 400 if the client
 *   disconnects
 */
export const readLargeBody = async (request: FastifyRequest, maxBytes: number): Promise<Buffer> => {
  const bytes = getAnnounced(request, maxBytes);
  if (bytes > maxBodyBytes) {
    const { userId, ip } = request;
    releases.set(request, reserve(userId === null ? ip : `user ${userId}`, bytes));
  }
  return await readBody(request.raw, maxBytes);
};
