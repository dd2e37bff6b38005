/** Runs the operation of a form of the Changes tab; shows the tab with the problem if it is refused. */
import type { LoadedMergeRequest } from '../../../../../../review/merge_requests/find.ts';
import { type Redirect, type View, type Visit, redirect, withRefusal } from '../../../../page.ts';
import { attempt, problemText } from '../../../../parts/form_problems.ts';
import { partOf, splitFiles } from '../file_pages.ts';
import { loadChanges } from '../load_changes.ts';
import { type ChangesQuery, changesPath, choiceOf } from '../changes_address.ts';
import { type ChangesFormState, changesView } from '../changes_view.ts';

/** Returns which part of the tab shows a file. */
const partOfFile = async (
  visit: Visit,
  loaded: LoadedMergeRequest,
  query: ChangesQuery,
  path: string,
): Promise<number> => {
  const { files } = await loadChanges(visit, loaded, choiceOf(query));
  return partOf(splitFiles(files), path);
};

/** Returns the address of the part of the tab that shows a file. */
export const pathOfFile = async (
  visit: Visit,
  loaded: LoadedMergeRequest,
  query: ChangesQuery,
  path: string | undefined,
): Promise<string> => {
  if (path === undefined) return changesPath(loaded, choiceOf(query));
  return changesPath(loaded, { ...choiceOf(query), page: await partOfFile(visit, loaded, query, path) });
};

type Form = {
  /** Returns the address after success. */
  next: () => Promise<string>;
  /** The file that the form is at, whose part of the tab is shown again. */
  file?: string | undefined;
  /** Input to keep of a refused form. */
  toState?: (problem: string) => ChangesFormState;
  /** Notice after success. */
  notice?: string | (() => string | undefined);
};

export const submit = async (
  visit: Visit,
  { loaded, query }: { loaded: LoadedMergeRequest; query: ChangesQuery },
  operation: () => Promise<unknown>,
  { next, file, toState = (alert) => ({ alert }), notice }: Form,
): Promise<View | Redirect> => {
  const problems = await attempt(operation);
  if (problems === null) return redirect(await next(), typeof notice === 'function' ? notice() : notice);
  const page = file === undefined ? undefined : await partOfFile(visit, loaded, query, file);
  return withRefusal(await changesView(visit, loaded, { ...query, page }, toState(problemText(problems))));
};
