import type { Call } from '../access/call.ts';
import { forbidden, notGiven } from '../errors.ts';
import { findRunnerByToken } from './find.ts';
import type { RunnerRow } from './rules.ts';

/** What a runner signs in with: in the body, else in the header. */
export const runnerTokenOf = (call: Call, given: string | undefined): string => {
  const token = given ?? call.header('runner-token');
  if (token === undefined || token === '') throw notGiven('token');
  return token;
};

/**
 * The runner that calls.
 * @throws Failure 400 without a token, 403 for one of nobody: the program must stop then
 */
export const authenticateRunner = async (call: Call, given: string | undefined): Promise<RunnerRow> => {
  const runner = await findRunnerByToken(call.db, runnerTokenOf(call, given));
  if (runner === null) throw forbidden();
  return runner;
};
