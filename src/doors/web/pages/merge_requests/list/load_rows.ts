/** Renders rows of merge requests with what their JSON lacks: colors of labels, pipelines, approvals and threads. */
import type { Call } from '../../../../../core/access/call.ts';
import { linkedLabels } from '../../../../../planning/issuables/lists/linked_labels.ts';
import type { JsonText } from '../../../../../platform/http/endpoint.ts';
import { loadRowFacts } from '../../../../../review/merge_requests/lists/row_facts.ts';
import type { Html } from '../../../parts/html.ts';
import { type ListedRequest, type RowContext, parseRequest, requestRow } from './request_row.ts';

/** How rows are shown. @property listPath returns the address of the list that the links of a row filter */
export type Shown = Pick<RowContext, 'showsProject' | 'isSelectable' | 'markTitle'> & {
  listPath: (request: ListedRequest) => string;
};

/** Takes three statements. @param items the cached JSON of merge requests */
export const requestRows = async (
  call: Call,
  items: readonly JsonText[],
  { listPath, ...shown }: Shown,
): Promise<Html[]> => {
  const requests = items.map(parseRequest);
  const ids = requests.map(({ id }) => id);
  const [labels, facts] = await Promise.all([
    linkedLabels(call.db, 'MergeRequest', ids),
    loadRowFacts(call, ids),
  ]);
  return requests.map((request) =>
    requestRow(request, {
      ...shown,
      listPath: listPath(request),
      isAnonymous: !call.signedIn,
      labels: labels.get(request.id) ?? [],
      facts: facts.get(request.id),
    }),
  );
};
