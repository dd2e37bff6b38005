/**
 * Jobs of one pipeline that are given to runners at one moment: what they need is almost the same, and is asked once.
 * It is as old as the first who asked: nobody keeps one of these.
 */
export type Together = {
  /** Of the jobs. */
  ids: readonly number[];
  /** The answer to a question of this name, for all who ask it. */
  once: <T>(question: string, ask: () => Promise<T>) => Promise<T>;
};

export const together = (ids: readonly number[]): Together => {
  // Nobody else asks.
  if (ids.length === 1) return { ids, once: (_question, ask) => ask() };
  const answers = new Map<string, Promise<unknown>>();
  const once = async <T>(question: string, ask: () => Promise<T>): Promise<T> => {
    const known = answers.get(question) as Promise<T> | undefined;
    if (known !== undefined) return await known;
    const answer = ask();
    answers.set(question, answer);
    return await answer;
  };
  return { ids, once };
};
