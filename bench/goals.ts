/** What is wanted at most, on 100,000 issues in one project unless the name says otherwise. */
export const goals = {
  /** µs of CPU a request, at 32 connections. */
  list20: { goal: 400, aim: 100 },
  list100: { goal: 1400, aim: 300 },
  get: { goal: 165, aim: 80 },
  create: { goal: 700, aim: 250 },
  edit: { goal: 700, aim: 250 },
  filtered: { goal: 2000 },
  /** From 1,000 issues. */
  growth: { goal: 1.25 },
  /** ms until a total that is not cached is there, at the largest size. */
  firstTotal: { goal: 60 },
  lastPage: { goal: 25 },
  search: { goal: 100 },
  /** ms from the start of the process to the first answer. */
  firstStart: { goal: 600, aim: 300 },
  laterStart: { goal: 250, aim: 120 },
  /** MB resident. */
  memoryAtRest: { goal: 100, aim: 70 },
  memoryAfterLoad: { goal: 180, aim: 120 },
} as const;
