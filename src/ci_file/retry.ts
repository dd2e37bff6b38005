/** `retry` and `allow_failure` of a job. */
import { type At, fault, isIntegerIn, knowsKeys, stringOrStrings } from './check.ts';
import { type Hash, type Node, entryOf, isNull, keyPlace } from './node.ts';
import type { Retry } from './plan_types.ts';

const retryKeys = new Set(['max', 'when', 'exit_codes']);
const mostRetries = 2;

const reasons = (
  'always unknown_failure script_failure api_failure stuck_or_timeout_failure runner_system_failure ' +
  'runner_unsupported stale_schedule job_execution_timeout archived_failure unmet_prerequisites ' +
  'scheduler_failure data_integrity_failure runner_interrupted'
).split(' ');

const exitCodesOf = (at: At, node: Node | undefined): number[] => {
  if (node === undefined || isNull(node)) return [];
  const items = node.kind === 'list' ? node.items : [node];
  if (!items.every((item) => isIntegerIn(item, 0, 255))) {
    fault(at, 'exit codes should be an array of integers or an integer', node.place);
    return [];
  }
  return items.map((item) => (item.kind === 'scalar' ? Number(item.value) : 0));
};

const checkMax = (at: At, node: Node, word: string): number => {
  if (node.kind !== 'scalar' || typeof node.value !== 'bigint')
    fault(at, `${word} must be an integer`, node.place);
  else if (node.value < 0n) fault(at, `${word} must be greater than or equal to 0`, node.place);
  else if (node.value > mostRetries)
    fault(at, `${word} must be less than or equal to ${mostRetries}`, node.place);
  else return Number(node.value);
  return 0;
};

const detailed = (at: At, hash: Hash): Retry => {
  knowsKeys(at, hash, retryKeys);
  const max = entryOf(hash, 'max');
  const when =
    stringOrStrings(at, entryOf(hash, 'when'), 'when should be an array of strings or a string') ?? [];
  const unknown = when.filter((reason) => !reasons.includes(reason));
  if (unknown.length > 0) {
    fault(at, `when contains unknown values: ${unknown.join(', ')}`, keyPlace(hash, 'when'));
  }
  return {
    max: max === undefined ? mostRetries : checkMax(at, max, 'max'),
    when: when.length === 0 ? ['always'] : when,
    exit_codes: exitCodesOf(at, entryOf(hash, 'exit_codes')),
  };
};

export const retryOf = (at: At, node: Node | undefined): Retry | null => {
  if (node === undefined || isNull(node)) return null;
  if (node.kind === 'hash') return detailed(at, node);
  if (node.kind !== 'scalar' || typeof node.value !== 'bigint') {
    fault(at, 'config has to be either an integer or a hash', node.place);
    return null;
  }
  return { max: checkMax(at, node, 'config'), when: ['always'], exit_codes: [] };
};

export type AllowFailure = { allow_failure: boolean; exit_codes: number[] };

const failureKeys = new Set(['exit_codes']);

/** @returns null: it says nothing */
export const allowFailureOf = (at: At, node: Node | undefined): AllowFailure | null => {
  if (node === undefined || isNull(node)) return null;
  if (node.kind === 'scalar' && typeof node.value === 'boolean') {
    return { allow_failure: node.value, exit_codes: [] };
  }
  if (node.kind === 'hash') {
    knowsKeys(at, node, failureKeys);
    // Which end of the script is allowed is known when it has ended.
    return { allow_failure: false, exit_codes: exitCodesOf(at, entryOf(node, 'exit_codes')) };
  }
  fault(
    { ...at, where: at.where.replace(/:allow_failure$/, '') },
    'allow failure should be a boolean value',
    node.place,
  );
  return null;
};
