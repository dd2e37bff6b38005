/** The file of a multipart request, read as it comes in: nothing of it is kept in memory. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { type Failure, badRequest, notGiven } from '../errors.ts';

export type Upload<T> = {
  /** Name of the part that is the file. */
  field: string;
  /** Bytes at most. */
  limit: number;
  tooLarge: () => Failure;
  /** Takes the file, to its end. */
  take: (file: { name: string; content: Readable }) => Promise<T>;
};

const mostParts = 20;
/** What is read of the head of a part, the file's name with it; the rest is dropped. */
const partHead = { headerPairs: 16, headerSize: 8 * 1024 };
const longestField = 64 * 1024;
/** What a request may be longer than its file: the heads of its parts. */
const wrapping = 1024 * 1024;

const unreadable = (): Failure => badRequest('invalid multipart body');

const makeParser = async (incoming: IncomingMessage, limit: number) => {
  // CommonJS: the bundle gives it no names but this one.
  const { Busboy } = (await import('@fastify/busboy')).default;
  const type = incoming.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\b/i.test(type)) throw unreadable();
  try {
    return Busboy({
      headers: { 'content-type': type },
      limits: { ...partHead, parts: mostParts, fieldSize: longestField, fileSize: limit },
    });
  } catch {
    throw unreadable();
  }
};

/**
 * Hands the file of a request to `take` while it arrives.
 * @throws Failure 400 for a body that is no such form or has no such file, `tooLarge`
 */
export const receiveFile = async <T>(
  incoming: IncomingMessage,
  { field, limit, tooLarge, take }: Upload<T>,
): Promise<T> => {
  if (Number(incoming.headers['content-length'] ?? 0) > limit + wrapping) throw tooLarge();
  const parser = await makeParser(incoming, limit);
  // Who is gone sends nothing more, not even an end.
  if (incoming.destroyed) throw unreadable();
  let content: Readable | undefined;
  let taken: Promise<T> | undefined;
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<void>();
  const breakOff = (error: Error): void => {
    content?.destroy(error);
    fail(error);
  };
  parser.on('file', (name, stream, fileName) => {
    // Told by `breakOff`; of an error that nobody hears the process dies.
    stream.on('error', () => undefined);
    // Without a name of its own it is a value, whatever type it says it is.
    if (name !== field || taken !== undefined || (fileName as string | undefined) === undefined) {
      stream.resume();
      return;
    }
    content = stream;
    stream.on('limit', () => breakOff(tooLarge()));
    taken = take({ name: fileName, content: stream });
    // Such as a full disk: the rest need not come.
    taken.catch(breakOff);
  });
  parser.on('finish', end);
  // The parser would read all parts that follow: millions of empty ones fit into a file's length.
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
    // It cleans up after itself first.
    await taken?.catch(() => undefined);
    throw error;
  }
  if (taken === undefined) throw notGiven(field);
  return await taken;
};
