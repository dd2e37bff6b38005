import { Failure, refused } from '../errors.ts';

export const unsupportedType = (type: string): Failure =>
  new Failure('not_acceptable', { error: `The requested content-type '${type}' is not supported.` });

/** A request that cannot be read as one. */
export const unreadable = (): Failure => new Failure('bad_request', { message: '400 Bad request' });

/** What Fastify throws before an endpoint is reached, by code, where it is not just a bad request. */
const known: Record<string, (contentType: string) => Failure> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: unsupportedType,
  FST_ERR_CTP_BODY_TOO_LARGE: () => tooLarge(),
  FST_ERR_MAX_PARAM_LENGTH: () => tooLong(),
  FST_ERR_BAD_URL: () => refused('400 (Bad request)'),
};

export const tooLong = (): Failure => new Failure('uri_too_long', { message: '414 Request-URI Too Long' });

/** @param about what is too large, where it is not the request itself */
export const tooLarge = (about?: string): Failure =>
  new Failure('too_large', {
    message: `413 Request Entity Too Large${about === undefined ? '' : ` - ${about}`}`,
  });

/**
 * The failure that an error stands for; null for one that nobody foresaw (a 500).
 * @param contentType of the request
 */
export const asFailure = (error: unknown, contentType = ''): Failure | null => {
  if (error instanceof Failure) return error;
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown };
  const foreseen = typeof code === 'string' ? known[code]?.(contentType) : undefined;
  if (foreseen !== undefined) return foreseen;
  // The framework's word for a fault of the client; our own errors carry no status.
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500 ? unreadable() : null;
};

export const unknownRoute = (): Failure => new Failure('not_found', { error: '404 Not Found' });

export const methodNotAllowed = (allow: string): Failure =>
  new Failure('method_not_allowed', { message: '405 Method Not Allowed' }, { allow });
