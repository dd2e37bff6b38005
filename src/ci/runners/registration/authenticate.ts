import type { Call } from '../../../core/access/call.ts';
import { forbidden, missingAttribute } from '../../../platform/errors.ts';
import { findRunnerByToken } from '../find_by_token.ts';
import type { RunnerRow } from '../rules.ts';

/** Reads the runner token from the body, else from the header. */
export const readRunnerToken = (call: Call, input: string | undefined): string => {
  const token = input ?? call.header('runner-token');
  if (token === undefined || token === '') throw missingAttribute('token');
  return token;
};

/**
 * Authenticates the calling runner.
 * @throws Failure 400 without a token, 403 for an unknown one, after which the program stops
 */
export const authenticateRunner = async (call: Call, input: string | undefined): Promise<RunnerRow> => {
  const runner = await findRunnerByToken(call.db, readRunnerToken(call, input));
  if (runner === null) throw forbidden();
  return runner;
};
