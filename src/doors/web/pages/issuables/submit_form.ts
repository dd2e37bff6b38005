/** Shows the problems of a form without a separate page. */
import type { LoadedNoteable } from '../../../../planning/issuables/target.ts';
import { type Redirect, type View, type Visit, redirect } from '../../page.ts';
import { type FormProblems, attempt, problemText } from '../../parts/form_problems.ts';
import type { CommentedKind } from './issuable_kind.ts';

export type SubmittedForm = {
  /** Comment to keep if it is not accepted. */
  typed?: string;
  /** Address after success; default: the record. */
  next?: () => string;
  /** Notice after success. */
  notice?: string | (() => string | undefined);
  /** Runs the operation; default: `attempt`. */
  run?: (operation: () => Promise<unknown>) => Promise<FormProblems | null>;
};

/** Runs the operation of a form of a record's page; shows the page with the problem if it is refused. */
export const submitForm = async <L extends LoadedNoteable>(
  { kind, visit, loaded }: { kind: Pick<CommentedKind<L>, 'path' | 'view'>; visit: Visit; loaded: L },
  operation: () => Promise<unknown>,
  { typed, next = () => kind.path(loaded), notice, run = attempt }: SubmittedForm = {},
): Promise<View | Redirect> => {
  const problems = await run(operation);
  if (problems === null) return redirect(next(), typeof notice === 'function' ? notice() : notice);
  const alert = problemText(problems);
  return await kind.view(visit, loaded, { alert, ...(typed !== undefined && { typed }) });
};
