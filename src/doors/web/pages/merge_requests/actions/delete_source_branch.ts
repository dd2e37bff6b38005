/** Deletes the source branch of a merged request. */
import { deleteBranch } from '../../../../../code/repository/branches/delete.ts';
import { findCodeForPush } from '../../../../../code/repository/branches/create.ts';
import { Failure, conflict, notFound } from '../../../../../platform/errors.ts';
import { zeroOid } from '../../../../../platform/git/protocol_types.ts';
import { object } from '../../../../../platform/http/schema.ts';
import { findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { Redirect, page, redirect } from '../../../page.ts';
import { attemptRefChange } from '../../../parts/code/attempt_ref_change.ts';
import { problemText } from '../../issuables/submit_form.ts';
import { oneRequest, requestPath, requestsRoutePath } from '../paths.ts';

export const deleteSourceBranchPages = [
  page({
    method: 'POST',
    path: `${requestsRoutePath}/:iid/delete_source_branch`,
    audience: 'user',
    params: object(oneRequest),
    handle: async ({ call }, { project, iid }) => {
      const loaded = await findMergeRequest(call, project, iid);
      const { state, source_project_id, source_branch, head_sha } = loaded.merge_request;
      if (source_project_id === null) throw notFound('Branch');
      const code = await findCodeForPush(call, source_project_id);
      if (state !== 'merged') throw conflict('The merge request is not merged');
      const expected = head_sha ?? zeroOid;
      const path = requestPath(loaded);
      try {
        const problems = await attemptRefChange(
          async () => await deleteBranch(call, code, source_branch, expected),
        );
        return problems === null
          ? redirect(path, `The branch ${source_branch} was deleted.`)
          : new Redirect(path, { kind: 'alert', text: problemText(problems) });
      } catch (error) {
        // Somebody else pressed the button first.
        if (!(error instanceof Failure) || error.kind !== 'not_found') throw error;
        return redirect(path, `The branch ${source_branch} was already deleted.`);
      }
    },
  }),
];
