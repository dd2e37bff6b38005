/** Commands of git that fetch and check out the source branch of a merge request, to be copied into a shell. */
import type { LoadedMergeRequest } from '../../../../review/merge_requests/find.ts';

/** Quotes a word for a shell where needed: names of branches may have `;` and `$` in them. */
export const quoteWord = (word: string): string =>
  /^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** Checks out the head, which the target project keeps, also of a fork. */
export const checkOutHead = ({ merge_request: { iid, source_branch } }: LoadedMergeRequest): string =>
  `git fetch origin refs/merge-requests/${iid}/head\ngit checkout -B ${quoteWord(source_branch)} FETCH_HEAD`;
