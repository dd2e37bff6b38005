import type { GitErrorKind } from './protocol.ts';

/** Why a call fails, as the client is told. Anything else that is thrown is `internal`. */
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

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const noRepository = (): GitError => new GitError('no_repository', 'the repository does not exist');

export const lost = (): GitError =>
  new GitError('unavailable', 'a repository that was written to is not in its storage');

/** As the system says it to us, or to git in the language that we fix. */
const full = /\b(?:ENOSPC|EDQUOT)\b|No space left on device|Disk quota exceeded/;

/** A full disk is no fault of the program: it passes once there is room. */
export const kindOf = (error: unknown): GitErrorKind => {
  const kind = error instanceof GitError ? error.kind : 'internal';
  return kind === 'internal' && full.test(messageOf(error)) ? 'unavailable' : kind;
};
