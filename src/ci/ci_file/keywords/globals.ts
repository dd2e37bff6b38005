/** Distinguishes global keywords from jobs. */
import { globalKeys } from './keys.ts';
import { type Hash, type Node, getEntry } from '../syntax/node.ts';

/** Keywords that are also allowed as job names. An entry with a `script` is a job. */
const notReserved = new Set(['default', 'workflow', 'types']);

const isJob = (name: string, node: Node | undefined): boolean =>
  !globalKeys.has(name) || (notReserved.has(name) && getEntry(node, 'script') !== undefined);

/** Returns the entry of a global keyword. */
export const getGlobal = (root: Hash, name: string): Node | undefined => {
  const node = root.entries.get(name);
  return isJob(name, node) ? undefined : node;
};

/** Lists the names of visible jobs, in order. */
export const listJobNames = (root: Hash): string[] =>
  [...root.entries].flatMap(([name, node]) => (!name.startsWith('.') && isJob(name, node) ? [name] : []));
