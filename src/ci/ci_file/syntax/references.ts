/** Resolves `!reference [job, key]` to the referenced value. */
import { type Hash, type Node, type Reference, hashNode, listNode, scalarNode } from './node.ts';
import type { SourcePosition } from './source_position.ts';
import type { Problems } from './problems.ts';

const maxDepth = 10;

type ReferenceState = {
  root: Hash;
  problems: Problems;
  resolved: Map<string, Node>;
  /** References being resolved, outermost first. */
  chain: string[];
};

const formatReference = ({ path }: Reference): string => `!reference ${JSON.stringify(path)}`;

const findTarget = (state: ReferenceState, { path }: Reference): Node | undefined => {
  let at: Node | undefined = state.root;
  for (const key of path) {
    // A part of the path may itself be a reference.
    const here: Node | undefined = at?.kind === 'reference' ? resolveReference(state, at) : at;
    at = here?.kind === 'hash' ? here.entries.get(key) : undefined;
  }
  return at;
};

const resolveReference = (state: ReferenceState, reference: Reference): Node => {
  const { problems, resolved, chain } = state;
  const name = formatReference(reference);
  const existing = resolved.get(name);
  if (existing !== undefined) return existing;
  const nullNode = scalarNode(null, reference.position);
  if (chain.includes(name)) {
    problems.error(`${name} is part of a circular chain`, reference.position);
    return nullNode;
  }
  if (chain.length >= maxDepth) {
    problems.error(`${name} is nested too deep`, reference.position);
    return nullNode;
  }
  chain.push(name);
  const target = findTarget(state, reference);
  if (target === undefined) problems.error(`${name} could not be found`, reference.position);
  const result = target === undefined ? nullNode : resolve(state, target);
  chain.pop();
  resolved.set(name, result);
  return result;
};

const resolve = (state: ReferenceState, node: Node): Node => {
  if (node.kind === 'scalar') return node;
  if (node.kind === 'reference') return resolveReference(state, node);
  if (node.kind === 'list') {
    const items = node.items.map((item) => resolve(state, item));
    return items.every((item, at) => item === node.items[at]) ? node : listNode(items, node.position);
  }
  return resolveHash(state, node);
};

const resolveHash = (state: ReferenceState, node: Hash): Node => {
  let changed = false;
  const entries = new Map<string, Node>();
  const keys = new Map<string, SourcePosition>(node.keys);
  for (const [key, value] of node.entries) {
    const result = resolve(state, value);
    changed ||= result !== value;
    entries.set(key, result);
  }
  return changed ? hashNode(entries, keys, node.position) : node;
};

export const resolveReferences = (root: Hash, problems: Problems): Hash => {
  const result = resolve({ root, problems, resolved: new Map(), chain: [] }, root);
  return result.kind === 'hash' ? result : root;
};
