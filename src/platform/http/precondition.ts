/** Preconditions of changes: what a record must still be like when it is changed. */
import { preconditionFailed } from '../errors.ts';
import { parseHttpDate } from '../time.ts';

/**
 * An edit that may carry a check of the record as it is before the edit, locked in the transaction of the edit. The
 * check throws to abort it.
 */
export type Checked<Edit, Row> = Edit & { check?: (locked: Row) => void };

/**
 * Refuses to delete a record that changed after the time that the client saw, in whole seconds as in HTTP.
 * @param header `If-Unmodified-Since`; ignored if it does not parse
 * @throws Failure 412
 */
export const requireUnmodified = (header: string | undefined, updatedAt: number): void => {
  const seen = header === undefined ? null : parseHttpDate(header);
  if (seen !== null && Math.floor(updatedAt / 1000) > Math.floor(seen / 1000)) throw preconditionFailed();
};
