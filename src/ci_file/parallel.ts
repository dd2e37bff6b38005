/** `parallel`: how many jobs one entry makes, and what tells them apart. */
import { type At, fault, inner, isIntegerIn, knowsKeys } from './check.ts';
import { type Node, isNull, textOf } from './node.ts';

const mostJobs = 200;
const parallelKeys = new Set(['matrix']);

export type Parallel = { total: number; matrix: Record<string, string>[] | null };

const scalarText = (node: Node): string | null =>
  node.kind === 'scalar' && node.value !== null ? textOf(node.value) : null;

const valuesOf = (node: Node): string[] | null => {
  if (node.kind !== 'list') {
    const text = scalarText(node);
    return text === null ? null : [text];
  }
  const texts = node.items.map(scalarText).filter((text) => text !== null);
  return texts.length === node.items.length && texts.length > 0 ? texts : null;
};

/** Each entry of a matrix: its variables with all their values. @returns null: told */
export const matrixValuesOf = (at: At, node: Node): Record<string, string[]>[] | null => {
  const where = inner(at, 'matrix');
  if (node.kind !== 'list') {
    fault(where, 'config should be an array of hashes', node.place);
    return null;
  }
  const entries = node.items.map((item): Record<string, string[]> | null => {
    if (item.kind !== 'hash') {
      fault(where, 'config should be an array of hashes', item.place);
      return null;
    }
    const pairs = [...item.entries].map(([key, value]) => [key, valuesOf(value)] as const);
    const wrong = pairs.find(([, values]) => values === null);
    if (wrong === undefined) return Object.fromEntries(pairs) as Record<string, string[]>;
    fault(where, 'config should be a hash of key value pairs, value can be an array', item.place);
    return null;
  });
  const whole = entries.filter((entry) => entry !== null);
  return whole.length === entries.length ? whole : null;
};

const sizeOf = (entry: Record<string, string[]>): number =>
  Object.values(entry).reduce((size, values) => Math.min(size * values.length, mostJobs + 1), 1);

const productOf = (entry: Record<string, string[]>): Record<string, string>[] =>
  Object.entries(entry).reduce<Record<string, string>[]>(
    (made, [key, values]) => made.flatMap((one) => values.map((value) => ({ ...one, [key]: value }))),
    [{}],
  );

const matrixOf = (at: At, node: Node): Parallel | null => {
  const entries = matrixValuesOf(at, node);
  if (entries === null) return null;
  const total = entries.reduce((sum, entry) => Math.min(sum + sizeOf(entry), mostJobs + 1), 0);
  if (total > mostJobs) {
    fault(inner(at, 'matrix'), `config generates too many jobs (maximum is ${mostJobs})`, node.place);
    return null;
  }
  const matrix = entries.flatMap(productOf);
  return matrix.length === 0 ? null : { total: matrix.length, matrix };
};

/** null: there is one job. */
export const parallelOf = (at: At, node: Node | undefined): Parallel | null => {
  if (node === undefined || isNull(node)) return null;
  if (node.kind === 'hash') {
    knowsKeys(at, node, parallelKeys);
    const matrix = node.entries.get('matrix');
    return matrix === undefined ? null : matrixOf(at, matrix);
  }
  if (node.kind !== 'scalar' || typeof node.value !== 'bigint') {
    fault(at, 'should be an integer or a hash', node.place);
    return null;
  }
  if (isIntegerIn(node, 1, mostJobs)) return { total: Number(node.value), matrix: null };
  const isSmall = node.value < 1n;
  const text = isSmall ? 'greater than or equal to 1' : `less than or equal to ${mostJobs}`;
  fault(at, `config must be ${text}`, node.place);
  return null;
};
