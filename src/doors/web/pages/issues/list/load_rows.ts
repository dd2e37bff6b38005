/** Renders rows of issues with what their JSON lacks: colors of labels and open blockers. Takes two statements. */
import type { Call } from '../../../../../core/access/call.ts';
import { today } from '../../../../../core/access/viewer.ts';
import { linkedLabels } from '../../../../../planning/issuables/lists/linked_labels.ts';
import { countBlockers } from '../../../../../planning/issues/links/count_blockers.ts';
import type { JsonText } from '../../../../../platform/http/endpoint.ts';
import type { Html } from '../../../parts/html.ts';
import { type ListedIssue, type RowContext, issueRow, parseIssue } from './issue_row.ts';

/** How rows are shown. @property listPath returns the address of the list that the links of a row filter */
export type Shown = Pick<RowContext, 'showsProject' | 'isSelectable' | 'markTitle'> & {
  listPath: (issue: ListedIssue) => string;
};

/** @param items the cached JSON of issues */
export const issueRows = async (
  call: Call,
  items: readonly JsonText[],
  { listPath, ...shown }: Shown,
): Promise<Html[]> => {
  const issues = items.map(parseIssue);
  const ids = issues.map(({ id }) => id);
  const [labels, blockers] = await Promise.all([
    linkedLabels(call.db, 'Issue', ids),
    countBlockers(call, ids),
  ]);
  return issues.map((issue) =>
    issueRow(issue, {
      ...shown,
      listPath: listPath(issue),
      isAnonymous: !call.signedIn,
      today: today(call.now),
      labels: labels.get(issue.id) ?? [],
      blockers: blockers.get(issue.id),
    }),
  );
};
