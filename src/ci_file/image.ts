/** `image` and `services`. */
import {
  type At,
  fault,
  inner,
  knowsKeys,
  stringOrStrings,
  stringsAt,
  textAt,
  notCarriedOut,
} from './check.ts';
import { type Hash, type Node, entryOf, flatItems, isNull, stringOf } from './node.ts';
import type { Image, Service } from './plan_types.ts';
import { variablesOf } from './variables.ts';

const imageKeys = new Set(['name', 'entrypoint', 'ports', 'pull_policy', 'docker', 'kubernetes']);
const serviceKeys = new Set([...imageKeys, 'command', 'alias', 'variables']);
const pullPolicies = ['always', 'never', 'if-not-present'];
const dockerKeys = new Set(['platform', 'user']);

const shape = 'config should be a hash or a string';
const oldService = 'service';

const pullPolicyOf = (at: At, hash: Hash): string[] => {
  const node = entryOf(hash, 'pull_policy');
  const policies = stringOrStrings(at, node, 'pull policy should be a string or an array of strings') ?? [];
  const wrong = policies.find((policy) => !pullPolicies.includes(policy));
  if (wrong !== undefined && node !== undefined) {
    fault(at, `pull policy should be one of: ${pullPolicies.join(', ')}`, node.place);
  }
  return policies;
};

const dockerOf = (at: At, hash: Hash): Image['docker'] => {
  const docker = entryOf(hash, 'docker');
  if (docker === undefined) return null;
  const inside = inner(at, 'docker');
  if (docker.kind !== 'hash') {
    fault(inside, 'config should be a hash', docker.place);
    return null;
  }
  knowsKeys(inside, docker, dockerKeys);
  const platform = textAt(inside, docker, 'platform');
  const user = textAt(inside, docker, 'user');
  return { ...(platform !== null && { platform }), ...(user !== null && { user }) };
};

const plain = (name: string): Image => ({ name, entrypoint: null, pull_policy: [], docker: null });

const detailed = (at: At, hash: Hash): Image | null => {
  const name = stringOf(entryOf(hash, 'name'));
  if (name === null) {
    const isThere = entryOf(hash, 'name') !== undefined;
    fault(at, isThere ? 'name should be a string' : "name can't be blank", hash.place);
  }
  for (const key of ['kubernetes', 'ports']) notCarriedOut(at, hash, key);
  return {
    name: name ?? '',
    entrypoint: stringsAt(at, hash, 'entrypoint'),
    pull_policy: pullPolicyOf(at, hash),
    docker: dockerOf(at, hash),
  };
};

export const imageOf = (at: At, node: Node | undefined): Image | null => {
  if (node === undefined || isNull(node)) return null;
  const name = stringOf(node);
  if (name !== null) return plain(name);
  if (node.kind !== 'hash') {
    fault(at, shape, node.place);
    return null;
  }
  knowsKeys(at, node, imageKeys);
  return detailed(at, node);
};

const serviceOf = (at: At, node: Node): Service | null => {
  const name = stringOf(node);
  const none = { alias: null, command: null, variables: [] };
  if (name !== null) return { ...plain(name), ...none };
  if (node.kind !== 'hash') {
    fault({ ...at, where: oldService }, shape, node.place);
    return null;
  }
  const inside = inner(at, 'service');
  knowsKeys(inside, node, serviceKeys);
  const image = detailed(inside, node);
  if (image === null) return null;
  return {
    ...image,
    alias: textAt(inside, node, 'alias'),
    command: stringsAt(inside, node, 'command'),
    variables: variablesOf(inner(inside, 'variables'), entryOf(node, 'variables')),
  };
};

export const servicesOf = (at: At, node: Node | undefined): Service[] => {
  if (node === undefined || isNull(node)) return [];
  if (node.kind !== 'list') {
    // So says the original.
    fault(at, 'config should be a array', node.place);
    return [];
  }
  return flatItems(node).flatMap((item) => serviceOf(at, item) ?? []);
};
