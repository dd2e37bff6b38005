export type Bell = {
  /** Ends a wait: the one that goes on, or else the next. */
  ring: () => void;
  /** Forgets that it rang. */
  silence: () => void;
  /** Resolves when the bell rings, or after so many milliseconds. */
  wait: (milliseconds: number) => Promise<void>;
};

/** For one who waits for something to do: a ring while he is busy is not lost. */
export const makeBell = (): Bell => {
  let rang = false;
  let wake: (() => void) | null = null;
  return {
    ring: () => {
      rang = true;
      wake?.();
    },
    silence: () => void (rang = false),
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
