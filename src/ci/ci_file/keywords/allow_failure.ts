/** Parses `allow_failure` of a job. */
import { type At, checkKeys, parseExitCodes, reportFault } from './typed_values.ts';
import { type Node, getEntry, isNull } from '../syntax/node.ts';

export type AllowFailure = { allow_failure: boolean; exit_codes: number[] };

export const failureKeys = new Set(['exit_codes']);

/** @returns null if it is absent */
export const parseAllowFailure = (at: At, node: Node | undefined): AllowFailure | null => {
  if (node === undefined || isNull(node)) return null;
  if (node.kind === 'scalar' && typeof node.value === 'boolean') {
    return { allow_failure: node.value, exit_codes: [] };
  }
  if (node.kind === 'hash') {
    checkKeys(at, node, failureKeys);
    // Decided at the job's end, by its exit code.
    return { allow_failure: false, exit_codes: parseExitCodes(at, getEntry(node, 'exit_codes')) };
  }
  reportFault(
    { ...at, where: at.where.replace(/:allow_failure$/, '') },
    'allow failure should be a boolean value',
    node.position,
  );
  return null;
};
