/**
 * Runs work immediately and then periodically, never concurrently.
 * @param pause milliseconds between two runs
 * @param work never rejects, and may be interrupted at any point
 * @returns stops it, without waiting for a run in progress
 */
export const runPeriodically = (pause: number, work: () => Promise<void>): (() => void) => {
  let isRunning = false;
  const again = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    await work();
    isRunning = false;
  };
  void again();
  const timer = setInterval(() => void again(), pause).unref();
  return () => clearInterval(timer);
};
