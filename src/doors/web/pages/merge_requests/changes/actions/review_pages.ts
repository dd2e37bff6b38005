/** Forms that edit and delete draft comments and that submit the review. */
import { longText, id, object, oneOf, optional, text } from '../../../../../../platform/http/schema.ts';
import { Failure } from '../../../../../../platform/errors.ts';
import {
  type DraftNote,
  deleteDraft,
  findDraft,
  updateDraft,
} from '../../../../../../review/merge_requests/drafts/draft_notes.ts';
import { submitReview, verdicts } from '../../../../../../review/merge_requests/drafts/submit_review.ts';
import { type LoadedMergeRequest, findMergeRequest } from '../../../../../../review/merge_requests/find.ts';
import { findDiscussion } from '../../../../../../planning/discussions/queries.ts';
import { parsePosition } from '../../../../../../planning/notes/position.ts';
import { type Visit, page, redirect } from '../../../../page.ts';
import { oneRequest, requestPath } from '../../paths.ts';
import { type ChangesQuery, choiceParams } from '../changes_address.ts';
import { routePath } from './comment_pages.ts';
import { pathOfFile, submit } from './submit_form.ts';

/** Returns the address of the part of the tab that shows a draft, or its discussion. */
const pathOfDraft = async (
  visit: Visit,
  loaded: LoadedMergeRequest,
  query: ChangesQuery,
  { position, discussion_id }: DraftNote,
): Promise<string> => {
  if (discussion_id === null) {
    return await pathOfFile(visit, loaded, query, parsePosition(position)?.new_path);
  }
  try {
    const { notes } = await findDiscussion(visit.call, loaded.target, discussion_id);
    return await pathOfFile(visit, loaded, query, parsePosition(notes[0].position)?.new_path);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return await pathOfFile(visit, loaded, query, undefined);
  }
};

const oneDraft = { ...oneRequest, ...choiceParams, draft: id() };

const update = page({
  method: 'POST',
  path: `${routePath}/drafts/:draft`,
  audience: 'user',
  params: object({ ...oneDraft, body: optional(longText()) }),
  handle: async (visit, { project, iid, draft: draftId, body: note = '', ...query }) => {
    const { call } = visit;
    const loaded = await findMergeRequest(call, project, iid);
    const draft = await findDraft(call, loaded, draftId);
    const operation = async (): Promise<unknown> =>
      await updateDraft(call, loaded, draft, { note, position: null });
    return await submit(visit, { loaded, query }, operation, {
      toState: (alert) => ({ alert, kept: { typed: note, draft_id: draftId } }),
      next: async () => `${await pathOfDraft(visit, loaded, query, draft)}#draft_${draftId}`,
    });
  },
});

const remove = page({
  method: 'POST',
  path: `${routePath}/drafts/:draft/delete`,
  audience: 'user',
  params: object(oneDraft),
  handle: async (visit, { project, iid, draft: draftId, ...query }) => {
    const { call } = visit;
    const loaded = await findMergeRequest(call, project, iid);
    const draft = await findDraft(call, loaded, draftId);
    const next = await pathOfDraft(visit, loaded, query, draft);
    await call.write(async (tx) => await deleteDraft(tx, draft));
    return redirect(next);
  },
});

const notices = {
  comment: 'Your review was published.',
  approve: 'You approved this merge request.',
  request_changes: 'You requested changes.',
};

const finish = page({
  method: 'POST',
  path: `${routePath}/review`,
  audience: 'user',
  params: object({
    ...oneRequest,
    ...choiceParams,
    summary: optional(longText()),
    verdict: oneOf(verdicts, { default: 'comment' }),
    head: optional(text()),
  }),
  handle: async (visit, { project, iid, summary = '', verdict, head = '', ...query }) => {
    const { call } = visit;
    const loaded = await findMergeRequest(call, project, iid);
    const operation = async (): Promise<void> =>
      await submitReview(call, loaded, { summary, verdict, sha: head });
    return await submit(visit, { loaded, query }, operation, {
      next: async () => requestPath(loaded),
      toState: (problem) => ({ review: { problem, summary, verdict } }),
      notice: notices[verdict],
    });
  },
});

export const reviewPages = [update, remove, finish];
