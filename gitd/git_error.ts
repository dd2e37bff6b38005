import type { GitErrorKind } from './protocol.ts';

/** A failure with a kind that is sent to the client. Any other thrown error is sent as `internal`. */
export class GitError extends Error {
  readonly kind: GitErrorKind;

  constructor(kind: GitErrorKind, message: string) {
    super(message);
    this.name = 'GitError';
    this.kind = kind;
  }
}

export const isGitError = (error: unknown, kind: GitErrorKind): error is GitError =>
  error instanceof GitError && error.kind === kind;

export const getMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Returns whether an error of the system has one of these codes. */
export const hasCode = (error: unknown, ...codes: string[]): boolean =>
  codes.includes((error as NodeJS.ErrnoException).code ?? '');

export const noRepository = (): GitError => new GitError('no_repository', 'the repository does not exist');

export const repositoryLost = (): GitError =>
  new GitError('unavailable', 'a repository that was written to is not in its storage');

/** Messages of a disk that is full, read-only or failing, by the system or by git (locale C). */
const diskFailure =
  /\b(?:ENOSPC|EDQUOT|EROFS|EIO)\b|No space left on device|Disk quota exceeded|Read-only file system|Input\/output error/;

export const isDiskFailure = (message: string): boolean => diskFailure.test(message);

/** Returns the kind of an error. A failure of the disk is `unavailable`: it passes once the disk is repaired. */
export const classifyError = (error: unknown): GitErrorKind => {
  const kind = error instanceof GitError ? error.kind : 'internal';
  return kind === 'internal' && isDiskFailure(getMessage(error)) ? 'unavailable' : kind;
};
