/** Problems of a submitted form: which failures are about its input, as texts, and as the answer to the form. */
import { Failure, type Problems } from '../../../platform/errors.ts';
import { Redirect, type View, withRefusal } from '../page.ts';

/** Problems of a submitted form. */
export type FormProblems = { text: string | null; fields: Problems };

export const noProblems: FormProblems = { text: null, fields: {} };

const refusals = new Set<Failure['kind']>(['bad_request', 'conflict', 'unprocessable']);

/** Converts a failure to problems of a form; null if it is not about the input. */
export const problemsOf = (error: unknown): FormProblems | null => {
  if (!(error instanceof Failure) || !refusals.has(error.kind)) return null;
  const { message } = (error.body ?? {}) as { message?: unknown };
  if (typeof message === 'string') return { text: message, fields: {} };
  if (Array.isArray(message)) return { text: message.map(String).join('. '), fields: {} };
  return { text: null, fields: (message ?? {}) as Problems };
};

/**
 * Runs an operation for a form. Returns its result, or what `refuse` makes of the problems of the input.
 * @param read converts a failure to problems; null: it is not about the input
 * @throws any failure that is not about the input
 */
export const answerForm = async <Result, Refusal>(
  operation: () => Promise<Result>,
  refuse: (problems: FormProblems) => Refusal | Promise<Refusal>,
  read: (error: unknown) => FormProblems | null = problemsOf,
): Promise<Result | Refusal> => {
  try {
    return await operation();
  } catch (error) {
    const problems = read(error);
    if (problems === null) throw error;
    return await refuse(problems);
  }
};

/**
 * Runs an operation for a form.
 * @param read converts a failure to problems; null: it is not about the input
 * @returns the problems of the input; null: it succeeded
 * @throws any failure that is not about the input
 */
export const attempt = async (
  operation: () => Promise<unknown>,
  read: (error: unknown) => FormProblems | null = problemsOf,
): Promise<FormProblems | null> =>
  await answerForm(
    async () => {
      await operation();
      return null;
    },
    (problems) => problems,
    read,
  );

/** Formats the problem of a field as a sentence. */
export const formatProblem = (label: string, problem: string): string =>
  /^\p{Lu}/u.test(problem) ? problem : `${label} ${problem}`;

/** Returns the problems of a form as one text. */
export const problemText = ({ text, fields }: FormProblems): string =>
  text ??
  Object.entries(fields)
    .flatMap(([name, problems]) => problems.map((one) => formatProblem(name.replaceAll('_', ' '), one)))
    .join('. ');

/** Redirects to the page of a refused form and shows the problems there, for forms that keep no input. */
export const redirectWithProblems = (path: string, problems: FormProblems): Redirect =>
  new Redirect(path, { kind: 'alert', text: problemText(problems) });

/** Returns the summary of the problems as a sentence; empty: there are none. */
export const summaryText = ({ text, fields }: FormProblems): string => {
  const count = Object.keys(fields).length;
  if (text !== null || count === 0) return text ?? '';
  return count === 1 ? 'One field needs another value.' : `${count} fields need other values.`;
};

/** Returns the view of a form; with status 422 if the form was refused. */
export const withFormStatus = (view: View, problems: FormProblems): View =>
  withRefusal(view, problems !== noProblems);
