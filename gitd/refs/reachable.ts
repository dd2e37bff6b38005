/** Whether refs that a caller of the API may see lead to an object. Git itself reads whatever it still has. */
import type { Context } from '../context.ts';
import { makeLru } from '../lru.ts';
import type { Oid, Sight } from '../protocol.ts';
import { forbiddenWant } from '../transport/wants.ts';
import { generationOf } from './generation.ts';

/** Answers stay right until a ref changes. */
const answers = makeLru<Promise<boolean>>(50_000);

const find = async (context: Context, id: Oid, hidesRequests: boolean): Promise<boolean> => {
  const hidden = { requests: hidesRequests, pipelines: true, kept: !hidesRequests };
  return (await forbiddenWant(context, [id], hidden)) === null;
};

/** True for every object where the caller does not ask for reachable ones alone. */
export const isReachable = async (
  context: Context,
  id: Oid,
  { reachable = false, hide_requests = false }: Sight,
  search = find,
): Promise<boolean> => {
  if (!reachable) return true;
  const key = `${context.dir} ${generationOf(context.dir)} ${hide_requests} ${id}`;
  const before = answers.get(key);
  if (before !== undefined) return await before;
  // Other callers may wait for it, too: it does not end with this one.
  const found = search({ ...context, signal: new AbortController().signal }, id, hide_requests);
  answers.set(key, found);
  try {
    return await found;
  } catch (error) {
    answers.delete(key);
    throw error;
  }
};

let lastWalk: Promise<unknown> = Promise.resolve();

/** The search for a blob passes all objects: one at a time, so that such searches do not take every place for git. */
const findInTurn: typeof find = async (...searched) => {
  const found = lastWalk.then(async () => await find(...searched));
  lastWalk = found.catch(() => undefined);
  return await found;
};

export const isReachableBlob = async (context: Context, id: Oid, sight: Sight): Promise<boolean> =>
  await isReachable(context, id, sight, findInTurn);
