/** Forms of the merge box: merge, merge later, rebase, approve. */
import type { Call } from '../../../../../core/access/call.ts';
import { forbidden } from '../../../../../platform/errors.ts';
import { boolean, longText, names, object, optional, text } from '../../../../../platform/http/schema.ts';
import { approve, mayApprove, unapprove } from '../../../../../review/merge_requests/approvals/approvals.ts';
import { type LoadedMergeRequest, findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { acceptRequest } from '../../../../../review/merge_requests/merging/accept.ts';
import { loadDefaultMessages } from '../../../../../review/merge_requests/merging/default_messages.ts';
import { getMerger } from '../../../../../review/merge_requests/merging/merge.ts';
import { cancelDeferred } from '../../../../../review/merge_requests/merging/scheduled/merge_when_pipeline_succeeds.ts';
import { enqueueRebase } from '../../../../../review/merge_requests/merging/rebase.ts';
import { mayMerge } from '../../../../../review/merge_requests/merging/rules.ts';
import { mergeStack } from '../../../../../review/merge_requests/stacks/merge_stack.ts';
import { type Visit, page } from '../../../page.ts';
import { submitForm } from '../../issuables/submit_form.ts';
import { oneRequest, requestsRoutePath } from '../paths.ts';
import { requestKind } from '../request_kind.ts';
import { attemptMerge } from './attempt_merge.ts';

const requireMerger = async ({ db, viewer }: Call, loaded: LoadedMergeRequest): Promise<void> => {
  if (!(await mayMerge(db, viewer, loaded))) throw forbidden();
};

/** Runs an operation of the box, and shows the page with what went wrong. */
const run = async (
  visit: Visit,
  loaded: LoadedMergeRequest,
  operation: () => Promise<unknown>,
  notice?: string,
) =>
  await submitForm({ kind: requestKind, visit, loaded }, operation, {
    run: attemptMerge,
    ...(notice !== undefined && { notice }),
  });

type SentMessages = { merge_commit_message?: string | undefined; squash_commit_message?: string | undefined };

/** Keeps only edited messages: a single commit is squashed only if its message was edited. */
const editedMessages = async (
  call: Call,
  loaded: LoadedMergeRequest,
  { merge_commit_message, squash_commit_message }: SentMessages,
) => {
  if (merge_commit_message === undefined && squash_commit_message === undefined) return {};
  const { platform, baseUrl } = call;
  const defaults = await loadDefaultMessages({ platform, loaded, merger: getMerger(call), baseUrl });
  const edited = (sent: string | undefined, original: string): string | undefined => {
    const typed = sent?.trim();
    return typed === undefined || typed === '' || typed === original.trim() ? undefined : typed;
  };
  const merge = edited(merge_commit_message, defaults.merge);
  const squash = edited(squash_commit_message, defaults.squash);
  return {
    ...(merge !== undefined && { merge_commit_message: merge }),
    ...(squash !== undefined && { squash_commit_message: squash }),
  };
};

const mergePage = page({
  method: 'POST',
  path: `${requestsRoutePath}/:iid/merge`,
  audience: 'user',
  params: object({
    ...oneRequest,
    sha: optional(text()),
    squash: optional(boolean()),
    should_remove_source_branch: optional(boolean()),
    auto_merge: optional(boolean()),
    merge_commit_message: optional(longText()),
    squash_commit_message: optional(longText()),
  }),
  handle: async (visit, { project, iid, auto_merge = false, ...sent }) => {
    const { call } = visit;
    const loaded = await findMergeRequest(call, project, iid);
    await requireMerger(call, loaded);
    const { sha, squash, should_remove_source_branch } = sent;
    const params = {
      ...(await editedMessages(call, loaded, sent)),
      ...(sha !== undefined && sha !== '' && { sha }),
      ...(squash !== undefined && { squash }),
      ...(should_remove_source_branch !== undefined && { should_remove_source_branch }),
      time: auto_merge ? ('checks_pass' as const) : ('now' as const),
    };
    return await run(visit, loaded, async () => await acceptRequest(call, loaded, params));
  },
});

const mergeStackPage = page({
  method: 'POST',
  path: `${requestsRoutePath}/:iid/merge_stack`,
  audience: 'user',
  params: object({ ...oneRequest, shas: optional(names()) }),
  handle: async (visit, { project, iid, shas = [] }) => {
    const { call } = visit;
    const loaded = await findMergeRequest(call, project, iid);
    await requireMerger(call, loaded);
    return await run(visit, loaded, async () => await mergeStack(call, loaded, shas));
  },
});

const cancelPage = page({
  method: 'POST',
  path: `${requestsRoutePath}/:iid/cancel_merge`,
  audience: 'user',
  params: object(oneRequest),
  handle: async (visit, { project, iid }) => {
    const { call } = visit;
    const loaded = await findMergeRequest(call, project, iid);
    const isAuthor = loaded.merge_request.author_id === call.viewer.user_id;
    if (!isAuthor) await requireMerger(call, loaded);
    return await run(
      visit,
      loaded,
      async () => await cancelDeferred(call.platform, loaded, getMerger(call)),
      'Auto-merge was canceled.',
    );
  },
});

const rebasePage = page({
  method: 'POST',
  path: `${requestsRoutePath}/:iid/rebase`,
  audience: 'user',
  params: object(oneRequest),
  handle: async (visit, { project, iid }) => {
    const loaded = await findMergeRequest(visit.call, project, iid);
    return await run(visit, loaded, async () => await enqueueRebase(visit.call, loaded));
  },
});

const requireApprover = (call: Call, loaded: LoadedMergeRequest): void => {
  if (loaded.merge_request.state === 'opened' && !mayApprove(call, loaded)) throw forbidden();
};

const approvePage = page({
  method: 'POST',
  path: `${requestsRoutePath}/:iid/approve`,
  audience: 'user',
  params: object({ ...oneRequest, sha: optional(text()) }),
  handle: async (visit, { project, iid, sha }) => {
    const { call } = visit;
    const loaded = await findMergeRequest(call, project, iid);
    requireApprover(call, loaded);
    return await run(visit, loaded, async () => await approve(call, loaded, sha));
  },
});

const unapprovePage = page({
  method: 'POST',
  path: `${requestsRoutePath}/:iid/unapprove`,
  audience: 'user',
  params: object(oneRequest),
  handle: async (visit, { project, iid }) => {
    const { call } = visit;
    const loaded = await findMergeRequest(call, project, iid);
    requireApprover(call, loaded);
    return await run(visit, loaded, async () => await unapprove(call, loaded));
  },
});

export const mergePages = [mergePage, mergeStackPage, cancelPage, rebasePage, approvePage, unapprovePage];
