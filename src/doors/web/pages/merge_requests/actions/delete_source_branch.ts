/** Deletes the source branch of a merged request. */
import { deleteBranch } from '../../../../../code/repository/branches/delete.ts';
import { findCodeForPush } from '../../../../../code/repository/branches/create.ts';
import { Failure, conflict, notFound } from '../../../../../platform/errors.ts';
import { zeroOid } from '../../../../../platform/git/protocol_types.ts';
import { findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { redirect } from '../../../page.ts';
import { readRefFailure } from '../../../parts/code/attempt_ref_change.ts';
import { formPage } from '../../../parts/fields/form_page.ts';
import { redirectWithProblems } from '../../../parts/form_problems.ts';
import { oneRequest, requestPath, requestsRoutePath } from '../paths.ts';

export const deleteSourceBranchPages = [
  formPage({
    path: `${requestsRoutePath}/:iid/delete_source_branch`,
    audience: 'user',
    address: oneRequest,
    fields: {},
    find: async ({ call }, { project, iid }) => {
      const loaded = await findMergeRequest(call, project, iid);
      const { state, source_project_id, source_branch, head_sha } = loaded.merge_request;
      if (source_project_id === null) throw notFound('Branch');
      const code = await findCodeForPush(call, source_project_id);
      if (state !== 'merged') throw conflict('The merge request is not merged');
      return { code, branch: source_branch, head: head_sha ?? zeroOid, path: requestPath(loaded) };
    },
    fromSent: () => null,
    run: async ({ call }, { code, branch, head, path }) => {
      try {
        await deleteBranch(call, code, branch, head);
      } catch (error) {
        // Somebody else pressed the button first.
        if (!(error instanceof Failure) || error.kind !== 'not_found') throw error;
        return redirect(path, `The branch ${branch} was already deleted.`);
      }
      return redirect(path, `The branch ${branch} was deleted.`);
    },
    readFailure: readRefFailure,
    view: (_visit, { path }, { problems }) => redirectWithProblems(path, problems),
  }),
];
