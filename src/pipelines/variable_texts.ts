/** The JSON of variables that many jobs have: made once. */
import { JsonText } from '../http/endpoint.ts';
import type { JobVariable } from './job_predefined.ts';

/** In the order in which later ones win; no key is twice in them. */
export type VariableLists = readonly (readonly JobVariable[])[];

const kept = new WeakMap<readonly JobVariable[], Buffer>();

/** JSON without the brackets. */
const itemsOf = (list: readonly JobVariable[]): string => JSON.stringify(list).slice(1, -1);

/** Says that this list goes to many jobs. Nobody changes it. */
export const shared = (list: JobVariable[]): JobVariable[] => {
  kept.set(list, new JsonText(itemsOf(list)).alone.bytes);
  return list;
};

const comma = Buffer.from(',');

/** All of them as JSON, to stand between brackets, in pieces. */
export const variableBytes = (lists: VariableLists): Buffer[] => {
  const pieces: Buffer[] = [];
  for (const list of lists) {
    if (list.length === 0) continue;
    if (pieces.length > 0) pieces.push(comma);
    pieces.push(kept.get(list) ?? Buffer.from(itemsOf(list)));
  }
  return pieces;
};
