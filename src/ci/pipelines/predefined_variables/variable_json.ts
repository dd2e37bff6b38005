/** Serializes variables, and caches the JSON of lists that many jobs share. */
import { JsonText } from '../../../platform/http/endpoint.ts';
import type { JobVariable } from './job_variable.ts';

/** Lists from lowest to highest precedence, already deduplicated: an overridden key was removed from the lower list. */
export type VariableLists = readonly (readonly JobVariable[])[];

const jsonCache = new WeakMap<readonly JobVariable[], Buffer>();

/** Returns JSON without the brackets. */
const toJsonItems = (list: readonly JobVariable[]): string => JSON.stringify(list).slice(1, -1);

/** Caches the JSON of a list that many jobs share. Do not modify the list afterwards. */
export const cacheJson = (list: JobVariable[]): JobVariable[] => {
  jsonCache.set(list, new JsonText(toJsonItems(list)).detached.bytes);
  return list;
};

const comma = Buffer.from(',');

/** Returns the lists as JSON array items, in pieces, without the brackets. */
export const toVariableBytes = (lists: VariableLists): Buffer[] => {
  const pieces: Buffer[] = [];
  for (const list of lists) {
    if (list.length === 0) continue;
    if (pieces.length > 0) pieces.push(comma);
    pieces.push(jsonCache.get(list) ?? Buffer.from(toJsonItems(list)));
  }
  return pieces;
};
