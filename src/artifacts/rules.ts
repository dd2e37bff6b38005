import { Failure } from '../errors.ts';
import { secondsOf } from '../ci_file/duration.ts';
import { largestId } from '../http/schema.ts';

export const artifactTooLarge = (): Failure =>
  new Failure('too_large', { message: '413 Request Entity Too Large' });

const day = 86_400_000;
/** Milliseconds, where a job says nothing of it. */
const usualLife = 30 * day;

/**
 * When what comes now goes; null: never.
 * @param expireIn as configurations write it: `3 mins 4 sec`, `never`; null: it says nothing
 */
export const expiryOf = (expireIn: string | null, now: number): number | null => {
  const text = expireIn?.trim().toLowerCase() ?? '';
  if (text === 'never') return null;
  const seconds = secondsOf(text);
  if (seconds === 0) return null;
  return seconds === null ? now + usualLife : Math.min(now + seconds * 1000, largestId);
};

/** Area of a project's artifacts, within all that belongs to it. */
export const artifactArea = (projectId: number): string => `projects/${projectId}/artifacts`;
