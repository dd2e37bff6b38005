/** Commands of git that fetch and check out the source branch of a merge request, to be copied into a shell. */
import type { LoadedMergeRequest } from '../../../../review/merge_requests/find.ts';

/** Quotes a word for a shell where needed: names of branches may have `;` and `$` in them. */
export const quoteWord = (word: string): string =>
  /^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

/**
 * Checks out the head, which the target project keeps, even for forks. The branch of a fork gets a unique name, because
 * the reader may have a branch of the same name, such as `main`, that would lose commits.
 */
export const checkOutHead = ({ merge_request, project }: LoadedMergeRequest): string => {
  const { iid, source_branch, source_project_id } = merge_request;
  const local = source_project_id === project.id ? source_branch : `mr-${iid}`;
  return `git fetch origin refs/merge-requests/${iid}/head\ngit checkout -B ${quoteWord(local)} FETCH_HEAD`;
};
