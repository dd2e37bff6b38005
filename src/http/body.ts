import { Readable } from 'node:stream';
import qs from 'qs';
import { type Failure, badRequest } from '../errors.ts';
import { unsupportedType } from './failure.ts';
import { numberHashes } from './form_hashes.ts';
import type { RawParams } from './params.ts';

const mostKeys = 1000;
const deepest = 32;

export const largestBody = 2 * 1024 * 1024;
export const longestQuery = 8 * 1024;

/**
 * `a=1&b[]=2&c[d]=3`. A name given twice becomes an array, so that a scalar given twice is refused, not guessed.
 */
export const parseForm = (text: string): RawParams => {
  if (text === '') return {};
  return qs.parse(numberHashes(text), {
    plainObjects: true,
    duplicates: 'combine',
    depth: 5,
    parameterLimit: mostKeys,
    arrayLimit: mostKeys,
    charset: 'utf-8',
  });
};

const invalidJson = (): Failure => badRequest('invalid JSON body');

const isDeeperThan = (value: unknown, levels: number): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((part) => isDeeperThan(part, levels - 1));
};

const parseJson = (text: string): RawParams => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidJson();
  }
  // Clients that have nothing to say send `null`.
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw invalidJson();
  if (Object.keys(value).length > mostKeys || isDeeperThan(value, deepest)) throw invalidJson();
  return value as RawParams;
};

/** A form; or JSON that a client such as `curl --data '{...}'` sent under a form's content type. */
const parseFormOrJson = (text: string): RawParams => {
  if (text.trimStart().startsWith('{')) {
    try {
      return parseJson(text);
    } catch {
      return parseForm(text);
    }
  }
  return parseForm(text);
};

/** What breaks off within a file is told of the body as a whole; of an error that nobody hears the process dies. */
const ignored = (): void => undefined;

const piece = 16 * 1024;

/** As from a wire: the parser comes to a stop at a part that it skips, when that comes whole and is long. */
const piecesOf = (body: Buffer): Buffer[] =>
  Array.from({ length: Math.ceil(body.length / piece) }, (_one, at) =>
    body.subarray(at * piece, (at + 1) * piece),
  );

const parseMultipart = async (contentType: string, body: Buffer): Promise<RawParams> => {
  // CommonJS: the bundle gives it no names but this one.
  const { Busboy } = (await import('@fastify/busboy')).default;
  const pairs: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  try {
    const parser = Busboy({
      headers: { 'content-type': contentType },
      limits: { fields: mostKeys, parts: mostKeys, fieldSize: largestBody, files: 20 },
    });
    parser.on('field', (name, value) => {
      pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
    });
    // A file in place of a value: not a parameter of any endpoint that reads its body this way.
    parser.on('file', (_name, stream) => stream.on('error', ignored).resume());
    parser.on('finish', resolve);
    parser.on('error', reject);
    Readable.from(piecesOf(body)).pipe(parser);
    await promise;
  } catch {
    throw badRequest('invalid multipart body');
  }
  return parseForm(pairs.join('&').replaceAll('%5B', '[').replaceAll('%5D', ']'));
};

/**
 * The parameters of a request body.
 * @throws Failure 400 for a body that does not parse, 406 for a content type that is not known
 */
export const parseBody = async (
  method: string,
  contentType: string | undefined,
  body: Buffer | undefined,
): Promise<RawParams> => {
  if (body === undefined || body.length === 0) return {};
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  switch (type) {
    case 'application/json':
      return parseJson(body.toString('utf8'));
    case 'application/x-www-form-urlencoded':
      return parseFormOrJson(body.toString('utf8'));
    case 'multipart/form-data':
      return await parseMultipart(contentType ?? '', body);
    case 'text/plain':
      return {};
    case '':
      return method === 'POST' ? parseFormOrJson(body.toString('utf8')) : {};
    default:
      throw unsupportedType(type);
  }
};
