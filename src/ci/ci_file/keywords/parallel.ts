/** Parses `parallel`: the number of jobs, or a matrix of variables. */
import { type At, reportFault, inner, isIntegerIn, checkKeys } from './typed_values.ts';
import { type Node, isNull, toScalarText } from '../syntax/node.ts';

const maxJobs = 200;
export const parallelKeys = new Set(['matrix']);

export type Parallel = { total: number; matrix: Record<string, string>[] | null };

const toText = (node: Node): string | null =>
  node.kind === 'scalar' && node.value !== null ? toScalarText(node.value) : null;

const parseValues = (node: Node): string[] | null => {
  if (node.kind !== 'list') {
    const text = toText(node);
    return text === null ? null : [text];
  }
  const texts = node.items.map(toText).filter((text) => text !== null);
  return texts.length === node.items.length && texts.length > 0 ? texts : null;
};

/** Parses the entries of a matrix, each with all values of its variables. null if an error was reported. */
export const parseMatrixValues = (at: At, node: Node): Record<string, string[]>[] | null => {
  const where = inner(at, 'matrix');
  if (node.kind !== 'list') {
    reportFault(where, 'config should be an array of hashes', node.position);
    return null;
  }
  const entries = node.items.map((item): Record<string, string[]> | null => {
    if (item.kind !== 'hash') {
      reportFault(where, 'config should be an array of hashes', item.position);
      return null;
    }
    const pairs = [...item.entries].map(([key, value]) => [key, parseValues(value)] as const);
    const invalid = pairs.find(([, values]) => values === null);
    if (invalid === undefined) return Object.fromEntries(pairs) as Record<string, string[]>;
    reportFault(where, 'config should be a hash of key value pairs, value can be an array', item.position);
    return null;
  });
  const valid = entries.filter((entry) => entry !== null);
  return valid.length === entries.length ? valid : null;
};

const countCombinations = (entry: Record<string, string[]>): number =>
  Object.values(entry).reduce((size, values) => Math.min(size * values.length, maxJobs + 1), 1);

const listCombinations = (entry: Record<string, string[]>): Record<string, string>[] =>
  Object.entries(entry).reduce<Record<string, string>[]>(
    (combinations, [key, values]) =>
      combinations.flatMap((one) => values.map((value) => ({ ...one, [key]: value }))),
    [{}],
  );

const parseMatrix = (at: At, node: Node): Parallel | null => {
  const entries = parseMatrixValues(at, node);
  if (entries === null) return null;
  const total = entries.reduce((sum, entry) => Math.min(sum + countCombinations(entry), maxJobs + 1), 0);
  if (total > maxJobs) {
    reportFault(inner(at, 'matrix'), `config generates too many jobs (maximum is ${maxJobs})`, node.position);
    return null;
  }
  const matrix = entries.flatMap(listCombinations);
  return matrix.length === 0 ? null : { total: matrix.length, matrix };
};

/** Parses `parallel`; null for a single job. */
export const parseParallel = (at: At, node: Node | undefined): Parallel | null => {
  if (node === undefined || isNull(node)) return null;
  if (node.kind === 'hash') {
    checkKeys(at, node, parallelKeys);
    const matrix = node.entries.get('matrix');
    return matrix === undefined ? null : parseMatrix(at, matrix);
  }
  if (node.kind !== 'scalar' || typeof node.value !== 'bigint') {
    reportFault(at, 'should be an integer or a hash', node.position);
    return null;
  }
  if (isIntegerIn(node, 1, maxJobs)) return { total: Number(node.value), matrix: null };
  const isSmall = node.value < 1n;
  const text = isSmall ? 'greater than or equal to 1' : `less than or equal to ${maxJobs}`;
  reportFault(at, `config must be ${text}`, node.position);
  return null;
};
