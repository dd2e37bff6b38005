import type { GitErrorKind } from './protocol_types.ts';

/** A failed call of a repository storage. The message is for logs, not for users. */
export class GitFailure extends Error {
  readonly kind: GitErrorKind;

  constructor(kind: GitErrorKind, message: string) {
    super(message);
    this.name = 'GitFailure';
    this.kind = kind;
  }
}

export const isGitFailure = (error: unknown, kind?: GitErrorKind): error is GitFailure =>
  error instanceof GitFailure && (kind === undefined || error.kind === kind);

/** Returns whether git exceeded its limits of time or size for a call. */
export const isBeyondLimits = (error: unknown): boolean =>
  isGitFailure(error, 'limit') || isGitFailure(error, 'too_large');

/** Converts an `error` frame into a failure. */
export const toGitFailure = (sent: unknown): GitFailure => {
  const { kind, message } = sent as { kind: GitErrorKind; message: string };
  return new GitFailure(kind, message);
};

export const storageUnavailable = (why: string): GitFailure => new GitFailure('unavailable', why);
