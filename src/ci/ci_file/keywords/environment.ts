/** Parses `environment` of a job. */
import {
  type At,
  durationAt,
  reportFault,
  checkKeys,
  oneOfAt,
  textAt,
  warnNotImplemented,
} from './typed_values.ts';
import { type Hash, type Node, getEntry, isNull, getString } from '../syntax/node.ts';
import type { Environment } from '../config_types.ts';

export const environmentKeys = new Set(
  'name url action on_stop auto_stop_in kubernetes deployment_tier'.split(' '),
);
const actions = ['start', 'stop', 'prepare', 'verify', 'access'] as const;
const tiers = ['production', 'staging', 'testing', 'development', 'other'] as const;
const maxNameLength = 255;

const wordsText = 'should be start, stop, prepare, verify, or access';

const checkName = (at: At, name: string, position: Node['position']): void => {
  if (name.length > maxNameLength)
    reportFault(at, `name is too long (maximum is ${maxNameLength} characters)`, position);
  if (!/^[\w \-/{}$.]*$/.test(name)) {
    const allowed = "letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces";
    reportFault(at, `name can contain only ${allowed}`, position);
  }
};

/** Parses a duration, `never`, or a text with variables, which are expanded when the pipeline is planned. */
const parseAutoStop = (at: At, node: Hash): string | null => {
  const text = getString(getEntry(node, 'auto_stop_in'));
  if (text !== null && (text.trim() === 'never' || text.includes('$'))) return text.trim();
  return durationAt(at, node, 'auto_stop_in');
};

export const parseEnvironment = (at: At, node: Node | undefined): Environment | null => {
  if (node === undefined || isNull(node)) return null;
  const defaults = {
    url: null,
    on_stop: null,
    action: 'start',
    auto_stop_in: null,
    deployment_tier: null,
  } as const;
  const shortName = getString(node);
  if (shortName !== null) {
    checkName(at, shortName, node.position);
    return { name: shortName, ...defaults };
  }
  if (node.kind !== 'hash') {
    reportFault(at, 'config should be a hash or a string', node.position);
    return null;
  }
  checkKeys(at, node, environmentKeys);
  warnNotImplemented(at, node, 'kubernetes');
  const name = textAt(at, node, 'name');
  if (name === null) reportFault(at, "name can't be blank", node.position);
  else checkName(at, name, getEntry(node, 'name')?.position ?? node.position);
  return {
    name: name ?? '',
    url: textAt(at, node, 'url'),
    on_stop: textAt(at, node, 'on_stop'),
    action: oneOfAt(at, node, 'action', { words: actions, text: wordsText }) ?? 'start',
    auto_stop_in: parseAutoStop(at, node),
    deployment_tier: oneOfAt(at, node, 'deployment_tier', {
      words: tiers,
      text: `must be one of ${tiers.join(', ')}`,
    }),
  };
};
