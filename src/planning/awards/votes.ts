import type { Tx } from '../../platform/db/open.ts';
import type { LoadedNoteable, NounActions } from '../issuables/target.ts';
import type { Awardable } from './queries.ts';

/**
 * Adds an award to the votes of its record. Awards that are not votes add zero, because the update also invalidates
 * cached lists that are filtered by awards.
 */
export const countVote = async <L extends LoadedNoteable>(
  noun: NounActions<L>,
  tx: Tx,
  { target, awardable, name }: { target: L['target']; awardable: Awardable; name: string },
  by: 1 | -1,
): Promise<void> => {
  if (awardable.type === 'Note') return;
  await noun.change(tx, target, {
    upvotes: name === 'thumbsup' ? by : 0,
    downvotes: name === 'thumbsdown' ? by : 0,
  });
};
