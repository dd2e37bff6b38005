import { preconditionFailed } from '../errors.ts';
import { parseHttpDate } from '../time.ts';

/**
 * Refuses to delete a record that changed after the time that the client saw, in whole seconds as in HTTP.
 * @param header `If-Unmodified-Since`; ignored if it does not parse
 * @throws Failure 412
 */
export const requireUnmodified = (header: string | undefined, updatedAt: number): void => {
  const seen = header === undefined ? null : parseHttpDate(header);
  if (seen !== null && Math.floor(updatedAt / 1000) > Math.floor(seen / 1000)) throw preconditionFailed();
};
