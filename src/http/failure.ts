import { Failure } from '../errors.ts';

export const unsupportedType = (type: string): Failure =>
  new Failure('not_acceptable', { error: `The requested content-type '${type}' is not supported.` });

/** What Fastify and Node throw before an endpoint is reached, by code. */
const known: Record<string, (contentType: string) => Failure> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: unsupportedType,
  FST_ERR_CTP_BODY_TOO_LARGE: () => tooLarge(),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => new Failure('bad_request', { message: '400 Bad request' }),
  FST_ERR_BAD_URL: () => new Failure('bad_request', { message: '400 Bad request' }),
  FST_ERR_MAX_PARAM_LENGTH: () => tooLong(),
};

export const tooLong = (): Failure => new Failure('uri_too_long', { message: '414 Request-URI Too Long' });

export const tooLarge = (): Failure => new Failure('too_large', { message: '413 Request Entity Too Large' });

/**
 * The failure that an error stands for; null for one that nobody foresaw (a 500).
 * @param contentType of the request
 */
export const asFailure = (error: unknown, contentType = ''): Failure | null => {
  if (error instanceof Failure) return error;
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? (known[code]?.(contentType) ?? null) : null;
};

export const unknownRoute = (): Failure => new Failure('not_found', { error: '404 Not Found' });

export const methodNotAllowed = (allow: string): Failure =>
  new Failure('method_not_allowed', { message: '405 Method Not Allowed' }, { allow });
