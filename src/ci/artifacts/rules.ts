import { Failure } from '../../platform/errors.ts';
import { dayMilliseconds } from '../../platform/time.ts';
import { parseDuration } from '../ci_file/keywords/duration.ts';
import { maxId } from '../../platform/http/schema.ts';

export const artifactTooLarge = (): Failure =>
  new Failure('too_large', { message: '413 Request Entity Too Large' });

/** Milliseconds until artifacts expire where the configuration does not say. */
const usualLife = 30 * dayMilliseconds;

/**
 * Computes when new artifacts expire, in epoch milliseconds; null: never.
 * @param expireIn as configurations write it: `3 mins 4 sec`, `never`; null if they do not
 */
export const computeExpiry = (expireIn: string | null, now: number): number | null => {
  const text = expireIn?.trim().toLowerCase() ?? '';
  if (text === 'never') return null;
  const seconds = parseDuration(text);
  if (seconds === 0) return null;
  return seconds === null ? now + usualLife : Math.min(now + seconds * 1000, maxId);
};

/** Blob area of a project's artifacts, below the project's own. */
export const artifactArea = (projectId: number): string => `projects/${projectId}/artifacts`;
