/** Which entries of a file are words of the language, and which are jobs. */
import { globalKeys } from './keys.ts';
import { type Hash, type Node, entryOf } from './node.ts';

/** Not reserved: files have jobs of these names, told from the word by what they do. */
const mayBeJob = new Set(['default', 'workflow', 'types']);

const isJob = (name: string, node: Node | undefined): boolean =>
  !globalKeys.has(name) || (mayBeJob.has(name) && entryOf(node, 'script') !== undefined);

/** What the file says under a word of the language. */
export const globalOf = (root: Hash, name: string): Node | undefined => {
  const node = root.entries.get(name);
  return isJob(name, node) ? undefined : node;
};

/** The names of what may run, in their order. */
export const jobNamesOf = (root: Hash): string[] =>
  [...root.entries].flatMap(([name, node]) => (!name.startsWith('.') && isJob(name, node) ? [name] : []));
