/** Parses `cache`: one or several. */
import {
  type At,
  booleanAt,
  reportFault,
  inner,
  checkKeys,
  oneOfAt,
  stringsAt,
  parseStrings,
  textAt,
} from './typed_values.ts';
import { type Hash, type Node, getEntry, flatItems, isNull, getScalarText } from '../syntax/node.ts';
import type { Cache } from '../config_types.ts';

export const cacheKeys = new Set('key untracked paths when policy unprotect fallback_keys'.split(' '));
export const cacheKeyKeys = new Set(['files', 'files_commits', 'prefix']);
const policies = ['pull-push', 'push', 'pull'] as const;
const whens = ['on_success', 'on_failure', 'always'] as const;
const maxCaches = 4;
const maxFiles = 2;
const maxFallbacks = 5;

const checkKeyText = (at: At, word: string, position: Node['position']): void => {
  const isInvalid = word.includes('/') || word.includes('%2F') || /^\.+$/.test(word);
  if (isInvalid) reportFault(at, 'config cannot contain the "/" character, or be only "."', position);
};

const parseFilesKey = (at: At, node: Hash): Cache['key'] => {
  checkKeys(at, node, cacheKeyKeys);
  const list = getEntry(node, 'files') ?? getEntry(node, 'files_commits');
  const inside = inner(at, 'files');
  if (list === undefined) reportFault(at, 'config missing required keys: files', node.position);
  const files = parseStrings(inside, list, 'config should be an array of strings') ?? [];
  if (files.length > maxFiles) {
    reportFault(inside, `config has too many items (maximum is ${maxFiles})`, node.position);
  }
  return { files, prefix: textAt(at, node, 'prefix') };
};

const parseKey = (at: At, node: Node | undefined): Cache['key'] => {
  if (node === undefined) return 'default';
  if (node.kind === 'hash') return parseFilesKey(at, node);
  const word = getScalarText(node);
  if (word === null) {
    reportFault(
      at,
      'config should be a hash, a string or a symbol',
      node.position,
      'config should be a string or symbol',
    );
  } else if (!word.includes('$')) checkKeyText(at, word, node.position);
  return word ?? 'default';
};

/** Parses the policy, which may be a variable. */
const parsePolicy = (at: At, node: Hash): string => {
  const word = getScalarText(getEntry(node, 'policy'));
  if (word?.includes('$') === true) return word;
  return (
    oneOfAt(at, node, 'policy', { words: policies, old: 'should be pull-push, push, or pull' }) ?? 'pull-push'
  );
};

const parseCache = (at: At, node: Node): Cache | null => {
  if (node.kind !== 'hash') {
    reportFault(at, 'config should be a hash', node.position);
    return null;
  }
  checkKeys(at, node, cacheKeys);
  const fallback_keys = stringsAt(at, node, 'fallback_keys') ?? [];
  if (fallback_keys.length > maxFallbacks) {
    reportFault(at, `fallback keys has too many items (maximum is ${maxFallbacks})`, node.position);
  }
  return {
    key: parseKey(inner(at, 'key'), getEntry(node, 'key')),
    paths: stringsAt(at, node, 'paths') ?? [],
    untracked: booleanAt(at, node, 'untracked') ?? false,
    policy: parsePolicy(at, node),
    when: oneOfAt(at, node, 'when', { words: whens }) ?? 'on_success',
    fallback_keys,
    unprotect: booleanAt(at, node, 'unprotect') ?? false,
  };
};

/** Parses caches. Drops those without paths. */
export const parseCaches = (at: At, node: Node | undefined): Cache[] => {
  if (node === undefined || isNull(node)) return [];
  const items = node.kind === 'list' ? flatItems(node) : [node];
  if (items.length > maxCaches) {
    reportFault(at, `config no more than ${maxCaches} caches can be created`, node.position);
  }
  const caches = items.flatMap((item) => parseCache(at, item) ?? []);
  return caches.filter(({ paths, untracked }) => paths.length > 0 || untracked);
};
