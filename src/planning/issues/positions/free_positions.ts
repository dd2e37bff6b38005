/** Computes positions between others. Pure. */
import { positionSpacing } from '../../issuables/lists/record_kinds.ts';

/** Positions between which an item may be placed; null: no neighbour on that side. */
export type Bounds = { above: number | null; below: number | null };

/** Returns the position in the middle between two others; null if there is no space. */
export const computeMiddle = ({ above, below }: Bounds): number | null => {
  if (above === null) return below === null ? 0 : below - positionSpacing;
  if (below === null) return above + positionSpacing;
  const middle = Math.floor((above + below) / 2);
  return middle > above && middle < below ? middle : null;
};

/** Gap around each position after spreading; a smaller gap is used only if there is not enough space. */
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
