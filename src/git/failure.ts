import type { GitErrorKind } from './protocol_types.ts';

/** A call of a repository storage that failed; its message is for logs, not for users. */
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

/** Whether git had too much to do for the call: in the time it has, or at all. */
export const isBeyondLimits = (error: unknown): boolean =>
  isGitFailure(error, 'limit') || isGitFailure(error, 'too_large');

/** Of an `error` frame. */
export const failureOf = (sent: unknown): GitFailure => {
  const { kind, message } = sent as { kind: GitErrorKind; message: string };
  return new GitFailure(kind, message);
};

export const gone = (why: string): GitFailure => new GitFailure('unavailable', why);
