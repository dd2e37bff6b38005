import { Readable } from 'node:stream';
import { Failure, badRequest } from '../../errors.ts';
import { type FilePart, withFileParts } from './file_parts.ts';
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
 * Reads the boundary from a content type. It is passed to the parser, so that both search for the same text: the parser
 * has different rules for repeated and encoded parameters, and for bytes beyond ASCII.
 * @returns null if there is no boundary, or more than one
 */
const readBoundary = (contentType: string): string | null => {
  const boundaries = [...contentType.matchAll(/;\s*boundary=([^;]*)/gi)];
  const [, quoted, plain] =
    /^(?:"([ -!#-[\]-~]+)"|([!#-[\]-~]+))$/.exec(boundaries[0]?.[1]?.trim() ?? '') ?? [];
  return boundaries.length === 1 ? (quoted ?? plain ?? null) : null;
};

/**
 * Limit of a body with a shorter boundary than `minBoundary`. Searching two MiB for so few bytes can take 12 ms,
 * because only longer texts are searched in larger steps. The boundaries of all clients are longer.
 */
const maxShortBoundaryBytes = 256 * 1024;
const minBoundary = 5;

const isSlow = (boundary: string, body: Buffer): boolean =>
  boundary.length < minBoundary && body.length > maxShortBoundaryBytes;

/**
 * Returns whether a body has more parts than are taken. The parser counts only parts with a head, and would read
 * 400,000 boundaries without one.
 */
const hasTooManyParts = (boundary: string, body: Buffer): boolean => {
  const delimiter = `\n--${boundary}`;
  let count = 0;
  let at = body.indexOf(delimiter);
  while (at !== -1 && count <= maxKeys) {
    count += 1;
    at = body.indexOf(delimiter, at + delimiter.length);
  }
  return count > maxKeys;
};

/** Files of one form, which pages may limit further. */
const maxFiles = 100;

type MultipartOptions = {
  contentType: string;
  body: Buffer;
  maxValueBytes: number;
  /** Keeps the content of files, which is otherwise skipped. */
  keepsFiles?: boolean;
};

/**
 * Parses a form: its values, and its files for `getFileParts`. Stops at the first part past the limit, because the
 * parser would read all others: 300,000 empty parts take a second.
 * @throws Failure 400
 */
export const parseMultipart = async ({
  contentType,
  body,
  maxValueBytes,
  keepsFiles = false,
}: MultipartOptions): Promise<RawParams> => {
  const boundary = readBoundary(contentType);
  if (boundary === null || isSlow(boundary, body) || hasTooManyParts(boundary, body))
    throw badRequest('invalid multipart body');
  // A CommonJS package: in the bundle, its names are on `default` only.
  const { Busboy } = (await import('@fastify/busboy')).default;
  const pairs: { name: string; value: string }[] = [];
  const files: FilePart[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const pieces = Readable.from(splitIntoPieces(body));
  try {
    const parser = Busboy({
      headers: { 'content-type': `multipart/form-data; boundary="${boundary}"` },
      limits: { ...partHead, parts: maxKeys, fieldSize: maxValueBytes, files: maxFiles },
    });
    parser.on('field', (name, value) => pairs.push({ name, value }));
    parser.on('file', (field, stream, name) => {
      const file: FilePart = { field, name, content: null };
      files.push(file);
      const chunks: Buffer[] = [];
      stream.on('error', ignored).on('data', (chunk: Buffer) => keepsFiles && chunks.push(chunk));
      stream.on('end', () => {
        if (keepsFiles) file.content = Buffer.concat(chunks);
      });
    });
    const refuse = (text: string) => (): void => {
      pieces.unpipe(parser);
      reject(badRequest(text));
    };
    parser.on('partsLimit', refuse('invalid multipart body'));
    // The parser would skip the files after the last one it takes.
    parser.on('filesLimit', refuse(`more than ${maxFiles} files`));
    parser.on('finish', resolve);
    parser.on('error', reject);
    pieces.pipe(parser);
    await promise;
  } catch (error) {
    throw error instanceof Failure ? error : badRequest('invalid multipart body');
  }
  return withFileParts(nestValues(pairs), files);
};
