/** Forms that revert or cherry-pick a merged request. */
import type { PickKind } from '../../../../../code/repository/commits/cherry_pick.ts';
import { openCode } from '../../../../../code/repository/find_code.ts';
import { may } from '../../../../../core/access/may.ts';
import { forbidden, notFound } from '../../../../../platform/errors.ts';
import { findMergeRequest } from '../../../../../review/merge_requests/find.ts';
import { latestVersion } from '../../../../../review/merge_requests/versions/queries.ts';
import { redirect } from '../../../page.ts';
import { readRefFailure } from '../../../parts/code/attempt_ref_change.ts';
import { pickChange, pickNotices, pickParams } from '../../../parts/code/pick_change.ts';
import { formPage } from '../../../parts/fields/form_page.ts';
import { problemText } from '../../../parts/form_problems.ts';
import { oneRequest, requestPath, requestsRoutePath } from '../paths.ts';
import { requestKind } from '../request_kind.ts';
import { wholeCommit } from '../show/merged_or_closed_box.ts';

const pickPage = (kind: PickKind) =>
  formPage({
    path: `${requestsRoutePath}/:iid/${kind}`,
    audience: 'user',
    address: oneRequest,
    fields: pickParams,
    find: async ({ call }, { project: path, iid }) => {
      const loaded = await findMergeRequest(call, path, iid);
      const { project, merge_request } = loaded;
      if (!may(call.viewer, 'push_code', project)) throw forbidden();
      const version = await latestVersion(call.db, merge_request);
      const sha =
        merge_request.state === 'merged' ? wholeCommit(merge_request, version?.commits_count ?? 0) : null;
      if (sha === null) throw notFound();
      return { loaded, sha };
    },
    fromSent: () => null,
    run: async ({ call }, { loaded, sha }, { branch, request }) => {
      const newRequest = await pickChange(call, openCode(call, loaded.project), {
        branch,
        request,
        kind,
        sha,
      });
      return redirect(newRequest ?? requestPath(loaded), pickNotices[kind]);
    },
    readFailure: readRefFailure,
    view: async (visit, { loaded }, { problems }) =>
      await requestKind.view(visit, loaded, { alert: problemText(problems) }),
  });

export const pickPages = [pickPage('revert'), pickPage('cherry_pick')];
