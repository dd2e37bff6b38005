/** Resolves `extends`: merges the parents in order, then the job's own keys. */
import {
  type Hash,
  type Node,
  getEntry,
  hashNode,
  getKeyPosition,
  maxNodes,
  getString,
  tooLarge,
} from './node.ts';
import type { SourcePosition } from './source_position.ts';
import { deepMerge, emptyHash } from './merge_hashes.ts';
import { CiFileError, type Problems } from './problems.ts';

const maxDepth = 10;

/** A resolved hash. `height`: the number of levels above it. */
type ExtendedHash = { hash: Hash; height: number };

type ExtendState = {
  root: Hash;
  problems: Problems;
  /** Results by name; null if an error was reported. */
  results: Map<string, ExtendedHash | null>;
  visiting: Set<string>;
  /** Entries created so far, counted against the limit. */
  entryCount: number;
};

/** Parses the parents' names; null if it is not a list of names. */
const parseParents = (node: Node): string[] | null => {
  if (node.kind !== 'list') {
    const name = getString(node);
    return name === null ? null : [name];
  }
  const names = node.items.map(getString).filter((name) => name !== null);
  return names.length === node.items.length ? names : null;
};

type ExtendStep = { name: string; own: Hash; position: SourcePosition };

const resolveParent = (
  state: ExtendState,
  { name, position }: ExtendStep,
  parent: string,
): ExtendedHash | null => {
  const base = state.root.entries.get(parent);
  const refuse = (text: string): null => {
    state.problems.error(`${name}: ${text}`, position);
    return null;
  };
  if (base === undefined) return refuse(`unknown keys in \`extends\` (${parent})`);
  if (base.kind !== 'hash') return refuse(`invalid base hashes in \`extends\` (${parent})`);
  if (state.visiting.has(parent)) return refuse('circular dependency detected in `extends`');
  const result = extendHash(state, parent, base);
  return result !== null && result.height >= maxDepth ? refuse('nesting too deep in `extends`') : result;
};

const mergeCounted = (state: ExtendState, base: Hash, over: Hash): Hash => {
  const result = deepMerge(base, over);
  state.entryCount += result.entries.size;
  if (state.entryCount > maxNodes) throw new CiFileError(tooLarge, over.position);
  return result;
};

const combineParents = (
  state: ExtendState,
  step: ExtendStep,
  parents: readonly string[],
): ExtendedHash | null => {
  state.visiting.add(step.name);
  const bases = parents.map((parent) => resolveParent(state, step, parent));
  state.visiting.delete(step.name);
  const resolved = bases.filter((base) => base !== null);
  if (resolved.length < bases.length) return null;
  const base = resolved.reduce<Hash>(
    (sum, { hash }) => mergeCounted(state, sum, hash),
    emptyHash(step.own.position),
  );
  const height = 1 + Math.max(0, ...resolved.map((one) => one.height));
  return { hash: mergeCounted(state, base, step.own), height };
};

const extendHash = (state: ExtendState, name: string, own: Hash): ExtendedHash | null => {
  const cached = state.results.get(name);
  if (cached !== undefined) return cached;
  const extendsNode = getEntry(own, 'extends');
  if (extendsNode === undefined) return { hash: own, height: 0 };
  const position = getKeyPosition(own, 'extends');
  const parents = parseParents(extendsNode);
  if (parents === null) {
    state.problems.error(`${name}: \`extends\` should be a string or an array of strings`, position);
  }
  const result = parents === null ? null : combineParents(state, { name, own, position }, parents);
  state.results.set(name, result);
  return result;
};

/** @returns the tree with every `extends` resolved; entries with errors are unchanged */
export const resolveExtends = (root: Hash, problems: Problems): Hash => {
  const state: ExtendState = { root, problems, results: new Map(), visiting: new Set(), entryCount: 0 };
  const entries = new Map<string, Node>();
  for (const [name, node] of root.entries) {
    const result = node.kind === 'hash' ? extendHash(state, name, node) : null;
    entries.set(name, result?.hash ?? node);
  }
  return hashNode(entries, root.keys, root.position);
};
