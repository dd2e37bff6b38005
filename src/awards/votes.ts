import type { Tx } from '../db/open.ts';
import type { Noun, Target } from '../issuables/target.ts';
import type { Awardable } from './queries.ts';

/**
 * Counts an award on the record itself in its votes. Also one that is no vote passes through, by zero: what was
 * cached of lists that are filtered by the caller's awards is old then.
 */
export const countVote = async (
  noun: Noun,
  tx: Tx,
  { target, awardable, name }: { target: Target; awardable: Awardable; name: string },
  by: 1 | -1,
): Promise<void> => {
  if (awardable.type === 'Note') return;
  await noun.change(tx, target, {
    upvotes: name === 'thumbsup' ? by : 0,
    downvotes: name === 'thumbsdown' ? by : 0,
  });
};
