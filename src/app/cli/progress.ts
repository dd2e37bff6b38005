/**
 * Shows the progress of long work on standard error. Rewrites one line on a terminal; otherwise prints a
 * line per 10 %.
 */
export type Progress = {
  advance: () => void;
  /** Sets how much is done. */
  set: (count: number) => void;
  end: () => void;
};

export const silentProgress: Progress = {
  advance: () => undefined,
  set: () => undefined,
  end: () => undefined,
};

/** Milliseconds between two updates of the line on a terminal. */
const updatePause = 200;

/** @param label what is counted: `repositories checked` */
export const showProgress = (label: string, total: number): Progress => {
  const { stderr } = process;
  let done = 0;
  let last = 0;
  const text = (): string => `${label}: ${done} of ${total}`;
  const onTerminal = (): void => {
    const now = performance.now();
    if (now - last < updatePause && done < total) return;
    last = now;
    stderr.write(`\r${text()}`);
  };
  const onLines = (): void => {
    const tenth = Math.floor((done * 10) / total);
    if (tenth === last) return;
    last = tenth;
    stderr.write(`${text()}\n`);
  };
  const set = (count: number): void => {
    done = count;
    if (stderr.isTTY) onTerminal();
    else onLines();
  };
  return {
    advance: () => set(done + 1),
    set,
    end: () => void (stderr.isTTY && done > 0 && stderr.write('\n')),
  };
};
