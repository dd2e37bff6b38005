/** Receives the file of a multipart request as a stream, without buffering it. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { type Failure, badRequest, missingAttribute } from '../../errors.ts';

export type Upload<T> = {
  /** Name of the form field with the file. */
  field: string;
  /** Maximum bytes. */
  limit: number;
  tooLarge: () => Failure;
  /** Consumes the file to its end. */
  take: (file: { name: string; content: Readable }) => Promise<T>;
};

const maxParts = 20;
/** Limits of a part's head, including the file name; the rest is dropped. */
const partHead = { headerPairs: 16, headerSize: 8 * 1024 };
const maxFieldBytes = 64 * 1024;
/** Bytes that a request may have in addition to its file: the headers of its parts. */
const wrapping = 1024 * 1024;

const unreadable = (): Failure => badRequest('invalid multipart body');

const makeParser = async (incoming: IncomingMessage, limit: number) => {
  // A CommonJS package: in the bundle, its names are on `default` only.
  const { Busboy } = (await import('@fastify/busboy')).default;
  const type = incoming.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\b/i.test(type)) throw unreadable();
  try {
    return Busboy({
      headers: { 'content-type': type },
      limits: { ...partHead, parts: maxParts, fieldSize: maxFieldBytes, fileSize: limit },
    });
  } catch {
    throw unreadable();
  }
};

/**
 * Passes the file of a request to `take` while it arrives.
 * @throws Failure 400 for an invalid form or a missing file, `tooLarge`
 */
export const receiveFile = async <T>(
  incoming: IncomingMessage,
  { field, limit, tooLarge, take }: Upload<T>,
): Promise<T> => {
  if (Number(incoming.headers['content-length'] ?? 0) > limit + wrapping) throw tooLarge();
  const parser = await makeParser(incoming, limit);
  // A destroyed request emits no further events, not even an end.
  if (incoming.destroyed) throw unreadable();
  let content: Readable | undefined;
  let taken: Promise<T> | undefined;
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<void>();
  const breakOff = (error: Error): void => {
    content?.destroy(error);
    fail(error);
  };
  parser.on('file', (name, stream, fileName) => {
    // `breakOff` reports it; an unhandled error event would end the process.
    stream.on('error', () => undefined);
    // A part without a file name is a value, whatever its content type.
    if (name !== field || taken !== undefined || (fileName as string | undefined) === undefined) {
      stream.resume();
      return;
    }
    content = stream;
    stream.on('limit', () => breakOff(tooLarge()));
    taken = take({ name: fileName, content: stream });
    // Stop receiving, for example on a full disk.
    taken.catch(breakOff);
  });
  parser.on('finish', end);
  // The parser would read all following parts: the length of a file can hold millions of empty parts.
  for (const event of ['error', 'partsLimit'] as const) parser.on(event, () => breakOff(unreadable()));
  incoming.on('close', () => {
    if (!incoming.readableEnded) breakOff(unreadable());
  });
  let seen = 0;
  incoming.on('data', (chunk: Buffer) => {
    seen += chunk.length;
    if (seen > limit + wrapping) breakOff(tooLarge());
  });
  incoming.pipe(parser);
  try {
    await ended;
  } catch (error) {
    incoming.unpipe(parser);
    // Let it clean up first.
    await taken?.catch(() => undefined);
    throw error;
  }
  if (taken === undefined) throw missingAttribute(field);
  return await taken;
};
