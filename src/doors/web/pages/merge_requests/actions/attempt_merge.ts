/** Runs operations of the merge box for forms. */
import { Failure } from '../../../../../platform/errors.ts';
import { type FormProblems, attempt } from '../../../parts/form_problems.ts';

/** Texts for readers of pages in place of the fixed texts of the API. */
const texts: Partial<Record<Failure['kind'], string>> = {
  method_not_allowed: 'It cannot be merged now. See the checks for the reason.',
  not_acceptable: 'The merge request has changed since the page was loaded.',
  unauthorized: 'You may not do this.',
};

const toText = ({ kind, body }: Failure): string | undefined => {
  if (kind !== 'conflict') return texts[kind];
  const { message } = (body ?? {}) as { message?: unknown };
  return message === 'SHA does not match HEAD of source branch'
    ? 'Somebody pushed to the source branch meanwhile. Look at the new commits first.'
    : undefined;
};

/** @returns the problems as texts of the page; null: it succeeded */
export const attemptMerge = async (operation: () => Promise<unknown>): Promise<FormProblems | null> => {
  try {
    return await attempt(async () => {
      try {
        await operation();
      } catch (error) {
        const text = error instanceof Failure ? toText(error) : undefined;
        if (text === undefined) throw error;
        throw new Failure('unprocessable', { message: text });
      }
    });
  } catch (error) {
    if (error instanceof Failure && error.kind === 'not_modified') return null;
    throw error;
  }
};
