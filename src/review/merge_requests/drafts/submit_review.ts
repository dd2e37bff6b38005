/** Submits a review: the drafts of the caller, a summary, and a verdict. */
import { type Call, requireUser } from '../../../core/access/call.ts';
import { conflict, invalid, unauthorized } from '../../../platform/errors.ts';
import { extractQuickActions } from '../../../planning/issuables/text/quick_actions.ts';
import { createNote } from '../../../planning/notes/create.ts';
import { runQuickActions } from '../../../planning/notes/quick_actions.ts';
import { requireCommenter } from '../../../planning/notes/rules.ts';
import { approve, loadApprovals, mayApprove, requestChanges } from '../approvals/approvals.ts';
import { storeReview } from '../approvals/last_review.ts';
import { setReviewerState } from '../approvals/reviewers.ts';
import { type LoadedMergeRequest, reloadMergeRequest } from '../find.ts';
import { commentedMergeRequest } from '../quick_actions.ts';
import { allDrafts } from './draft_notes.ts';
import { publishAll } from './publish.ts';

export const verdicts = ['comment', 'approve', 'request_changes'] as const;

export type Verdict = (typeof verdicts)[number];

export type Review = {
  /** Text of a comment on the merge request; empty: none. */
  summary: string;
  verdict: Verdict;
  /** Head that the reviewer saw. */
  sha: string;
};

const hasApproved = async ({ db }: Call, userId: number, id: number): Promise<boolean> =>
  (await loadApprovals(db, id)).some(({ user_id }) => user_id === userId);

const hasQuickActions = (text: string): boolean => extractQuickActions(text).actions.length > 0;

/** Returns whether a summary has only quick actions that say the verdict again, which is stored. */
const repeatsVerdict = (summary: string, verdict: Verdict): boolean => {
  const { text, actions } = extractQuickActions(summary);
  return text === '' && actions.length > 0 && actions.every(({ name }) => name === verdict);
};

/** Adds the summary as a comment, after its quick actions. */
const addSummary = async (
  call: Call,
  loaded: LoadedMergeRequest,
  { summary, sha }: Pick<Review, 'summary' | 'sha'>,
): Promise<void> => {
  const sent = { body: summary, head: sha };
  const { body, done } = await runQuickActions(commentedMergeRequest, call, loaded, sent);
  if (done === null || body !== '') await createNote(commentedMergeRequest, call, loaded, { body });
};

/** Stores the verdict: after the comments, or before their quick actions can merge or close. */
const storeVerdict = async (
  call: Call,
  { project, target }: LoadedMergeRequest,
  { verdict, sha }: Pick<Review, 'verdict' | 'sha'>,
): Promise<void> => {
  const { id: userId } = requireUser(call);
  const current = await reloadMergeRequest(call.db, project, target.id);
  if (verdict === 'request_changes') await requestChanges(call, current, sha);
  else if (verdict === 'approve' && !(await hasApproved(call, userId, target.id)))
    await approve(call, current, sha);
  else
    await call.write(async (tx) => {
      await setReviewerState(tx, target, userId, { state: 'reviewed', from: 'unreviewed' });
      await storeReview(tx, target, { user_id: userId, head: sha || current.merge_request.head_sha });
    });
};

/**
 * Publishes the drafts of the caller, adds the summary, and approves or requests changes if the verdict is one of these.
 * @throws Failure 400 for an empty review, 401 if the caller may not give a verdict, 403 if they may not comment, 409
 * if the head has changed since
 */
export const submitReview = async (
  call: Call,
  loaded: LoadedMergeRequest,
  { summary, verdict, sha }: Review,
): Promise<void> => {
  const { merge_request } = loaded;
  const drafts = await allDrafts(call, loaded);
  const hasSummary = summary.trim() !== '';
  if (drafts.length === 0 && !hasSummary && verdict === 'comment') {
    throw invalid({ summary: ["can't be blank in a review without comments"] });
  }
  if (drafts.length > 0 || hasSummary) requireCommenter(call, loaded);
  if (verdict !== 'comment' && !mayApprove(call, loaded)) throw unauthorized();
  if (verdict === 'approve' && sha !== merge_request.head_sha) {
    throw conflict('New commits were pushed meanwhile. Look at them before you approve.');
  }
  const isFirst = [summary, ...drafts.map(({ note }) => note)].some(hasQuickActions);
  if (isFirst) await storeVerdict(call, loaded, { verdict, sha });
  await publishAll(call, loaded, drafts, sha);
  if (hasSummary && !repeatsVerdict(summary, verdict)) await addSummary(call, loaded, { summary, sha });
  if (!isFirst) await storeVerdict(call, loaded, { verdict, sha });
};
