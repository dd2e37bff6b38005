import { Readable } from 'node:stream';
import { badRequest } from '../errors.ts';
import { mostKeys, nestValues } from './form.ts';
import type { RawParams } from './params.ts';

/** What is read of the head of a part: its disposition, and a few lines beside. The rest is dropped. */
const partHead = { headerPairs: 16, headerSize: 1024 };

/** An error within a file is reported for the whole body; without a listener the process would die of it. */
const ignored = (): void => undefined;

const piece = 16 * 1024;

/** As from a wire: the parser stalls at a part that it skips, when that comes whole and is long. */
const piecesOf = (body: Buffer): Buffer[] =>
  Array.from({ length: Math.ceil(body.length / piece) }, (_one, at) =>
    body.subarray(at * piece, (at + 1) * piece),
  );

/**
 * The values of a form; files are skipped. Parsing ends at the first part past the limit, for the parser would read
 * all that follow: 300,000 empty ones take a second.
 * @param longest bytes of a value
 * @throws Failure 400
 */
export const parseMultipart = async (
  contentType: string,
  body: Buffer,
  longest: number,
): Promise<RawParams> => {
  // CommonJS: the bundle gives it no names but this one.
  const { Busboy } = (await import('@fastify/busboy')).default;
  const pairs: { name: string; value: string }[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const pieces = Readable.from(piecesOf(body));
  try {
    const parser = Busboy({
      headers: { 'content-type': contentType },
      limits: { ...partHead, parts: mostKeys, fieldSize: longest, files: 20 },
    });
    parser.on('field', (name, value) => pairs.push({ name, value }));
    // A file in place of a value: not a parameter of any endpoint that reads its body this way.
    parser.on('file', (_name, stream) => stream.on('error', ignored).resume());
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
  return nestValues(pairs);
};
