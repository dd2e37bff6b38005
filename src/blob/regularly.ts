/**
 * Does something at once, and then now and then, never twice at a time.
 * @param pause milliseconds
 * @param work never rejects, and may be cut off anywhere
 * @returns what ends that: what runs is not waited for
 */
export const regularly = (pause: number, work: () => Promise<void>): (() => void) => {
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
