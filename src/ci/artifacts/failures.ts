import { Failure, refused } from '../../platform/errors.ts';

/** The contract's 404 for a job without a trace or artifacts, and for a file that the archive lacks. */
export const notFoundFailure = (): Failure => new Failure('not_found', { message: '404 Not Found' });

/** Refuses a path that no archive can contain. */
export const badPathFailure = (): Failure => refused('400 (Bad request)');
