/** Deletes the source branch of a merged request. */
import { deleteBranch } from '../../../../../code/repository/branches/delete.ts';
import { findCodeForPush } from '../../../../../code/repository/branches/create.ts';
import { conflict, notFound } from '../../../../../platform/errors.ts';
import { object } from '../../../../../platform/http/schema.ts';
import { findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { page, redirect } from '../../../page.ts';
import { oneRequest, requestPath, requestsRoutePath } from '../paths.ts';

export const deleteSourceBranchPages = [
  page({
    method: 'POST',
    path: `${requestsRoutePath}/:iid/delete_source_branch`,
    audience: 'user',
    params: object(oneRequest),
    handle: async ({ call }, { project, iid }) => {
      const loaded = await findMergeRequest(call, project, iid);
      const { state, source_project_id, source_branch } = loaded.merge_request;
      if (source_project_id === null) throw notFound('Branch');
      const code = await findCodeForPush(call, source_project_id);
      if (state !== 'merged') throw conflict('The merge request is not merged');
      await deleteBranch(call, code, source_branch);
      return redirect(requestPath(loaded), `The branch ${source_branch} was deleted.`);
    },
  }),
];
