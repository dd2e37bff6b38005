import { hash } from 'node:crypto';
import { type DiffLine, numbersAt } from '../../code/repository/commits/hunks.ts';

/** Returns the line code that clients use: digest of the path, and the line's numbers on both sides. */
export const lineCode = (
  { old_path, new_path, diff }: { old_path: string; new_path: string; diff: string },
  line: DiffLine,
): string => {
  const digest = hash('sha1', new_path || old_path, 'hex');
  const { old_at, new_at } = numbersAt(diff, line);
  return `${digest}_${old_at}_${new_at}`;
};
