/** Shows what was wrong with a form that has no page of its own. */
import type { LoadedIssue } from '../../../../../planning/issues/find.ts';
import type { Redirect, View, Visit } from '../../../page.ts';
import { redirect } from '../../../page.ts';
import { type FormProblems, attempt, saidOf } from '../../../parts/form.ts';
import { issuePath } from '../find.ts';
import { issueView } from '../show/issue_view.ts';

/** Returns the problems of a form as one text. */
export const problemText = ({ text, fields }: FormProblems): string =>
  text ??
  Object.entries(fields)
    .flatMap(([name, problems]) => problems.map((one) => saidOf(name.replaceAll('_', ' '), one)))
    .join('. ');

type Form = {
  /** Comment to keep if it is not accepted. */
  typed?: string;
  /** Address after success; default: the issue. */
  next?: () => string;
  notice?: string;
};

/** Runs the operation of a form of the issue's page; shows the page with the problem if it is refused. */
export const submit = async (
  visit: Visit,
  loaded: LoadedIssue,
  operation: () => Promise<unknown>,
  { typed, next = () => issuePath(loaded), notice }: Form = {},
): Promise<View | Redirect> => {
  const problems = await attempt(operation);
  if (problems === null) return redirect(next(), notice);
  const alert = problemText(problems);
  return await issueView(visit, loaded, { alert, ...(typed !== undefined && { typed }) });
};
