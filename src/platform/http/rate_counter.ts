/**
 * Counts events by name within a time window, in the memory of this process only, to save work: it slows runners that
 * poll without pause. Approximate: a window starts with its first event, a restart forgets all counts, and so do too
 * many names. A limit that protects a secret counts in the database (`countAttempt` of `identity/sessions`).
 */
export type RateCounter = {
  /** Counts an event. Returns whether the name has more than `maxEvents` events in its window. */
  count: (name: string, now: number) => boolean;
  /** Like `count`, without counting an event. */
  isOver: (name: string, now: number) => boolean;
};

/** Maximum names; beyond it, all counts are dropped. */
const maxNames = 10_000;

/**
 * Creates a counter.
 * @param maxEvents events allowed per name and window
 * @param within length of the window in milliseconds
 */
export const rateCounter = ({ maxEvents, within }: { maxEvents: number; within: number }): RateCounter => {
  const counts = new Map<string, { since: number; count: number }>();
  const getRecent = (name: string, now: number) => {
    const recent = counts.get(name);
    const isOld = recent === undefined || now - recent.since >= within || now < recent.since;
    return isOld ? null : recent;
  };
  return {
    count: (name, now) => {
      const recent = getRecent(name, now);
      if (recent === null && counts.size >= maxNames) counts.clear();
      const counted = recent ?? { since: now, count: 0 };
      counts.set(name, counted);
      counted.count += 1;
      return counted.count > maxEvents;
    },
    isOver: (name, now) => (getRecent(name, now)?.count ?? 0) > maxEvents,
  };
};
