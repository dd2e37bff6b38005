/**
 * Kinds of failure with their HTTP status. Code that refuses a request throws a `Failure`; `platform/http/failure.ts`
 * turns it into a response.
 */
export const statusByKind = {
  not_modified: 304,
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  conflict: 409,
  gone: 410,
  precondition_failed: 412,
  too_large: 413,
  uri_too_long: 414,
  unprocessable: 422,
  too_many_requests: 429,
  unavailable: 503,
} as const;

export type FailureKind = keyof typeof statusByKind;

/** Validation errors by property, in the contract's shape. */
export type Problems = { [property: string]: string[] };

export class Failure extends Error {
  readonly kind: FailureKind;
  /** The JSON body of the response; null for a response without a body. */
  readonly body: object | null;
  readonly headers: Record<string, string>;

  constructor(kind: FailureKind, body: object | null, headers: Record<string, string> = {}) {
    super(body === null ? kind : JSON.stringify(body));
    this.name = 'Failure';
    this.kind = kind;
    this.body = body;
    this.headers = headers;
  }

  get status(): number {
    return statusByKind[this.kind];
  }
}

/** 400 for attributes that failed validation: `{"message": {"title": ["can't be blank"]}}`. */
export const invalid = (problems: Problems): Failure => new Failure('bad_request', { message: problems });

/** 400 for a missing required attribute. */
export const missingAttribute = (attribute: string): Failure => badRequest(`"${attribute}" not given`);

/** 400 with a reason: `400 (Bad request) <reason>`. */
export const badRequest = (reason: string): Failure =>
  new Failure('bad_request', { message: `400 (Bad request) ${reason}` });

/** 400 for a change that sets none of the attributes it can change. */
export const nothingToChange = (names: readonly string[]): Failure =>
  badRequest(`at least one of ${names.join(', ')} must be given`);

/** 400 with exactly this message. */
export const refused = (text: string): Failure => new Failure('bad_request', { message: text });

export const unauthorized = (headers: Record<string, string> = {}): Failure =>
  new Failure('unauthorized', { message: '401 Unauthorized' }, headers);

export const forbidden = (reason?: string): Failure =>
  new Failure('forbidden', { message: reason === undefined ? '403 Forbidden' : `403 Forbidden - ${reason}` });

/** `404 <noun> Not Found`; without a noun, the generic finder's `404 Not found`. */
export const notFound = (noun?: string): Failure =>
  new Failure('not_found', { message: noun === undefined ? '404 Not found' : `404 ${noun} Not Found` });

/** Returns whether an error says that a record is missing or hidden. */
export const isNotFound = (error: unknown): boolean => error instanceof Failure && error.kind === 'not_found';

/** Returns the result, or null if the record is missing or hidden. @throws any other failure */
export const nullIfMissing = async <T>(finding: Promise<T>): Promise<T | null> => {
  try {
    return await finding;
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
};

export const conflict = (message: string | string[]): Failure => new Failure('conflict', { message });

export const preconditionFailed = (): Failure =>
  new Failure('precondition_failed', { message: '412 Precondition Failed' });

/** 503: the store accepts no writes at the moment. `Retry-After` tells runners when to retry. */
export const unavailable = (): Failure =>
  new Failure('unavailable', { message: '503 Service Unavailable' }, { 'retry-after': '2' });

/** 503 for a file whose bytes differ from what was stored. `doctor --thorough` lists such files. */
export const damagedFile = (): Failure =>
  new Failure('unavailable', { message: '503 Service Unavailable - the stored file is damaged' });

/**
 * 429.
 * @param seconds until the client may retry
 */
export const tooManyRequests = (seconds: number): Failure =>
  new Failure(
    'too_many_requests',
    { message: '429 Too Many Requests' },
    { 'retry-after': String(Math.max(Math.ceil(seconds), 1)) },
  );

/** 304: not modified, without body and content type. */
export const notModified = (): Failure => new Failure('not_modified', null);

/** An operating error, such as a taken port or a damaged database: one line for the operator, and the exit code. */
export class StartFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StartFailure';
  }
}

/** Codes of the system for a disk that is full, read-only or failing. */
const diskFailures: readonly string[] = ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'];
/** Codes of the system for no more descriptors, processes or memory at the moment. */
const exhausted: readonly string[] = ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'];

const hasCode = (error: unknown, codes: readonly string[]): boolean => {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && codes.includes(code);
};

/** Returns whether an error of the system says that the disk takes no writes. */
export const isDiskFailure = (error: unknown): boolean => hasCode(error, diskFailures);

/** Returns whether an error of the system passes once the disk is repaired, or other work has ended. */
export const isSystemOutage = (error: unknown): boolean => isDiskFailure(error) || hasCode(error, exhausted);

/** Returns the message of anything that was thrown. */
export const getErrorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
