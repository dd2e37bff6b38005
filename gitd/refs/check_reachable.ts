/** Checks that an object is reachable from refs that the caller may see. git itself reads any object it still has. */
import type { Context } from '../handler_types.ts';
import { makeLruCache } from '../lru_cache.ts';
import type { Oid, Sight } from '../protocol_records.ts';
import { findForbiddenWant } from './check_wants.ts';
import { getGeneration } from './ref_generation.ts';

/** Cached answers stay valid until a ref changes. */
const answers = makeLruCache<Promise<boolean>>(50_000);

const find = async (context: Context, id: Oid, hidesRequests: boolean): Promise<boolean> => {
  const hidden = { requests: hidesRequests, pipelines: true, kept: !hidesRequests };
  return (await findForbiddenWant(context, [id], hidden)) === null;
};

/** Returns whether the caller may read the object. True for all objects unless `reachable` is set. */
export const isReachable = async (
  context: Context,
  id: Oid,
  { reachable = false, hide_requests = false }: Sight,
  search = find,
): Promise<boolean> => {
  if (!reachable) return true;
  const key = `${context.dir} ${getGeneration(context.dir)} ${hide_requests} ${id}`;
  const cached = answers.get(key);
  if (cached !== undefined) return await cached;
  // Not aborted with this caller: others may be waiting for the same answer.
  const result = search({ ...context, signal: new AbortController().signal }, id, hide_requests);
  answers.set(key, result);
  try {
    return await result;
  } catch (error) {
    answers.delete(key);
    throw error;
  }
};

let lastWalk: Promise<unknown> = Promise.resolve();

/** Searches for blobs one at a time: each walks all objects, and several would take all slots for git. */
const findInTurn: typeof find = async (...searched) => {
  const result = lastWalk.then(async () => await find(...searched));
  lastWalk = result.catch(() => undefined);
  return await result;
};

export const isReachableBlob = async (context: Context, id: Oid, sight: Sight): Promise<boolean> =>
  await isReachable(context, id, sight, findInTurn);
