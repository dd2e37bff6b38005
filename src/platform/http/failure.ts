import { Failure, refused } from '../errors.ts';

export const unsupportedType = (type: string): Failure =>
  new Failure('not_acceptable', { error: `The requested content-type '${type}' is not supported.` });

/** A malformed request. */
export const unreadable = (): Failure => new Failure('bad_request', { message: '400 Bad request' });

/** Failures for errors that Fastify throws before an endpoint is reached, by code. Others are bad requests. */
const failures: Record<string, (contentType: string) => Failure> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: unsupportedType,
  FST_ERR_CTP_BODY_TOO_LARGE: () => tooLarge(),
  FST_ERR_BAD_URL: () => refused('400 (Bad request)'),
};

export const tooLong = (): Failure => new Failure('uri_too_long', { message: '414 Request-URI Too Long' });

/**
 * 413.
 * @param about what is too large, if not the request
 */
export const tooLarge = (about?: string): Failure =>
  new Failure('too_large', {
    message: `413 Request Entity Too Large${about === undefined ? '' : ` - ${about}`}`,
  });

/**
 * Converts an error into a failure; null for an unexpected error (500).
 * @param contentType of the request
 */
export const asFailure = (error: unknown, contentType = ''): Failure | null => {
  if (error instanceof Failure) return error;
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown };
  const foreseen = typeof code === 'string' ? failures[code]?.(contentType) : undefined;
  if (foreseen !== undefined) return foreseen;
  // A client error by Fastify's classification; our own errors have no status code.
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500 ? unreadable() : null;
};

export const unknownRoute = (): Failure => new Failure('not_found', { error: '404 Not Found' });

export const methodNotAllowed = (allow: string): Failure =>
  new Failure('method_not_allowed', { message: '405 Method Not Allowed' }, { allow });
