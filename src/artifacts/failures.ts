import { Failure, refused } from '../errors.ts';

/** The contract's words where a job has no trace, no artifacts, or no such file among them. */
export const nothingThere = (): Failure => new Failure('not_found', { message: '404 Not Found' });

/** A path that no archive has. */
export const badPath = (): Failure => refused('400 (Bad request)');
