/** Tables of what only merge requests have. */
import { certainUser, discussion, knownUser, rowOf, text, zero } from '../column_rules.ts';
import { type TableSpec, issues, ofRequests, ofTable } from './table_spec.ts';

export const reviewTables: readonly TableSpec[] = [
  {
    name: 'merge_request_search',
    where: ofRequests,
    columns: { merge_request_id: rowOf('merge_requests'), indexed: zero },
  },
  {
    name: 'merge_request_approvals',
    where: ofRequests,
    columns: { merge_request_id: rowOf('merge_requests'), user_id: knownUser },
  },
  {
    name: 'merge_request_reviews',
    where: ofRequests,
    columns: { merge_request_id: rowOf('merge_requests'), user_id: knownUser },
  },
  {
    name: 'merge_request_viewed_files',
    where: ofRequests,
    columns: { merge_request_id: rowOf('merge_requests'), user_id: knownUser },
  },
  {
    name: 'applied_suggestions',
    where: ofTable('note_id', 'notes'),
    columns: { note_id: rowOf('notes') },
  },
  {
    name: 'draft_notes',
    where: ofRequests,
    columns: {
      merge_request_id: rowOf('merge_requests'),
      author_id: certainUser,
      note: text,
      discussion_id: discussion,
    },
  },
  {
    name: 'merge_requests_closing_issues',
    where: `${ofRequests} and issue_id in ${issues}`,
    columns: { merge_request_id: rowOf('merge_requests'), issue_id: rowOf('issues') },
  },
];
