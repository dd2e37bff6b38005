/** `environment` of a job. */
import { type At, durationAt, fault, knowsKeys, oneOfAt, textAt, notCarriedOut } from './check.ts';
import { type Hash, type Node, entryOf, isNull, stringOf } from './node.ts';
import type { Environment } from './plan_types.ts';

const environmentKeys = new Set('name url action on_stop auto_stop_in kubernetes deployment_tier'.split(' '));
const actions = ['start', 'stop', 'prepare', 'verify', 'access'] as const;
const tiers = ['production', 'staging', 'testing', 'development', 'other'] as const;
const longestName = 255;

const wordsText = 'should be start, stop, prepare, verify, or access';

const checkName = (at: At, name: string, place: Node['place']): void => {
  if (name.length > longestName) fault(at, `name is too long (maximum is ${longestName} characters)`, place);
  if (!/^[\w \-/{}$.]*$/.test(name)) {
    const allowed = "letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces";
    fault(at, `name can contain only ${allowed}`, place);
  }
};

/** A span of time, `never`, or what variables say, which is known with the pipeline. */
const autoStopOf = (at: At, node: Hash): string | null => {
  const text = stringOf(entryOf(node, 'auto_stop_in'));
  if (text !== null && (text.trim() === 'never' || text.includes('$'))) return text.trim();
  return durationAt(at, node, 'auto_stop_in');
};

export const environmentOf = (at: At, node: Node | undefined): Environment | null => {
  if (node === undefined || isNull(node)) return null;
  const none = {
    url: null,
    on_stop: null,
    action: 'start',
    auto_stop_in: null,
    deployment_tier: null,
  } as const;
  const alone = stringOf(node);
  if (alone !== null) {
    checkName(at, alone, node.place);
    return { name: alone, ...none };
  }
  if (node.kind !== 'hash') {
    fault(at, 'config should be a hash or a string', node.place);
    return null;
  }
  knowsKeys(at, node, environmentKeys);
  notCarriedOut(at, node, 'kubernetes');
  const name = textAt(at, node, 'name');
  if (name === null) fault(at, "name can't be blank", node.place);
  else checkName(at, name, entryOf(node, 'name')?.place ?? node.place);
  return {
    name: name ?? '',
    url: textAt(at, node, 'url'),
    on_stop: textAt(at, node, 'on_stop'),
    action: oneOfAt(at, node, 'action', { words: actions, text: wordsText }) ?? 'start',
    auto_stop_in: autoStopOf(at, node),
    deployment_tier: oneOfAt(at, node, 'deployment_tier', {
      words: tiers,
      text: `must be one of ${tiers.join(', ')}`,
    }),
  };
};
