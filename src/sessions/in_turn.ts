/** The last piece of work under each name. */
const tails = new Map<string, Promise<unknown>>();
const lengths = new Map<string, number>();

const longestQueue = 100;

/**
 * Runs work under one name one after another, so that a hundred guesses sent at once are counted as if sent in turn.
 * @param refuse what to throw where too many wait
 */
export const inTurn = async <T>(name: string, work: () => Promise<T>, refuse: () => Error): Promise<T> => {
  const length = lengths.get(name) ?? 0;
  if (length >= longestQueue) throw refuse();
  lengths.set(name, length + 1);
  const before = tails.get(name) ?? Promise.resolve();
  const mine = before.then(work, work);
  tails.set(name, mine);
  try {
    return await mine;
  } finally {
    const left = (lengths.get(name) ?? 1) - 1;
    if (left > 0) lengths.set(name, left);
    else {
      lengths.delete(name);
      tails.delete(name);
    }
  }
};
