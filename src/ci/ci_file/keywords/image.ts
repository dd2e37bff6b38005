/** Parses `image` and `services`. */
import {
  type At,
  reportFault,
  inner,
  checkKeys,
  stringOrStrings,
  stringsAt,
  textAt,
  warnNotImplemented,
} from './typed_values.ts';
import { type Hash, type Node, getEntry, flatItems, isNull, getString } from '../syntax/node.ts';
import type { Image, Service } from '../config_types.ts';
import { parseVariables } from './variables.ts';

export const imageKeys = new Set(['name', 'entrypoint', 'ports', 'pull_policy', 'docker', 'kubernetes']);
export const serviceKeys = new Set([...imageKeys, 'command', 'alias', 'variables']);
const pullPolicies = ['always', 'never', 'if-not-present'];
const dockerKeys = new Set(['platform', 'user']);

const shape = 'config should be a hash or a string';
const oldService = 'service';

const parsePullPolicy = (at: At, hash: Hash): string[] => {
  const node = getEntry(hash, 'pull_policy');
  const policies = stringOrStrings(at, node, 'pull policy should be a string or an array of strings') ?? [];
  const invalid = policies.find((policy) => !pullPolicies.includes(policy));
  if (invalid !== undefined && node !== undefined) {
    reportFault(at, `pull policy should be one of: ${pullPolicies.join(', ')}`, node.position);
  }
  return policies;
};

const parseDocker = (at: At, hash: Hash): Image['docker'] => {
  const docker = getEntry(hash, 'docker');
  if (docker === undefined) return null;
  const inside = inner(at, 'docker');
  if (docker.kind !== 'hash') {
    reportFault(inside, 'config should be a hash', docker.position);
    return null;
  }
  checkKeys(inside, docker, dockerKeys);
  const platform = textAt(inside, docker, 'platform');
  const user = textAt(inside, docker, 'user');
  return { ...(platform !== null && { platform }), ...(user !== null && { user }) };
};

const toImage = (name: string): Image => ({ name, entrypoint: null, pull_policy: [], docker: null });

const parseDetailedImage = (at: At, hash: Hash): Image | null => {
  const name = getString(getEntry(hash, 'name'));
  if (name === null) {
    const hasName = getEntry(hash, 'name') !== undefined;
    reportFault(at, hasName ? 'name should be a string' : "name can't be blank", hash.position);
  }
  for (const key of ['kubernetes', 'ports']) warnNotImplemented(at, hash, key);
  return {
    name: name ?? '',
    entrypoint: stringsAt(at, hash, 'entrypoint'),
    pull_policy: parsePullPolicy(at, hash),
    docker: parseDocker(at, hash),
  };
};

export const parseImage = (at: At, node: Node | undefined): Image | null => {
  if (node === undefined || isNull(node)) return null;
  const name = getString(node);
  if (name !== null) return toImage(name);
  if (node.kind !== 'hash') {
    reportFault(at, shape, node.position);
    return null;
  }
  checkKeys(at, node, imageKeys);
  return parseDetailedImage(at, node);
};

const parseService = (at: At, node: Node): Service | null => {
  const name = getString(node);
  const none = { alias: null, command: null, variables: [] };
  if (name !== null) return { ...toImage(name), ...none };
  if (node.kind !== 'hash') {
    reportFault({ ...at, where: oldService }, shape, node.position);
    return null;
  }
  const inside = inner(at, 'service');
  checkKeys(inside, node, serviceKeys);
  const image = parseDetailedImage(inside, node);
  if (image === null) return null;
  return {
    ...image,
    alias: textAt(inside, node, 'alias'),
    command: stringsAt(inside, node, 'command'),
    variables: parseVariables(inner(inside, 'variables'), getEntry(node, 'variables')),
  };
};

export const parseServices = (at: At, node: Node | undefined): Service[] => {
  if (node === undefined || isNull(node)) return [];
  if (node.kind !== 'list') {
    // The wording of GitLab.
    reportFault(at, 'config should be a array', node.position);
    return [];
  }
  return flatItems(node).flatMap((item) => parseService(at, item) ?? []);
};
