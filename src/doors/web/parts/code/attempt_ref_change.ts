/** Runs changes of branches, tags and files for forms. */
import { Failure } from '../../../../platform/errors.ts';
import { type FormProblems, attempt, problemsOf } from '../form_problems.ts';

const shown = new Set<Failure['kind']>(['forbidden', 'method_not_allowed']);

/** Converts a failure to problems of a form; a refusal by protection rules, too. Null: it is not about the input. */
export const readRefFailure = (error: unknown): FormProblems | null => {
  if (!(error instanceof Failure) || !shown.has(error.kind)) return problemsOf(error);
  const { message } = (error.body ?? {}) as { message?: unknown };
  if (typeof message !== 'string') return null;
  return { text: message.replace(/^403 Forbidden - /, ''), fields: {} };
};

/**
 * Runs a change of a user who can push. A refusal by protection rules is also a problem of the form.
 * @returns null if it succeeded
 */
export const attemptRefChange = async (operation: () => Promise<unknown>): Promise<FormProblems | null> =>
  await attempt(operation, readRefFailure);
