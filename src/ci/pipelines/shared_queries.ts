/**
 * Shares query results between jobs of one pipeline that are assigned to runners at the same time. Results are never
 * refreshed, so do not keep this object.
 */
export type SharedQueries = {
  /** Ids of the jobs. */
  ids: readonly number[];
  /** Loads the result of a named query once and returns it to all callers. */
  once: <T>(name: string, load: () => Promise<T>) => Promise<T>;
};

export const shareQueries = (ids: readonly number[]): SharedQueries => {
  // A single job shares nothing.
  if (ids.length === 1) return { ids, once: (_question, load) => load() };
  const answers = new Map<string, Promise<unknown>>();
  const once = async <T>(name: string, load: () => Promise<T>): Promise<T> => {
    const pending = answers.get(name) as Promise<T> | undefined;
    if (pending !== undefined) return await pending;
    const answer = load();
    answers.set(name, answer);
    return await answer;
  };
  return { ids, once };
};
