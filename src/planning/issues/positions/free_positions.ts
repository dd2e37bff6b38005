/** Computes positions between others. Pure. */
import { positionSpacing } from '../../issuables/lists/record_kinds.ts';

/** Positions that limit where something may stand; null: nothing stands there. */
export type Bounds = { above: number | null; below: number | null };

/** Returns the position in the middle between two others; null if there is no room. */
export const middleOf = ({ above, below }: Bounds): number | null => {
  if (above === null) return below === null ? 0 : below - positionSpacing;
  if (below === null) return above + positionSpacing;
  const middle = Math.floor((above + below) / 2);
  return middle > above && middle < below ? middle : null;
};

/** Room that is left around each position after others were spread; less is taken only where there is no more. */
const wantedRoom = 1024;

/**
 * Returns so many positions, evenly spread between bounds; null if there is too little room.
 * @param isLast takes what room there is
 */
export const spreadBetween = ({ above, below }: Bounds, count: number, isLast: boolean): number[] | null => {
  const room = positionSpacing * (count + 1);
  const start = above ?? (below === null ? 0 : below - room);
  const step = Math.floor(((below ?? start + room) - start) / (count + 1));
  if (step < (isLast ? 1 : wantedRoom)) return null;
  return Array.from({ length: count }, (_one, at) => start + step * (at + 1));
};
