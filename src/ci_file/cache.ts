/** `cache`: one or several. */
import {
  type At,
  booleanAt,
  fault,
  inner,
  knowsKeys,
  oneOfAt,
  stringsAt,
  stringsOf,
  textAt,
} from './check.ts';
import { type Hash, type Node, entryOf, flatItems, isNull, wordOf } from './node.ts';
import type { Cache } from './plan_types.ts';

const cacheKeys = new Set('key untracked paths when policy unprotect fallback_keys'.split(' '));
const keyKeys = new Set(['files', 'files_commits', 'prefix']);
const policies = ['pull-push', 'push', 'pull'] as const;
const whens = ['on_success', 'on_failure', 'always'] as const;
const mostCaches = 4;
const mostFiles = 2;
const mostFallbacks = 5;

const wrongWord = (at: At, word: string, place: Node['place']): void => {
  const isWrong = word.includes('/') || word.includes('%2F') || /^\.+$/.test(word);
  if (isWrong) fault(at, 'config cannot contain the "/" character, or be only "."', place);
};

const filesKey = (at: At, node: Hash): Cache['key'] => {
  knowsKeys(at, node, keyKeys);
  const list = entryOf(node, 'files') ?? entryOf(node, 'files_commits');
  const inside = inner(at, 'files');
  if (list === undefined) fault(at, 'config missing required keys: files', node.place);
  const files = stringsOf(inside, list, 'config should be an array of strings') ?? [];
  if (files.length > mostFiles) {
    fault(inside, `config has too many items (maximum is ${mostFiles})`, node.place);
  }
  return { files, prefix: textAt(at, node, 'prefix') };
};

const keyOf = (at: At, node: Node | undefined): Cache['key'] => {
  if (node === undefined) return 'default';
  if (node.kind === 'hash') return filesKey(at, node);
  const word = wordOf(node);
  if (word === null) {
    fault(
      at,
      'config should be a hash, a string or a symbol',
      node.place,
      'config should be a string or symbol',
    );
  } else if (!word.includes('$')) wrongWord(at, word, node.place);
  return word ?? 'default';
};

/** A variable may say which policy it is. */
const policyOf = (at: At, node: Hash): string => {
  const word = wordOf(entryOf(node, 'policy'));
  if (word?.includes('$') === true) return word;
  return (
    oneOfAt(at, node, 'policy', { words: policies, old: 'should be pull-push, push, or pull' }) ?? 'pull-push'
  );
};

const cacheOf = (at: At, node: Node): Cache | null => {
  if (node.kind !== 'hash') {
    fault(at, 'config should be a hash', node.place);
    return null;
  }
  knowsKeys(at, node, cacheKeys);
  const fallback_keys = stringsAt(at, node, 'fallback_keys') ?? [];
  if (fallback_keys.length > mostFallbacks) {
    fault(at, `fallback keys has too many items (maximum is ${mostFallbacks})`, node.place);
  }
  return {
    key: keyOf(inner(at, 'key'), entryOf(node, 'key')),
    paths: stringsAt(at, node, 'paths') ?? [],
    untracked: booleanAt(at, node, 'untracked') ?? false,
    policy: policyOf(at, node),
    when: oneOfAt(at, node, 'when', { words: whens }) ?? 'on_success',
    fallback_keys,
    unprotect: booleanAt(at, node, 'unprotect') ?? false,
  };
};

/** Those that keep something. */
export const cachesOf = (at: At, node: Node | undefined): Cache[] => {
  if (node === undefined || isNull(node)) return [];
  const items = node.kind === 'list' ? flatItems(node) : [node];
  if (items.length > mostCaches) {
    fault(at, `config no more than ${mostCaches} caches can be created`, node.place);
  }
  const caches = items.flatMap((item) => cacheOf(at, item) ?? []);
  return caches.filter(({ paths, untracked }) => paths.length > 0 || untracked);
};
