/** What failed under load, and when. */
export type FailureLog = {
  add: (what: string) => void;
  /** All that failed, in order. */
  list: () => string[];
  /** What failed after a time of `performance.now()`. */
  listAfter: (time: number) => string[];
};

export const newFailureLog = (): FailureLog => {
  const failures: { what: string; at: number }[] = [];
  return {
    add: (what) => void failures.push({ what, at: performance.now() }),
    list: () => failures.map(({ what }) => what),
    listAfter: (time) => failures.filter(({ at }) => at > time).map(({ what }) => what),
  };
};
