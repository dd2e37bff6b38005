/** Runs changes of branches, tags and files for forms. */
import { Failure } from '../../../../platform/errors.ts';
import { type FormProblems, attempt } from '../form.ts';

const shown = new Set<Failure['kind']>(['forbidden', 'method_not_allowed']);

/**
 * Runs a change of a user who can push. A refusal by protection rules is also a problem of the form.
 * @returns null if it succeeded
 */
export const attemptRefChange = async (operation: () => Promise<unknown>): Promise<FormProblems | null> => {
  try {
    return await attempt(operation);
  } catch (error) {
    if (!(error instanceof Failure) || !shown.has(error.kind)) throw error;
    const { message } = (error.body ?? {}) as { message?: unknown };
    if (typeof message !== 'string') throw error;
    return { text: message.replace(/^403 Forbidden - /, ''), fields: {} };
  }
};
