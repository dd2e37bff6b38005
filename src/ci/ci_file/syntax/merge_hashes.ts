import { type Hash, type Node, hashNode } from './node.ts';
import type { SourcePosition } from './source_position.ts';

/** Merges hashes deeply; values of `over` win. Lists and scalars are replaced. */
export const deepMerge = (base: Hash, over: Hash): Hash => {
  if (base.entries.size === 0) return over;
  const entries = new Map<string, Node>(base.entries);
  const keys = new Map<string, SourcePosition>(base.keys);
  for (const [key, value] of over.entries) {
    const before = entries.get(key);
    entries.set(key, before?.kind === 'hash' && value.kind === 'hash' ? deepMerge(before, value) : value);
    keys.set(key, over.keys.get(key) ?? value.position);
  }
  return hashNode(entries, keys, over.position);
};

export const emptyHash = (position: SourcePosition): Hash => hashNode(new Map(), new Map(), position);

export const withoutKey = (hash: Hash, key: string): Hash => {
  const entries = new Map(hash.entries);
  return entries.delete(key) ? hashNode(entries, hash.keys, hash.position) : hash;
};
