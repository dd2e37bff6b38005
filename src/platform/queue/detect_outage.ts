/** Classifies failures as outages: the same work would succeed once the database, a storage or the disk is back. */
import { Failure, isSystemOutage } from '../errors.ts';
import type { Store } from '../db/open.ts';
import { isGitFailure } from '../git/failure.ts';

/** System errors of an unresponsive peer. */
const peerCodes = new Set([
  'EAI_AGAIN',
  'ENOTFOUND',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EPIPE',
]);

const maxCauseDepth = 5;

/** Returns the error and its chain of causes. */
const listCauses = (error: unknown): unknown[] => {
  const causes: unknown[] = [];
  for (let cause = error; cause instanceof Error && causes.length < maxCauseDepth; cause = cause.cause)
    causes.push(cause);
  return causes;
};

export const makeOutageCheck = ({
  isStoreFull,
  isUnreachable,
}: Pick<Store, 'isStoreFull' | 'isUnreachable'>) => {
  const isOne = (error: unknown): boolean =>
    isStoreFull(error) ||
    isUnreachable(error) ||
    isGitFailure(error, 'unavailable') ||
    (error instanceof Failure && error.kind === 'unavailable') ||
    isSystemOutage(error) ||
    peerCodes.has((error as NodeJS.ErrnoException).code ?? '');
  return (error: unknown): boolean => listCauses(error).some(isOne);
};
