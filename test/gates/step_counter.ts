/** Counts the steps of SQLite's machine that each statement of this process takes. */
import { StatementSync } from 'node:sqlite';

/** One run of a statement. `replans`: how often it was planned again for its values. */
export type Steps = { text: string; steps: number; replans: number };

export type StepCounter = {
  /** Returns the runs since the last call, in order. */
  take: () => Steps[];
  stop: () => void;
};

type Counted = StatementSync & { stat: (counter: 'vmStep' | 'reprepare') => number };
type Run = (...values: unknown[]) => unknown;

const methods = ['all', 'get', 'run'] as const;

const replaceMethod = (name: (typeof methods)[number], value: unknown): void => {
  Object.defineProperty(StatementSync.prototype, name, { configurable: true, writable: true, value });
};

export const countSteps = (): StepCounter => {
  let ran: Steps[] = [];
  const originals = methods.map((name) => [name, StatementSync.prototype[name] as Run] as const);
  for (const [name, original] of originals)
    replaceMethod(name, function counted(this: Counted, ...values: unknown[]): unknown {
      const [before, planned] = [this.stat('vmStep'), this.stat('reprepare')];
      try {
        return original.apply(this, values);
      } finally {
        const [steps, replans] = [this.stat('vmStep') - before, this.stat('reprepare') - planned];
        ran.push({ text: this.sourceSQL, steps, replans });
      }
    });
  return {
    take: () => {
      const taken = ran;
      ran = [];
      return taken;
    },
    stop: () => {
      for (const [name, original] of originals) replaceMethod(name, original);
    },
  };
};
