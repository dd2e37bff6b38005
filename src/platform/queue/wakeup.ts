export type Wakeup = {
  /** Ends the current wait, or else the next one. */
  wakeUp: () => void;
  /** Discards a pending wakeup. */
  reset: () => void;
  /** Resolves at a wakeup, or after this many milliseconds. */
  wait: (milliseconds: number) => Promise<void>;
};

/** Creates a wakeup for a loop that waits for work. A wakeup during other work is not lost. */
export const makeWakeup = (): Wakeup => {
  let rang = false;
  let wake: (() => void) | null = null;
  return {
    wakeUp: () => {
      rang = true;
      wake?.();
    },
    reset: () => void (rang = false),
    wait: async (milliseconds) => {
      if (!rang) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, milliseconds).unref();
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = null;
      }
      rang = false;
    },
  };
};
