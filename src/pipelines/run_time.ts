type Interval = { started_at: number | null; finished_at: number | null };

/** Whole seconds in which at least one of them ran; null: none has begun. */
export const runTime = (jobs: readonly Interval[], now: number): number | null => {
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
