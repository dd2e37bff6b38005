/** `extends`: what a job takes over from others, parents in their order, then its own. */
import {
  type Hash,
  type Node,
  type Place,
  entryOf,
  hashNode,
  keyPlace,
  mostNodes,
  stringOf,
  tooLarge,
} from './node.ts';
import { deepMerge, emptyHash } from './merge.ts';
import { CiFileError, type Problems } from './problem.ts';

const deepest = 10;

/** What became of one: `height` is how many there are above it. */
type Done = { hash: Hash; height: number };

type Extending = {
  root: Hash;
  problems: Problems;
  /** Each once, whoever extends it; null: told in `problems`. */
  done: Map<string, Done | null>;
  onTheWay: Set<string>;
  /** Parts made so far: what many jobs take over is made as often. */
  made: number;
};

/** The names; null: it is no list of names. */
const parentsOf = (node: Node): string[] | null => {
  if (node.kind !== 'list') {
    const name = stringOf(node);
    return name === null ? null : [name];
  }
  const names = node.items.map(stringOf).filter((name) => name !== null);
  return names.length === node.items.length ? names : null;
};

type Step = { name: string; own: Hash; place: Place };

const parentOf = (state: Extending, { name, place }: Step, parent: string): Done | null => {
  const base = state.root.entries.get(parent);
  const refuse = (text: string): null => {
    state.problems.error(`${name}: ${text}`, place);
    return null;
  };
  if (base === undefined) return refuse(`unknown keys in \`extends\` (${parent})`);
  if (base.kind !== 'hash') return refuse(`invalid base hashes in \`extends\` (${parent})`);
  if (state.onTheWay.has(parent)) return refuse('circular dependency detected in `extends`');
  const found = extended(state, parent, base);
  return found !== null && found.height >= deepest ? refuse('nesting too deep in `extends`') : found;
};

const merged = (state: Extending, base: Hash, over: Hash): Hash => {
  const result = deepMerge(base, over);
  state.made += result.entries.size;
  if (state.made > mostNodes) throw new CiFileError(tooLarge, over.place);
  return result;
};

const combined = (state: Extending, step: Step, parents: readonly string[]): Done | null => {
  state.onTheWay.add(step.name);
  const bases = parents.map((parent) => parentOf(state, step, parent));
  state.onTheWay.delete(step.name);
  const whole = bases.filter((base) => base !== null);
  if (whole.length < bases.length) return null;
  const base = whole.reduce<Hash>((sum, { hash }) => merged(state, sum, hash), emptyHash(step.own.place));
  const height = 1 + Math.max(0, ...whole.map((one) => one.height));
  return { hash: merged(state, base, step.own), height };
};

const extended = (state: Extending, name: string, own: Hash): Done | null => {
  const known = state.done.get(name);
  if (known !== undefined) return known;
  const wanted = entryOf(own, 'extends');
  if (wanted === undefined) return { hash: own, height: 0 };
  const place = keyPlace(own, 'extends');
  const parents = parentsOf(wanted);
  if (parents === null) {
    state.problems.error(`${name}: \`extends\` should be a string or an array of strings`, place);
  }
  const result = parents === null ? null : combined(state, { name, own, place }, parents);
  state.done.set(name, result);
  return result;
};

/** @returns the same with every `extends` carried out; those that cannot be stay as they are */
export const resolveExtends = (root: Hash, problems: Problems): Hash => {
  const state: Extending = { root, problems, done: new Map(), onTheWay: new Set(), made: 0 };
  const entries = new Map<string, Node>();
  for (const [name, node] of root.entries) {
    const result = node.kind === 'hash' ? extended(state, name, node) : null;
    entries.set(name, result?.hash ?? node);
  }
  return hashNode(entries, root.keys, root.place);
};
