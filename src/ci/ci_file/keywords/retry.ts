/** Parses `retry` of a job. */
import { type At, checkKeys, parseExitCodes, reportFault, stringOrStrings } from './typed_values.ts';
import { type Hash, type Node, getEntry, isNull, getKeyPosition } from '../syntax/node.ts';
import type { Retry } from '../config_types.ts';

export const retryKeys = new Set(['max', 'when', 'exit_codes']);
const maxRetries = 2;

const reasons = (
  'always unknown_failure script_failure api_failure stuck_or_timeout_failure runner_system_failure ' +
  'runner_unsupported stale_schedule job_execution_timeout archived_failure unmet_prerequisites ' +
  'scheduler_failure data_integrity_failure runner_interrupted'
).split(' ');

const parseMax = (at: At, node: Node, word: string): number => {
  if (node.kind !== 'scalar' || typeof node.value !== 'bigint')
    reportFault(at, `${word} must be an integer`, node.position);
  else if (node.value < 0n) reportFault(at, `${word} must be greater than or equal to 0`, node.position);
  else if (node.value > maxRetries)
    reportFault(at, `${word} must be less than or equal to ${maxRetries}`, node.position);
  else return Number(node.value);
  return 0;
};

const parseDetailedRetry = (at: At, hash: Hash): Retry => {
  checkKeys(at, hash, retryKeys);
  const max = getEntry(hash, 'max');
  const when =
    stringOrStrings(at, getEntry(hash, 'when'), 'when should be an array of strings or a string') ?? [];
  const unknown = when.filter((reason) => !reasons.includes(reason));
  if (unknown.length > 0) {
    reportFault(at, `when contains unknown values: ${unknown.join(', ')}`, getKeyPosition(hash, 'when'));
  }
  return {
    max: max === undefined ? maxRetries : parseMax(at, max, 'max'),
    when: when.length === 0 ? ['always'] : when,
    exit_codes: parseExitCodes(at, getEntry(hash, 'exit_codes')),
  };
};

export const parseRetry = (at: At, node: Node | undefined): Retry | null => {
  if (node === undefined || isNull(node)) return null;
  if (node.kind === 'hash') return parseDetailedRetry(at, node);
  if (node.kind !== 'scalar' || typeof node.value !== 'bigint') {
    reportFault(at, 'config has to be either an integer or a hash', node.position);
    return null;
  }
  return { max: parseMax(at, node, 'config'), when: ['always'], exit_codes: [] };
};
