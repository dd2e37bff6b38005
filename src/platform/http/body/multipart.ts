import { Readable } from 'node:stream';
import { badRequest } from '../../errors.ts';
import { withFileParts } from './file_parts.ts';
import { maxKeys, nestValues } from './form.ts';
import type { RawParams } from '../params.ts';

/** Limits of a part's head: its disposition and a few further lines. The rest is dropped. */
const partHead = { headerPairs: 16, headerSize: 1024 };

/** Ignores an error within a file, which is reported for the whole body. Without a listener, the process would end. */
const ignored = (): void => undefined;

const piece = 16 * 1024;

/** Splits the body into pieces: the parser stalls at a long skipped part that arrives in one piece. */
const splitIntoPieces = (body: Buffer): Buffer[] =>
  Array.from({ length: Math.ceil(body.length / piece) }, (_one, at) =>
    body.subarray(at * piece, (at + 1) * piece),
  );

/**
 * Parses the values of a form. Skips files and keeps their names (`getFileParts`). Stops at the first part past the
 * limit, because the parser would read all others: 300,000 empty ones take a second.
 * @param maxValueBytes maximum bytes of a value
 * @throws Failure 400
 */
export const parseMultipart = async (
  contentType: string,
  body: Buffer,
  maxValueBytes: number,
): Promise<RawParams> => {
  // A CommonJS package: in the bundle, its names are on `default` only.
  const { Busboy } = (await import('@fastify/busboy')).default;
  const pairs: { name: string; value: string }[] = [];
  const files: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const pieces = Readable.from(splitIntoPieces(body));
  try {
    const parser = Busboy({
      headers: { 'content-type': contentType },
      limits: { ...partHead, parts: maxKeys, fieldSize: maxValueBytes, files: 20 },
    });
    parser.on('field', (name, value) => pairs.push({ name, value }));
    // Skip a file: endpoints that parse their body this way have no file parameters.
    parser.on('file', (name, stream) => {
      files.push(name);
      stream.on('error', ignored).resume();
    });
    parser.on('partsLimit', () => {
      pieces.unpipe(parser);
      reject(new Error('too many parts'));
    });
    parser.on('finish', resolve);
    parser.on('error', reject);
    pieces.pipe(parser);
    await promise;
  } catch {
    throw badRequest('invalid multipart body');
  }
  return withFileParts(nestValues(pairs), files);
};
