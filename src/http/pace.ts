/** How often somebody does something: in the memory of this process, for what need not be exact. */
export type Pace = {
  /** Counts one more of this name; whether there are too many of late. */
  count: (name: string, now: number) => boolean;
  /** The same, without one more. */
  isOver: (name: string, now: number) => boolean;
};

/** Names that are remembered: past it, all are forgotten. */
const mostNames = 10_000;

/** @param most in so many milliseconds */
export const makePace = ({ most, within }: { most: number; within: number }): Pace => {
  const counts = new Map<string, { since: number; count: number }>();
  const lately = (name: string, now: number) => {
    const known = counts.get(name);
    const isOld = known === undefined || now - known.since >= within || now < known.since;
    return isOld ? null : known;
  };
  return {
    count: (name, now) => {
      const known = lately(name, now);
      if (known === null && counts.size >= mostNames) counts.clear();
      const one = known ?? { since: now, count: 0 };
      counts.set(name, one);
      one.count += 1;
      return one.count > most;
    },
    isOver: (name, now) => (lately(name, now)?.count ?? 0) > most,
  };
};
