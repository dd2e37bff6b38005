type Interval = { started_at: number | null; finished_at: number | null };

/** Returns the whole seconds during which at least one job ran; null if none has started. */
export const computeRunTime = (jobs: readonly Interval[], now: number): number | null => {
  const intervals = jobs
    .flatMap(({ started_at, finished_at }) =>
      started_at === null ? [] : [{ from: started_at, to: finished_at ?? now }],
    )
    .toSorted((a, b) => a.from - b.from);
  if (intervals.length === 0) return null;
  let total = 0;
  let reached = -Infinity;
  for (const { from, to } of intervals) {
    total += Math.max(0, to - Math.max(from, reached));
    reached = Math.max(reached, to);
  }
  return Math.round(total / 1000);
};
