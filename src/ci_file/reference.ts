/** `!reference [job, key]`: what stands there takes its place. */
import { type Hash, type Node, type Place, type Reference, hashNode, listNode, scalarNode } from './node.ts';
import type { Problems } from './problem.ts';

const deepest = 10;

type Resolving = {
  root: Hash;
  problems: Problems;
  known: Map<string, Node>;
  /** Those on the way, outermost first. */
  chain: string[];
};

const nameOf = ({ path }: Reference): string => `!reference ${JSON.stringify(path)}`;

const targetOf = (state: Resolving, { path }: Reference): Node | undefined => {
  let at: Node | undefined = state.root;
  for (const key of path) {
    // A part of the way may itself be a reference.
    const here: Node | undefined = at?.kind === 'reference' ? follow(state, at) : at;
    at = here?.kind === 'hash' ? here.entries.get(key) : undefined;
  }
  return at;
};

const follow = (state: Resolving, reference: Reference): Node => {
  const { problems, known, chain } = state;
  const name = nameOf(reference);
  const found = known.get(name);
  if (found !== undefined) return found;
  const nothing = scalarNode(null, reference.place);
  if (chain.includes(name)) {
    problems.error(`${name} is part of a circular chain`, reference.place);
    return nothing;
  }
  if (chain.length >= deepest) {
    problems.error(`${name} is nested too deep`, reference.place);
    return nothing;
  }
  chain.push(name);
  const target = targetOf(state, reference);
  if (target === undefined) problems.error(`${name} could not be found`, reference.place);
  const result = target === undefined ? nothing : resolve(state, target);
  chain.pop();
  known.set(name, result);
  return result;
};

const resolve = (state: Resolving, node: Node): Node => {
  if (node.kind === 'scalar') return node;
  if (node.kind === 'reference') return follow(state, node);
  if (node.kind === 'list') {
    const items = node.items.map((item) => resolve(state, item));
    return items.every((item, at) => item === node.items[at]) ? node : listNode(items, node.place);
  }
  return resolveHash(state, node);
};

const resolveHash = (state: Resolving, node: Hash): Node => {
  let changed = false;
  const entries = new Map<string, Node>();
  const keys = new Map<string, Place>(node.keys);
  for (const [key, value] of node.entries) {
    const result = resolve(state, value);
    changed ||= result !== value;
    entries.set(key, result);
  }
  return changed ? hashNode(entries, keys, node.place) : node;
};

export const resolveReferences = (root: Hash, problems: Problems): Hash => {
  const result = resolve({ root, problems, known: new Map(), chain: [] }, root);
  return result.kind === 'hash' ? result : root;
};
