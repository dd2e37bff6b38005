/** Reviewers of a merge request, after a change and before it. Pure. */
import type { RepeatedRequest } from '../../planning/issuables/shared_edits.ts';
import { userJson, findUser } from './shared_payload_parts.ts';
import type { Context } from './context.ts';

/** Reviewers who had reviewed and whom the change asked again, with the state of their former review. */
export const listRepeatedRequests = ({ snapshot: { data } }: Context): RepeatedRequest[] =>
  (data as { reviews_requested_again?: RepeatedRequest[] }).reviews_requested_again ?? [];

const toReviewer = (context: Context, id: number, state: { state?: string; re_requested: boolean }) => {
  const user = findUser(context, id);
  return user === null ? [] : [{ ...userJson(context, user), ...state }];
};

const findState = ({ snapshot: { records } }: Context, id: number): { state?: string } => {
  const reviewer = records.merge_request?.reviewers.find(({ user_id }) => user_id === id);
  return reviewer === undefined ? {} : { state: reviewer.state };
};

/** Reviewers as the change left them. */
export const reviewersJson = (context: Context, ids: readonly number[]) => {
  const repeated = new Set(listRepeatedRequests(context).map(({ user_id }) => user_id));
  return ids.flatMap((id) =>
    toReviewer(context, id, { ...findState(context, id), re_requested: repeated.has(id) }),
  );
};

/** Reviewers before the change; without a state, if they are not reviewers now. */
export const formerReviewersJson = (context: Context, ids: readonly number[]) => {
  const former = new Map(listRepeatedRequests(context).map(({ user_id, state }) => [user_id, { state }]));
  return ids.flatMap((id) =>
    toReviewer(context, id, { ...(former.get(id) ?? findState(context, id)), re_requested: false }),
  );
};
